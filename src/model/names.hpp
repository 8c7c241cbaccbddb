// Names that Makeway reads from and writes on objects (DESIGN, "Names on objects").
#pragma once

#include <string_view>

namespace makeway::names {

inline constexpr std::string_view preemption_priority_class =
    "makeway.dev/preemption-priority-class";
inline constexpr std::string_view last_checkpoint = "makeway.dev/last-checkpoint";
inline constexpr std::string_view preemption_cost = "makeway.dev/preemption-cost";
inline constexpr std::string_view preferred_topology = "makeway.dev/preferred-topology";
/// On a PodGroup: whether it keeps running below its minimum ("keep") or leaves whole ("evict").
inline constexpr std::string_view below_minimum = "makeway.dev/below-minimum";
inline constexpr std::string_view allow_preemption = "makeway.dev/allow-preemption";
inline constexpr std::string_view yunikorn_allow_preemption =
    "yunikorn.apache.org/allow-preemption";
inline constexpr std::string_view protected_member = "makeway.dev/protected";
inline constexpr std::string_view owner = "makeway.dev/owner";
inline constexpr std::string_view required_node = "makeway.dev/required-node";
inline constexpr std::string_view reserved_since = "makeway.dev/reserved-since";
inline constexpr std::string_view promised = "makeway.dev/promised";
inline constexpr std::string_view plane = "makeway.dev/plane";
/// Annotation of dumps: the plane of the object's key, which no label changes.
inline constexpr std::string_view key_plane = "makeway.dev/key-plane";
inline constexpr std::string_view deployment = "makeway.dev/deployment";
/// A taint with this key keeps pods off the nodes of a resource group, but not its kernels.
inline constexpr std::string_view resource_group = "makeway.dev/resource-group";
inline constexpr std::string_view evicted_for = "makeway.dev/evicted-for";
inline constexpr std::string_view plan = "makeway.dev/plan";
/// Type of a condition in dumps: when the object was last updated.
inline constexpr std::string_view observed = "makeway.dev/Observed";
/// On pods that were made from a template: its object, the wave, and what that wave waits for.
inline constexpr std::string_view made_from = "makeway.dev/made-from";
inline constexpr std::string_view wave = "makeway.dev/wave";
inline constexpr std::string_view wave_after = "makeway.dev/wave-after";
/// On pods of dumps: what stops when they are lost, as their controllers say (LossShare).
inline constexpr std::string_view loss_units = "makeway.dev/loss-units";
/// On pending pods of dumps that are not placed: why, such as a quarantine (law 13). In the store
/// it is a need that nothing meets, with this word before it.
inline constexpr std::string_view held = "makeway.dev/held";
inline constexpr std::string_view held_need = "held: ";

/// On bound pods of journals of live runs: why they may not be evicted (KeptBy).
inline constexpr std::string_view kept_by = "makeway.dev/kept-by";

/// Label of a namespace whose marks count (SPEC section 10): "true".
inline constexpr std::string_view trusted = "makeway.dev/trusted";

/// The fields of node and pod affinity: what is required, and what is only preferred.
inline constexpr std::string_view required_terms = "requiredDuringSchedulingIgnoredDuringExecution";
inline constexpr std::string_view preferred_terms =
    "preferredDuringSchedulingIgnoredDuringExecution";

// Queues: the first of these that a pod or group carries counts.
inline constexpr std::string_view queue = "makeway.dev/queue";
inline constexpr std::string_view kueue_queue = "kueue.x-k8s.io/queue-name";
inline constexpr std::string_view yunikorn_queue = "queue";
inline constexpr std::string_view volcano_queue = "scheduling.volcano.sh/queue-name";

// Volumes.
inline constexpr std::string_view bind_completed = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view selected_node = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view claim_class = "volume.beta.kubernetes.io/storage-class";
inline constexpr std::string_view default_class = "storageclass.kubernetes.io/is-default-class";
inline constexpr std::string_view no_provisioner = "kubernetes.io/no-provisioner";
inline constexpr std::string_view zone = "topology.kubernetes.io/zone";
inline constexpr std::string_view region = "topology.kubernetes.io/region";
inline constexpr std::string_view beta_zone = "failure-domain.beta.kubernetes.io/zone";
inline constexpr std::string_view beta_region = "failure-domain.beta.kubernetes.io/region";

inline constexpr std::string_view hostname = "kubernetes.io/hostname";
inline constexpr std::string_view mirror_pod = "kubernetes.io/config.mirror";
inline constexpr std::string_view config_source = "kubernetes.io/config.source";
inline constexpr std::string_view default_namespace = "default";
inline constexpr std::string_view default_scheduler = "default-scheduler";
inline constexpr std::string_view own_scheduler = "makeway";
inline constexpr std::string_view node_critical = "system-node-critical";
inline constexpr std::string_view cluster_critical = "system-cluster-critical";

/// Under makeway.dev/, but none of the names that mean something by themselves: an author of victim
/// classes may use it.
constexpr bool is_mark(std::string_view key) {
  for (const std::string_view known : {preemption_priority_class,
                                       last_checkpoint,
                                       preemption_cost,
                                       below_minimum,
                                       allow_preemption,
                                       protected_member,
                                       owner,
                                       required_node,
                                       reserved_since,
                                       promised,
                                       plane,
                                       key_plane,
                                       deployment,
                                       evicted_for,
                                       plan,
                                       queue,
                                       made_from,
                                       wave,
                                       wave_after,
                                       loss_units,
                                       kept_by,
                                       held}) {
    if (key == known) return false;
  }
  return key.starts_with("makeway.dev/");
}

}  // namespace makeway::names

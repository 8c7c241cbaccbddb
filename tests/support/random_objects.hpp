// Random objects and change sequences for tests: small pools of names, so that upserts hit what
// exists, references dangle and come true later, and ties are common.
//
// All numbers come from the Prng that is passed in: a seed is a cluster. Objects come out
// normalized, except from `raw_pod`.
//
//   Prng prng(seed);
//   const RandomClusterOptions options = random_options(prng);  // Swarm: some features are off.
//   for (const Change& change : random_changes(prng, options)) cluster.apply(change);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "model/objects.hpp"
#include "support/random_volumes.hpp"

namespace makeway {

/// Of few units and parts, so that several pods share them; most pods have none. Takes a copy: the
/// numbers that are drawn after it are the same without it.
std::vector<LossShare> random_loss_units(Prng prng);

/// What random objects may have. A run with half of it off reaches states that one with everything
/// on never does, for example long sequences without a single removal.
struct RandomFeatures {
  bool removals = true;
  bool partial_updates = true;  ///< A known pod with one thing changed, as watch events are.
  bool dangling = true;  ///< References to what is not there (yet). Off: all of it comes first.
  bool groups = true;
  bool template_groups = true;  ///< The 1.35 form: "workload/template/replica".
  bool workloads = true;
  bool priority_classes = true;
  bool never_preempting = true;
  bool labels = true;
  bool queues = true;         ///< Pods and groups name them.
  bool queue_objects = true;  ///< With `queues`: Queue objects too, in a tree.
  bool node_selectors = true;
  bool taints = true;
  bool extended_resources = true;  ///< They appear one by one in the course of a sequence.
  bool huge_amounts = true;        ///< Around 2^60: a few of them saturate a sum.
  bool missing_start_times = true;
  bool leaving = true;
  bool nominations = true;
  bool notes = true;
  bool budgets = true;
  bool volumes = true;  ///< And claims, and pods that use them.
  bool claims = false;  ///< ResourceGroups, and nodes with a plane.
};

/// Sizes are those of the pools of names: an upper bound for what exists at once.
struct RandomClusterOptions {
  std::size_t namespaces = 2;
  std::size_t nodes = 6;
  std::size_t pods = 12;  ///< Names per namespace.
  std::size_t groups = 3;
  std::size_t workloads = 2;
  std::size_t priority_classes = 4;
  std::size_t budgets = 2;
  std::size_t changes = 50;  ///< Length of a sequence.
  RandomFeatures features;
};

/// Swarm: random sizes, each feature off in one of four cases, and now and then a long sequence.
RandomClusterOptions random_options(Prng& prng);

class RandomObjects {
 public:
  RandomObjects(Prng& prng, const RandomClusterOptions& options) : prng_(prng), options_(options) {}

  /// 0 to 100: how much of the sequence is over; extended resources appear with it.
  void set_progress(std::size_t percent) { progress_ = percent; }

  Pod pod(const std::string& namespace_name, const std::string& name);
  /// A pod whose lists are in disorder and repeat themselves.
  Pod raw_pod();
  /// The same pod with one thing changed.
  Pod changed(Pod pod);
  Node node(const std::string& name);
  PriorityClass priority_class(const std::string& name);
  DisruptionBudget budget(const std::string& namespace_name, const std::string& name);
  PodGroup group(const std::string& namespace_name, const std::string& name);
  Workload workload(const std::string& namespace_name, const std::string& name);
  Namespace namespace_object(const std::string& name);
  /// Names that begin with "queue" are leaves; their parents are "team-0" and, in it, "team-1".
  Queue queue(const std::string& name);
  ResourceGroup resource_group(const std::string& name);
  /// A StorageClass, a volume, a claim or limits of a node.
  Change volume_object(const std::string& namespace_name);
  Removal removal();

  std::string namespace_name();
  std::string node_name();
  std::string pod_name();
  std::string group_name();  ///< Of a PodGroup.
  std::string workload_name();
  std::string class_name();  ///< Built-in ones too.
  std::string budget_name();
  std::string resource_group_name();
  std::string queue_name();         ///< Of a leaf.
  std::string queue_object_name();  ///< Of a leaf or a parent.

 private:
  bool on(bool feature, std::uint64_t percent) { return feature && prng_.chance(percent); }
  std::string numbered(const char* stem, std::size_t pool);
  void place(Pod& pod);
  void prioritize(Pod& pod);
  std::string any_group();
  std::string topology_key();
  std::string template_name();
  Labels labels();
  Amounts amounts(bool of_node);
  Quotas quotas(const Amounts& floor);
  std::int64_t amount();
  std::vector<Taint> taints();
  PodShape shape();
  static PodPreferences random_preferences(Prng prng);
  RandomVolumes random_volumes();
  // The first four operators are for labels of anything, Gt and Lt for those of nodes only.
  static constexpr std::uint64_t pod_operators = 4;
  static constexpr std::uint64_t node_operators = 6;
  Requirement requirement(std::uint64_t operators);
  LabelSelector selector();
  PodNotes notes();
  std::int32_t priority();
  Time time();
  PreemptionPolicy preemption_policy();
  GroupPolicy policy();
  PriorityClaim claim();

  Prng& prng_;
  RandomClusterOptions options_;
  std::size_t progress_ = 100;
};

/// Every object of the pools once, what others refer to first.
std::vector<Change> random_objects(Prng& prng, const RandomClusterOptions& options);

/// A history: upserts, updates and removals, `options.changes` of them (with `dangling` off, after
/// everything that can be referred to, which then stays).
std::vector<Change> random_changes(Prng& prng, const RandomClusterOptions& options);

}  // namespace makeway

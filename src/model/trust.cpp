#include "model/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "model/findings.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/object_at.hpp"
#include "model/object_text.hpp"
#include "model/queue_membership.hpp"
#include "model/required_node.hpp"
#include "model/selector.hpp"
#include "model/validation/quarantine.hpp"
#include "model/validation/validation.hpp"

namespace makeway {
namespace {

/// Beside the name of its node, this makes an affinity one of several names: the pod has one node
/// and is an ordinary pod. No node is called that.
constexpr std::string_view no_node = "makeway.dev/ordinary";
constexpr std::string_view daemon_set = "DaemonSet";
constexpr std::string_view untrusted_daemon_set = "DaemonSet (not trusted)";
constexpr std::string_view pod_kind = "Pod";
constexpr std::string_view untrusted_pod = "Pod (not trusted)";
constexpr std::array queue_labels = {names::queue, names::kueue_queue, names::yunikorn_queue};

constexpr std::array<std::string_view, choice_names<TrustMark>.size()> reasons = {
    "an ordinary pod for its node: the privileges of pinned pods need a DaemonSet that exists in a "
    "trusted namespace",
    "it protects in trusted namespaces only",
    "above the cap of the administrator; the cap counts, and where none is set only trusted "
    "namespaces may state one",
    "the lowest priority of the group and its pods counts",
    "the Queue lists namespaces, and this one is not among them; the label counts as absent",
    "it belongs to no queue, and only trusted namespaces may do without one",
    "the selector of the ReplicaSchedule does not name the pod; the label counts as absent",
    "its ResourceGroup is not there, lists other namespaces, or does not have the node; its pods "
    "are ordinary",
    "it counts in trusted namespaces only; its pods are ordinary",
    "more work than it can have done; its run time counts",
    "annotations are not read back: memory is in status",
    "a Configuration among the objects never counts",
};

constexpr std::array<std::string_view, choice_names<TrustMark>.size()> remedies = {
    "trust its namespace (trust.namespaces) and add its DaemonSet to the input",
    "trust its namespace: trust.namespaces, or the label makeway.dev/trusted: \"true\"",
    "name a lower class, or set workload.preemptionPriorityAboveMax",
    "give the pods the group's class",
    "add the namespace to spec.namespaces of the Queue",
    "name a queue",
    "give the ReplicaSchedule a spec.selector that names its pods, or correct the label",
    "let the ResourceGroup list the namespace in spec.namespaces, and the node",
    "trust its namespace: trust.namespaces, or the label makeway.dev/trusted: \"true\"",
    "state at most the run time",
    "leave it out",
    "name it with --config",
};

std::size_t position_of(TrustMark mark) { return static_cast<std::size_t>(mark); }

/// The newest time that tenants cannot write.
Time newest_of_cluster(const Cluster& cluster) {
  Time newest{0};
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    newest = std::max({newest, pods.created[pod], pods.started[pod], pods.observed[pod]});
  }
  for (const NodeIndex node : cluster.nodes_by_name()) {
    newest = std::max({newest, cluster.nodes().created[node], cluster.nodes().observed[node]});
  }
  return newest;
}

/// Where the mark stands, as far as the model knows: labels are kept, annotations are not.
std::string field_of_mark(const Pod& pod, std::string_view name, std::string_view value) {
  std::vector<std::string_view> keys = {name};
  if (name == names::allow_preemption) keys.push_back(names::yunikorn_allow_preemption);
  for (const std::string_view key : keys) {
    if (find_label(pod.labels, key) == value) return fmt::format("metadata.labels[{}]", key);
  }
  return annotation_field(name);
}

/// Whether the group lists or selects it.
bool has_node(const Cluster& cluster, const ResourceGroup& group, NodeIndex node) {
  if (std::ranges::binary_search(group.nodes, cluster.text(cluster.nodes().name[node]))) {
    return true;
  }
  const Labels labels = cluster.label_objects(cluster.nodes().labels[node]);
  return !group.node_selector.empty() &&
         std::ranges::all_of(group.node_selector, [&](const Label& label) {
           return find_label(labels, label.key) == std::string_view(label.value);
         });
}

class TrustStep {
 public:
  TrustStep(Cluster& cluster, const Configuration& configuration, const TrustFacts& facts)
      : cluster_(cluster),
        configuration_(configuration),
        trust_(configuration.trust),
        in_cluster_(configuration.trust.mode == TrustMode::cluster),
        facts_(facts),
        now_(facts.now ? *facts.now : newest_of_cluster(cluster)) {
    for (const Namespace* const space : cluster.namespaces()) {
      if (find_label(space->labels, names::trusted) == std::string_view("true")) {
        labelled_.insert(owned(key_of(*space)));
      }
    }
  }

  TrustReport run() {
    look_at_own_kinds();
    apply_all();
    look_at_groups();
    if (facts_.scope == nullptr) look_at_workloads();
    look_at_pods();
    apply_all();
    if (in_cluster_) {
      look_at_caps();
      apply_all();
      if (facts_.scope == nullptr) look_at_templates();
      apply_all();
    }
    look_outside_queues();
    apply_all();
    return std::move(report_);
  }

  std::vector<TrustEdit> edits() const {
    std::vector<TrustEdit> made;
    made.reserve(before_.size());
    for (const auto& [key, before] : before_) {
      Change after = object_at(cluster_, key);
      if (after != before) made.push_back({.before = before, .after = std::move(after)});
    }
    return made;
  }

 private:
  bool trusted(std::string_view space, std::string_view plane) const {
    return std::ranges::find(trust_.namespaces, space) != trust_.namespaces.end() ||
           labelled_.contains(ObjectKeyView{.name = space, .plane = plane});
  }
  std::vector<GroupIndex> groups_to_look_at() const {
    return facts_.scope == nullptr ? cluster_.groups_by_name() : facts_.scope->groups;
  }
  template <class Look>
  void each_pod_to_look_at(const Look& look) const {
    if (facts_.scope == nullptr) {
      for (const PodIndex pod : cluster_.each_pod()) look(pod);
    } else {
      for (const PodIndex pod : facts_.scope->pods) look(pod);
    }
  }
  void look_at_own_kinds();
  void look_at_sessions();
  bool has_place(const Session& session) const;
  void look_at_groups();
  void look_at_workloads();
  void look_at_pods();
  void look_at_pod(PodIndex index, std::optional<StringId> deployment);
  void look_at_caps();
  void look_at_templates();
  void look_outside_queues();
  bool has_privileges(const Pod& pod) const;
  bool names_pods(PodIndex index) const;
  void unpin(Pod& pod, PodIndex index);
  void unprotect(Pod& pod);
  void forget_notes(Pod& pod);
  void check_queue(Pod& pod, PodIndex index);
  void check_deployment(Pod& pod);
  bool may_name(std::string_view queue, std::string_view space) const;
  template <class Object>
  void limit_cost(Object& object, std::optional<Time> started, const std::string& text);
  std::optional<Time> first_start(std::span<const PodIndex> pods) const;
  PodGroup group_object(GroupIndex index) const;
  std::optional<std::string> capped_class(const Unit& unit, bool is_trusted,
                                          std::string_view plane);
  void apply_all();

  Cluster& cluster_;
  const Configuration& configuration_;
  const TrustSettings& trust_;
  bool in_cluster_;  ///< Objects come from tenants.
  const TrustFacts& facts_;
  Time now_;
  std::set<ObjectKey, ObjectKeyLess> labelled_;                      ///< Namespaces.
  std::map<std::pair<std::string, std::string>, Labels> selectors_;  ///< By deployment.
  std::vector<Change> changes_;
  std::map<ChangeKey, Change> before_;  ///< What was changed, as it was.
  TrustReport report_{facts_.on_each};
};

void TrustStep::apply_all() {
  if (changes_.empty()) return;
  for (const Change& change : changes_) {
    ChangeKey key = key_of_change(change);
    if (!before_.contains(key)) before_.emplace(key, object_at(cluster_, key));
  }
  const bool many = facts_.scope == nullptr;
  if (many) cluster_.begin_bulk();
  for (const Change& change : changes_) cluster_.apply(change);
  if (many) cluster_.finish_bulk();
  changes_.clear();
}

// ---- Our own kinds ------------------------------------------------------------------------------

void TrustStep::look_at_own_kinds() {
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    if (in_cluster_ && !trusted(schedule.namespace_name, {})) {
      report_.add(TrustMark::replica_schedule, object_text(schedule), "metadata.namespace",
                  schedule.namespace_name);
      changes_.emplace_back(Removal{.kind = ObjectKind::replica_schedule,
                                    .namespace_name = schedule.namespace_name,
                                    .name = schedule.name,
                                    .plane = {}});
    } else if (in_cluster_) {
      selectors_[{schedule.namespace_name, schedule.deployment}] = schedule.selector;
    }
  }
  if (in_cluster_ && facts_.scope == nullptr) look_at_sessions();
}

/// Whether its ResourceGroup takes it, and is on the nodes where it says that it runs.
bool TrustStep::has_place(const Session& session) const {
  const auto& groups = cluster_.own<ResourceGroup>();
  const auto found = groups.find(ObjectKeyView{.name = session.resource_group});
  if (found == groups.end()) return false;
  const ResourceGroup& group = found->second;
  if (!group.namespaces.empty() &&
      !std::ranges::binary_search(group.namespaces, session.namespace_name)) {
    return false;
  }
  return std::ranges::all_of(session.kernels, [&](const Kernel& kernel) {
    const auto node = cluster_.find_node(kernel.node);
    return kernel.node.empty() || !node || has_node(cluster_, group, *node);
  });
}

/// In a live cluster a node is used by pods, and a Session only says so: without it they are
/// ordinary ones. Otherwise a tenant could fill any node with a text.
void TrustStep::look_at_sessions() {
  for (const auto& [key, session] : cluster_.own<Session>()) {
    if (has_place(session)) continue;
    report_.add(TrustMark::session, object_text(session), "spec.resourceGroup",
                session.resource_group);
    changes_.emplace_back(Removal{.kind = ObjectKind::session,
                                  .namespace_name = session.namespace_name,
                                  .name = session.name,
                                  .plane = {}});
  }
}

// ---- Groups -------------------------------------------------------------------------------------

std::optional<Time> TrustStep::first_start(std::span<const PodIndex> pods) const {
  std::optional<Time> first;
  for (const PodIndex pod : pods) {
    const Time started = cluster_.pods().started[pod];
    if (started != no_time && (!first || started < *first)) first = started;
  }
  return first;
}

/// An eviction costs at most the run time, and no checkpoint is in the future.
template <class Object>
void TrustStep::limit_cost(Object& object, std::optional<Time> started, const std::string& text) {
  if (!in_cluster_) return;
  const std::int64_t most =
      started ? std::max(std::int64_t{0}, (now_ - *started).ms / 1'000) : std::int64_t{0};
  if (object.preemption_cost_seconds && *object.preemption_cost_seconds > most) {
    report_.add(TrustMark::cost, text, annotation_field(names::preemption_cost),
                fmt::format("{}", *object.preemption_cost_seconds));
    object.preemption_cost_seconds = most;
  }
  if (object.last_checkpoint && (*object.last_checkpoint > now_ || !started)) {
    report_.add(TrustMark::cost, text, annotation_field(names::last_checkpoint),
                to_text(*object.last_checkpoint));
    object.last_checkpoint = now_;
  }
}

/// Its object, or one that says the same as its Workload.
PodGroup TrustStep::group_object(GroupIndex index) const {
  const Group& group = cluster_.groups()[index];
  if (group.object) return *group.object;
  const Workload* const workload = cluster_.workload_of(group);
  const GroupTemplate* const entry = cluster_.template_of(group);
  PodGroup made{.namespace_name = std::string(cluster_.text(group.namespace_name)),
                .name = std::string(cluster_.text(group.name)),
                .plane = std::string(cluster_.text(group.plane)),
                .policy = *cluster_.policy_of(group)};
  if (workload != nullptr) made.workload = workload->name;
  if (entry != nullptr) made.template_name = entry->name;
  return made;
}

/// What a group says about itself; its priority is that of its pods, if that is lower.
void TrustStep::look_at_groups() {
  for (const GroupIndex index : groups_to_look_at()) {
    const Group& group = cluster_.groups()[index];
    if (cluster_.policy_of(group) == nullptr) continue;
    PodGroup fresh = group_object(index);
    const PodGroup before = fresh;
    const std::string text = object_text(fresh);
    const bool home_of_trust = trusted(fresh.namespace_name, fresh.plane);
    if (in_cluster_ && fresh.opted_out && !home_of_trust) {
      report_.add(TrustMark::protection, text, annotation_field(names::allow_preemption), "false");
      fresh.opted_out = false;
    }
    if (!may_name(fresh.queue, fresh.namespace_name)) {
      report_.add(TrustMark::queue_label, text, "queue", fresh.queue);
      fresh.queue.clear();
    }
    const Unit& unit = cluster_.units()[group.unit];
    std::int32_t lowest = unit.scheduling_priority;
    for (const PodIndex pod : group.members) {
      lowest = std::min(lowest, cluster_.pods().priority[pod]);
    }
    if (in_cluster_ && lowest < unit.scheduling_priority) {
      report_.add(TrustMark::group_priority, text, "spec.priority",
                  fmt::format("{}", unit.scheduling_priority));
      fresh.priority.priority_class.clear();
      fresh.priority.priority = lowest;
    }
    limit_cost(fresh, first_start(group.members), text);
    if (fresh != before) changes_.emplace_back(std::move(fresh));
  }
}

void TrustStep::look_at_workloads() {
  if (!in_cluster_) return;
  std::map<const Workload*, std::optional<Time>> oldest;
  for (const GroupIndex index : cluster_.groups_by_name()) {
    const Group& group = cluster_.groups()[index];
    const Workload* const workload = cluster_.workload_of(group);
    const std::optional<Time> started = first_start(group.members);
    if (workload == nullptr || !started) continue;
    std::optional<Time>& known = oldest[workload];
    if (!known || *started < *known) known = started;
  }
  for (const Workload* const workload : cluster_.workloads()) {
    Workload fresh = *workload;
    limit_cost(fresh, oldest[workload], object_text(fresh));
    if (fresh != *workload) changes_.emplace_back(std::move(fresh));
  }
}

// ---- Pods ---------------------------------------------------------------------------------------

bool TrustStep::has_privileges(const Pod& pod) const {
  if (!trusted(pod.namespace_name, pod.plane) || !facts_.has_daemon_set) return false;
  return std::ranges::any_of(pod.owners, [&](const OwnerReference& owner) {
    return owner.kind == daemon_set && owner.controller &&
           facts_.has_daemon_set(pod.namespace_name, owner.name);
  });
}

/// It stays bound to its node, because any pod may ask for one node.
void TrustStep::unpin(Pod& pod, PodIndex index) {
  constexpr std::array ways = {PinnedBy::affinity, PinnedBy::annotation, PinnedBy::owner};
  if (!in_cluster_ || !is_pinned_by(cluster_, index, ways)) return;
  if (has_privileges(pod)) return;
  const std::string node(required_node_of(cluster_, index));
  const bool noted = !pod.notes.required_node.empty();
  report_.add(TrustMark::pinned, object_text(pod),
              noted          ? annotation_field(names::required_node)
              : node.empty() ? std::string("metadata.ownerReferences")
                             : fmt::format("spec.affinity.nodeAffinity.{}", names::required_terms),
              node.empty() ? daemon_set : std::string_view(node));
  std::vector<NodeSelectorTerm>& terms = pod.shape.node_terms;
  for (NodeSelectorTerm& term : terms) {
    for (Requirement& field : term.fields) {
      if (field.operation == Operator::in) field.values.emplace_back(no_node);
    }
  }
  if (noted) {
    const bool free = terms.empty();
    if (free) terms.emplace_back();
    for (NodeSelectorTerm& term : terms) {
      if (!free && term.labels.empty() && term.fields.empty()) continue;  // It selects no node.
      term.fields.push_back({.key = "metadata.name",
                             .operation = Operator::in,
                             .values = {pod.notes.required_node, std::string(no_node)}});
    }
    pod.notes.required_node.clear();
  }
  for (OwnerReference& owner : pod.owners) {
    if (owner.kind == daemon_set) owner.kind = untrusted_daemon_set;
  }
}

void TrustStep::unprotect(Pod& pod) {
  if (!in_cluster_) return;
  if (trusted(pod.namespace_name, pod.plane)) return;
  for (const auto& [mark, name] : {std::pair{&pod.opted_out, names::allow_preemption},
                                   std::pair{&pod.is_protected, names::protected_member},
                                   std::pair{&pod.is_owner, names::owner}}) {
    if (!*mark) continue;
    const std::string_view value = name == names::allow_preemption ? "false" : "true";
    report_.add(TrustMark::protection, object_text(pod), field_of_mark(pod, name, value), value);
    *mark = false;
  }
  // Any tenant can write an owner reference to a pod.
  for (OwnerReference& owner : pod.owners) {
    if (owner.kind != pod_kind) continue;
    report_.add(TrustMark::protection, object_text(pod), "metadata.ownerReferences",
                fmt::format("{} {}", owner.kind, owner.name));
    owner.kind = untrusted_pod;
  }
}

void TrustStep::forget_notes(Pod& pod) {
  if (!in_cluster_) return;
  PodNotes& notes = pod.notes;
  const auto forget = [&](std::string_view name, std::string_view value) {
    report_.add(TrustMark::note, object_text(pod), annotation_field(name), value);
  };
  if (pod.kept != KeptBy::none && !facts_.decides_kept) {
    forget(names::kept_by, kept_by_names.at(static_cast<std::size_t>(pod.kept)));
    pod.kept = KeptBy::none;
  }
  notes.evicted_for.clear();  // A live run writes these two for users, so they are not reported.
  notes.plan.clear();
  if (facts_.recalls_notes) return;
  if (notes.reserved_since) forget(names::reserved_since, to_text(*notes.reserved_since));
  if (notes.promised) forget(names::promised, "true");
  notes.reserved_since.reset();
  notes.promised = false;
}

bool TrustStep::may_name(std::string_view queue, std::string_view space) const {
  if (!in_cluster_ || queue.empty()) return true;
  const auto& queues = cluster_.own<Queue>();
  const auto found = queues.find(ObjectKeyView{.name = queue});
  return found == queues.end() || found->second.namespaces.empty() ||
         std::ranges::find(found->second.namespaces, space) != found->second.namespaces.end();
}

/// Labels stay, since others may select by them: ours, which comes first, says that it names none.
void TrustStep::check_queue(Pod& pod, PodIndex index) {
  const std::string queue(cluster_.text(cluster_.pods().queue[index]));
  if (may_name(queue, pod.namespace_name)) return;
  for (const std::string_view key : queue_labels) {
    if (!find_label(pod.labels, key)) continue;
    report_.add(TrustMark::queue_label, object_text(pod), fmt::format("metadata.labels[{}]", key),
                queue);
    std::erase_if(pod.labels, [](const Label& label) { return label.key == names::queue; });
    pod.labels.push_back({.key = std::string(names::queue), .value = {}});
    pod.notes.queue.clear();
    return;
  }
  report_.add(TrustMark::queue_label, object_text(pod), annotation_field(names::queue), queue);
  pod.notes.queue.clear();
}

void TrustStep::check_deployment(Pod& pod) {
  if (!in_cluster_ || selectors_.empty()) return;
  const std::optional<std::string_view> label = find_label(pod.labels, names::deployment);
  if (!label) return;
  const auto found = selectors_.find({pod.namespace_name, std::string(*label)});
  if (found == selectors_.end()) return;
  // Without a selector the schedule names no pods: any pod could carry the label.
  const bool named =
      !found->second.empty() && std::ranges::all_of(found->second, [&](const Label& wanted) {
        return find_label(pod.labels, wanted.key) == std::string_view(wanted.value);
      });
  if (named) return;
  report_.add(TrustMark::deployment_label, object_text(pod),
              fmt::format("metadata.labels[{}]", names::deployment), *label);
  std::erase_if(pod.labels, [](const Label& each) { return each.key == names::deployment; });
}

bool TrustStep::names_pods(PodIndex index) const {
  const OwnersId owners = cluster_.pods().owners[index];
  return owners != OwnersId{0} &&
         std::ranges::find(cluster_.owners(owners), pod_kind, &OwnerReference::kind) !=
             cluster_.owners(owners).end();
}

void TrustStep::look_at_pods() {
  const auto deployment = cluster_.strings().find(names::deployment);
  each_pod_to_look_at([&](PodIndex index) { look_at_pod(index, deployment); });
}

void TrustStep::look_at_pod(PodIndex index, std::optional<StringId> deployment) {
  const PodColumns& pods = cluster_.pods();
  const PodFlags flags = pods.flags[index];
  const bool labelled =
      deployment && !selectors_.empty() &&
      std::ranges::any_of(cluster_.labels(pods.labels[index]),
                          [&](const LabelPair& pair) { return pair.key == *deployment; });
  const bool plain = pods.notes[index] == NotesId{0} && pods.queue[index] == StringId{0} &&
                     !flags.opted_out && !flags.is_protected && !flags.is_owner &&
                     !flags.of_daemon_set && flags.kept == KeptBy::none && !labelled &&
                     !names_pods(index) && !is_pinned(cluster_, index);
  if (plain) return;
  Pod pod = cluster_.pod(index);
  const Pod before = pod;
  unpin(pod, index);
  unprotect(pod);
  forget_notes(pod);
  check_queue(pod, index);
  check_deployment(pod);
  limit_cost(pod.notes, pod.started, object_text(pod));
  if (pod == before) return;
  normalize(pod);
  changes_.emplace_back(std::move(pod));
}

// ---- Caps ---------------------------------------------------------------------------------------

/// The class to name instead, empty: none; nothing: what it names is allowed.
/// Without a configured cap only the trusted namespaces are trusted.
std::optional<std::string> TrustStep::capped_class(const Unit& unit, bool is_trusted,
                                                   std::string_view plane) {
  const WorkloadSettings& settings = configuration_.workload;
  const bool says_nothing = settings.preemption_priority_above_max == priority_distance_max;
  const std::int64_t scheduling = unit.scheduling_priority;
  const std::int64_t above = unit.preemption_priority - scheduling;
  if (above <= 0 || !settings.honour_preemption_priority) return std::nullopt;
  const bool may_differ = scheduling >= settings.preemption_priority_from &&
                          scheduling <= settings.preemption_priority_to;
  const bool none = !may_differ || (says_nothing && !is_trusted);
  const std::int64_t most = none ? 0 : settings.preemption_priority_above_max;
  if (above <= most) return std::nullopt;
  constexpr std::int64_t class_value_max = 1'000'000'000;
  const std::int64_t value = std::min(scheduling + most, class_value_max);
  if (value < scheduling) return std::string();
  PriorityClass cap{.name = value < 0 ? fmt::format("cap-minus-{}.makeway.dev", -value)
                                      : fmt::format("cap-{}.makeway.dev", value),
                    .plane = std::string(plane),
                    .value = static_cast<std::int32_t>(value)};
  std::string name = cap.name;
  changes_.emplace_back(std::move(cap));
  return name;
}

void TrustStep::look_at_caps() {
  const std::string field = annotation_field(names::preemption_priority_class);
  for (const GroupIndex index : groups_to_look_at()) {
    const Group& group = cluster_.groups()[index];
    const Unit& unit = cluster_.units()[group.unit];
    if (cluster_.policy_of(group) == nullptr) continue;
    const std::string_view plane = cluster_.text(group.plane);
    const bool is_trusted = trusted(cluster_.text(group.namespace_name), plane);
    std::optional<std::string> cap = capped_class(unit, is_trusted, plane);
    if (!cap) continue;
    PodGroup fresh = group_object(index);
    report_.add(TrustMark::preemption_priority, object_text(fresh), field,
                fmt::format("{}", unit.preemption_priority));
    fresh.priority.preemption_priority_class = std::move(*cap);
    changes_.emplace_back(std::move(fresh));
  }
  each_pod_to_look_at([&](PodIndex index) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[index]];
    if (unit.kind != UnitKind::pod) return;
    const std::string_view plane = cluster_.text(cluster_.pods().plane[index]);
    const bool is_trusted = trusted(cluster_.text(cluster_.pods().namespace_name[index]), plane);
    std::optional<std::string> cap = capped_class(unit, is_trusted, plane);
    if (!cap) return;
    Pod pod = cluster_.pod(index);
    report_.add(TrustMark::preemption_priority, object_text(pod), field,
                pod.notes.preemption_priority_class);
    pod.notes.preemption_priority_class = std::move(*cap);
    changes_.emplace_back(std::move(pod));
  });
}

/// Of templates without a group: there is no unit yet to which the cap applies.
void TrustStep::look_at_templates() {
  const std::vector<Problem> errors = list_cap_errors(cluster_, configuration_);
  if (errors.empty()) return;
  std::map<std::string, const Workload*> workloads;
  for (const Workload* const each : cluster_.workloads())
    workloads.emplace(object_text(*each), each);
  std::map<std::string, Workload> fresh;
  for (const Problem& problem : errors) {
    const auto found = workloads.find(problem.object);
    if (found == workloads.end()) continue;
    report_.add(TrustMark::preemption_priority, problem.object, problem.field, problem.value);
    Workload& edited = fresh.try_emplace(problem.object, *found->second).first->second;
    for (GroupTemplate& entry : edited.templates) {
      if (problem.field.contains(fmt::format("[{}]", entry.name))) {
        entry.priority.preemption_priority_class.clear();
      }
    }
    if (!problem.field.contains("podGroupTemplates")) {
      edited.priority.preemption_priority_class.clear();
    }
  }
  for (auto& [text, workload] : fresh) changes_.emplace_back(std::move(workload));
}

// ---- Queues -------------------------------------------------------------------------------------

void TrustStep::look_outside_queues() {
  if (trust_.outside_queues == TrustedOnly::everyone || !configuration_.queue.enabled ||
      cluster_.own<Queue>().empty()) {
    return;
  }
  const QueueMembership membership(cluster_, configuration_);
  const auto look = [&](PodIndex index) {
    const PodColumns& pods = cluster_.pods();
    if (pods.node[index].exists() || trusted(cluster_.text(pods.namespace_name[index]), {})) return;
    if (membership.is_infrastructure(index) || membership.of(index).exists()) return;
    Pod pod = cluster_.pod(index);
    report_.add(TrustMark::outside_queues, object_text(pod), "metadata.namespace",
                pod.namespace_name);
    hold(pod, reason_of(TrustMark::outside_queues));
    changes_.emplace_back(std::move(pod));
  };
  if (facts_.scope != nullptr) return each_pod_to_look_at(look);
  for (const PodIndex index : cluster_.pending_pods()) look(index);
}

}  // namespace

// ---- The report ---------------------------------------------------------------------------------

void TrustReport::add(TrustMark mark, std::string object, std::string field,
                      std::string_view value) {
  NotHonoured& all = marks_.at(position_of(mark));
  all.mark = mark;
  ++all.objects;
  if (on_each_) on_each_({mark, 1, object, field, shorten(value)});
  if (all.objects > 1 && std::tie(all.object, all.field) <= std::tie(object, field)) return;
  all.object = std::move(object);
  all.field = std::move(field);
  all.value = shorten(value);
}

std::vector<NotHonoured> TrustReport::list() const {
  std::vector<NotHonoured> found;
  for (const NotHonoured& each : marks_) {
    if (each.objects > 0) found.push_back(each);
  }
  return found;
}

Problems TrustReport::problems() const {
  Problems problems;
  for (const NotHonoured& each : list()) {
    const std::string others =
        each.objects == 1 ? std::string() : fmt::format(" ({} such marks)", each.objects);
    problems.push_back({.severity = Severity::warning,
                        .object = each.object,
                        .field = each.field,
                        .value = each.value,
                        .message = fmt::format("not honoured{}: {}", others, reason_of(each.mark)),
                        .remedy = std::string(remedies.at(position_of(each.mark)))});
  }
  return problems;
}

std::string_view reason_of(TrustMark mark) { return reasons.at(position_of(mark)); }

TrustReport apply_trust(Cluster& cluster, const Configuration& configuration,
                        const TrustFacts& facts, std::vector<TrustEdit>& edits) {
  TrustSettings files;
  files.namespaces = configuration.trust.namespaces;
  if (configuration.trust == files) return {};  // All marks count.
  TrustStep step(cluster, configuration, facts);
  TrustReport report = step.run();
  edits = step.edits();
  return report;
}

TrustReport apply_trust(Cluster& cluster, const Configuration& configuration,
                        const TrustFacts& facts) {
  std::vector<TrustEdit> unused;
  return apply_trust(cluster, configuration, facts, unused);
}

}  // namespace makeway

#include "support/reference_store.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>

namespace makeway {
namespace {

constexpr std::int64_t amount_max = std::numeric_limits<std::int64_t>::max();

std::string key_text(const std::string& namespace_name, const std::string& name) {
  return namespace_name + "/" + name;
}

std::string unit_key(const Pod& pod) {
  return pod.group.empty() ? "Pod " + key_text(pod.namespace_name, pod.name)
                           : "PodGroup " + key_text(pod.namespace_name, pod.group);
}

std::string label(const Labels& labels, const std::string& key) {
  for (const Label& candidate : labels) {
    if (candidate.key == key) return candidate.value;
  }
  return "";
}

/// Tells a missing label from one with an empty value.
std::optional<std::string> label_or_none(const Labels& labels, const std::string& key) {
  for (const Label& candidate : labels) {
    if (candidate.key == key) return candidate.value;
  }
  return std::nullopt;
}

std::string queue_of(const Pod& pod) {
  for (const char* const key : {"makeway.dev/queue", "kueue.x-k8s.io/queue-name", "queue"}) {
    if (label_or_none(pod.labels, key)) return label(pod.labels, key);
  }
  return pod.notes.queue;
}

/// The parts of "workload/template/replica".
std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts = {""};
  for (const char letter : name) {
    if (letter == '/') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

void add(std::map<std::string, std::int64_t>& used, const std::string& resource,
         std::int64_t amount) {
  std::int64_t& sum = used[resource];
  sum = sum > amount_max - amount ? amount_max : sum + amount;
}

Amounts amounts_of(const std::map<std::string, std::int64_t>& used) {
  Amounts amounts;
  for (const auto& [resource, amount] : used) {
    if (amount != 0) amounts.push_back({.resource = resource, .amount = amount});
  }
  return amounts;
}

/// Smaller is more important.
auto rank(const Pod& pod, const UnitView& unit) {
  const std::int64_t size = unit.mode == DisruptionMode::all ? unit.size : 1;
  return std::tuple(-std::int64_t{unit.preemption_priority}, unit.kind == UnitKind::group ? 0 : 1,
                    -size, pod.started ? 0 : 1, pod.started.value_or(Time{}), pod.namespace_name,
                    pod.name);
}

template <class Map>
void append_values(const Map& map, std::vector<Change>& changes) {
  for (const auto& [key, value] : map) changes.emplace_back(value);
}

template <class Map>
auto values_of(const Map& map) {
  std::vector<typename Map::mapped_type> values;
  values.reserve(map.size());
  for (const auto& [key, value] : map) values.push_back(value);
  return values;
}

}  // namespace

// ---- Changes ----------------------------------------------------------------------------------

void ReferenceStore::apply(const Change& change) {
  std::visit(
      [this](const auto& object) {
        using Object = std::decay_t<decltype(object)>;
        if constexpr (std::is_same_v<Object, Removal>) {
          remove(object);
        } else if constexpr (std::is_same_v<Object, Node>) {
          nodes_[object.name] = object;
        } else if constexpr (std::is_same_v<Object, Pod>) {
          pods_[{object.namespace_name, object.name}] = object;
          remember_keys(object);
        } else if constexpr (std::is_same_v<Object, PriorityClass>) {
          classes_[object.name] = object;
        } else if constexpr (std::is_same_v<Object, DisruptionBudget>) {
          budgets_[{object.namespace_name, object.name}] = object;
        } else if constexpr (std::is_same_v<Object, PodGroup>) {
          groups_[{object.namespace_name, object.name}] = object;
        } else if constexpr (std::is_same_v<Object, Workload>) {
          workloads_[{object.namespace_name, object.name}] = object;
        } else if constexpr (std::is_same_v<Object, Namespace>) {
          namespaces_[object.name] = object;
        } else {
          static_assert(OwnObject<Object>);
          own_.insert_or_assign({Object::kind, own_key(object)}, object);
        }
      },
      change);
}

void ReferenceStore::remember_keys(const Pod& pod) {
  for (const Label& wanted : pod.shape.node_selector) selecting_keys_.insert(wanted.key);
  for (const NodeSelectorTerm& term : pod.shape.node_terms) {
    for (const Requirement& requirement : term.labels) selecting_keys_.insert(requirement.key);
  }
  selecting_keys_.erase("kubernetes.io/hostname");
}

void ReferenceStore::remove(const Removal& removal) {
  const Key key = {removal.namespace_name, removal.name};
  if (removal.kind == ObjectKind::node) nodes_.erase(removal.name);
  if (removal.kind == ObjectKind::pod) pods_.erase(key);
  if (removal.kind == ObjectKind::priority_class) classes_.erase(removal.name);
  if (removal.kind == ObjectKind::disruption_budget) budgets_.erase(key);
  if (removal.kind == ObjectKind::pod_group) groups_.erase(key);
  if (removal.kind == ObjectKind::workload) workloads_.erase(key);
  if (removal.kind == ObjectKind::namespace_object) namespaces_.erase(removal.name);
  own_.erase({removal.kind, key});
}

std::vector<Change> ReferenceStore::objects() const {
  std::vector<Change> changes;
  append_values(pods_, changes);
  append_values(nodes_, changes);
  append_values(classes_, changes);
  append_values(budgets_, changes);
  append_values(groups_, changes);
  append_values(workloads_, changes);
  append_values(namespaces_, changes);
  append_values(own_, changes);
  return changes;
}

// ---- Priorities -------------------------------------------------------------------------------

const PriorityClass* ReferenceStore::find_class(const std::string& name) const {
  static const PriorityClass node_critical{.name = "system-node-critical", .value = 2'000'001'000};
  static const PriorityClass cluster_critical{.name = "system-cluster-critical",
                                              .value = 2'000'000'000};
  const auto found = classes_.find(name);
  if (found != classes_.end()) return &found->second;
  if (name == node_critical.name) return &node_critical;
  if (name == cluster_critical.name) return &cluster_critical;
  return nullptr;
}

const PriorityClass* ReferenceStore::default_class() const {
  std::vector<std::pair<std::int32_t, std::string>> defaults;
  for (const auto& [name, candidate] : classes_) {
    if (candidate.global_default) defaults.emplace_back(candidate.value, name);
  }
  if (defaults.empty()) return nullptr;
  return &classes_.at(std::ranges::min(defaults).second);
}

ReferenceStore::Priority ReferenceStore::pod_priority(const Pod& pod) const {
  const PriorityClass* const its_class =
      pod.priority_class.empty() ? default_class() : find_class(pod.priority_class);
  Priority priority;
  if (its_class != nullptr) {
    priority.scheduling = its_class->value;
    priority.never_preempts = its_class->preemption_policy == PreemptionPolicy::never;
  }
  if (pod.priority) priority.scheduling = *pod.priority;
  if (pod.preemption_policy != PreemptionPolicy::unset) {
    priority.never_preempts = pod.preemption_policy == PreemptionPolicy::never;
  }
  const PriorityClass* const preemption = find_class(pod.notes.preemption_priority_class);
  priority.preemption = preemption != nullptr ? preemption->value : priority.scheduling;
  return priority;
}

ReferenceStore::Priority ReferenceStore::lowest_priority(
    const std::vector<const Pod*>& members) const {
  if (members.empty()) return pod_priority(Pod{});  // As one pod that says nothing.
  Priority lowest = pod_priority(*members.front());
  for (const Pod* const member : members) {
    const Priority own = pod_priority(*member);
    lowest.scheduling = std::min(lowest.scheduling, own.scheduling);
    lowest.preemption = std::min(lowest.preemption, own.preemption);
    lowest.never_preempts |= own.never_preempts;
  }
  return lowest;
}

ReferenceStore::Priority ReferenceStore::claimed_priority(
    const std::vector<const Pod*>& members, const std::vector<PriorityClaim>& claims) const {
  const Priority of_members = lowest_priority(members);
  Priority result = of_members;
  for (const PriorityClaim& claim : claims) {
    if (!claim.priority && claim.priority_class.empty()) continue;
    const PriorityClass* const its_class = find_class(claim.priority_class);
    result = {};
    if (its_class != nullptr) {
      result.scheduling = its_class->value;
      result.never_preempts = its_class->preemption_policy == PreemptionPolicy::never;
    }
    if (!members.empty()) result.never_preempts |= of_members.never_preempts;
    if (claim.priority) result.scheduling = *claim.priority;
    result.preemption = result.scheduling;
    break;
  }
  for (const PriorityClaim& claim : claims) {
    if (claim.preemption_policy == PreemptionPolicy::unset) continue;
    result.never_preempts = claim.preemption_policy == PreemptionPolicy::never;
    break;
  }
  for (const PriorityClaim& claim : claims) {
    if (claim.preemption_priority_class.empty()) continue;
    const PriorityClass* const its_class = find_class(claim.preemption_priority_class);
    if (its_class != nullptr) result.preemption = its_class->value;
    break;
  }
  return result;
}

// ---- Units ------------------------------------------------------------------------------------

const Workload* ReferenceStore::workload_of(const Key& group) const {
  const auto object = groups_.find(group);
  std::string name;
  if (object != groups_.end()) {
    name = object->second.workload;
  } else if (parts_of(group.second).size() > 1) {
    name = parts_of(group.second).at(0);
  }
  const auto found = workloads_.find({group.first, name});
  return name.empty() || found == workloads_.end() ? nullptr : &found->second;
}

const GroupTemplate* ReferenceStore::template_of(const Key& group) const {
  const Workload* const workload = workload_of(group);
  if (workload == nullptr) return nullptr;
  const auto object = groups_.find(group);
  const std::string wanted =
      object != groups_.end() ? object->second.template_name : parts_of(group.second).at(1);
  for (const GroupTemplate& candidate : workload->templates) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

UnitView ReferenceStore::pod_unit(const Pod& pod) const {
  const Priority priority = pod_priority(pod);
  return {.key = unit_key(pod),
          .kind = UnitKind::pod,
          .defined = true,
          .never_preempts = priority.never_preempts,
          .scheduling_priority = priority.scheduling,
          .preemption_priority = priority.preemption,
          .size = 1,
          .queue = queue_of(pod),
          .members = {key_text(pod.namespace_name, pod.name)}};
}

UnitView ReferenceStore::group_unit(const Key& group,
                                    const std::vector<const Pod*>& members) const {
  UnitView unit{.key = "PodGroup " + key_text(group.first, group.second),
                .kind = UnitKind::group,
                .size = static_cast<std::int32_t>(members.size())};
  std::vector<std::string> queues;
  for (const Pod* const member : members) {
    unit.members.push_back(key_text(member->namespace_name, member->name));
    if (!queue_of(*member).empty()) queues.push_back(queue_of(*member));
  }
  std::ranges::sort(unit.members);
  if (!queues.empty()) unit.queue = std::ranges::min(queues);

  std::vector<PriorityClaim> claims;
  std::optional<GroupPolicy> policy;
  if (const GroupTemplate* const part = template_of(group)) {
    policy = part->policy;
    claims.push_back(part->priority);
  }
  if (const Workload* const workload = workload_of(group)) claims.push_back(workload->priority);
  if (groups_.contains(group)) {
    const PodGroup& object = groups_.at(group);
    policy = object.policy;
    claims.insert(claims.begin(), object.priority);
    if (!object.queue.empty()) unit.queue = object.queue;
    unit.object = object;
  }
  const Priority priority = claimed_priority(members, claims);
  unit.scheduling_priority = priority.scheduling;
  unit.preemption_priority = priority.preemption;
  unit.never_preempts = priority.never_preempts;
  if (!policy) return unit;
  unit.defined = true;
  unit.gang = policy->gang;
  unit.minimum = policy->minimum;
  unit.mode = policy->mode;
  return unit;
}

std::map<std::string, UnitView> ReferenceStore::units() const {
  std::map<std::string, UnitView> units;
  std::map<Key, std::vector<const Pod*>> members;
  for (const auto& [key, object] : groups_) members[key];
  for (const auto& [key, pod] : pods_) {
    if (pod.group.empty()) {
      units[unit_key(pod)] = pod_unit(pod);
    } else {
      members[{pod.namespace_name, pod.group}].push_back(&pod);
    }
  }
  for (const auto& [key, pods] : members) {
    const UnitView unit = group_unit(key, pods);
    units[unit.key] = unit;
  }
  return units;
}

// ---- Nodes ------------------------------------------------------------------------------------

bool ReferenceStore::same_class(const Node& a, const Node& b) const {
  return a.taints == b.taints && a.unschedulable == b.unschedulable &&
         std::ranges::all_of(selecting_keys_, [&](const std::string& key) {
           return label_or_none(a.labels, key) == label_or_none(b.labels, key);
         });
}

NodeView ReferenceStore::node(const std::string& name,
                              const std::map<std::string, UnitView>& units) const {
  NodeView view{.name = name};
  if (nodes_.contains(name)) {
    view.object = nodes_.at(name);
    for (const auto& [other_name, other] : nodes_) {
      if (!same_class(other, *view.object)) continue;
      view.class_of = other_name;
      break;
    }
  }
  std::vector<const Pod*> here;
  for (const auto& [key, pod] : pods_) {
    if (pod.node == name) {
      here.push_back(&pod);
      if (pod.deletion) ++view.leaving;
    } else if (pod.node.empty() && pod.nominated_node == name) {
      view.nominated.push_back(key_text(pod.namespace_name, pod.name));
    }
  }
  std::ranges::sort(view.nominated);
  std::ranges::sort(here, {}, [&](const Pod* pod) { return rank(*pod, units.at(unit_key(*pod))); });
  view.pod_count = static_cast<std::uint32_t>(here.size());
  std::map<std::string, std::int64_t> used;
  view.used_by_first.emplace_back();
  for (const Pod* const pod : here) {
    view.pods.push_back(key_text(pod->namespace_name, pod->name));
    view.priorities.push_back(units.at(unit_key(*pod)).preemption_priority);
    for (const Amount& amount : pod->requests) add(used, amount.resource, amount.amount);
    add(used, "pods", 1);
    view.used_by_first.push_back(amounts_of(used));
  }
  return view;
}

std::vector<NodeView> ReferenceStore::nodes(const std::map<std::string, UnitView>& units) const {
  std::set<std::string> names;
  for (const auto& [name, object] : nodes_) names.insert(name);
  for (const auto& [key, pod] : pods_) {
    names.insert(pod.node.empty() ? pod.nominated_node : pod.node);
  }
  names.erase("");
  std::vector<NodeView> views;
  views.reserve(names.size());
  for (const std::string& name : names) views.push_back(node(name, units));
  return views;
}

ClusterView ReferenceStore::view() const {
  const std::map<std::string, UnitView> all = units();
  ClusterView view;
  for (const auto& [key, pod] : pods_) {
    view.pods.push_back({.key = key_text(key.first, key.second),
                         .object = pod,
                         .unit = unit_key(pod),
                         .priority = pod_priority(pod).scheduling});
  }
  view.units = values_of(all);
  view.nodes = nodes(all);
  view.priority_classes = values_of(classes_);
  view.budgets = values_of(budgets_);
  view.workloads = values_of(workloads_);
  view.namespaces = values_of(namespaces_);
  view.own = values_of(own_);
  return view;
}

}  // namespace makeway

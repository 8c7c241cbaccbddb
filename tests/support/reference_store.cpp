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

std::string in_plane(const std::string& text, const std::string& plane) {
  return plane.empty() ? text : text + " of plane " + plane;
}

std::string reference_key(const ObjectKey& key) {
  return in_plane(key.namespace_name + "/" + key.name, key.plane);
}

ObjectKey key_of_pod(const Pod& pod) { return {pod.namespace_name, pod.name, pod.plane}; }

std::string label(const Labels& labels, const std::string& key) {
  for (const Label& candidate : labels) {
    if (candidate.key == key) return candidate.value;
  }
  return "";
}

/// Distinguishes a missing label from one with an empty value.
std::optional<std::string> label_or_none(const Labels& labels, const std::string& key) {
  for (const Label& candidate : labels) {
    if (candidate.key == key) return candidate.value;
  }
  return std::nullopt;
}

std::string queue_of(const Pod& pod) {
  if (!pod.plane.empty()) return "";  // Queues are at home.
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
                    -size, pod.started ? 0 : 1, pod.started.value_or(Time{}), key_of_pod(pod));
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
        } else {
          ObjectKey key{.namespace_name = "", .name = object.name, .plane = object.plane};
          if constexpr (requires { object.namespace_name; }) {
            key.namespace_name = object.namespace_name;
          }
          std::get<std::map<ObjectKey, Object>>(objects_)[key] = object;
        }
        if constexpr (std::is_same_v<Object, Pod>) remember_keys(object);
      },
      change);
}

void ReferenceStore::remember_keys(const Pod& pod) {
  for (const Label& wanted : pod.shape.node_selector) selecting_keys_.insert(wanted.key);
  for (const NodeSelectorTerm& term : pod.shape.node_terms) {
    for (const Requirement& requirement : term.labels) selecting_keys_.insert(requirement.key);
  }
  for (const NodePreference& preference : pod.shape.preferences.nodes) {
    for (const Requirement& requirement : preference.term.labels)
      selecting_keys_.insert(requirement.key);
  }
  selecting_keys_.erase("kubernetes.io/hostname");
}

void ReferenceStore::remove(const Removal& removal) {
  const ObjectKey key{removal.namespace_name, removal.name, removal.plane};
  each_kind([&](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    if (removal.kind == row_of<Object>.kind) all<Object>().erase(key);
  });
}

std::vector<Change> ReferenceStore::objects() const {
  std::vector<Change> changes;
  each_kind([&](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    for (const auto& [key, value] : all<Object>()) changes.emplace_back(value);
  });
  return changes;
}

// ---- Priorities -------------------------------------------------------------------------------

const PriorityClass* ReferenceStore::find_class(const std::string& plane,
                                                const std::string& name) const {
  static const PriorityClass node_critical{.name = "system-node-critical", .value = 2'000'001'000};
  static const PriorityClass cluster_critical{.name = "system-cluster-critical",
                                              .value = 2'000'000'000};
  const auto found = all<PriorityClass>().find({"", name, plane});
  if (found != all<PriorityClass>().end()) return &found->second;
  if (name == node_critical.name) return &node_critical;
  if (name == cluster_critical.name) return &cluster_critical;
  return nullptr;
}

const PriorityClass* ReferenceStore::default_class(const std::string& plane) const {
  std::vector<std::pair<std::int32_t, std::string>> defaults;
  for (const auto& [key, candidate] : all<PriorityClass>()) {
    if (candidate.plane != plane) continue;
    if (candidate.global_default) defaults.emplace_back(candidate.value, candidate.name);
  }
  if (defaults.empty()) return nullptr;
  return &all<PriorityClass>().at({"", std::ranges::min(defaults).second, plane});
}

ReferenceStore::Priority ReferenceStore::pod_priority(const Pod& pod) const {
  const PriorityClass* const its_class = pod.priority_class.empty()
                                             ? default_class(pod.plane)
                                             : find_class(pod.plane, pod.priority_class);
  Priority priority;
  if (its_class != nullptr) {
    priority.scheduling = its_class->value;
    priority.never_preempts = its_class->preemption_policy == PreemptionPolicy::never;
  }
  if (pod.priority) priority.scheduling = *pod.priority;
  if (pod.preemption_policy != PreemptionPolicy::unset) {
    priority.never_preempts = pod.preemption_policy == PreemptionPolicy::never;
  }
  const PriorityClass* const preemption =
      find_class(pod.plane, pod.notes.preemption_priority_class);
  priority.preemption = preemption != nullptr ? preemption->value : priority.scheduling;
  return priority;
}

ReferenceStore::Priority ReferenceStore::lowest_priority(
    const std::string& plane, const std::vector<const Pod*>& members) const {
  if (members.empty()) return pod_priority(Pod{.plane = plane});  // As one that says nothing.
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
    const std::string& plane, const std::vector<const Pod*>& members,
    const std::vector<PriorityClaim>& claims) const {
  const Priority of_members = lowest_priority(plane, members);
  Priority result = of_members;
  for (const PriorityClaim& claim : claims) {
    if (!claim.priority && claim.priority_class.empty()) continue;
    const PriorityClass* const its_class = find_class(plane, claim.priority_class);
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
    const PriorityClass* const its_class = find_class(plane, claim.preemption_priority_class);
    if (its_class != nullptr) result.preemption = its_class->value;
    break;
  }
  return result;
}

// ---- Units ------------------------------------------------------------------------------------

const Workload* ReferenceStore::workload_of(const ObjectKey& group) const {
  const auto object = all<PodGroup>().find(group);
  std::string name;
  if (object != all<PodGroup>().end()) {
    name = object->second.workload;
  } else if (parts_of(group.name).size() > 1) {
    name = parts_of(group.name).at(0);
  }
  const auto found = all<Workload>().find({group.namespace_name, name, group.plane});
  return name.empty() || found == all<Workload>().end() ? nullptr : &found->second;
}

const GroupTemplate* ReferenceStore::template_of(const ObjectKey& group) const {
  const Workload* const workload = workload_of(group);
  if (workload == nullptr) return nullptr;
  const auto object = all<PodGroup>().find(group);
  const std::string wanted =
      object != all<PodGroup>().end() ? object->second.template_name : parts_of(group.name).at(1);
  for (const GroupTemplate& candidate : workload->templates) {
    if (candidate.name == wanted) return &candidate;
  }
  return nullptr;
}

bool ReferenceStore::has_rules(const ObjectKey& group) const {
  return all<PodGroup>().contains(group) || template_of(group) != nullptr;
}

bool ReferenceStore::is_member(const Pod& pod) const {
  if (pod.group.empty()) return false;
  return pod.node.empty() || has_rules({pod.namespace_name, pod.group, pod.plane});
}

std::string ReferenceStore::unit_key(const Pod& pod) const {
  if (!is_member(pod)) return "Pod " + reference_key(key_of_pod(pod));
  return "PodGroup " + reference_key({pod.namespace_name, pod.group, pod.plane});
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
          .members = {reference_key(key_of_pod(pod))}};
}

UnitView ReferenceStore::group_unit(const ObjectKey& group,
                                    const std::vector<const Pod*>& members) const {
  UnitView unit{.key = "PodGroup " + reference_key(group),
                .kind = UnitKind::group,
                .size = static_cast<std::int32_t>(members.size())};
  std::vector<std::string> queues;
  for (const Pod* const member : members) {
    unit.members.push_back(reference_key(key_of_pod(*member)));
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
  if (all<PodGroup>().contains(group)) {
    const PodGroup& object = all<PodGroup>().at(group);
    policy = object.policy;
    claims.insert(claims.begin(), object.priority);
    if (!object.queue.empty() && group.plane.empty()) unit.queue = object.queue;
    unit.object = object;
  }
  if (policy) {  // The last word: the default class, else 0.
    const PriorityClass* const usual = default_class(group.plane);
    claims.push_back(usual == nullptr ? PriorityClaim{.priority = 0}
                                      : PriorityClaim{.priority_class = usual->name});
  }
  const Priority priority = claimed_priority(group.plane, members, claims);
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
  std::map<ObjectKey, std::vector<const Pod*>> members;
  for (const auto& [key, object] : all<PodGroup>()) members[key];
  for (const auto& [key, pod] : all<Pod>()) {
    const ObjectKey group{pod.namespace_name, pod.group, pod.plane};
    if (!pod.group.empty()) members[group];
    if (is_member(pod)) {
      members[group].push_back(&pod);
    } else {
      units[unit_key(pod)] = pod_unit(pod);
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

bool ReferenceStore::listed(const Node& node) const {
  if (!node.plane.empty()) return false;
  return std::ranges::any_of(all<ResourceGroup>(), [&](const auto& entry) {
    const ResourceGroup& group = entry.second;
    if (!group.plane.empty()) return false;
    if (std::ranges::find(group.nodes, node.name) != group.nodes.end()) return true;
    return !group.node_selector.empty() &&
           std::ranges::all_of(group.node_selector, [&](const Label& wanted) {
             return label_or_none(node.labels, wanted.key) == wanted.value;
           });
  });
}

NodeView ReferenceStore::node(const ObjectKey& node,
                              const std::map<std::string, UnitView>& units) const {
  NodeView view{.name = in_plane(node.name, node.plane)};
  if (all<Node>().contains(node)) {
    view.object = all<Node>().at(node);
    view.claims = {.sessions = listed(*view.object),
                   .replicas = !node.plane.empty() ||
                               label_or_none(view.object->labels, "makeway.dev/plane").has_value()};
    for (const auto& [other_key, other] : all<Node>()) {
      if (!same_class(other, *view.object)) continue;
      view.class_of = in_plane(other_key.name, other_key.plane);
      break;
    }
  }
  std::vector<const Pod*> here;
  for (const auto& [key, pod] : all<Pod>()) {
    if (pod.plane != node.plane) continue;
    if (pod.node == node.name) {
      here.push_back(&pod);
      if (pod.deletion) ++view.leaving;
    } else if (pod.node.empty() && pod.nominated_node == node.name) {
      view.nominated.push_back(reference_key(key));
    }
  }
  std::ranges::sort(view.nominated);
  std::ranges::sort(here, {}, [&](const Pod* pod) { return rank(*pod, units.at(unit_key(*pod))); });
  view.pod_count = static_cast<std::uint32_t>(here.size());
  std::map<std::string, std::int64_t> used;
  view.used_by_first.emplace_back();
  for (const Pod* const pod : here) {
    view.pods.push_back(reference_key(key_of_pod(*pod)));
    view.priorities.push_back(units.at(unit_key(*pod)).preemption_priority);
    for (const Amount& amount : pod->requests) add(used, amount.resource, amount.amount);
    add(used, "pods", 1);
    view.used_by_first.push_back(amounts_of(used));
  }
  return view;
}

std::vector<NodeView> ReferenceStore::nodes(const std::map<std::string, UnitView>& units) const {
  std::set<ObjectKey> keys;
  for (const auto& [key, object] : all<Node>()) keys.insert(key);
  for (const auto& [key, pod] : all<Pod>()) {
    const std::string& name = pod.node.empty() ? pod.nominated_node : pod.node;
    if (!name.empty()) keys.insert({"", name, pod.plane});
  }
  std::vector<NodeView> views;
  views.reserve(keys.size());
  for (const ObjectKey& key : keys) views.push_back(node(key, units));
  std::ranges::sort(views, {}, &NodeView::name);
  return views;
}

ClusterView ReferenceStore::view() const {
  ClusterView view;
  const std::map<std::string, UnitView> all_units = units();
  for (const auto& [key, pod] : all<Pod>()) {
    view.pods.push_back({.key = reference_key(key),
                         .object = pod,
                         .unit = unit_key(pod),
                         .priority = pod_priority(pod).scheduling});
  }
  view.units = values_of(all_units);
  view.nodes = nodes(all_units);
  view.priority_classes = values_of(all<PriorityClass>());
  view.budgets = values_of(all<DisruptionBudget>());
  view.workloads = values_of(all<Workload>());
  view.namespaces = values_of(all<Namespace>());
  each_kind([&](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    if constexpr (OwnObject<Object>) {
      for (const auto& [key, object] : all<Object>()) view.own.emplace_back(object);
    }
  });
  return view;
}

}  // namespace makeway

// Units in the store: groups, workloads, and whose priority counts.
//
// The priority of a group is its PodGroup's, else its Workload's, else that of the default class,
// else 0, whatever its pods say. Where there is no such group yet, bound pods that name it stand
// for themselves, and the pending ones wait with the lowest priority among them. A class that is
// not here counts as 0 until it comes; `validate` reports it.
#include <algorithm>
#include <array>

#include "model/cluster.hpp"
#include "model/group_name.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

std::uint64_t key_hash(Space space, StringId name) {
  return hash_combine(space.number(), name.value);
}

/// Of a group or workload.
template <class Row>
Space space_of(const Row& row) {
  return {.plane = row.plane, .namespace_name = row.namespace_name};
}

const PriorityClass& built_in_class(std::size_t index) {
  static const std::array<PriorityClass, 2> classes = {
      PriorityClass{.name = std::string(names::node_critical), .value = 2'000'001'000},
      PriorityClass{.name = std::string(names::cluster_critical), .value = 2'000'000'000}};
  return classes.at(index);
}

}  // namespace

const PriorityClass* Cluster::find_priority_class(std::string_view name,
                                                  std::string_view plane) const {
  const auto& classes = map_of<PriorityClass>(plane);
  const auto found =
      classes.find(ObjectKeyView{.namespace_name = {}, .name = name, .plane = plane});
  if (found != classes.end()) return &found->second;
  for (const std::size_t index : {0U, 1U}) {
    if (built_in_class(index).name == name) return &built_in_class(index);
  }
  return nullptr;
}

const PriorityClass* Cluster::default_priority_class(std::string_view plane) const {
  const PriorityClass* best = nullptr;
  for (const auto& [key, candidate] : map_of<PriorityClass>(plane)) {
    if (!candidate.global_default || key.plane != plane) continue;
    // Several global defaults are a mistake; Kubernetes then takes the lowest.
    if (best == nullptr || candidate.value < best->value) best = &candidate;
  }
  return best;
}

bool Cluster::apply(const PriorityClass& priority_class) {
  const bool is_new = put(priority_class);
  refresh_all_priorities();
  return is_new;
}

bool Cluster::remove(KindTag<PriorityClass> /*kind*/, const Removal& removal) {
  if (!drop<PriorityClass>(removal)) return false;
  refresh_all_priorities();
  return true;
}

// ---- Slots ------------------------------------------------------------------------------------

std::optional<Space> Cluster::find_space(std::string_view namespace_name,
                                         std::string_view plane) const {
  const auto space = strings_.find(namespace_name);
  const auto in = plane.empty() ? StringId{0} : strings_.find(plane);
  if (!space || !in) return std::nullopt;
  return Space{.plane = *in, .namespace_name = *space};
}

std::optional<GroupIndex> Cluster::group_in(Space space, std::string_view name) const {
  const auto id = strings_.find(name);
  if (!id) return std::nullopt;
  const auto found = groups_by_key_.find(key_hash(space, *id), [&](std::uint32_t slot) {
    const Group& group = groups_[GroupIndex{slot}];
    return space_of(group) == space && group.name == *id;
  });
  if (!found) return std::nullopt;
  return GroupIndex{*found};
}

std::optional<GroupIndex> Cluster::find_group(std::string_view namespace_name,
                                              std::string_view name, std::string_view plane) const {
  const std::optional<Space> space = find_space(namespace_name, plane);
  return space ? group_in(*space, name) : std::nullopt;
}

std::optional<WorkloadIndex> Cluster::find_workload(Space space, std::string_view name) const {
  const auto id = strings_.find(name);
  if (!id) return std::nullopt;
  const auto found = workloads_by_key_.find(key_hash(space, *id), [&](std::uint32_t slot) {
    const WorkloadSlot& workload = workloads_[WorkloadIndex{slot}];
    return space_of(workload) == space && workload.name == *id;
  });
  if (!found) return std::nullopt;
  return WorkloadIndex{*found};
}

UnitIndex Cluster::new_unit() {
  if (free_units_.empty()) return units_.push_back({});
  const UnitIndex unit = free_units_.back();
  free_units_.pop_back();
  units_[unit] = {};
  return unit;
}

GroupIndex Cluster::group_slot(Space space, std::string_view name) {
  if (const auto found = group_in(space, name)) return *found;
  GroupIndex slot;
  if (free_groups_.empty()) {
    slot = groups_.push_back({});
  } else {
    slot = free_groups_.back();
    free_groups_.pop_back();
  }
  Group& group = groups_[slot];
  group.plane = space.plane;
  group.namespace_name = space.namespace_name;
  group.name = strings_.intern(name);
  group.unit = new_unit();
  units_[group.unit].kind = UnitKind::group;
  units_[group.unit].group = slot;
  groups_by_key_.insert(key_hash(space, group.name), slot.value);
  follow_workload(slot);
  return slot;
}

WorkloadIndex Cluster::workload_slot(Space space, std::string_view name) {
  if (const auto found = find_workload(space, name)) return *found;
  WorkloadIndex slot;
  if (free_workloads_.empty()) {
    slot = workloads_.push_back({});
  } else {
    slot = free_workloads_.back();
    free_workloads_.pop_back();
  }
  WorkloadSlot& workload = workloads_[slot];
  workload.plane = space.plane;
  workload.namespace_name = space.namespace_name;
  workload.name = strings_.intern(name);
  workload.used = true;
  workloads_by_key_.insert(key_hash(space, workload.name), slot.value);
  return slot;
}

/// Links the group to the workload that its object, or its name of the 1.35 form, points at.
void Cluster::follow_workload(GroupIndex index) {
  const Group& group = groups_[index];
  std::string_view wanted = workload_of_group_name(text(group.name));
  if (group.object) wanted = group.object->workload;
  const WorkloadIndex old = group.workload;
  const WorkloadIndex target =
      wanted.empty() ? WorkloadIndex{} : workload_slot(space_of(group), wanted);
  if (old == target) return;
  groups_[index].workload = target;
  if (target.exists()) workloads_[target].groups.push_back(index);
  if (old.exists()) {
    std::erase(workloads_[old].groups, index);
    drop_workload_if_unused(old);
  }
}

void Cluster::drop_group_if_unused(GroupIndex index) {
  Group& group = groups_[index];
  if (group.object || !group.members.empty() || !group.strays.empty()) return;
  groups_by_key_.erase(key_hash(space_of(group), group.name), index.value);
  units_[group.unit] = {};
  free_units_.push_back(group.unit);
  const WorkloadIndex workload = group.workload;
  group = {};
  free_groups_.push_back(index);
  if (!workload.exists()) return;
  std::erase(workloads_[workload].groups, index);
  drop_workload_if_unused(workload);
}

void Cluster::drop_workload_if_unused(WorkloadIndex index) {
  WorkloadSlot& workload = workloads_[index];
  if (workload.object || !workload.groups.empty()) return;
  workloads_by_key_.erase(key_hash(space_of(workload), workload.name), index.value);
  workload = {};
  free_workloads_.push_back(index);
}

// ---- Changes ----------------------------------------------------------------------------------

void Cluster::join_unit(PodIndex pod, std::string_view group, bool bound) {
  const UnitIndex old = pods_.unit[pod];
  const Space space{.plane = pods_.plane[pod], .namespace_name = pods_.namespace_name[pod]};
  if (old.exists()) {
    const Unit& unit = units_[old];
    const bool named = unit.group.exists();
    const bool same = named ? text(groups_[unit.group].name) == group : group.empty();
    const bool lone = !named || (bound && policy_of(groups_[unit.group]) == nullptr);
    if (same && lone == (unit.kind == UnitKind::pod)) return refresh_unit(old);
    leave_unit(pod);
  }
  const GroupIndex slot = group.empty() ? GroupIndex{} : group_slot(space, group);
  attach(pod, slot, bound);
  refresh_unit(pods_.unit[pod]);
  // A group that only strays name may be new, and has a row of its own.
  if (slot.exists() && pods_.unit[pod] != groups_[slot].unit) refresh_unit(groups_[slot].unit);
}

void Cluster::leave_unit(PodIndex pod) {
  const UnitIndex index = pods_.unit[pod];
  const Unit unit = units_[index];
  free_lone_unit(pod);
  if (!unit.group.exists()) return;
  Group& group = groups_[unit.group];
  std::vector<PodIndex>& among = unit.kind == UnitKind::group ? group.members : group.strays;
  const auto at = std::ranges::find(among, pod);
  CHECK(at != among.end(), "a pod is missing from its group");
  *at = among.back();
  among.pop_back();
  if (unit.kind == UnitKind::group) refresh_unit(index);
  drop_group_if_unused(unit.group);
}

/// To the group, if there is one. It is unknown whether the pods of an unknown group belong
/// together: those that run are units of their own.
void Cluster::attach(PodIndex pod, GroupIndex group, bool bound) {
  const bool stray = group.exists() && bound && policy_of(groups_[group]) == nullptr;
  if (group.exists() && !stray) {
    groups_[group].members.push_back(pod);
    pods_.unit[pod] = groups_[group].unit;
    return;
  }
  if (stray) groups_[group].strays.push_back(pod);
  const UnitIndex unit = new_unit();
  units_[unit].kind = UnitKind::pod;
  units_[unit].pod = pod;
  units_[unit].group = group;
  pods_.unit[pod] = unit;
}

void Cluster::free_lone_unit(PodIndex pod) {
  const UnitIndex index = pods_.unit[pod];
  pods_.unit[pod] = {};
  if (units_[index].kind != UnitKind::pod) return;
  units_[index] = {};
  free_units_.push_back(index);
}

/// After the group's rules came or went: its bound pods join it, or stand for themselves.
void Cluster::settle_members(GroupIndex index) {
  Group& group = groups_[index];
  std::vector<PodIndex> moving;
  if (policy_of(group) != nullptr) {
    moving.swap(group.strays);
  } else {
    const auto bound = std::ranges::stable_partition(
        group.members, [this](PodIndex pod) { return !pods_.node[pod].exists(); });
    moving.assign(bound.begin(), bound.end());
    group.members.erase(bound.begin(), bound.end());
  }
  std::vector<PodIndex> ordered;
  for (const PodIndex pod : moving) {
    if (pods_.flags[pod].ordered) ordered.push_back(pod);
    leave_order(pod);
    free_lone_unit(pod);
    attach(pod, index, true);
  }
  refresh_unit(group.unit);
  for (const PodIndex pod : group.strays) refresh_unit(pods_.unit[pod]);
  for (const PodIndex pod : ordered) enter_order(pod);
}

bool Cluster::apply(const PodGroup& object) {
  const Space space{.plane = strings_.intern(object.plane),
                    .namespace_name = strings_.intern(object.namespace_name)};
  const GroupIndex slot = group_slot(space, object.name);
  const bool is_new = !groups_[slot].object;
  groups_[slot].object = object;
  strings_.intern(object.queue);
  follow_workload(slot);
  settle_members(slot);
  return is_new;
}

bool Cluster::remove(KindTag<PodGroup> /*kind*/, const Removal& removal) {
  const auto found = find_group(removal.namespace_name, removal.name, removal.plane);
  if (!found || !groups_[*found].object) return false;
  groups_[*found].object.reset();
  follow_workload(*found);
  settle_members(*found);
  drop_group_if_unused(*found);
  return true;
}

bool Cluster::apply(const Workload& object) {
  const Space space{.plane = strings_.intern(object.plane),
                    .namespace_name = strings_.intern(object.namespace_name)};
  const WorkloadIndex slot = workload_slot(space, object.name);
  const bool is_new = !workloads_[slot].object;
  workloads_[slot].object = object;
  for (const GroupIndex group : workloads_[slot].groups) settle_members(group);
  return is_new;
}

bool Cluster::remove(KindTag<Workload> /*kind*/, const Removal& removal) {
  const std::optional<Space> space = find_space(removal.namespace_name, removal.plane);
  const auto found = space ? find_workload(*space, removal.name) : std::nullopt;
  if (!found || !workloads_[*found].object) return false;
  workloads_[*found].object.reset();
  for (const GroupIndex group : workloads_[*found].groups) settle_members(group);
  drop_workload_if_unused(*found);
  return true;
}

// ---- Derived values ---------------------------------------------------------------------------

/// Recomputes the row; when its rank among others changed, its bound pods are ordered anew.
void Cluster::refresh_unit(UnitIndex index) {
  if (bulk_) return;
  const Unit fresh = computed(units_[index]);
  const Unit old = units_[index];
  if (fresh == old) return;
  const bool size_counts = fresh.mode == DisruptionMode::all || old.mode == DisruptionMode::all;
  const bool moves = fresh.preemption_priority != old.preemption_priority ||
                     fresh.mode != old.mode || (size_counts && fresh.size != old.size);
  if (!moves || fresh.kind == UnitKind::pod) {
    units_[index] = fresh;  // A lone pod is never in the order while its unit is refreshed alone.
    return;
  }
  std::vector<PodIndex> ordered;
  for (const PodIndex pod : groups_[fresh.group].members) {
    if (!pods_.flags[pod].ordered) continue;
    leave_order(pod);
    ordered.push_back(pod);
  }
  units_[index] = fresh;
  for (const PodIndex pod : ordered) enter_order(pod);
}

Unit Cluster::computed(const Unit& unit) const {
  if (unit.kind == UnitKind::group) return computed_group(unit);
  Unit fresh{
      .kind = UnitKind::pod, .defined = true, .size = 1, .pod = unit.pod, .group = unit.group};
  const ResolvedPriority priority = own_priority(unit.pod);
  fresh.scheduling_priority = priority.scheduling;
  fresh.preemption_priority = priority.preemption;
  fresh.never_preempts = priority.never_preempts;
  fresh.queue = pods_.queue[unit.pod];
  return fresh;
}

Unit Cluster::computed_group(const Unit& unit) const {
  const Group& group = groups_[unit.group];
  Unit fresh{.kind = UnitKind::group,
             .size = static_cast<std::int32_t>(group.members.size()),
             .group = unit.group};
  std::vector<const PriorityClaim*> claims;  // Most specific first.
  if (group.object) claims.push_back(&group.object->priority);
  if (const GroupTemplate* const found = template_of(group)) claims.push_back(&found->priority);
  if (const Workload* const workload = workload_of(group)) claims.push_back(&workload->priority);
  const ResolvedPriority priority = group_priority(group, claims);
  fresh.scheduling_priority = priority.scheduling;
  fresh.preemption_priority = priority.preemption;
  fresh.never_preempts = priority.never_preempts;
  fresh.queue = group_queue(group);
  const GroupPolicy* const policy = policy_of(group);
  if (policy == nullptr) return fresh;
  fresh.defined = true;
  fresh.gang = policy->gang;
  fresh.minimum = policy->minimum;
  fresh.mode = policy->mode;
  fresh.evict_below_minimum = group.object && group.object->evict_below_minimum;
  return fresh;
}

const GroupTemplate* Cluster::template_of(const Group& group) const {
  const Workload* const workload = workload_of(group);
  if (workload == nullptr) return nullptr;
  const std::vector<GroupTemplate>& templates = workload->templates;
  const std::string_view name = group.object ? std::string_view(group.object->template_name)
                                             : template_of_group_name(text(group.name));
  const auto found = std::ranges::find(templates, name, &GroupTemplate::name);
  return found == templates.end() ? nullptr : &*found;
}

const GroupPolicy* Cluster::policy_of(const Group& group) const {
  if (group.object) return &group.object->policy;
  const GroupTemplate* const found = template_of(group);
  return found == nullptr ? nullptr : &found->policy;
}

Cluster::ResolvedPriority Cluster::group_priority(
    const Group& group, std::span<const PriorityClaim* const> claims) const {
  const auto first = [&](const auto& speaks) -> const PriorityClaim* {
    const auto found = std::ranges::find_if(claims, speaks);
    return found == claims.end() ? nullptr : *found;
  };
  ResolvedPriority result;
  const std::string_view plane = text(group.plane);
  const PriorityClaim* const claim = first([](const PriorityClaim* candidate) {
    return candidate->priority || !candidate->priority_class.empty();
  });
  if (claim != nullptr || policy_of(group) != nullptr) {
    const PriorityClass* const named = claim == nullptr
                                           ? default_priority_class(plane)
                                           : find_priority_class(claim->priority_class, plane);
    result.scheduling = claim != nullptr && claim->priority ? *claim->priority
                        : named != nullptr                  ? named->value
                                                            : 0;
    result.preemption = result.scheduling;
    // Where the group has no policy of its own, its pods' count too, as in kube-scheduler 1.37
    // without the gate PodGroupPreemptionPolicy.
    result.never_preempts =
        (named != nullptr && named->preemption_policy == PreemptionPolicy::never) ||
        std::ranges::any_of(group.members,
                            [&](PodIndex pod) { return own_priority(pod).never_preempts; });
  } else {
    result = members_priority(group);
  }
  const PriorityClaim* const policy = first([](const PriorityClaim* candidate) {
    return candidate->preemption_policy != PreemptionPolicy::unset;
  });
  if (policy != nullptr) {
    result.never_preempts = policy->preemption_policy == PreemptionPolicy::never;
  }
  const PriorityClaim* const preemption = first(
      [](const PriorityClaim* candidate) { return !candidate->preemption_priority_class.empty(); });
  const PriorityClass* const preemption_class =
      preemption == nullptr ? nullptr
                            : find_priority_class(preemption->preemption_priority_class, plane);
  if (preemption_class != nullptr) result.preemption = preemption_class->value;
  return result;
}

Cluster::ResolvedPriority Cluster::own_priority(PodIndex pod) const {
  const PodFlags flags = pods_.flags[pod];
  const std::string_view name = text(pods_.priority_class[pod]);
  const std::string_view plane = text(pods_.plane[pod]);
  const bool relies_on_class =
      !flags.priority_given || flags.preemption_policy == PreemptionPolicy::unset;
  const PriorityClass* const wanted = !relies_on_class ? nullptr
                                      : name.empty()   ? default_priority_class(plane)
                                                       : find_priority_class(name, plane);
  ResolvedPriority result;
  result.scheduling = flags.priority_given ? pods_.priority[pod]
                      : wanted != nullptr  ? wanted->value
                                           : 0;
  const PreemptionPolicy policy = flags.preemption_policy != PreemptionPolicy::unset
                                      ? flags.preemption_policy
                                  : wanted != nullptr ? wanted->preemption_policy
                                                      : PreemptionPolicy::unset;
  result.never_preempts = policy == PreemptionPolicy::never;
  result.preemption = result.scheduling;
  const std::string& preemption_class = notes_[pods_.notes[pod]].preemption_priority_class;
  if (preemption_class.empty()) return result;
  const PriorityClass* const found = find_priority_class(preemption_class, plane);
  if (found != nullptr) result.preemption = found->value;
  return result;
}

Cluster::ResolvedPriority Cluster::members_priority(const Group& group) const {
  ResolvedPriority result;
  if (group.members.empty()) {
    const PriorityClass* const fallback = default_priority_class(text(group.plane));
    if (fallback == nullptr) return result;
    return {.scheduling = fallback->value,
            .preemption = fallback->value,
            .never_preempts = fallback->preemption_policy == PreemptionPolicy::never};
  }
  result = own_priority(group.members.front());
  for (const PodIndex pod : group.members) {
    const ResolvedPriority own = own_priority(pod);
    result.scheduling = std::min(result.scheduling, own.scheduling);
    result.preemption = std::min(result.preemption, own.preemption);
    result.never_preempts = result.never_preempts || own.never_preempts;
  }
  return result;
}

void Cluster::refresh_all_priorities() {
  if (bulk_) return;
  for (std::uint32_t slot = 0; slot < units_.size(); ++slot) {
    if (units_[UnitIndex{slot}].kind != UnitKind::none) {
      units_[UnitIndex{slot}] = computed(units_[UnitIndex{slot}]);
    }
  }
  for (const PodIndex pod : each_row()) {
    if (!pods_.flags[pod].priority_given) pods_.priority[pod] = own_priority(pod).scheduling;
  }
  rebuild_order();
}

/// The queue that the pod's own labels and notes name.
StringId Cluster::stated_queue(PodIndex pod) {
  if (pods_.plane[pod] != StringId{0}) return StringId{0};
  for (const StringId key : queue_keys_) {
    for (const LabelPair& pair : label_sets_[pods_.labels[pod]]) {
      if (pair.key == key) return pair.value;
    }
  }
  return strings_.intern(notes_[pods_.notes[pod]].queue);
}

/// The group's own queue, else the first by name among those its pods ask for.
StringId Cluster::group_queue(const Group& group) const {
  if (group.plane != StringId{0}) return StringId{0};
  if (group.object && !group.object->queue.empty()) {
    return strings_.find(group.object->queue).value_or(StringId{0});
  }
  StringId queue{0};
  for (const PodIndex pod : group.members) {
    const StringId wanted = pods_.queue[pod];
    if (wanted == queue || wanted == StringId{0}) continue;
    if (queue == StringId{0} || text(wanted) < text(queue)) queue = wanted;
  }
  return queue;
}

}  // namespace makeway

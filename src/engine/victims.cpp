#include "engine/victims.hpp"

#include <algorithm>
#include <array>

#include "model/names.hpp"
#include "model/reason.hpp"
#include "model/required_node.hpp"

namespace makeway {

VictimRules::VictimRules(Survey& survey, const Configuration& configuration, Time now)
    : survey_(survey),
      configuration_(&configuration),
      now_(now),
      own_departures_(std::make_unique<const Departures>(survey, configuration, now)),
      departures_(own_departures_.get()),
      own_scope_(std::make_unique<const VictimScope*>(nullptr)),
      scope_(own_scope_.get()),
      own_settled_(std::make_unique<Settled>(survey.cluster().pods().slots())),
      settled_(own_settled_.get()) {
  read_names();
}

VictimRules::VictimRules(const VictimRules& other, const Configuration& configuration)
    : survey_(other.survey_),
      configuration_(&configuration),
      now_(other.now_),
      departures_(other.departures_),
      scope_(other.scope_),
      settled_(other.settled_) {
  read_names();
}

void VictimRules::read_names() {
  const StringPool& strings = survey_.cluster().strings();
  for (const std::string& name : configuration_->protection.namespaces) {
    if (const auto id = strings.find(name)) protected_namespaces_.push_back(*id);
  }
  for (const std::string_view name : {names::node_critical, names::cluster_critical}) {
    if (const auto id = strings.find(name)) critical_classes_.push_back(*id);
  }
}

StaysBecause VictimRules::scaled_only(PodIndex pod) const {
  const ReplicaSchedule* const schedule = survey_.regimes().schedule_of(pod);
  if (schedule == nullptr) return {};
  return {.code = ReasonCode::stays_scaled_only, .schedule = schedule};
}

std::int32_t VictimRules::priority_of(PodIndex pod) const {
  const Unit& unit = survey_.cluster().units()[survey_.cluster().pods().unit[pod]];
  return configuration_->workload.honour_preemption_priority ? unit.preemption_priority
                                                             : unit.scheduling_priority;
}

bool VictimRules::leaving(PodIndex pod) const {
  return configuration_->workload.leaving_room != LeavingRoom::victims && departures_->leaving(pod);
}

std::optional<Time> VictimRules::delayed_until(Time created) const {
  const Duration delay = configuration_->engine.preemption_delay;
  if (delay.ms == 0 || created == no_time || !(now_ - created < delay)) return std::nullopt;
  return created + delay;
}

Time VictimRules::started(PodIndex pod) const {
  const Time started = survey_.cluster().pods().started[pod];
  return started == no_time ? now_ : started;
}

std::int64_t VictimRules::age_ms(PodIndex pod) const {
  return std::max(std::int64_t{0}, (now_ - started(pod)).ms);
}

bool VictimRules::opted_out(PodIndex pod) const {
  const Cluster& cluster = survey_.cluster();
  if (cluster.pods().flags[pod].opted_out) return true;
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind != UnitKind::group) return false;
  const std::optional<PodGroup>& group = cluster.groups()[unit.group].object;
  return group && group->opted_out;
}

StaysBecause VictimRules::protection(PodIndex pod) const {
  constexpr std::array ways = {PinnedBy::affinity, PinnedBy::annotation, PinnedBy::owner};
  if (configuration_->protection.protect_opted_out && opted_out(pod))
    return {.code = ReasonCode::stays_opted_out};
  if (configuration_->protection.pinned && is_pinned_by(survey_.cluster(), pod, ways)) {
    return {.code = ReasonCode::stays_pinned};
  }
  return protection_but_opt_out(pod);
}

StaysBecause VictimRules::protection_from_scale_down(PodIndex pod) const {
  if (configuration_->protection.protect_opted_out && opted_out(pod))
    return {.code = ReasonCode::stays_opted_out};
  return own_protection(pod);
}

/// Replicas are always pods of other schedulers, and no budget is asked about them: scale-down has
/// no such rule.
StaysBecause VictimRules::protection_but_opt_out(PodIndex pod) const {
  const KeptBy kept = survey_.cluster().pods().flags[pod].kept;
  if (kept == KeptBy::other_scheduler) return {.code = ReasonCode::stays_of_other_scheduler};
  if (kept == KeptBy::two_budgets) return {.code = ReasonCode::stays_under_two_budgets};
  const StaysBecause own = own_protection(pod);
  return own.empty() ? scaled_only(pod) : own;
}

StaysBecause VictimRules::own_protection(PodIndex pod) const {
  const Cluster& cluster = survey_.cluster();
  const PodColumns& pods = cluster.pods();
  const ProtectionSettings& protection = configuration_->protection;
  const PodFlags flags = pods.flags[pod];
  const Unit& unit = cluster.units()[pods.unit[pod]];
  if (flags.kernel) return {.code = ReasonCode::stays_kernel};
  if (protection.protect_mirror_pods && flags.mirror) return {.code = ReasonCode::stays_mirror};
  if (configuration_->workload.protect_marked_members && flags.is_protected &&
      unit.mode != DisruptionMode::all) {
    return {.code = ReasonCode::stays_marked};
  }
  const auto among = [](const std::vector<StringId>& list, StringId id) {
    return !list.empty() && std::ranges::find(list, id) != list.end();
  };
  if (among(protected_namespaces_, pods.namespace_name[pod]))
    return {.code = ReasonCode::stays_in_namespace};
  if (protection.protect_system_critical && among(critical_classes_, pods.priority_class[pod])) {
    return {.code = ReasonCode::stays_system_critical};
  }
  const Duration minimum = protection.minimum_runtime;
  if (minimum.ms > 0 && now_ - started(pod) < minimum) return {.code = ReasonCode::stays_too_young};
  return {};
}

StaysBecause VictimRules::stays_because(const Scratch& scratch, PodIndex pod,
                                        std::int32_t ask_priority) const {
  if (survey_.cluster().pods().flags[pod].kernel) return {.code = ReasonCode::stays_kernel};
  if (priority_of(pod) >= ask_priority) return {.code = ReasonCode::stays_not_lower};
  if (late(pod)) return {.code = ReasonCode::stays_leaving_late};
  if (leaving(pod)) return {.code = ReasonCode::stays_leaving_overdue};
  if ((*settled_)[pod] != 0) return {.code = ReasonCode::stays_placed};
  if (*scope_ != nullptr && !(*scope_)->contains(pod))
    return {.code = ReasonCode::stays_in_other_queue};
  if (const StaysBecause reason = protection(pod); !reason.empty()) return reason;
  const Cluster& cluster = survey_.cluster();
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind != UnitKind::group || unit.mode != DisruptionMode::all) return {};
  const bool held = std::ranges::any_of(cluster.groups()[unit.group].members, [&](PodIndex member) {
    return scratch.node_of(member).exists() && !leaving(member) && !may_leave(scratch, member);
  });
  if (!held) return {};
  return {.code = ReasonCode::stays_with_group};
}

bool VictimRules::may_leave(const Scratch& scratch, PodIndex pod) const {
  const NodeIndex node = scratch.node_of(pod);
  return node.exists() && node == survey_.cluster().pods().node[pod] && (*settled_)[pod] == 0 &&
         !leaving(pod) && protection(pod).empty() &&
         (*scope_ == nullptr || (*scope_)->contains(pod));
}

void VictimRules::collect(const Scratch& scratch, std::span<const NodeIndex> nodes,
                          std::int32_t ask_priority, VictimList& list) {
  collect_some(scratch, nodes, ask_priority, [](PodIndex) { return true; }, list);
}

void VictimRules::collect_pod(const Scratch& scratch, PodIndex pod, std::int32_t ask_priority,
                              VictimList& list) {
  const Cluster& cluster = survey_.cluster();
  if (priority_of(pod) >= ask_priority || leaving(pod)) return;
  const UnitIndex index = cluster.pods().unit[pod];
  const Unit& unit = cluster.units()[index];
  if (unit.kind == UnitKind::group && unit.mode == DisruptionMode::all) {
    const auto at = std::ranges::lower_bound(seen_groups_, index);
    if (at != seen_groups_.end() && *at == index) return;
    seen_groups_.insert(at, index);
    add_group(scratch, index, list);
    return;
  }
  if (may_leave(scratch, pod)) add_pod(pod, list);
}

void VictimRules::add_pod(PodIndex pod, VictimList& list) const {
  const UnitIndex index = survey_.cluster().pods().unit[pod];
  list.units.push_back({.unit = index,
                        .first = pod,
                        .priority = priority_of(pod),
                        .group = survey_.cluster().units()[index].kind == UnitKind::group,
                        .started = started(pod),
                        .lost_work_seconds = lost_work_seconds(pod),
                        .begin = static_cast<std::uint32_t>(list.pods.size()),
                        .size = 1});
  list.pods.push_back(pod);
}

bool VictimRules::falls_whole(const Scratch& scratch, Budgets& budgets, UnitIndex index,
                              const VictimList& victims) const {
  const Cluster& cluster = survey_.cluster();
  const Unit& unit = cluster.units()[index];
  if (!unit.evict_below_minimum || !unit.gang || unit.mode == DisruptionMode::all) return false;
  const bool strict = configuration_->budgets.mode == BudgetMode::strict;
  std::int64_t staying = 0;
  bool all_may_leave = true;
  for (const PodIndex pod : cluster.groups()[unit.group].members) {
    if (!scratch.node_of(pod).exists() || leaving(pod)) continue;
    ++staying;
    all_may_leave = all_may_leave && may_leave(scratch, pod) && (!strict || !budgets.governed(pod));
  }
  if (staying == 0 || staying >= unit.minimum || !all_may_leave) return false;
  std::int64_t gone = 0;
  for (const VictimUnit& victim : victims.units) {
    if (victim.unit != index) continue;
    gone += std::ranges::count_if(victims.pods_of(victim),
                                  [&](PodIndex pod) { return !scratch.node_of(pod).exists(); });
  }
  return staying + gone >= unit.minimum;
}

bool VictimRules::any_may_fall(const VictimList& victims) const {
  return configuration_->workload.honour_below_minimum &&
         std::ranges::any_of(victims.units, [&](const VictimUnit& victim) {
           return survey_.cluster().units()[victim.unit].evict_below_minimum;
         });
}

void VictimRules::add_fallen(const Scratch& scratch, Budgets& budgets, VictimList& victims) const {
  if (!any_may_fall(victims)) return;
  const Cluster& cluster = survey_.cluster();
  std::vector<UnitIndex> known;
  for (std::size_t at = 0, count = victims.units.size(); at < count; ++at) {
    const UnitIndex index = victims.units[at].unit;
    const auto seen = std::ranges::lower_bound(known, index);
    if (seen != known.end() && *seen == index) continue;
    known.insert(seen, index);
    if (!falls_whole(scratch, budgets, index, victims)) continue;
    for (const PodIndex pod : cluster.groups()[cluster.units()[index].group].members) {
      if (scratch.node_of(pod).exists() && !leaving(pod)) add_pod(pod, victims);
    }
  }
  std::ranges::sort(victims.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return more_important(a, b);
  });
}

void VictimRules::add_group(const Scratch& scratch, UnitIndex index, VictimList& list) {
  const Cluster& cluster = survey_.cluster();
  const Group& group = cluster.groups()[cluster.units()[index].group];
  const std::size_t begin = list.pods.size();
  bool stays = false;
  for (const PodIndex pod : group.members) {
    if (!scratch.node_of(pod).exists() || leaving(pod)) continue;
    stays = stays || !may_leave(scratch, pod);
    list.pods.push_back(pod);
  }
  if (stays || list.pods.size() == begin) {
    list.pods.resize(begin);
    return;
  }
  const auto pods = std::span(list.pods).subspan(begin);
  std::ranges::sort(pods, {}, [&](PodIndex pod) { return cluster.pods().name[pod.value]; });
  VictimUnit unit{.unit = index,
                  .first = pods.front(),
                  .priority = priority_of(pods.front()),
                  .group = true,
                  .whole = true,
                  .started = started(pods.front()),
                  .begin = static_cast<std::uint32_t>(begin),
                  .size = static_cast<std::uint32_t>(pods.size())};
  for (const PodIndex pod : pods) {
    unit.started = std::min(unit.started, started(pod));
    unit.lost_work_seconds += lost_work_seconds(pod);
  }
  list.units.push_back(unit);
}

/// A stated cost, else the time since the last checkpoint, else the run time; of each, what the pod
/// says comes before what its group says, and that before what its workload says.
std::int64_t VictimRules::lost_work_seconds(PodIndex pod) const {
  const Cluster& cluster = survey_.cluster();
  const PodNotes& notes = cluster.notes(cluster.pods().notes[pod]);
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  std::optional<std::int64_t> cost = notes.preemption_cost_seconds;
  std::optional<Time> checkpoint = notes.last_checkpoint;
  const auto or_else = [&](const auto& object) {
    if (!cost) cost = object.preemption_cost_seconds;
    if (!checkpoint) checkpoint = object.last_checkpoint;
  };
  if (unit.kind == UnitKind::group) {
    const Group& group = cluster.groups()[unit.group];
    if (group.object) or_else(*group.object);
    if (const Workload* const workload = cluster.workload_of(group)) or_else(*workload);
  }
  if (cost) return *cost;
  // A pod that started after the checkpoint has lost no more than its own run.
  Time since = cluster.pods().started[pod];
  if (checkpoint) since = since == no_time ? *checkpoint : std::max(since, *checkpoint);
  if (since == no_time) since = now_;
  return std::max(std::int64_t{0}, (now_ - since).ms / 1000);
}

bool VictimRules::more_important(const VictimUnit& a, const VictimUnit& b) const {
  for (const ImportanceKey key : configuration_->workload.importance_keys) {
    switch (key) {
      case ImportanceKey::priority:
        if (a.priority != b.priority) return a.priority > b.priority;
        break;
      case ImportanceKey::kind:
        if (a.group != b.group) return a.group;
        break;
      case ImportanceKey::size:
        if (a.size != b.size) return a.size > b.size;
        break;
      case ImportanceKey::age:
        if (a.started != b.started) return a.started < b.started;
        break;
    }
  }
  const PodColumns& pods = survey_.cluster().pods();
  const StringId a_space = pods.namespace_name[a.first];
  const StringId b_space = pods.namespace_name[b.first];
  if (a_space != b_space) {
    return survey_.cluster().text(a_space) < survey_.cluster().text(b_space);
  }
  return pods.name[a.first.value] < pods.name[b.first.value];
}

}  // namespace makeway

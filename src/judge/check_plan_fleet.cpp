#include "judge/check_plan_fleet.hpp"

#include <algorithm>
#include <span>

#include "base/checked_math.hpp"
#include "judge/naive_regimes.hpp"
#include "model/names.hpp"
#include "model/planes.hpp"

namespace makeway {
namespace {

std::optional<StringId> label_value(const Cluster& cluster, LabelSetId labels,
                                    std::optional<StringId> key) {
  if (!key) return std::nullopt;
  for (const LabelPair& label : cluster.labels(labels)) {
    if (label.key == *key) return label.value;
  }
  return std::nullopt;
}

}  // namespace

FleetReading::FleetReading(const Hearing& hearing)
    : cluster_(hearing.cluster),
      configuration_(hearing.configuration),
      settings_(hearing.configuration.replica),
      rules_(hearing.cluster, hearing.configuration, hearing.plan.now),
      now_(hearing.plan.now),
      schedules_(hearing.cluster.pods().slots()),
      planes_(hearing.cluster.nodes().slots()),
      classes_(hearing.cluster.pods().slots()) {
  for (const HeardAsk& ask : hearing.asks) {
    for (const HeardVictim& victim : ask.victims) evicted_.insert(victim.pod);
  }
  const std::optional<StringId> key = cluster_.strings().find(names::plane);
  for (const NodeIndex node : cluster_.nodes_by_name()) {
    const auto value = replica_plane(cluster_, node, key);
    if (!value || hearing.regimes->of_node(node) != Regime::replicas) continue;
    planes_[node] = cluster_.text(*value);
    if (!cluster_.nodes().flags[node].unschedulable) open_nodes_[planes_[node]].push_back(node);
  }
  for (const auto& [name, schedule] : cluster_.own<ReplicaSchedule>()) {
    for (const ReplicaPlane& plane : schedule.planes) {
      shares_[{&schedule, plane.name}] = {
          .schedule = &schedule, .plane = plane.name, .commit = plane.committed};
    }
  }
  find_pods();
  find_recorded();
  for (std::uint32_t slot = 0; slot < cluster_.pods().slots(); ++slot) {
    const PodIndex pod{slot};
    if (cluster_.pods().flags[pod].exists) classes_[pod] = find_class(pod);
  }
}

void FleetReading::find_pods() {
  std::map<std::pair<StringId, StringId>, const ReplicaSchedule*> by_label;
  for (const auto& [name, schedule] : cluster_.own<ReplicaSchedule>()) {
    const auto space = cluster_.strings().find(schedule.namespace_name);
    const auto deployment = cluster_.strings().find(schedule.deployment);
    if (space && deployment) by_label.try_emplace({*space, *deployment}, &schedule);
  }
  const std::optional<StringId> key = cluster_.strings().find(names::deployment);
  const PodColumns& pods = cluster_.pods();
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists) continue;
    const auto value = label_value(cluster_, pods.labels[pod], key);
    const auto found = value ? by_label.find({pods.namespace_name[pod], *value}) : by_label.end();
    if (found == by_label.end()) continue;
    schedules_[pod] = found->second;
    const NodeIndex node = pods.node[pod];
    if (!node.exists() || planes_[node].empty() || leaving(pod) || evicted(pod)) continue;
    HeardShare& share = shares_[{found->second, planes_[node]}];
    share.schedule = found->second;
    share.plane = planes_[node];
    share.running.push_back(pod);
  }
  for (auto& [name, share] : shares_) {
    std::map<NodeIndex, int> siblings;
    for (const PodIndex pod : share.running) ++siblings[pods.node[pod]];
    std::ranges::sort(share.running,
                      [&](PodIndex a, PodIndex b) { return removed_before(a, b, siblings); });
    surplus_.insert(share.running.begin(), share.running.begin() + share.surplus());
  }
}

bool FleetReading::removed_before(PodIndex a, PodIndex b,
                                  const std::map<NodeIndex, int>& siblings) const {
  const PodColumns& pods = cluster_.pods();
  if (pods.flags[a].ready != pods.flags[b].ready) return !pods.flags[a].ready;
  const int beside_a = siblings.at(pods.node[a]);
  const int beside_b = siblings.at(pods.node[b]);
  if (beside_a != beside_b) return beside_a > beside_b;
  const Time created_a = pods.created[a];
  const Time created_b = pods.created[b];
  if (created_a != created_b) return created_a > created_b;
  return pods.name[a.value] > pods.name[b.value];
}

void FleetReading::find_recorded() {
  for (const auto& [name, schedule] : cluster_.own<ReplicaSchedule>()) {
    for (const ReplicaClaim& claim : schedule.status.claims) {
      for (const ClaimedVictim& victim : claim.victims) {
        if (!victim.force_deleted) continue;
        // A record about a pod of that name that is gone says nothing about its successor.
        const auto pod =
            find_pod_in_plane(cluster_, claim.plane, victim.namespace_name, victim.name);
        if (!pod || cluster_.pods().uid[pod->value] != victim.uid) continue;
        // Where records disagree, the earlier one counts: no pod is force-deleted twice.
        const auto known = forced_.try_emplace(*pod, *victim.force_deleted).first;
        known->second = std::min(known->second, *victim.force_deleted);
      }
    }
  }
}

/// When a plan had it force-deleted.
std::optional<Time> FleetReading::recorded(PodIndex pod) const {
  const auto found = forced_.find(pod);
  return found == forced_.end() ? std::nullopt : std::optional(found->second);
}

// ---- Planes and shares --------------------------------------------------------------------------

const std::vector<NodeIndex>& FleetReading::open_nodes(std::string_view plane) const {
  static const std::vector<NodeIndex> none;
  const auto found = open_nodes_.find(plane);
  return found == open_nodes_.end() ? none : found->second;
}

bool FleetReading::is_open(NodeIndex node) const {
  const NodeFlags flags = cluster_.nodes().flags[node];
  return flags.exists && !flags.unschedulable;
}

const HeardShare* FleetReading::share(const ReplicaSchedule& schedule,
                                      std::string_view plane) const {
  const auto found = shares_.find({&schedule, plane});
  return found == shares_.end() ? nullptr : &found->second;
}

const HeardShare* FleetReading::share_of(PodIndex pod) const {
  const NodeIndex node = cluster_.pods().node[pod];
  if (schedules_[pod] == nullptr || !node.exists()) return nullptr;
  return share(*schedules_[pod], planes_[node]);
}

std::int32_t FleetReading::priority(const ReplicaSchedule& schedule) const {
  if (schedule.priority) return *schedule.priority;
  const PriorityClass* const named = schedule.priority_class.empty()
                                         ? cluster_.default_priority_class()
                                         : cluster_.find_priority_class(schedule.priority_class);
  return named == nullptr ? 0 : named->value;
}

std::int32_t FleetReading::priority(PodIndex pod) const {
  return schedules_[pod] == nullptr ? rules_.priority(pod) : priority(*schedules_[pod]);
}

ReplicaRow FleetReading::row(const ReplicaSchedule& schedule) const {
  ReplicaRow row;
  row.amounts.push_back({.resource = resource_pods, .amount = 1});
  for (const Amount& amount : schedule.requests) {
    bool known = false;
    for (std::uint32_t column = 0; column < cluster_.resources().size(); ++column) {
      if (cluster_.resources().name({column}) != amount.resource) continue;
      row.amounts.push_back({.resource = {column}, .amount = amount.amount});
      known = true;
    }
    row.impossible = row.impossible || !known;
  }
  return row;
}

// ---- Classes ------------------------------------------------------------------------------------

std::optional<ReplicaClass> FleetReading::find_class(PodIndex pod) const {
  const NodeIndex node = cluster_.pods().node[pod];
  if (!node.exists() || planes_[node].empty() || evicted(pod)) return std::nullopt;
  if (leaving(pod)) {
    const bool forced = cluster_.pods().deletion_grace_seconds[pod] == 0 || recorded(pod);
    return forced ? ReplicaClass::force_deleting : ReplicaClass::terminating;
  }
  if (schedules_[pod] == nullptr) return std::nullopt;
  return surplus_.contains(pod) ? ReplicaClass::surplus : ReplicaClass::committed;
}

Time FleetReading::force_delete_from(PodIndex pod) const {
  Time from = cluster_.pods().deletion[pod];
  if (settings_.force_delete_after == ForceDeleteAfter::next_cycle) {
    from.ms -= std::int64_t{1000} * cluster_.pods().deletion_grace_seconds[pod];
  }
  return from + settings_.force_delete_extra_delay;
}

bool FleetReading::may_force_delete(PodIndex pod, std::int32_t ask_priority) const {
  if (class_of(pod) != ReplicaClass::terminating || schedules_[pod] == nullptr) return false;
  if (is_protected(pod)) return false;
  return settings_.force_delete_any_priority || priority(pod) < ask_priority;
}

bool FleetReading::credit_ended(PodIndex pod) const {
  if (!leaving(pod)) return false;
  const Time since = std::max(cluster_.pods().deletion[pod], recorded(pod).value_or(no_time));
  return since + configuration_.engine.leave_timeout <= now_;
}

bool FleetReading::surplus_timed_out(PodIndex pod) const {
  if (!surplus_.contains(pod)) return false;
  const std::vector<SurplusPod>& known = schedules_[pod]->status.surplus;
  const auto found = std::ranges::find_if(known, [&](const SurplusPod& each) {
    return each.name == cluster_.pods().name[pod.value] &&
           each.plane == cluster_.text(cluster_.pods().plane[pod]);
  });
  return found != known.end() && found->since + settings_.surplus_timeout <= now_;
}

bool FleetReading::has_timed_out_surplus(const HeardShare& share) const {
  return std::ranges::any_of(share.running,
                             [this](PodIndex pod) { return surplus_timed_out(pod); });
}

bool FleetReading::has_moving_surplus(const HeardShare& share) const {
  return std::ranges::any_of(share.running, [this](PodIndex pod) {
    return surplus_.contains(pod) && !surplus_timed_out(pod);
  });
}

bool FleetReading::leaves_whole_group(PodIndex pod) const {
  const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
  return unit.kind == UnitKind::group && unit.mode == DisruptionMode::all;
}

std::int64_t FleetReading::amount(PodIndex pod) const {
  for (const ResourceAmount& amount : cluster_.requests(cluster_.pods().requests[pod])) {
    if (cluster_.resources().name(amount.resource) == settings_.resource) return amount.amount;
  }
  return 0;
}

// ---- Room ---------------------------------------------------------------------------------------

FleetRoom::FleetRoom(const Cluster& cluster)
    : columns_(cluster.resources().size()), left_(cluster.nodes().slots() * columns_) {
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const ResourceAmount& amount : cluster.requests(cluster.nodes().allocatable[node])) {
      left_[node.value * columns_ + amount.resource.value] = amount.amount;
    }
    const std::span<const std::int64_t> used = cluster.order().used(node);
    for (std::size_t column = 0; column < used.size(); ++column) {
      std::int64_t& left = left_[node.value * columns_ + column];
      left = saturated_sub(left, used[column]);
    }
  }
}

void FleetRoom::change(NodeIndex node, RequestRow row, int sign) {
  for (const ResourceAmount& amount : row) {
    std::int64_t& left = left_[node.value * columns_ + amount.resource.value];
    left = saturated_sub(left, sign * amount.amount);
  }
}

std::int64_t FleetRoom::left(NodeIndex node, ResourceIndex resource) const {
  return left_[node.value * columns_ + resource.value];
}

bool FleetRoom::holds(NodeIndex node, const ReplicaRow& row) const {
  return !row.impossible && std::ranges::all_of(row.amounts, [&](const ResourceAmount& amount) {
    return left(node, amount.resource) >= amount.amount;
  });
}

bool FleetRoom::in_order(NodeIndex node, RequestRow row) const {
  return std::ranges::all_of(
      row, [&](const ResourceAmount& amount) { return left(node, amount.resource) >= 0; });
}

}  // namespace makeway

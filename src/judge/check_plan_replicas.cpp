// The judge of SPEC section 4: reads the plan, builds the two worlds, and judges which pods may
// leave.
#include "judge/check_plan_replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "base/checked_math.hpp"
#include "judge/naive_regimes.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"
#include "model/planes.hpp"

namespace makeway {

namespace {

// ---- Reading the plan ---------------------------------------------------------------------------

void hear_victims(ReplicaHearing& court, const HeardReplicaAsk& ask, HeardReplicaClaim& claim) {
  const Cluster& cluster = court.cluster();
  for (const PlanReplicaVictim& entry : claim.entry->victims) {
    HeardReplicaVictim victim{
        .entry = &entry,
        .text = "victim " + key_text({entry.namespace_name, entry.name, entry.plane})};
    const std::optional<PodIndex> pod =
        cluster.find_pod(entry.namespace_name, entry.name, entry.plane);
    if (!pod || cluster.pods().node[*pod] != claim.node) {
      court.report(3, ask, "{} is no pod on node {}", victim.text, claim.entry->node);
      continue;
    }
    if (!court.claimed.insert(*pod).second) {
      court.report(8, ask, "{} is the victim of two claims", victim.text);
      continue;
    }
    victim.pod = *pod;
    claim.victims.push_back(std::move(victim));
  }
}

void hear_claims(ReplicaHearing& court, HeardReplicaAsk& ask) {
  for (const PlanReplicaClaim& entry : ask.replicas->claims) {
    const std::optional<NodeIndex> node =
        find_node_in_plane(court.cluster(), entry.plane, entry.node);
    const std::vector<ReplicaPlane>& planes = ask.schedule->planes;
    const bool listed = std::ranges::find(planes, entry.plane, &ReplicaPlane::name) != planes.end();
    if (!node || !court.fleet.is_open(*node) || court.fleet.plane_of(*node) != entry.plane ||
        !listed) {
      court.report(3, ask, "node {} is no open node of plane {}, or that is no plane of it",
                   entry.node, entry.plane);
      continue;
    }
    HeardReplicaClaim claim{.entry = &entry, .node = *node};
    hear_victims(court, ask, claim);
    ask.claims.push_back(std::move(claim));
  }
}

void hear_asks(ReplicaHearing& court) {
  const auto& schedules = court.cluster().own<ReplicaSchedule>();
  std::set<const ReplicaSchedule*> asked;
  for (const PlanAsk& entry : court.hearing.plan.asks) {
    if (!entry.replicas) continue;
    HeardReplicaAsk ask{.entry = &entry, .replicas = &*entry.replicas, .text = ask_text(entry)};
    const auto found = schedules.find({entry.namespace_name, entry.name});
    if (found == schedules.end() || !court.hearing.configuration.replica.enabled) {
      court.report(3, ask, "there is no such schedule");
      continue;
    }
    ask.schedule = &found->second;
    if (!asked.insert(ask.schedule).second) court.report(8, ask, "it asks twice");
    ask.priority = court.fleet.priority(*ask.schedule);
    ask.row = court.fleet.row(*ask.schedule);
    ask.missed = &court.next_status(*ask.schedule).missed;
    hear_claims(court, ask);
    court.asks.push_back(std::move(ask));
  }
}

/// With a name only that unit asks; the claims of others stand.
void find_held(ReplicaHearing& court) {
  for (const auto& [name, schedule] : court.cluster().own<ReplicaSchedule>()) {
    const bool heard =
        std::ranges::find(court.asks, &schedule, &HeardReplicaAsk::schedule) != court.asks.end();
    if (heard || schedule.unmet == 0) continue;
    for (const ReplicaClaim& claim : schedule.status.claims) {
      const auto node = find_node_in_plane(court.cluster(), claim.plane, claim.node);
      if (!node) continue;
      std::set<PodIndex>& leave = court.held[*node];
      for (const ClaimedVictim& victim : claim.victims) {
        const auto pod =
            find_pod_in_plane(court.cluster(), claim.plane, victim.namespace_name, victim.name);
        if (!pod || court.cluster().pods().node[*pod] != *node) continue;
        leave.insert(*pod);
        if (!court.fleet.leaving(*pod)) ++court.losing_to_held[court.fleet.share_of(*pod)];
      }
    }
  }
}

// ---- The two worlds -----------------------------------------------------------------------------

/// Priority, creation, name: the order in which asks are decided.
bool decided_before(const FleetReading& fleet, const ReplicaSchedule& a, const ReplicaSchedule& b) {
  const auto key = [&](const ReplicaSchedule& schedule) {
    return std::tuple(-std::int64_t{fleet.priority(schedule)}, !schedule.created,
                      schedule.created.value_or(Time{}), std::string_view(schedule.namespace_name),
                      std::string_view(schedule.name));
  };
  return key(a) < key(b);
}

std::optional<NodeIndex> tightest(const ReplicaHearing& court, std::string_view plane,
                                  const ReplicaRow& row) {
  std::optional<ResourceIndex> counted;
  for (std::uint32_t column = 0; column < court.cluster().resources().size(); ++column) {
    const bool is_it =
        court.cluster().resources().name({column}) == court.fleet.settings().resource;
    if (is_it) counted = ResourceIndex{column};
  }
  const auto left = [&](NodeIndex node) { return counted ? court.after.left(node, *counted) : 0; };
  std::optional<NodeIndex> best;
  for (const NodeIndex node : court.fleet.open_nodes(plane)) {
    if (!court.now.holds(node, row) || !court.after.holds(node, row)) continue;
    if (!best || left(node) < left(*best)) best = node;
  }
  return best;
}

/// Replicas that are committed and not bound yet take their room before any ask.
void place_expected(ReplicaHearing& court) {
  std::vector<const HeardShare*> shares;
  for (const auto& [name, share] : court.fleet.shares()) {
    if (share.commit > std::ssize(share.running)) shares.push_back(&share);
  }
  std::ranges::sort(shares, [&](const HeardShare* a, const HeardShare* b) {
    if (a->plane != b->plane) return a->plane < b->plane;
    return decided_before(court.fleet, *a->schedule, *b->schedule);
  });
  for (const HeardShare* const share : shares) {
    const ReplicaRow row = court.fleet.row(*share->schedule);
    for (std::int64_t open = share->commit - std::ssize(share->running); open > 0; --open) {
      const std::optional<NodeIndex> node = tightest(court, share->plane, row);
      if (!node) break;
      court.now.add(*node, row.amounts);
      court.after.add(*node, row.amounts);
    }
  }
}

/// Pinned pods that do not ask in this plan keep the room that they were nominated to.
void hold_for_pinned(ReplicaHearing& court) {
  const Cluster& cluster = court.cluster();
  std::set<PodIndex> asking;
  for (const HeardAsk& ask : court.hearing.asks) asking.insert(ask.pods.begin(), ask.pods.end());
  NaiveWorld world(cluster);
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const PodIndex pod : cluster.nodes().nominated[node]) {
      if (asking.contains(pod) || !court.hearing.regimes->crosses(pod)) continue;
      if (!keeps_its_node(world, court.hearing.configuration, pod, node)) continue;
      court.now.add(node, court.requests(pod));
      court.after.add(node, court.requests(pod));
    }
  }
}

void place_others(ReplicaHearing& court) {
  const Cluster& cluster = court.cluster();
  const auto leaves = [&](PodIndex pod) {
    if (!cluster.pods().node[pod].exists() || !court.gone.insert(pod).second) return;
    court.after.remove(cluster.pods().node[pod], court.requests(pod));
  };
  for (const HeardAsk& ask : court.hearing.asks) {
    for (const HeardVictim& victim : ask.victims) leaves(victim.pod);
    for (const PodIndex row : ask.rows_leaving) leaves(row);
    for (const PodPlacement& awaited : ask.entry->waits_for) {
      const auto pod = cluster.find_pod(awaited.namespace_name, awaited.name, awaited.plane);
      if (pod) leaves(*pod);
    }
    for (const HeardAsk::RowPlace& place : ask.rows_coming) {
      court.after.add(place.node, court.requests(place.row));
      if (ask.entry->outcome == Outcome::fits) court.now.add(place.node, court.requests(place.row));
    }
    if (ask.own_rules != nullptr) continue;
    for (const PodPlacement& placement : ask.entry->placements) {
      const auto pod = cluster.find_pod(placement.namespace_name, placement.name, placement.plane);
      const auto node = cluster.find_node(placement.node, placement.plane);
      if (!pod || !node) continue;
      court.after.add(*node, court.requests(*pod));
      if (ask.entry->outcome == Outcome::fits) court.now.add(*node, court.requests(*pod));
    }
  }
  hold_for_pinned(court);
}

void place_scale_ups(ReplicaHearing& court, const HeardReplicaAsk& ask) {
  for (const PlanScaleUp& item : ask.replicas->scale_ups) {
    court.scaled_up.insert(court.fleet.share(*ask.schedule, item.plane));
    for (const PlanExpectedNode& expected : item.expected) {
      const std::optional<NodeIndex> node =
          find_node_in_plane(court.cluster(), item.plane, expected.node);
      const bool there =
          node && court.fleet.is_open(*node) && court.fleet.plane_of(*node) == item.plane;
      if (!there) {
        court.report(3, ask, "node {} is no open node of plane {}", expected.node, item.plane);
        continue;
      }
      for (std::int64_t count = 0; count < expected.replicas; ++count) {
        if (!court.now.holds(*node, ask.row)) {
          court.report(3, ask, "node {} has no room for {} replicas", expected.node,
                       expected.replicas);
          break;
        }
        court.now.add(*node, ask.row.amounts);
        court.after.add(*node, ask.row.amounts);
      }
    }
  }
}

void place_claims(ReplicaHearing& court, const HeardReplicaAsk& ask) {
  for (const HeardReplicaClaim& claim : ask.claims) {
    for (const HeardReplicaVictim& victim : claim.victims) {
      court.after.remove(claim.node, court.freed(victim.pod));
      const HeardShare* const share = court.fleet.share_of(victim.pod);
      if (victim.entry->action == ReplicaAction::scale_down) ++court.steps[share];
      if (!court.fleet.leaving(victim.pod)) ++court.losing[share];
    }
    court.after.add(claim.node, ask.row.amounts);
  }
}

}  // namespace

const ReplicaStatus& ReplicaHearing::next_status(const ReplicaSchedule& schedule) const {
  for (const PlanReplicaStatus& next : hearing.plan.replica_status) {
    if (next.namespace_name == schedule.namespace_name && next.name == schedule.name) {
      return next.status;
    }
  }
  return schedule.status;
}

std::vector<AskName> ReplicaHearing::takers_of(const HeardShare& share) const {
  std::vector<AskName> takers;
  for (const HeardReplicaAsk& ask : asks) {
    const bool takes = std::ranges::any_of(ask.claims, [&](const HeardReplicaClaim& claim) {
      return std::ranges::any_of(claim.victims, [&](const HeardReplicaVictim& victim) {
        return fleet.share_of(victim.pod) == &share;
      });
    });
    if (takes) takers.push_back(ask_name_of(*ask.entry));
  }
  return takers;
}

bool ReplicaHearing::missed(const HeardReplicaAsk& ask, PodIndex pod) const {
  const HeardShare* const share = fleet.share_of(pod);
  if (ask.missed->empty() || share == nullptr) return false;
  const std::string_view node = node_name(cluster().pods().node[pod]);
  return std::ranges::any_of(*ask.missed, [&](const MissedVictim& missed) {
    return missed.node == node && missed.plane == share->plane &&
           missed.committed < share->commit &&
           missed.namespace_name == share->schedule->namespace_name &&
           missed.deployment == share->schedule->deployment;
  });
}

void ClaimRooms::settle(const HeardReplicaAsk& ask, bool kept) {
  for (const HeardReplicaClaim& claim : ask.claims) {
    if (claim.entry->kept != kept) continue;
    for (const HeardReplicaVictim& victim : claim.victims) {
      then_.remove(claim.node, court_.freed(victim.pod));
    }
    then_.add(claim.node, ask.row.amounts);
  }
}

void ClaimRooms::start(const HeardReplicaAsk& ask) {
  if (priority_ != ask.priority) {
    for (const HeardReplicaAsk& each : court_.asks) {
      if (each.priority == ask.priority) settle(each, true);
    }
  }
  priority_ = ask.priority;
  settle(ask, false);
}

void judge_replicas(Hearing& hearing) {
  judge_net_schedule(hearing);
  const bool asked = std::ranges::any_of(
      hearing.plan.asks, [](const PlanAsk& ask) { return ask.replicas.has_value(); });
  if (!asked) return;
  ReplicaHearing court{.hearing = hearing,
                       .fleet = FleetReading(hearing),
                       .now = FleetRoom(hearing.cluster),
                       .after = FleetRoom(hearing.cluster),
                       .unclaimed = FleetRoom(hearing.cluster)};
  hear_asks(court);
  find_held(court);
  place_others(court);
  place_expected(court);
  for (const HeardReplicaAsk& ask : court.asks) place_scale_ups(court, ask);
  court.unclaimed = court.after;
  for (const HeardReplicaAsk& ask : court.asks) place_claims(court, ask);
  const auto decided_later = [&](const HeardReplicaAsk& a, const HeardReplicaAsk& b) {
    return decided_before(court.fleet, *b.schedule, *a.schedule);
  };
  const auto late = std::ranges::adjacent_find(court.asks, decided_later);
  if (late != court.asks.end()) {
    court.report(9, *late, "it comes before {}, which is more important or older",
                 std::next(late)->text);
  }
  judge_replica_victims(court);
  judge_replica_rooms(court);
  judge_replica_choices(court);
  judge_replica_document(court);
}

// ---- The fleet ----------------------------------------------------------------------------------

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
  for (const PodIndex pod : cluster_.each_row()) classes_[pod] = find_class(pod);
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
  for (const PodIndex pod : cluster_.each_row()) {
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

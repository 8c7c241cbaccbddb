#include "judge/check_plan_walk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/checked_math.hpp"
#include "judge/naive_queues.hpp"

namespace makeway {
namespace {

std::string refusal_text(const NaiveRefusal& refusal) {
  if (refusal.detail.empty()) return std::string(choice_name(refusal.reason));
  return fmt::format("{} {}", choice_name(refusal.reason), refusal.detail);
}

bool is_kernel_of(const HeardAsk& session, PodIndex pod) {
  return std::ranges::find(session.pods, pod) != session.pods.end();
}

}  // namespace

// ---- The room of queues -------------------------------------------------------------------------

HeardQueueRoom::HeardQueueRoom(const Hearing& hearing)
    : hearing_(hearing), queues_(*hearing.queues) {
  // Without the stage nothing has moved, and nothing is on its way.
  const bool left_out = leaves_out_queues(hearing.plan.left_out);
  for (const NaiveQueue& queue : queues_.queues) {
    Row& row = rows_.emplace_back();
    auto reported = std::ranges::lower_bound(hearing.plan.queues, queue.name, {}, &PlanQueue::name);
    if (reported != hearing.plan.queues.end() && reported->name != queue.name) {
      reported = hearing.plan.queues.end();
    }
    for (std::size_t column = 0; column < queue.shares.size(); ++column) {
      const NaiveShare& share = queue.shares[column];
      row.allocated.push_back(left_out ? share.before : share.allocated);
      row.coming.push_back(left_out ? 0 : share.preempting);
      row.used_now.push_back(share.used);
      row.used_after.push_back(share.healthy() + share.stuck);
      if (reported == hearing.plan.queues.end()) continue;
      // Whether what the plan says is right is judged elsewhere.
      const std::string_view name = hearing.cluster.resources().name(queues_.resources[column]);
      const auto said = std::ranges::find(reported->shares, name, &PlanQueueShare::resource);
      if (said == reported->shares.end()) continue;
      row.allocated.back() = said->allocated;
      row.coming.back() = said->preempting;
    }
    for (std::size_t column = 0; column < queue.shares.size(); ++column) {
      row.lasting.push_back(std::min(row.allocated[column], queue.shares[column].deserved));
    }
  }
  if (queues_.on()) add_outside();
}

/// Pods outside queues may not use what queues are promised or what their pods hold.
void HeardQueueRoom::add_outside() {
  Row row;
  const std::vector<std::int64_t> used = queues_.sum(queues_.outside);
  Pods staying = queues_.outside;
  std::erase_if(staying, [this](PodIndex pod) { return credited(pod); });
  for (std::size_t column = 0; column < queues_.resources.size(); ++column) {
    std::int64_t held = 0;
    std::int64_t promised = 0;
    for (std::size_t at = 0; at < rows_.size(); ++at) {
      if (!queues_.queues[at].leaf) continue;
      const Row& each = rows_[at];
      held = saturated_add(held, std::max(each.allocated[column], each.used_now[column]));
      promised = saturated_add(promised, each.allocated[column] + each.coming[column]);
    }
    const std::int64_t total = queues_.totals[column];
    const std::int64_t now = std::max<std::int64_t>(0, total - std::max(held, promised));
    const std::int64_t then = std::max<std::int64_t>(0, total - promised);
    row.allocated.push_back(saturated_add(queues_.outside_held[column], now));
    row.lasting.push_back(row.allocated.back());
    row.coming.push_back(then - now);
  }
  row.used_now = used;
  row.used_after = queues_.sum(staying);
  rows_.push_back(std::move(row));
}

std::size_t HeardQueueRoom::row_of(PodIndex pod) const {
  return std::min(queues_.queue_of(pod), queues_.queues.size());
}

std::size_t HeardQueueRoom::queue_of(const HeardAsk& ask) const {
  std::size_t queue = NaiveQueues::none;  // Of a group, some members may be infrastructure.
  for (const PodIndex pod : ask.pods) queue = std::min(queue, row_of(pod));
  return queue;
}

bool HeardQueueRoom::concerns(const HeardAsk& ask) const {
  const bool section_2 = ask.entry->kind == AskKind::pod || ask.entry->kind == AskKind::pod_group;
  return queues_.on() && section_2 && ask.pinned_to.empty() && !ask.pods.empty();
}

bool HeardQueueRoom::may_take(const HeardAsk& ask, PodIndex victim) const {
  if (!concerns(ask)) return true;
  const std::size_t queue = queue_of(ask);
  if (row_of(victim) != queue) return false;
  return queue == queues_.queues.size() || hearing_.configuration.queue.preempt_within_queue;
}

bool HeardQueueRoom::same_queue(const HeardAsk& ask, PodIndex pod) const {
  return concerns(ask) && row_of(pod) == queue_of(ask);
}

bool HeardQueueRoom::infrastructure(PodIndex pod) const { return queues_.apart(pod); }

const HeardQueueRoom::Pods& HeardQueueRoom::bound_pods(const HeardAsk& ask) const {
  const std::size_t queue = queue_of(ask);
  return queue == queues_.queues.size() ? queues_.outside : queues_.queues[queue].bound;
}

std::string HeardQueueRoom::name(const HeardAsk& ask) const {
  if (!concerns(ask)) return {};
  const std::size_t queue = queue_of(ask);
  return queue == queues_.queues.size() ? "(none)" : queues_.queues[queue].name;
}

std::vector<std::int64_t> HeardQueueRoom::asked(Pods pods) const {
  std::erase_if(pods, [this](PodIndex pod) { return queues_.apart(pod); });
  return queues_.sum(pods);
}

bool HeardQueueRoom::fits_now(const HeardAsk& ask, const Pods& pods) const {
  if (!concerns(ask)) return true;
  const Row& row = rows_[queue_of(ask)];
  const std::vector<std::int64_t> wanted = asked(pods);
  for (std::size_t column = 0; column < wanted.size(); ++column) {
    const std::int64_t used = saturated_add(row.used_now[column], wanted[column]);
    if (wanted[column] > 0 && used > row.allocated[column]) return false;
  }
  return true;
}

bool HeardQueueRoom::credited(PodIndex pod) const {
  const EvictionRules rules(hearing_.cluster, hearing_.configuration, hearing_.plan.now);
  return gone_.contains(pod) || (rules.leaving(pod) && !rules.overdue(pod));
}

bool HeardQueueRoom::fits_after(const HeardAsk& ask, const Pods& pods, const Pods& away,
                                const Pods& others) const {
  if (!concerns(ask)) return true;
  const std::size_t queue = queue_of(ask);
  const Row& row = rows_[queue];
  Pods leave = away;
  std::erase_if(leave, [&](PodIndex pod) { return credited(pod) || row_of(pod) != queue; });
  const std::vector<std::int64_t> wanted = asked(pods);
  const std::vector<std::int64_t> freed = queues_.sum(leave);
  const std::vector<std::int64_t> held = queues_.sum(others);
  for (std::size_t column = 0; column < wanted.size(); ++column) {
    const std::int64_t used =
        saturated_add(row.used_after[column] - freed[column] + held[column], wanted[column]);
    // Beyond its share the queue keeps only what its pods hold, and pods that are away hold
    // nothing.
    const std::int64_t most = saturated_add(row.lasting[column], row.coming[column]);
    if (wanted[column] > 0 && used > most) return false;
  }
  return true;
}

bool HeardQueueRoom::waits_for_queues(const HeardAsk& ask) const {
  if (!concerns(ask)) return false;
  return std::ranges::any_of(rows_[queue_of(ask)].coming,
                             [](std::int64_t amount) { return amount > 0; });
}

void HeardQueueRoom::leave(PodIndex pod) {
  if (!queues_.on() || credited(pod)) return;
  gone_.insert(pod);
  change(rows_[row_of(pod)].used_after, pod, -1);
}

void HeardQueueRoom::bind(PodIndex pod, NodeIndex node) {
  if (!queues_.on() || !queues_.divided(node)) return;
  change(rows_[row_of(pod)].used_now, pod, 1);
  nominate(pod, node);
}

void HeardQueueRoom::nominate(PodIndex pod, NodeIndex node) {
  if (!queues_.on() || !queues_.divided(node)) return;
  change(rows_[row_of(pod)].used_after, pod, 1);
}

void HeardQueueRoom::change(std::vector<std::int64_t>& used, PodIndex pod, int sign) const {
  const std::vector<std::int64_t> row = queues_.requests(pod);
  for (std::size_t column = 0; column < row.size(); ++column) {
    used[column] = saturated_add(used[column], sign * row[column]);
  }
}

// ---- The walk -----------------------------------------------------------------------------------

bool has_place(const PlanAsk& entry) {
  const bool delayed = entry.outcome == Outcome::waits && entry.waits_until.has_value();
  return !delayed && entry.outcome != Outcome::infeasible && entry.outcome != Outcome::not_found;
}

PlanWalk::PlanWalk(Hearing& hearing)
    : hearing_(hearing),
      cluster_(hearing.cluster),
      configuration_(hearing.configuration),
      rules_(hearing.cluster, hearing.configuration, hearing.plan.now),
      queue_room_(hearing),
      now_(hearing.cluster, hearing.regimes) {
  for (const PodIndex pod : cluster_.nominated_pods()) {
    const NodeIndex node = cluster_.pods().nominated[pod];
    const bool there = cluster_.nodes().flags[node].exists;
    if (!there) continue;
    if (keeps_its_node(now_, configuration_, pod, node)) keeping_.insert(pod);
    const bool kernel = cluster_.pods().flags[pod].kernel;
    if (!kernel && !NaiveFit(now_, pod).fits_when_empty(node)) never_fit_.insert(pod);
  }
  find_credited();
}

void PlanWalk::find_credited() {
  if (configuration_.workload.leaving_room != LeavingRoom::credited) return;
  for (std::uint32_t slot = 0; slot < cluster_.nodes().slots(); ++slot) {
    const NodeIndex node{slot};
    if (!cluster_.nodes().flags[node].used || cluster_.nodes().leaving[node] == 0) continue;
    for (const PodIndex pod : cluster_.order().pods(node)) {
      if (!rules_.leaving(pod) || rules_.overdue(pod)) continue;
      if (rules_.late(pod)) {
        late_.insert(pod);
        continue;
      }
      gone_.insert(pod);
      own_after().remove(pod);
    }
  }
}

// ---- Pods that leave late (law 6) ---------------------------------------------------------------

bool PlanWalk::waits_for_late(const HeardAsk& ask) const {
  return std::ranges::any_of(ask.entry->waits_for, [&](const PodPlacement& awaited) {
    const auto pod = cluster_.find_pod(awaited.namespace_name, awaited.name, awaited.plane);
    return pod && late_.contains(*pod) && !own_late_.contains(*pod);
  });
}

void PlanWalk::leave_late(PodIndex pod) {
  if (late_.erase(pod) == 0) return;
  gone_.insert(pod);
  own_after().remove(pod);
}

void PlanWalk::count_own_late(const HeardAsk& ask) {
  own_late_.clear();
  for (const PodIndex pod : ask.pods) {
    const NodeIndex node = cluster_.pods().nominated[pod];
    if (!node.exists() || !cluster_.nodes().flags[node].exists) continue;
    // A reservation is no nomination before its victims are chosen (section 5).
    const bool reserved =
        !ask.pinned_to.empty() && cluster_.notes(cluster_.pods().notes[pod]).only_reserved();
    if (reserved) continue;
    for (const PodIndex late : late_) {
      if (cluster_.pods().node[late] != node) continue;
      const std::string& noted = cluster_.notes(cluster_.pods().notes[late]).evicted_for;
      const bool preempted = cluster_.pods().flags[late].disrupted_by_preemption &&
                             rules_.priority(late) < ask.priority;
      if (noted.empty() ? preempted : noted == ask.text) own_late_.insert(late);
    }
  }
  for (const PodIndex pod : own_late_) leave_late(pod);
}

void PlanWalk::put_back_own_late() {
  for (const PodIndex pod : own_late_) {
    gone_.erase(pod);
    late_.insert(pod);
    own_after().place(pod, cluster_.pods().node[pod]);
  }
  own_late_.clear();
}

void PlanWalk::count_awaited(const HeardAsk& ask) {
  for (const PodPlacement& awaited : ask.entry->waits_for) {
    const auto pod = cluster_.find_pod(awaited.namespace_name, awaited.name, awaited.plane);
    if (!pod) continue;
    own_late_.erase(*pod);  // It stays gone.
    leave_late(*pod);
  }
}

// ---- What an entry of the plan means ------------------------------------------------------------

std::vector<PlanWalk::Place> PlanWalk::places(const HeardAsk& ask, bool complain) {
  std::vector<Place> found;
  std::set<PodIndex> open;
  for (const PodIndex pod : ask.pods) {
    if (!cluster_.pods().node[pod].exists()) open.insert(pod);
  }
  for (const PodPlacement& placement : ask.entry->placements) {
    const auto pod = cluster_.find_pod(placement.namespace_name, placement.name, placement.plane);
    const auto node = cluster_.find_node(placement.node, placement.plane);
    const bool own = pod && open.erase(*pod) > 0;
    const bool again = own && (decided_.contains(*pod) || after().where(*pod).exists());
    const bool there = node && cluster_.nodes().flags[*node].exists;
    if (own && there && !again) {
      found.push_back({.pod = *pod, .node = *node});
    } else if (complain) {
      report(again ? 8 : 3, ask, "it cannot place {}/{} on node {}: {}", placement.namespace_name,
             placement.name, placement.node,
             again ? "an earlier ask decided about the pod"
             : own ? "there is no such node"
                   : "the pod is not its own, or not pending");
    }
  }
  return found;
}

std::vector<PodIndex> PlanWalk::own_victims(const HeardAsk& ask) const {
  std::vector<PodIndex> own;
  for (const HeardVictim& victim : ask.victims) {
    if (!gone_.contains(victim.pod)) own.push_back(victim.pod);
  }
  return own;
}

/// Below-minimum `evict` evicted every member that was still there, of a gang that had its minimum.
bool PlanWalk::taken_whole(const Unit& unit, const HeardAsk& ask) const {
  if (!unit.gang || !leaves_below_minimum(unit, ask)) return false;
  // Where they may be evicted once more, they count as running until then.
  const bool leaving_are_victims = ask.rules->workload.leaving_room == LeavingRoom::victims;
  std::int64_t before = 0;
  for (const PodIndex member : cluster_.groups()[unit.group].members) {
    const bool leaves = !leaving_are_victims && rules_.leaving(member);
    if (leaves || !cluster_.pods().node[member].exists() || victims_.contains(member)) continue;
    if (std::ranges::find(ask.victims, member, &HeardVictim::pod) == ask.victims.end())
      return false;
    ++before;
  }
  return before >= unit.minimum;
}

std::vector<std::vector<PodIndex>> PlanWalk::victim_units(const HeardAsk& ask) const {
  std::vector<std::vector<PodIndex>> units;
  std::map<UnitIndex, bool> whole;
  std::map<UnitIndex, std::size_t> positions;
  for (const PodIndex pod : own_victims(ask)) {
    const UnitIndex index = cluster_.pods().unit[pod];
    const Unit& unit = cluster_.units()[index];
    const auto [answer, not_asked] = whole.try_emplace(index, false);
    if (not_asked && unit.kind == UnitKind::group) {
      answer->second = unit.mode == DisruptionMode::all || taken_whole(unit, ask);
    }
    const auto [at, is_new] = answer->second ? positions.try_emplace(index, units.size())
                                             : std::pair(positions.end(), true);
    if (is_new) {
      units.push_back({pod});
    } else {
      units[at->second].push_back(pod);
    }
  }
  return units;
}

// ---- Feasibility --------------------------------------------------------------------------------

/// Pending pods that hold room on the node against this pod of the ask by their nomination.
std::vector<PodIndex> PlanWalk::holders(const HeardAsk& ask, PodIndex member, NodeIndex node,
                                        OwnMembers own_members) const {
  std::vector<PodIndex> held;
  for (const PodIndex pod : cluster_.nodes().nominated[node]) {
    const UnitIndex index = cluster_.pods().unit[pod];
    const Unit& unit = cluster_.units()[index];
    if (decided_.contains(pod) || lost_.contains(pod)) continue;
    if (!regimes().may_go(pod, node)) continue;  // Void.
    const bool pinned = configuration_.required_node.enabled && !pinned_to(cluster_, pod).empty();
    const bool ends =
        pinned || configuration_.workload.nomination_held_by == NominationHeldBy::placement;
    if (ends && never_fit_.contains(pod)) continue;  // Void.
    // Before its victims are chosen a reservation holds nothing.
    if (pinned && cluster_.notes(cluster_.pods().notes[pod]).only_reserved()) continue;
    // Pinned pods take turns: their room is not their own against each other, nor against the pod
    // that the node was promised to.
    const bool gives_way = !ask.pinned_to.empty() || cluster_.pods().nominated[member] == node;
    const bool lower = unit.scheduling_priority < ask.priority;
    if (lower && (gives_way || !keeping_.contains(pod))) continue;
    if ((after_ ? *after_ : now_).where(pod).exists()) continue;
    const bool alone = ask.entry->kind == AskKind::pod || own_members == OwnMembers::counted;
    const bool is_own = alone                                 ? pod == member
                        : ask.entry->kind == AskKind::session ? is_kernel_of(ask, pod)
                                                              : index == ask.unit;
    if (!is_own) held.push_back(pod);
  }
  return held;
}

bool PlanWalk::fits_with_holders(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const {
  const std::vector<PodIndex> held = holders(ask, fit.ask(), node);
  for (const PodIndex pod : held) fit.place(pod, node);
  const bool fits = fit.fits(node);
  for (const PodIndex pod : held) fit.remove(pod);
  return fits;
}

bool PlanWalk::fits_with_all_holders(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const {
  std::vector<PodIndex> held;
  for (const NodeIndex other : cluster_.home_nodes()) {
    if (cluster_.nodes().nominated[other].empty()) continue;
    // Members that ask for themselves come, too, and may be what evens it out.
    for (const PodIndex pod : holders(ask, fit.ask(), other, OwnMembers::counted)) {
      held.push_back(pod);
      fit.place(pod, other);
    }
  }
  const bool fits = fit.fits(node);
  for (const PodIndex pod : held) fit.remove(pod);
  return fits;
}

bool PlanWalk::fits_for_sure(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const {
  if (!fits_beside_nominated(fit, ask, node)) return false;
  std::vector<PodIndex> unsure = tentative_;
  // A pod that is still to come may go elsewhere there.
  if (configuration_.workload.nomination_held_by == NominationHeldBy::preempted_pods) {
    for (const Promise& promise : promises_) unsure.push_back(promise.place.pod);
  }
  std::vector<Place> away;
  for (const PodIndex pod : unsure) {
    if (pod == fit.ask() || !fit.world().where(pod).exists()) continue;
    away.push_back({.pod = pod, .node = fit.world().where(pod)});
    fit.remove(pod);
  }
  const bool fits = away.empty() || fit.fits(node);
  for (const Place& each : away) fit.place(each.pod, each.node);
  return fits;
}

/// Changes the worlds that the caller's fits refer to, and restores them before it returns.
bool PlanWalk::spoils_nomination(PodIndex pod, const HeardAsk& ask, NodeIndex node) {
  std::vector<Place> coming;
  std::vector<Place> waiting;  // They may fit once others have come.
  bool all_alone = true;
  for (const NodeIndex other : cluster_.home_nodes()) {
    if (cluster_.nodes().nominated[other].empty()) continue;
    for (const PodIndex held : holders(ask, pod, other)) {
      NaiveFit fit(after(), held);
      if (!fit.fits(other)) {
        waiting.push_back({.pod = held, .node = other});
        continue;
      }
      fit.place(pod, node);
      all_alone = all_alone && fit.fits(other);
      fit.remove(pod);
      coming.push_back({.pod = held, .node = other});
    }
  }
  if (!waiting.empty() && !coming.empty()) {
    all_alone = add_who_can_follow(coming, waiting) == 0 && all_alone;
  }
  if (coming.empty()) return false;
  // Alone they may look uneven.
  if (!all_alone && !can_all_come(pod, node, coming)) return true;
  for (const Place& each : coming) after().place(each.pod, each.node);
  const bool held_before = promises_hold();
  const bool fits = NaiveFit(after(), pod).fits(node);
  after().place(pod, node);
  const bool spoilt = !fits || (held_before && !promises_hold());
  after().remove(pod);
  for (const Place& each : coming) after().remove(each.pod);
  return spoilt;
}

/// Adds those that fit once the others have come, and returns how many. The world is as before.
std::size_t PlanWalk::add_who_can_follow(std::vector<Place>& coming,
                                         const std::vector<Place>& waiting) {
  for (const Place& each : coming) after().place(each.pod, each.node);
  come_in_any_order(waiting);
  for (const Place& each : coming) after().remove(each.pod);
  std::size_t added = 0;
  for (const Place& each : waiting) {
    if (!after().where(each.pod).exists()) continue;
    after().remove(each.pod);
    coming.push_back(each);
    ++added;
  }
  return added;
}

/// Beside the pod on the node, one after the other. The world is as before afterwards.
bool PlanWalk::can_all_come(PodIndex pod, NodeIndex node, const std::vector<Place>& coming) {
  after().place(pod, node);
  const bool all = come_in_any_order(coming).empty();
  for (const Place& each : coming) {
    if (after().where(each.pod).exists()) after().remove(each.pod);
  }
  after().remove(pod);
  return all;
}

MaybeRefusal PlanWalk::first_refusal(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) const {
  const std::vector<PodIndex> held = holders(ask, fit.ask(), node);
  for (const PodIndex pod : held) fit.place(pod, node);
  const MaybeRefusal refused = fit.refusal(node);
  for (const PodIndex pod : held) fit.remove(pod);
  return refused ? refused : fit.refusal(node);
}

void PlanWalk::report_refusal(const HeardAsk& ask, const Place& place,
                              const NaiveRefusal& refused) {
  report(3, ask, "{} does not fit on node {}: {}", cluster_.pod_key(place.pod),
         node_name(place.node), refusal_text(refused));
}

void PlanWalk::report_queue(const HeardAsk& ask, std::string_view when) {
  report(3, ask, "queue {} has no room for it {}", queue_room_.name(ask), when);
}

bool PlanWalk::queue_fits(const HeardAsk& ask, const std::vector<PodIndex>& pods,
                          const std::vector<PodIndex>& away) const {
  if (!queue_room_.concerns(ask)) return true;
  std::vector<PodIndex> others;
  for (const NodeIndex node : cluster_.home_nodes()) {
    if (cluster_.nodes().nominated[node].empty()) continue;
    // A pod that was promised the node ignores one that only reserved it.
    const auto promised = std::ranges::find(
        ask.pods, node, [&](PodIndex pod) { return cluster_.pods().nominated[pod]; });
    for (const PodIndex pod :
         holders(ask, promised == ask.pods.end() ? ask.pods.front() : *promised, node)) {
      if (queue_room_.same_queue(ask, pod) && !never_fit_.contains(pod)) others.push_back(pod);
    }
  }
  return queue_room_.fits_after(ask, pods, away, others);
}

bool PlanWalk::has_arrived(PodIndex pod) const {
  const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
  if (unit.kind != UnitKind::group || unit.mode != DisruptionMode::all) return false;
  const NaiveWorld& world = after_ ? *after_ : now_;
  return std::ranges::any_of(cluster_.groups()[unit.group].members, [&](PodIndex member) {
    return !cluster_.pods().node[member].exists() && world.where(member).exists();
  });
}

std::set<PodIndex> PlanWalk::may_leave_queue(const HeardAsk& ask) const {
  std::set<PodIndex> away;
  if (!queue_room_.concerns(ask) || cluster_.units()[ask.unit].never_preempts) return away;
  const NaiveWorld& world = after_ ? *after_ : now_;
  for (const PodIndex pod : queue_room_.bound_pods(ask)) {
    // A pinned pod would come back at once, and a leaving pod is not evicted again.
    if (!world.where(pod).exists() || !pinned_to(cluster_, pod).empty()) continue;
    if (rules_.leaving(pod)) continue;
    if (cluster_.pods().unit[pod] == ask.unit || away.contains(pod) || !may_leave(ask, pod)) {
      continue;
    }
    const std::vector<PodIndex> together = rules_.leaves_with(pod);
    // Mirror pods and others that no queue limits would come back at once, too.
    const bool returns = std::ranges::any_of(
        together, [&](PodIndex member) { return queue_room_.infrastructure(member); });
    if (has_arrived(pod) || returns) continue;
    for (const PodIndex member : together) {
      if (world.where(member).exists()) away.insert(member);
    }
  }
  return away;
}

bool PlanWalk::judge_place(NaiveFit& fit, const HeardAsk& ask, NodeIndex node) {
  if (const MaybeRefusal refused = fit.refusal(node)) {
    report_refusal(ask, {.pod = fit.ask(), .node = node}, *refused);
    return false;
  }
  if (fits_beside_nominated(fit, ask, node)) return true;
  report(7, ask, "{} takes room on node {} that is nominated to others",
         cluster_.pod_key(fit.ask()), node_name(node));
  return false;
}

bool PlanWalk::preempted_still_leaving(NodeIndex node, const HeardAsk& ask) const {
  return std::ranges::any_of(cluster_.order().pods(node), [&](PodIndex pod) {
    return cluster_.pods().flags[pod].disrupted_by_preemption && rules_.leaving(pod) &&
           !rules_.overdue(pod) && rules_.priority(pod) < ask.priority;
  });
}

bool PlanWalk::full_for_ever(const HeardAsk& ask, PodIndex pod, NodeIndex node) const {
  const bool known_to_stay = configuration_.workload.honour_preemption_priority &&
                             cluster_.nodes().leaving[node] == 0 && !victim_nodes_.contains(node);
  if (!known_to_stay) return false;
  const NodeOrder& order = cluster_.order();
  const std::size_t staying = order.count_at_least(node, ask.priority);
  const std::span<const std::int64_t> used = order.used_by_first(node, staying);
  const RequestRow room = cluster_.requests(cluster_.nodes().allocatable[node]);
  for (const ResourceAmount& wanted : cluster_.requests(cluster_.pods().requests[pod])) {
    const std::int64_t taken =
        wanted.resource.value < used.size() ? used[wanted.resource.value] : 0;
    const auto at = std::ranges::find(room, wanted.resource, &ResourceAmount::resource);
    const std::int64_t amount = at == room.end() ? 0 : at->amount;
    if (saturated_add(taken, wanted.amount) > amount) return true;
  }
  return false;
}

// ---- Promises, and what an ask leaves behind ----------------------------------------------------

bool PlanWalk::keeps_promises(NaiveFit& fit, NodeIndex node) {
  if (promises_.empty()) return true;
  fit.place(fit.ask(), node);
  bool kept = true;
  for (const Promise& promise : promises_) {
    fit.remove(promise.place.pod);
    kept = kept && !NaiveFit(after(), promise.place.pod).refusal(promise.place.node);
    fit.place(promise.place.pod, promise.place.node);
  }
  fit.remove(fit.ask());
  return kept;
}

/// Why a pod that is placed there would be refused.
MaybeRefusal PlanWalk::refusal_after(const Place& place) {
  after().remove(place.pod);
  const MaybeRefusal refused = NaiveFit(after(), place.pod).refusal(place.node);
  after().place(place.pod, place.node);
  return refused;
}

/// Asks the question while the pods that may never come are away.
bool PlanWalk::without_tentative(const std::function<bool()>& question) {
  std::vector<Place> away;
  for (const PodIndex pod : tentative_) {
    away.push_back({.pod = pod, .node = after().where(pod)});
    after().remove(pod);
  }
  const bool answer = question();
  for (const Place& each : away) after().place(each.pod, each.node);
  return answer;
}

bool PlanWalk::promises_hold() {
  return std::ranges::none_of(promises_, [this](const Promise& promise) {
    return refusal_after(promise.place).has_value();
  });
}

void PlanWalk::judge_promises() {
  for (const PodIndex pod : tentative_) after().remove(pod);
  for (const Promise& promise : promises_) {
    const MaybeRefusal refused = refusal_after(promise.place);
    if (!refused) continue;
    const bool is_pod = promise.ask->entry->kind == AskKind::pod;
    report(3, *promise.ask, "when all asks are served {} does not fit on node {} any more: {}",
           is_pod ? "it" : cluster_.pod_key(promise.place.pod), node_name(promise.place.node),
           refusal_text(*refused));
  }
  judge_turns();
}

/// Places pods that come together one after the other, in any order that works. Returns those that
/// cannot come.
std::vector<PlanWalk::Place> PlanWalk::come_in_any_order(std::vector<Place> open) {
  for (bool came = true; came;) {
    came = std::erase_if(open, [this](const Place& place) {
             if (NaiveFit(after(), place.pod).refusal(place.node)) return false;
             after().place(place.pod, place.node);
             return true;
           }) > 0;
  }
  return open;
}

/// In the next cycle the first in the list is asked first, when those after it may not have come:
/// what it needs must be there without them. Those of one ask come in any order.
void PlanWalk::judge_turns() {
  for (const Promise& promise : promises_) after().remove(promise.place.pod);
  for (auto first = promises_.begin(); first != promises_.end();) {
    const auto last = std::find_if(
        first, promises_.end(), [&](const Promise& promise) { return promise.ask != first->ask; });
    std::vector<Place> open;
    for (auto each = first; each != last; ++each) open.push_back(each->place);
    for (const Place& place : come_in_any_order(open)) {
      const MaybeRefusal refused = NaiveFit(after(), place.pod).refusal(place.node);
      after().place(place.pod, place.node);
      // It only needs another pod, which is reported; or nothing claims that it will fit.
      if (!refused || only_held(*first->ask)) continue;
      report(3, *first->ask, "{} does not fit on node {} before the asks after it have come: {}",
             cluster_.pod_key(place.pod), node_name(place.node), refusal_text(*refused));
    }
    first = last;
  }
}

/// Whether a pod that was nominated before, and has its turn later, conflicts with the one that has
/// come.
bool PlanWalk::nominated_may_spoil(const HeardAsk& ask, const Place& place) {
  after().remove(place.pod);
  const bool spoilt = spoils_nomination(place.pod, ask, place.node);
  after().place(place.pod, place.node);
  return spoilt;
}

/// It waits for the pods that it preempted, whether it will fit then or not.
bool PlanWalk::only_held(const HeardAsk& ask) const {
  return ask.entry->outcome == Outcome::waits &&
         configuration_.workload.nomination_held_by == NominationHeldBy::preempted_pods;
}

/// All of them come before one is asked whether it fits: members may need each other. So a member
/// that depends on one that may never come is asked again.
void PlanWalk::nominate(const HeardAsk& ask, const std::vector<Place>& found) {
  for (const Place& place : found) {
    own_after().place(place.pod, place.node);
    queue_room_.nominate(place.pod, place.node);
    someone_nominated_ = true;
  }
  // A pod may wait for a place where it does not fit yet, or only because of such a pod; that is no
  // promise.
  const bool held = only_held(ask);
  const auto may_never_come = [&](const Place& place) {
    return refusal_after(place) || without_tentative([&] {
             return refusal_after(place) ||
                    (held && (!promises_hold() || nominated_may_spoil(ask, place)));
           });
  };
  std::vector<Place> sure;
  for (const Place& place : found) own_after().remove(place.pod);
  for (const Place& place : come_in_any_order(found)) tentative_.push_back(place.pod);
  for (const Place& place : found) {
    if (!after().where(place.pod).exists()) after().place(place.pod, place.node);
    if (std::ranges::find(tentative_, place.pod) == tentative_.end()) sure.push_back(place);
  }
  while (true) {
    const auto place = std::ranges::find_if(sure, may_never_come);
    if (place == sure.end()) break;
    tentative_.push_back(place->pod);
    sure.erase(place);
  }
  for (const Place& place : sure) promises_.push_back({.ask = &ask, .place = place});
}

/// Whether a member that is left over, and asks for itself later, has lost its nominated room to
/// the members that were placed.
bool PlanWalk::loses_nomination(const HeardAsk& ask, PodIndex member,
                                const std::vector<Place>& found) {
  const NodeIndex node = cluster_.pods().nominated[member];
  if (!node.exists() || !cluster_.nodes().flags[node].exists) return false;
  NaiveFit fit(after(), member);
  if (fits_beside_nominated(fit, ask, node)) return false;
  // It may also wait for a pod whose turn is still to come.
  for (const Place& place : found) fit.remove(place.pod);
  const bool fits_alone = fits_beside_nominated(fit, ask, node);
  for (const Place& place : found) fit.place(place.pod, place.node);
  return fits_alone;
}

void PlanWalk::settle(const HeardAsk& ask) {
  for (const HeardVictim& victim : ask.victims) {
    if (gone_.insert(victim.pod).second) own_after().remove(victim.pod);
    queue_room_.leave(victim.pod);
    victims_.insert(victim.pod);
    victim_nodes_.insert(cluster_.pods().node[victim.pod]);
  }
  const std::vector<Place> found = places(ask, false);
  if (ask.entry->outcome == Outcome::fits) {
    for (const Place& place : found) {
      now_.place(place.pod, place.node);
      if (after_) after_->place(place.pod, place.node);
      queue_room_.bind(place.pod, place.node);
    }
  } else {
    nominate(ask, found);
  }
  // Members beyond the minimum ask for themselves.
  const bool others_ask = ask.entry->kind == AskKind::pod_group && !found.empty() &&
                          !ask.entry->placement_given &&
                          ask.rules->workload.evict_for == EvictFor::each;
  for (const PodIndex pod : ask.pods) {
    if (!others_ask || after().where(pod).exists()) {
      decided_.insert(pod);
    } else if (loses_nomination(ask, pod, found)) {
      lost_.insert(pod);
    }
  }
}

}  // namespace makeway

#include "policies/workload/queue_room_victims.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/victim_lists.hpp"
#include "policies/shared/fallen_gangs.hpp"

namespace makeway {
namespace {

/// Units of these pods, most important first. They must be where the cluster has them.
VictimList units_of(World& world, std::span<const PodIndex> pods, std::int32_t priority) {
  std::vector<PodIndex> wanted(pods.begin(), pods.end());
  std::ranges::sort(wanted);
  std::vector<NodeIndex> nodes;
  nodes.reserve(wanted.size());
  for (const PodIndex pod : wanted) nodes.push_back(world.cluster().pods().node[pod]);
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  VictimList list;
  world.rules().collect_some(
      world.after(), nodes, priority,
      [&](PodIndex pod) { return std::ranges::binary_search(wanted, pod); }, list);
  std::ranges::sort(list.units, [&](const VictimUnit& a, const VictimUnit& b) {
    return world.rules().more_important(a, b);
  });
  return list;
}

}  // namespace

QueueVerdict add_queue_victims(World& world, std::span<const PodIndex> coming,
                               std::int32_t priority, const FitsWithout& fits_without,
                               VictimsAndScore result) {
  Scratch& scratch = world.after();
  const Scratch::Checkpoint before = scratch.checkpoint();
  const auto fit = [&] {
    std::vector<PodIndex> gone;
    for (const Scratch::Move& move : scratch.moves_since(before)) {
      if (!move.came && !scratch.node_of(move.pod).exists()) gone.push_back(move.pod);
    }
    return fits_without(gone);
  };
  scratch.remove(result.victims.pods);
  const bool enough = world.limits()->has_room_later(coming);
  const std::vector<PodIndex> more =
      enough ? std::vector<PodIndex>{} : world.limits()->find_victims(coming, priority);
  scratch.rollback(before);
  if (more.empty()) return enough ? QueueVerdict::has_room : QueueVerdict::too_little;
  std::vector<PodIndex> pods = result.victims.pods;
  pods.insert(pods.end(), more.begin(), more.end());
  VictimList all = units_of(world, pods, priority);
  for (const VictimUnit& unit : all.units) scratch.remove(all.pods_of(unit));
  // A pod that may leave for the queue alone may not leave as a unit: a pod of it has to stay.
  const bool has_room = world.limits()->has_room_later(coming);
  if (!has_room || !fit()) {
    scratch.rollback(before);
    return has_room ? QueueVerdict::spoils : QueueVerdict::too_little;
  }
  std::vector<VictimUnit> units;
  for (const VictimUnit& unit : all.units) {
    scratch.put_back(all.pods_of(unit));
    if (world.limits()->has_room_later(coming) && fit()) continue;
    scratch.remove(all.pods_of(unit));
    units.push_back(unit);
  }
  VictimList left;
  for (const VictimUnit& unit : units) append_unit(all, unit, left);
  const bool keeps_places = take_fallen_whole(
      {.cluster = world.cluster(),
       .scratch = scratch,
       .rules = world.rules(),
       .budgets = world.budgets()},
      [&] { return world.limits()->has_room_later(coming) && fit(); }, left);
  const std::int64_t violations =
      mark_violations(world.budgets(), left, ChargeOrder::most_important_first);
  const bool is_strict = world.configuration().budgets.mode == BudgetMode::strict;
  if (!keeps_places || (violations > 0 && is_strict)) {
    scratch.rollback(before);
    return QueueVerdict::spoils;
  }
  result.victims = std::move(left);
  result.budget_violations = violations;
  result.score = score_of(world.survey(), world.rules(),
                          {.scratch = scratch,
                           .list = result.victims,
                           .victims = result.victims.units,
                           .budget_violations = result.budget_violations});
  scratch.rollback(before);
  return QueueVerdict::has_room;
}

Reason queue_full_reason(const World& world, std::span<const PodIndex> coming, QueueVerdict verdict,
                         bool never_preempts) {
  const ReasonCode code = never_preempts                    ? ReasonCode::queue_full_never
                          : verdict == QueueVerdict::spoils ? ReasonCode::queue_full_spoils
                                                            : ReasonCode::queue_full_too_little;
  return {.code = code,
          .arguments = {world.limits()->full_reason(coming), world.limits()->own_pods()}};
}

Reason queue_waits_reason(const PlanAsk& ask, Reason queue) {
  return {.code = ask.waits_for.empty() ? ReasonCode::queue_awaits_promise
                                        : ReasonCode::queue_awaits_departures,
          .arguments = {std::move(queue)}};
}

}  // namespace makeway

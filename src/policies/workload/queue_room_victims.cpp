#include "policies/workload/queue_room_victims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "engine/victim_lists.hpp"

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

void append(const VictimList& from, VictimUnit unit, VictimList& to) {
  const std::span<const PodIndex> own = from.pods_of(unit);
  unit.begin = static_cast<std::uint32_t>(to.pods.size());
  to.pods.insert(to.pods.end(), own.begin(), own.end());
  to.units.push_back(unit);
}

/// Spares, most important first, whom nobody needs to leave (law 4). With `belowMinimum: evict` a
/// gang is not left under its minimum: its members come back as many at once as that takes, or not
/// at all. `works`: whether, in `after`, those who come have their room. All have left that world;
/// those who are spared are back in it when this returns.
class Sparing {
 public:
  Sparing(World& world, const std::function<bool()>& works, const VictimList& all)
      : world_(world), works_(works), all_(all) {}

  VictimList victims() {
    VictimList left;
    for (std::size_t at = 0; at < all_.units.size(); ++at) {
      const VictimUnit& unit = all_.units[at];
      if (spared_.contains(at)) continue;
      if (gone_.contains(unit.unit) || !spares(at)) append(all_, unit, left);
    }
    return left;
  }

 private:
  bool spares(std::size_t at) {
    const UnitIndex gang = all_.units[at].unit;
    std::vector<std::size_t> back = {at};
    world_.after().put_back(all_.pods_of(all_.units[at]));
    if (falls(gang, back)) {
      const auto minimum = static_cast<std::size_t>(world_.cluster().units()[gang].minimum);
      for (std::size_t next = at + 1; next < all_.units.size() && back.size() < minimum; ++next) {
        if (all_.units[next].unit != gang) continue;
        world_.after().put_back(all_.pods_of(all_.units[next]));
        back.push_back(next);
      }
      gone_.insert(gang);  // Unless it works: then it stands, and others of it come back alone.
    }
    if (!falls(gang, back) && works_()) {
      spared_.insert(back.begin(), back.end());
      gone_.erase(gang);
      return true;
    }
    for (const std::size_t each : back) world_.after().remove(all_.pods_of(all_.units[each]));
    return false;
  }

  /// These are back, and others of the gang leave, so that too few stay. A gang of which nobody
  /// leaves has fallen before, or not at all.
  bool falls(UnitIndex gang, std::span<const std::size_t> back) const {
    if (!world_.rules().falls_whole(world_.after(), world_.budgets(), gang)) return false;
    for (std::size_t at = 0; at < all_.units.size(); ++at) {
      const bool leaves = !spared_.contains(at) && std::ranges::find(back, at) == back.end();
      if (leaves && all_.units[at].unit == gang) return true;
    }
    return false;
  }

  World& world_;
  const std::function<bool()>& works_;
  const VictimList& all_;
  std::set<std::size_t> spared_;  ///< Places in the list.
  std::set<UnitIndex> gone_;      ///< Gangs that were tried and have to leave.
};

/// With `belowMinimum: evict`, gangs that the victims take below their minimum leave whole, and
/// what that frees spares others. The victims have left `after`, before and after. False: with the
/// whole gangs gone it does not work.
bool take_fallen_whole(World& world, const std::function<bool()>& works, VictimList& victims) {
  const std::size_t needed = victims.pods.size();
  VictimList all = victims;
  world.rules().add_fallen(world.after(), world.budgets(), all);
  const std::span<const PodIndex> rest = std::span(all.pods).subspan(needed);
  if (rest.empty()) return true;
  world.after().remove(rest);
  if (!works()) return false;
  victims = Sparing(world, works, all).victims();
  return true;
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
  // Who may leave for the queue alone may not leave as a unit: somebody of it has to stay.
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
  for (const VictimUnit& unit : units) append(all, unit, left);
  const bool keeps_places = take_fallen_whole(
      world, [&] { return world.limits()->has_room_later(coming) && fit(); }, left);
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

std::string queue_full_reason(const World& world, std::span<const PodIndex> coming,
                              QueueVerdict verdict, bool never_preempts) {
  const std::string_view pods = world.limits()->own_pods();
  const std::string why = never_preempts ? std::string("its preemptionPolicy is Never")
                          : verdict == QueueVerdict::spoils
                              ? fmt::format("evicting {} would spoil the placement", pods)
                              : fmt::format("{} free too little", pods);
  return fmt::format("{}, and {}", world.limits()->full_text(coming), why);
}

std::string queue_waits_reason(const PlanAsk& ask, std::string_view queue) {
  return ask.waits_for.empty()
             ? fmt::format("waits until {} has received what it is promised", queue)
             : fmt::format("waits until {} uses less than it may", queue);
}

}  // namespace makeway

#include "policies/shared/fallen_gangs.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

namespace makeway {
namespace {

/// Spares, most important first, the pods that need not leave (law 4). A gang is not left under its
/// minimum: its members come back as many at once as that takes, or not at all. All have left the
/// world; the spared ones are back in it when this returns.
class Sparing {
 public:
  Sparing(const FallenIn& world, const std::function<bool()>& works, const VictimList& all)
      : world_(world), works_(works), all_(all) {}

  VictimList victims() {
    // Pods that were tried before may depend on one that is back now.
    while (spare_some()) gone_.clear();
    VictimList left;
    for (std::size_t at = 0; at < all_.units.size(); ++at) {
      if (!spared_.contains(at)) append_unit(all_, all_.units[at], left);
    }
    return left;
  }

 private:
  bool spare_some() {
    const std::size_t before = spared_.size();
    for (std::size_t at = 0; at < all_.units.size(); ++at) {
      if (!spared_.contains(at) && !gone_.contains(all_.units[at].unit)) spare(at);
    }
    return spared_.size() > before;
  }

  void spare(std::size_t at) {
    const UnitIndex gang = all_.units[at].unit;
    std::vector<std::size_t> back = {at};
    world_.scratch.put_back(all_.pods_of(all_.units[at]));
    if (falls(gang, back)) {
      const auto minimum = static_cast<std::size_t>(world_.cluster.units()[gang].minimum);
      for (std::size_t next = at + 1; next < all_.units.size() && back.size() < minimum; ++next) {
        if (all_.units[next].unit != gang || spared_.contains(next)) continue;
        world_.scratch.put_back(all_.pods_of(all_.units[next]));
        back.push_back(next);
      }
      gone_.insert(gang);  // Unless it works: then it stands, and others of it come back alone.
    }
    if (!falls(gang, back) && works_()) {
      spared_.insert(back.begin(), back.end());
      gone_.erase(gang);
      return;
    }
    for (const std::size_t each : back) world_.scratch.remove(all_.pods_of(all_.units[each]));
  }

  /// These are back, and others of the gang leave, so that too few stay. A gang of which no member
  /// leaves has fallen before, or not at all.
  bool falls(UnitIndex gang, std::span<const std::size_t> back) const {
    if (!world_.rules.falls_whole(world_.scratch, world_.budgets, gang, all_)) return false;
    for (std::size_t at = 0; at < all_.units.size(); ++at) {
      const bool leaves = !spared_.contains(at) && std::ranges::find(back, at) == back.end();
      if (leaves && all_.units[at].unit == gang) return true;
    }
    return false;
  }

  const FallenIn& world_;
  const std::function<bool()>& works_;
  const VictimList& all_;
  std::set<std::size_t> spared_;  ///< Places in the list.
  std::set<UnitIndex> gone_;      ///< Gangs that were tried and have to leave.
};

}  // namespace

void append_unit(const VictimList& from, VictimUnit unit, VictimList& to) {
  const std::span<const PodIndex> own = from.pods_of(unit);
  unit.begin = static_cast<std::uint32_t>(to.pods.size());
  to.pods.insert(to.pods.end(), own.begin(), own.end());
  to.units.push_back(unit);
}

bool take_fallen_whole(const FallenIn& world, const std::function<bool()>& works,
                       VictimList& victims) {
  if (!world.rules.any_may_fall(victims)) return true;
  const std::size_t needed = victims.pods.size();
  VictimList all = victims;
  world.rules.add_fallen(world.scratch, world.budgets, all);
  const std::span<const PodIndex> rest = std::span(all.pods).subspan(needed);
  if (rest.empty()) return true;
  world.scratch.remove(rest);
  if (!works()) return false;
  victims = Sparing(world, works, all).victims();
  return true;
}

bool add_fallen_and_spare(const FallenIn& world, const std::function<bool()>& works,
                          VictimList& victims) {
  if (!world.rules.any_may_fall(victims)) return true;
  const std::vector<PodIndex> before = victims.pods;
  const Scratch::Checkpoint begun = world.scratch.checkpoint();
  const bool works_whole = take_fallen_whole(world, works, victims);
  world.scratch.rollback(begun);
  if (!works_whole) return false;
  for (const PodIndex pod : before) {
    const bool spared = std::ranges::find(victims.pods, pod) == victims.pods.end();
    if (spared) world.scratch.put_back(std::span(&pod, 1));
  }
  return true;
}

}  // namespace makeway

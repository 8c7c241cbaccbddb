// LossUnits: pods that stop together although nothing places them together: a JobSet, a group of a
// LeaderWorkerSet, ... (SPEC section 7; LossShare in model/objects.hpp).
//
// A unit stands while each of its parts has lost no more pods than are allowed. What has left
// before this cycle is not counted: what it has cost is in the numbers of the controllers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/cluster.hpp"

namespace makeway {

class LossUnits {
 public:
  explicit LossUnits(const Cluster& cluster);

  /// A unit that some victims stop.
  struct Stopped {
    std::string_view unit;
    std::vector<PodIndex> lost;  ///< Victims.
    std::vector<PodIndex> rest;  ///< Those that stay; not empty.
  };

  bool any() const { return !units_.empty(); }

  /// `victims` are sorted. `runs`: bound, and not leaving anyway. `there`: it has not left in this
  /// cycle either; victims may have or not.
  template <class Runs, class There>
  std::vector<Stopped> stopped_by(std::span<const PodIndex> victims, const Runs& runs,
                                  const There& there) const {
    std::vector<Stopped> all;
    for (const std::uint32_t index : touched(victims)) {
      Tally tally(units_[index]);
      for (const Member& member : units_[index].members) {
        if (!runs(member.pod)) continue;
        const bool lost = std::ranges::binary_search(victims, member.pod);
        tally.count(member, lost, !lost && there(member.pod));
      }
      if (tally.stops() && !tally.stopped.rest.empty()) all.push_back(std::move(tally.stopped));
    }
    return all;
  }

 private:
  static constexpr std::uint32_t no_part = 0xFFFFFFFFU;
  struct Member {
    PodIndex pod;
    std::uint32_t part = no_part;
  };
  struct Unit {
    std::string name;
    std::vector<std::int64_t> allowed;  ///< By part; the least that a pod of it says.
    std::vector<Member> members;
  };
  /// What is left of a unit.
  struct Tally {
    explicit Tally(const Unit& counted);
    void count(const Member& member, bool lost, bool there);
    bool stops() const;

    const Unit& unit;
    std::vector<std::int64_t> gone_before;  ///< By part, in this cycle.
    std::vector<std::int64_t> gone_now;
    Stopped stopped;
  };

  using Shares = std::vector<std::pair<PodIndex, const LossShare*>>;
  void add(std::string_view name, const Shares& shares);
  std::vector<std::uint32_t> touched(std::span<const PodIndex> victims) const;

  std::vector<Unit> units_;                                  ///< By plane, namespace and name.
  std::vector<std::pair<PodIndex, std::uint32_t>> unit_of_;  ///< Sorted; a pod may have several.
};

}  // namespace makeway

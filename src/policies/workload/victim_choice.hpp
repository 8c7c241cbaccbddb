// VictimChoice: the best set of victims on one node, by branch and bound.
//
// Units are taken from the highest priority down; each is first spared, then evicted. A branch is
// left when
//  - the ask no longer fits although every undecided pod is gone: fewer pods never make it worse,
//    except for affinity, and for spread where a pod leaves another node too; these are judged
//    at the end of a branch only;
//  - what is evicted so far already costs more than the best set known, key by key. Every key only
//    grows on the way down, and missing room costs at least as many pods as the largest undecided
//    units leave open;
//  - a pod is spared that frees at least as much as an evicted one and costs no more; only
//    where nothing but resources counts;
//  - an evicted pod could come back even if all undecided ones stay; again only resources. So
//    a pod that holds nothing short is never evicted, and none once there is room enough. On a
//    node that holds more than it has this is what ends the search: victims there often have
//    victims of their own, and the number of those bounds no key behind it.
// A set from which a pod could come back is no answer (law 4). With strict budgets a set that
// violates one is none either.
//
// Exact unless the bound on steps ends it; the caller then has the put-backs to fall back on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/budgets.hpp"
#include "engine/fit.hpp"
#include "engine/score.hpp"
#include "engine/world.hpp"

namespace makeway {

class VictimChoice {
 public:
  VictimChoice(World& world, const VictimRules& rules, PodFit& fit);

  /// By position in the list's units: 1 for victims.
  using Evicted = std::vector<std::uint8_t>;
  /// Scores a set of victims. They have left the world, all others are back in it. Keys that are
  /// dear to compute may be 0 when the set does not beat `to_beat` even so; it may be null. They
  /// may be too small when the set is worse than `to_beat` or `not_worse_than` even so. Adds the
  /// steps that it took to `steps`. Nothing: what leaves with these takes from the ask what it
  /// needs.
  using Score = std::function<std::optional<ScoreTerms>(
      const Evicted& evicted, const ScoreTerms* to_beat, std::int64_t& steps)>;

  struct Task {
    NodeIndex node;
    /// Potential victims, all of them removed from `fit`'s world, where the ask fits then, or may
    /// fit once some are back (`may_change_later`).
    const VictimList& list;
    const ScoreTerms* not_worse_than = nullptr;  ///< Sets that are worse are of no interest.
    const Score& score;
    std::int64_t steps_max = 0;
  };

  struct Answer {
    std::optional<Evicted> evicted;  ///< None: there is no such set (or none was found).
    ScoreTerms score;
    std::int64_t steps = 0;
    bool bound_reached = false;
  };

  /// The world is left as it was found.
  Answer best(const Task& task);

  /// Whether some of the removed units coming back could lift the refusal.
  bool may_change_later(const Refused& refused, NodeIndex node, const VictimList& list) const;

 private:
  struct Entry {
    std::uint32_t position = 0;
    const VictimUnit* unit = nullptr;
    bool recreated = false;
    std::int32_t group = -1;          ///< Small number for its group; -1: a lone pod.
    std::uint32_t budgets_begin = 0;  ///< In `budgets_of_`: one for each pod and budget.
    std::uint32_t budgets_end = 0;
  };

  /// A group that loses pods here; what runs of it counts only for gangs that leave one by one.
  struct Gang {
    std::int64_t running = 0;
    std::int64_t lost_work = 0;        ///< Of all that run.
    std::int64_t beyond_minimum = -1;  ///< Negative: nothing stops it, or it has stopped already.
    std::int64_t gone = 0;             ///< Evicted on the way to a branch.
    std::int64_t gone_work = 0;
  };

  /// What has been evicted on the way to a branch.
  struct Cost {
    std::int64_t pods = 0;
    std::int64_t stopped = 0;
    std::int64_t priority_sum = 0;
    std::int64_t lost_work = 0;
    std::int64_t groups = 0;
    std::int64_t grouped = 0;
    std::int64_t largest = 0;
    std::int64_t age_ms = 0;
    std::int64_t violations = 0;
    std::optional<std::int32_t> highest;
    Time oldest;
  };

  void read_units();
  void read_gangs();
  void read_budgets(Entry& entry);
  void find_short_resources();
  std::int64_t frees(std::size_t entry, std::size_t resource) const {
    return frees_[entry * short_.size() + resource];
  }

  void descend(std::size_t depth, const Cost& cost);
  void evict_next(std::size_t depth, const Cost& cost);
  bool spare(std::size_t depth);
  void unspare(std::size_t depth);
  void finish();
  bool feasible_set();
  bool reducible_set();
  bool stays_reducible() const;
  Cost with(const Cost& cost, const Entry& entry);
  static void leave_gang(Gang& gang, const VictimUnit& unit, Cost& sum);
  void uncharge(const Entry& entry);
  bool of_no_interest(std::size_t depth, const Cost& cost) const;
  std::int64_t lower_bound(ScoreKey key, std::size_t depth, const Cost& cost) const;
  std::int64_t pods_needed(std::size_t depth) const;
  bool wrongly_spared(std::size_t depth) const;
  bool frees_and_costs_no_worse(std::size_t a, std::size_t b) const;
  bool costs_no_more(const Entry& a, const Entry& b) const;
  bool stops_alike(const Entry& a, const Entry& b) const;
  void put_back(const VictimUnit& unit);
  void remove(const VictimUnit& unit);

  World& world_;
  const VictimRules& rules_;
  PodFit& fit_;
  const Task* task_ = nullptr;
  Answer answer_;
  bool resources_only_ = false;
  bool by_unit_priority_ = true;  ///< Scores read units' priorities, so they can be bounded.
  bool cascades_count_ = false;
  /// Negative priorities make the sum smaller, but more victims are worse before that counts.
  bool fewer_before_sum_ = true;
  bool age_after_priority_ = true;  ///< A lower highest priority outweighs any age.

  std::vector<Entry> entries_;
  std::vector<std::size_t> evicted_stack_;  ///< Entries, in order.
  Evicted evicted_;
  std::vector<UnitIndex> groups_;
  std::vector<Gang> gangs_;  ///< By place in `groups_`.
  Budgets::Among budgets_;
  std::vector<std::int64_t> budgets_left_;  ///< By number.
  std::vector<std::uint32_t> budgets_of_;   ///< Numbers.
  std::vector<ResourceIndex> short_;
  std::vector<std::int64_t> slack_;  ///< By short resource: room beyond the ask.
  std::vector<std::int64_t> frees_;
  std::vector<std::int64_t> open_;     ///< By short resource: what sparing all undecided lacks.
  std::vector<std::int64_t> largest_;  ///< By depth and short resource: the most one unit frees.
  std::vector<std::int64_t> negative_sum_;  ///< By depth: what may still lower the sum.
};

}  // namespace makeway

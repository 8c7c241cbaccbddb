// NodeFloor: the least that the victims on one node can cost, key by key.
//
// NodeScan says that a pod of priority P must leave. Where priorities are few, that is the same
// on most nodes, so the keys after it have to distinguish nodes before any search. Pods under an
// exhausted budget leave only where all others are not enough, and each of them is a violation. If
// no pod above P leaves, then
//   victims       as many as the largest pods up to P leave open, for each resource
//   priority-sum  P, and the lowest priorities for the others
//   lost-work     the least, of as many pods
//   oldest-victim the youngest pod of priority P
//   victims-age   the least, of as many pods
// Each is a bound where all keys before it are met exactly, which is how scores are compared.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "engine/fit.hpp"
#include "engine/score.hpp"
#include "engine/world.hpp"

namespace makeway {

class NodeFloor {
 public:
  NodeFloor(World& world, PodFit& fit);

  /// False: the order of the score's keys is not the one that this is made for.
  bool useful() const { return useful_; }

  /// Looks at a node of which NodeScan says `highest`, which is a priority.
  void start(NodeIndex node, std::int64_t highest);
  /// The least value of key number `key`. Keys are asked for in their order.
  std::int64_t value(std::size_t key);
  /// Looks at a node and compares the least that it can cost with a score.
  std::strong_ordering compare(NodeIndex node, std::int64_t highest, const ScoreTerms& score);

 private:
  struct Held {
    PodIndex pod;
    std::int32_t priority = 0;
  };

  std::int64_t amount_of(PodIndex pod, ResourceIndex resource) const;
  std::int64_t missing(const ResourceAmount& wanted) const;
  std::int64_t fewest(std::int64_t missing);
  std::int64_t least_violations();
  std::int64_t count_victims();
  std::int64_t least_priority_sum();
  std::int64_t least_lost_work();
  std::int64_t youngest();
  std::int64_t least_age();
  std::int64_t sum_of_least(std::int64_t count);

  World& world_;
  PodFit& fit_;
  ScoreFloor floor_;
  bool useful_ = false;
  NodeIndex node_;
  std::int64_t highest_ = 0;
  std::int64_t victims_ = 0;
  std::vector<Held> held_;       ///< Pods up to the highest priority.
  std::vector<PodIndex> cheap_;  ///< Below the ask, of those whose loss may violate no budget.
  std::vector<PodIndex> dear_;   ///< Below the ask, of those whose loss violates one.
  std::vector<std::int64_t> amounts_;
};

}  // namespace makeway

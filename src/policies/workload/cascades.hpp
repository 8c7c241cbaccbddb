// Cascades: what happens next to victims that a controller recreates (SPEC section 2).
//
// A recreated victim asks again with its own scheduling priority. It may fit somewhere; otherwise
// it may make others leave, whose own return is followed in turn, `engine.cascadeDepth` times. The
// pods that leave in such chains are the secondary victims of the candidate. They are only counted
// and shown: the next cycle decides anew.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/workload/victim_search.hpp"

namespace makeway {

/// Whether secondary victims are counted at all.
bool cascades_count(const Configuration& configuration);

bool recreated_by_controller(const Cluster& cluster, PodIndex pod);

class Cascades {
 public:
  /// `fit` is the ask's, over the world `after`, which is left as it was.
  Cascades(World& world, PodFit& fit) : world_(world), fit_(fit) {}

  /// The number of secondary victims; the chain is noted in the candidate. Its victims may have
  /// left the world already.
  std::int64_t follow(Candidate& candidate);
  /// Some count is too small, because the bound ended it.
  bool bound_reached() const { return bound_reached_; }

 private:
  std::int64_t follow_pods(std::span<const PodIndex> recreated, std::int64_t depth,
                           std::vector<PlanCascade>& chain);
  /// The victims of a recreated pod that fits nowhere; it is placed and they are removed.
  std::optional<Candidate> preempt_for(PodFit& fit);

  World& world_;
  PodFit& fit_;
  std::int64_t steps_ = 0;  ///< Nodes tried so far; see `engine.cascadeStepsMax`.
  bool bound_reached_ = false;
};

}  // namespace makeway

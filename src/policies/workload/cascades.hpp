// Cascades: what happens next to victims that a controller recreates (SPEC section 2).
//
// A recreated victim asks again with its own scheduling priority. It may fit somewhere; otherwise
// it may make others leave, whose own return is followed in turn, `engine.cascadeDepth` times. The
// pods that leave in such chains are the secondary victims of the candidate. They are only counted
// and shown: the next cycle decides anew.
#pragma once

#include <cstdint>
#include <limits>
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
  static constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t steps_max = 1'000'000;  ///< Nodes tried, per ask.

  /// `scratch` is the world `after`, which is left as it was.
  Cascades(World& world, Scratch& scratch)
      : world_(world), scratch_(scratch), steps_(world.steps(), steps_max, "cascade steps") {}

  /// The number of secondary victims once these victims are gone and the pods have come; the chain
  /// is noted. The victims may have left the world already. Recreated pods take their turns as the
  /// victims are listed, and what one takes the next cannot have. More than `enough` are not
  /// counted to the end.
  std::int64_t follow(std::span<const PodIndex> victims, std::span<const PodOnNode> coming,
                      std::vector<PlanCascade>& chain, std::int64_t enough = no_end);
  /// Some count is too small, because the bound ended it.
  bool bound_reached() const { return bound_reached_; }
  std::string_view bound() const { return steps_.bound(); }

 private:
  std::int64_t follow_pods(std::span<const PodIndex> recreated, std::int64_t depth,
                           std::vector<PlanCascade>& chain);
  /// The victims of a recreated pod that fits nowhere; it is placed and they are removed.
  std::optional<Candidate> preempt_for(PodFit& fit);

  World& world_;
  Scratch& scratch_;
  std::int64_t enough_ = no_end;
  StepMeter steps_;  ///< Nodes tried.
  bool bound_reached_ = false;
};

}  // namespace makeway

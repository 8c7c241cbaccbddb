// ReplicaProof: whether a replica can have room at all, whatever may leave (law 10).
//
// Counted generously: every replica that the ask's priority lets leave, as if no ask had got
// anything in this cycle and no deployment kept its last replica. What does not fit even then is
// infeasible; anything else is only not found.
#pragma once

#include <optional>
#include <vector>

#include "policies/replica/node_victims.hpp"

namespace makeway {

class ReplicaProof {
 public:
  explicit ReplicaProof(const Fleet& fleet) : fleet_(fleet) {}

  struct Verdict {
    bool possible = false;
    std::int64_t places = 0;  ///< How many were looked at.
    // Where it is possible, or least is missing:
    std::size_t column = 0;
    std::int64_t missing = 0;
    PlaceIndex place;
  };
  /// Asks come by falling priority.
  Verdict judge(DeploymentIndex deployment, std::int32_t priority);

 private:
  /// What the highest priority so far came to. Whatever is impossible there is impossible below.
  struct Known {
    bool judged = false;
    Verdict verdict;
  };
  struct Missing {
    std::size_t column = 0;
    std::int64_t amount = 0;  ///< 0: nothing is.
  };

  const Verdict& judge_plane(std::uint32_t request, PlaneIndex plane, std::int32_t priority);
  Missing missing_on(PlaceIndex place, std::uint32_t request, std::int32_t priority);

  const Fleet& fleet_;
  std::vector<Known> known_;  ///< By request and plane.
  std::vector<std::int64_t> room_;
};

}  // namespace makeway

// ReplicaProof: whether a replica can have room at all, whoever may leave (law 10).
//
// Counted generously: every replica that the ask's priority lets leave, as if nobody had got
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
    // Where least is missing, if it is not possible:
    std::size_t column = 0;
    std::int64_t missing = 0;
    PlaceIndex place;
  };
  Verdict judge(DeploymentIndex deployment, std::int32_t priority);

 private:
  struct Known {
    std::int32_t priority = 0;
    std::optional<Verdict> verdict;
  };

  Verdict judge_plane(std::uint32_t request, PlaneIndex plane, std::int32_t priority);

  const Fleet& fleet_;
  std::vector<Known> known_;  ///< By request and plane; the last one.
};

}  // namespace makeway

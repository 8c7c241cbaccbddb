// ClaimProblem: why a claim keeps its pod off every node, and the words for it: the detail of a
// refusal (refusal_text in plan.hpp) begins with the claim.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace makeway {

enum class ClaimProblem : std::uint8_t {
  missing,
  not_created,
  of_another_pod,
  volume_lost,
  being_deleted,
  volume_missing,  ///< Argument: the volume.
  volume_unbound,  ///< Argument: the volume.
  unbound,
  may_take_existing_volume,  ///< Argument: the storage class.
  no_volume,                 ///< Argument: the storage class.
  not_allocated,
  in_use,  ///< Argument: the number of its pods.
};

/// "persistentVolumeClaim data", "resourceClaim gpu"
std::string claim_text(bool volume, std::string_view name);
/// "persistentVolumeClaim data is bound to volume v1, which does not exist"
std::string claim_problem_text(std::string_view claim, ClaimProblem problem,
                               std::string_view argument);

}  // namespace makeway

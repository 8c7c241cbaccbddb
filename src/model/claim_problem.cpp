#include "model/claim_problem.hpp"

#include <fmt/format.h>

#include "base/check.hpp"

namespace makeway {

std::string claim_text(bool volume, std::string_view name) {
  return fmt::format("{} {}", volume ? "persistentVolumeClaim" : "resourceClaim", name);
}

std::string claim_problem_text(std::string_view claim, ClaimProblem problem,
                               std::string_view argument) {
  switch (problem) {
    case ClaimProblem::missing: return fmt::format("{} does not exist", claim);
    case ClaimProblem::not_created: return fmt::format("{} is not created yet", claim);
    case ClaimProblem::of_another_pod: return fmt::format("{} was not created for this pod", claim);
    case ClaimProblem::volume_lost: return fmt::format("{} has lost its volume", claim);
    case ClaimProblem::being_deleted: return fmt::format("{} is being deleted", claim);
    case ClaimProblem::volume_missing:
      return fmt::format("{} is bound to volume {}, which does not exist", claim, argument);
    case ClaimProblem::volume_unbound:
      return fmt::format("{} is not bound to volume {} yet", claim, argument);
    case ClaimProblem::unbound: return fmt::format("{} is not bound yet", claim);
    case ClaimProblem::may_take_existing_volume:
      return fmt::format("{} (which may take one of the volumes of class {})", claim, argument);
    case ClaimProblem::no_volume:
      return fmt::format("{} has no matching volume, and class {} creates none", claim, argument);
    case ClaimProblem::not_allocated: return fmt::format("{} (which is not allocated)", claim);
    case ClaimProblem::in_use: return fmt::format("{} is in use by {} pods", claim, argument);
  }
  CHECK(false, "unknown problem of a claim");
}

}  // namespace makeway

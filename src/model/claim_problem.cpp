#include "model/claim_problem.hpp"

#include <fmt/format.h>

#include <array>

namespace makeway {
namespace {

constexpr std::array<std::string_view, 12> words = {
    "{} does not exist",
    "{} is not created yet",
    "{} was not created for this pod",
    "{} has lost its volume",
    "{} is being deleted",
    "{} is bound to volume {}, which does not exist",
    "{} is not bound to volume {} yet",
    "{} is not bound yet",
    "{} (which may take one of the volumes of class {})",
    "{} has no matching volume, and class {} creates none",
    "{} (which is not allocated)",
    "{} is in use by {} pods",
};
static_assert(words.size() == static_cast<std::size_t>(ClaimProblem::in_use) + 1);

}  // namespace

std::string claim_text(bool volume, std::string_view name) {
  return fmt::format("{} {}", volume ? "persistentVolumeClaim" : "resourceClaim", name);
}

std::string claim_problem_text(std::string_view claim, ClaimProblem problem,
                               std::string_view argument) {
  return fmt::format(fmt::runtime(words.at(static_cast<std::size_t>(problem))), claim, argument);
}

}  // namespace makeway

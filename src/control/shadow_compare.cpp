#include "control/shadow_compare.hpp"

#include <algorithm>
#include <tuple>

namespace makeway {
namespace {

bool same_pods(const ShadowChoice& a, const ShadowChoice& b) {
  const auto same_pod = [](const ShadowVictim& one, const ShadowVictim& other) {
    return one.namespace_name == other.namespace_name && one.name == other.name;
  };
  return std::ranges::equal(a.victims, b.victims, same_pod);
}

std::tuple<std::int32_t, std::int64_t, std::int64_t> price(const ShadowChoice& choice) {
  return {choice.highest_priority().value_or(0), choice.priority_sum(), choice.run_seconds()};
}

void add_side(ShadowTotals::Side& side, const ShadowChoice& choice) {
  side.victims += std::ssize(choice.victims);
  side.priority_sum += choice.priority_sum();
  side.run_seconds += choice.run_seconds();
}

}  // namespace

std::optional<std::int32_t> ShadowChoice::highest_priority() const {
  const auto highest = std::ranges::max_element(victims, {}, &ShadowVictim::priority);
  return highest == victims.end() ? std::nullopt : std::optional(highest->priority);
}

std::int64_t ShadowChoice::priority_sum() const {
  std::int64_t sum = 0;
  for (const ShadowVictim& victim : victims) sum += victim.priority;
  return sum;
}

std::int64_t ShadowChoice::run_seconds() const {
  std::int64_t sum = 0;
  for (const ShadowVictim& victim : victims) sum += victim.run_seconds;
  return sum;
}

ShadowVerdict compare(const ShadowChoice& ours, const ShadowChoice& theirs) {
  if (ours.nodes.empty() && theirs.nodes.empty()) return ShadowVerdict::neither;
  if (ours.nodes.empty()) return ShadowVerdict::only_theirs;
  if (theirs.nodes.empty()) return ShadowVerdict::only_ours;
  if (same_pods(ours, theirs)) {
    return ours.nodes == theirs.nodes ? ShadowVerdict::same : ShadowVerdict::other_node;
  }
  if (ours.victims.size() < theirs.victims.size()) return ShadowVerdict::fewer_victims;
  if (ours.victims.size() > theirs.victims.size()) return ShadowVerdict::more_victims;
  if (price(ours) == price(theirs)) return ShadowVerdict::other_victims;
  return price(ours) < price(theirs) ? ShadowVerdict::cheaper_victims
                                     : ShadowVerdict::dearer_victims;
}

void ShadowTotals::add(const ShadowResult& result) {
  ++verdicts[static_cast<std::size_t>(result.verdict)];
  if (result.ours.nodes.empty() || result.theirs.nodes.empty()) return;
  add_side(ours, result.ours);
  add_side(theirs, result.theirs);
}

std::int64_t ShadowTotals::compared() const {
  std::int64_t sum = 0;
  for (const std::int64_t count : verdicts) sum += count;
  return sum;
}

}  // namespace makeway

#include "model/plan_replica.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/checked_math.hpp"
#include "model/gpus.hpp"

namespace makeway {
namespace {

std::string unit_name(const PlanReplicas& replicas) {
  return is_gpu(replicas.resource) ? "GPU" : replicas.resource;
}

/// "2 of 3 GPUs are", "1 GPU is"
std::string part_of(const PlanReplicas& replicas, std::int64_t part, std::int64_t needed) {
  const std::string unit = unit_name(replicas);
  const std::string plural = is_gpu(replicas.resource) ? unit + "s" : unit;
  const std::string_view verb = part == 1 ? "is" : "are";
  if (part == needed) return fmt::format("{} {} {}", part, part == 1 ? unit : plural, verb);
  return fmt::format("{} of {} {} {}", part, needed, needed == 1 ? unit : plural, verb);
}

std::int64_t amount_of(const PlanReplicaClaim& claim, bool forced) {
  std::int64_t amount = 0;
  for (const PlanReplicaVictim& victim : claim.victims) {
    const bool counts =
        victim.action == (forced ? ReplicaAction::force_delete : ReplicaAction::wait);
    if (counts) amount = saturated_add(amount, victim.amount);
  }
  return amount;
}

}  // namespace

std::string claim_text(const PlanReplicas& replicas, const PlanReplicaClaim& claim) {
  std::vector<std::string> parts;
  std::int64_t open = claim.needed;
  // What a pod frees beyond the need is left out.
  const auto add = [&](std::int64_t amount, std::string_view one, std::string_view several) {
    const std::int64_t part = std::min(amount, open);
    if (part <= 0) return;
    parts.push_back(
        fmt::format("{} {}", part_of(replicas, part, claim.needed), part == 1 ? one : several));
    open -= part;
  };
  add(claim.free, "free", "free");
  add(claim.left_over, "left over by others", "left over by others");
  add(amount_of(claim, false), "leaving by itself", "leaving by themselves");
  add(amount_of(claim, true), "freed by force-deletion", "freed by force-deletion");
  std::map<std::string, std::int64_t> losers;
  for (const PlanReplicaVictim& victim : claim.victims) {
    if (victim.action != ReplicaAction::scale_down) continue;
    ++losers[fmt::format("{}/{}", victim.namespace_name, victim.deployment)];
  }
  for (const auto& [name, count] : losers) {
    parts.push_back(fmt::format("{} {} of {} in plane {} {}", count,
                                count == 1 ? "replica" : "replicas", name, claim.plane,
                                count == 1 ? "goes" : "go"));
  }
  if (parts.empty()) return fmt::format("room is left on node {}", claim.node);
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::int64_t scaled_down(const PlanReplicas& replicas) {
  std::int64_t count = 0;
  for (const PlanReplicaClaim& claim : replicas.claims) {
    count +=
        std::ranges::count(claim.victims, ReplicaAction::scale_down, &PlanReplicaVictim::action);
  }
  return count;
}

}  // namespace makeway

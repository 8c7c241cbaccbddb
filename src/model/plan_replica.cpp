#include "model/plan_replica.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

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

Sentence claim_sentence(const PlanReplicas& replicas, const PlanReplicaClaim& claim) {
  Sentence sentence;
  const auto start_part = [&] {
    if (!sentence.text.empty()) sentence.add("; ");
  };
  std::int64_t open = claim.needed;
  // What a pod frees beyond the need is left out.
  const auto add = [&](std::int64_t amount, std::string_view one, std::string_view several) {
    const std::int64_t part = std::min(amount, open);
    if (part <= 0) return;
    start_part();
    sentence.add(
        fmt::format("{} {}", part_of(replicas, part, claim.needed), part == 1 ? one : several));
    open -= part;
  };
  add(claim.free, "free", "free");
  add(claim.left_over, "left over by others", "left over by others");
  add(amount_of(claim, false), "leaving by itself", "leaving by themselves");
  add(amount_of(claim, true), "freed by force-deletion", "freed by force-deletion");
  struct Loser {
    std::string_view namespace_name;
    std::int64_t replicas = 0;
  };
  std::map<std::string, Loser> losers;
  for (const PlanReplicaVictim& victim : claim.victims) {
    if (victim.action != ReplicaAction::scale_down) continue;
    Loser& loser = losers[fmt::format("{}/{}", victim.namespace_name, victim.deployment)];
    loser.namespace_name = victim.namespace_name;
    ++loser.replicas;
  }
  for (const auto& [name, loser] : losers) {
    const bool is_one = loser.replicas == 1;
    start_part();
    sentence.add(fmt::format("{} {} of ", loser.replicas, is_one ? "replica" : "replicas"));
    sentence.add_mention(MentionKind::deployment, loser.namespace_name, name);
    sentence.add(fmt::format(" in plane {} {}", claim.plane, is_one ? "goes" : "go"));
  }
  if (sentence.text.empty()) sentence.add(fmt::format("room is left on node {}", claim.node));
  return sentence;
}

std::string claim_text(const PlanReplicas& replicas, const PlanReplicaClaim& claim) {
  return claim_sentence(replicas, claim).text;
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

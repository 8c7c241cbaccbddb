#include "support/random_schedule.hpp"

#include <fmt/format.h>

namespace makeway {
namespace {

Time random_time(Prng& random) { return {1'767'225'600'000 + 1'000 * random.between(0, 10'000)}; }

ReplicaClaim random_claim(Prng& random) {
  ReplicaClaim claim{.since = random_time(random),
                     .plane = fmt::format("plane-{}", random.below(3)),
                     .node = fmt::format("node-{}", random.below(8))};
  const std::uint64_t victims = random.below(4);  // Each has a name of its own.
  for (std::uint64_t at = 0; at < victims; ++at) {
    ClaimedVictim victim{.namespace_name = fmt::format("space-{}", random.below(3)),
                         .name = fmt::format("pod-{}", 3 * random.below(4) + at)};
    if (random.chance(50)) victim.uid = fmt::format("uid-{}", random.below(12));
    if (random.chance(70)) victim.deployment = fmt::format("schedule-{}", random.below(3));
    if (!victim.deployment.empty() && random.chance(50)) victim.committed = random.between(0, 9);
    if (random.chance(30)) victim.force_deleted = random_time(random);
    claim.victims.push_back(std::move(victim));
  }
  return claim;
}

}  // namespace

ReplicaSchedule random_schedule(Prng& random, const std::string& namespace_name,
                                const std::string& name) {
  ReplicaSchedule schedule{.namespace_name = namespace_name, .name = name};
  if (random.chance(50)) schedule.uid = "uid-" + name;
  if (random.chance(50)) schedule.created = random_time(random);
  if (random.chance(30)) schedule.deployment = "deployment-of-" + name;
  if (random.chance(70)) schedule.priority = static_cast<std::int32_t>(random.between(-5, 2'000));
  if (random.chance(20)) schedule.priority_class = "system-cluster-critical";
  schedule.requests = {{"nvidia.com/gpu", random.between(1, 8)}};
  if (random.chance(40)) schedule.requests.push_back({"cpu", random.between(1, 9'000)});
  if (random.chance(50)) schedule.unmet = random.between(0, 5);
  for (int plane = 2; plane >= 0; --plane) {
    if (random.chance(30)) continue;
    schedule.planes.push_back({.name = fmt::format("plane-{}", plane),
                               .committed = random.between(0, 4),
                               .score = random.between(-3, 3)});
  }
  const std::uint64_t claims = random.below(3);
  for (std::uint64_t at = 0; at < claims; ++at) {
    schedule.status.claims.push_back(random_claim(random));
  }
  if (random.chance(30)) {
    schedule.status.missed.push_back({.plane = "p1",
                                      .node = "n1",
                                      .namespace_name = "other",
                                      .deployment = "app",
                                      .committed = 2});
    schedule.status.surplus.push_back(
        {.name = "pod-1", .plane = "east", .since = random_time(random)});
  }
  normalize(schedule);
  return schedule;
}

}  // namespace makeway

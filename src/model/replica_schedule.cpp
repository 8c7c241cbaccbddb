#include "model/replica_schedule.hpp"

#include <algorithm>
#include <tuple>

namespace makeway {

void normalize(ReplicaSchedule& schedule) {
  if (schedule.deployment.empty()) schedule.deployment = schedule.name;
  std::erase_if(schedule.requests, [](const Amount& amount) { return amount.amount <= 0; });
  std::ranges::sort(schedule.requests);
  std::ranges::sort(schedule.planes);
  std::ranges::sort(schedule.selector);
  for (ReplicaClaim& claim : schedule.status.claims) std::ranges::sort(claim.victims);
  std::ranges::sort(schedule.status.claims);
  std::vector<MissedVictim>& missed = schedule.status.missed;
  std::ranges::sort(missed);
  const auto again = std::ranges::unique(missed, {}, [](const MissedVictim& item) {
    return std::tie(item.plane, item.node, item.namespace_name, item.deployment);
  });
  missed.erase(again.begin(), again.end());
  std::ranges::sort(schedule.status.surplus);
}

}  // namespace makeway

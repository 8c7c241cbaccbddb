#include "policies/required_node/claimed_room.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "model/names.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

/// What the claim needs beyond what its victims on the node still hold.
class ClaimNeed {
 public:
  ClaimNeed(const Cluster& cluster, const ReplicaSchedule& schedule)
      : cluster_(cluster), amounts_(cluster.order().columns()) {
    amounts_[resource_pods.value] = 1;
    for (std::uint32_t column = 0; column < amounts_.size(); ++column) {
      const std::string_view name = cluster.resources().name(ResourceIndex{column});
      const auto found = std::ranges::find(schedule.requests, name, &Amount::resource);
      if (found != schedule.requests.end()) amounts_[column] = found->amount;
    }
  }

  void less(const ClaimedVictim& victim, const Scratch& world, NodeIndex node) {
    const auto pod = cluster_.find_pod(victim.namespace_name, victim.name,
                                       cluster_.text(cluster_.nodes().plane[node]));
    if (!pod || cluster_.pods().uid[pod->value] != victim.uid) return;
    if (world.node_of(*pod) != node) return;
    for (const ResourceAmount& item : cluster_.requests(cluster_.pods().requests[*pod])) {
      std::int64_t& amount = amounts_[item.resource.value];
      amount = std::max<std::int64_t>(0, saturated_sub(amount, item.amount));
    }
  }

  const std::vector<std::int64_t>& amounts() const { return amounts_; }

 private:
  const Cluster& cluster_;
  std::vector<std::int64_t> amounts_;
};

}  // namespace

std::vector<std::int64_t> claimed_room(const World& world, const Scratch& scratch, NodeIndex node) {
  const Cluster& cluster = world.cluster();
  std::vector<std::int64_t> held;
  if (world.survey().regimes().of(node) != Regime::replicas ||
      cluster.nodes().flags[node].unschedulable) {
    return held;
  }
  const Labels labels = cluster.label_objects(cluster.nodes().labels[node]);
  const std::optional<std::string_view> plane = find_label(labels, names::plane);
  const std::string_view name = cluster.text(cluster.nodes().name[node]);
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    const bool listed =
        std::ranges::find(schedule.planes, *plane, &ReplicaPlane::name) != schedule.planes.end();
    std::int64_t unmet = listed ? schedule.unmet : 0;
    for (const ReplicaClaim& claim : schedule.status.claims) {
      if (unmet-- <= 0) break;
      if (claim.node != name || claim.plane != *plane) continue;
      ClaimNeed need(cluster, schedule);
      for (const ClaimedVictim& victim : claim.victims) need.less(victim, scratch, node);
      held.resize(need.amounts().size());
      std::ranges::transform(held, need.amounts(), held.begin(), saturated_add);
    }
  }
  return held;
}

}  // namespace makeway

// Members of groups that ask for themselves (SPEC section 2, `evictFor: each`): law 3 has more to
// say about them than about other pods.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "judge/check_plan_walk.hpp"

namespace makeway {

bool is_member(const PlanWalk& walk, const HeardAsk& ask) {
  return ask.entry->kind == AskKind::pod &&
         walk.cluster().units()[ask.unit].kind == UnitKind::group;
}

std::vector<NodeIndex> judge_member(PlanWalk& walk, const HeardAsk& ask) {
  const Cluster& cluster = walk.cluster();
  const Unit& unit = cluster.units()[ask.unit];
  const Group& group = cluster.groups()[unit.group];
  const Outcome outcome = ask.entry->outcome;
  if (ask.rules->workload.evict_for != EvictFor::each) {
    walk.report(3, ask, "it is a member of a group, which asks as a whole");
  }
  std::vector<NodeIndex> taken;  // Where members run or will run.
  std::int64_t later = 0;
  std::int64_t now = 0;
  for (const PodIndex pod : group.members) {
    if (walk.rules().leaving(pod) || walk.is_earlier_victim(pod)) continue;
    if (walk.now().where(pod).exists()) ++now;
    if (!walk.after().where(pod).exists()) continue;
    ++later;
    taken.push_back(walk.after().where(pod));
  }
  if (unit.gang && later < unit.minimum) {
    walk.report(3, ask,
                fmt::format("it asks, and {} of the minimum {} of its group have a place", later,
                            unit.minimum));
  }
  if (unit.gang && outcome == Outcome::fits && now < unit.minimum) {
    walk.report(3, ask, "it is bound before the minimum of its group is");
  }
  const GroupPolicy* const policy = cluster.policy_of(group);
  const bool anywhere = policy == nullptr || policy->topology_keys.empty() ||
                        ask.rules->workload.group_domains == GroupDomains::cluster;
  std::vector<NodeIndex> allowed = walk.now().nodes();
  if (anywhere) return allowed;
  for (const std::string& key : policy->topology_keys) {
    const NodeDomains& domains = walk.now().domains(key);
    std::erase_if(allowed, [&](NodeIndex node) {
      return domains.of[node] == NodeDomains::none ||
             std::ranges::any_of(
                 taken, [&](NodeIndex other) { return domains.of[other] != domains.of[node]; });
    });
  }
  for (const PlanWalk::Place& place : walk.places(ask, false)) {
    if (std::ranges::find(allowed, place.node) != allowed.end()) continue;
    walk.report(3, ask, "it is not in the domain of its group");
  }
  return allowed;
}

}  // namespace makeway

// The net schedule is the sum of the plan's actions, and a deployment that loses replicas has it in
// its status (law 9).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "judge/check_plan_replicas.hpp"

namespace makeway {
namespace {

/// Namespace, deployment, plane.
using ShareKey = std::tuple<std::string, std::string, std::string>;

struct SumOfSteps {
  std::int64_t most = 0;
  std::int64_t least = 0;
  bool down = false;
  bool up = false;
  std::set<std::string> asks;
};

std::map<ShareKey, SumOfSteps> sums_of(const Plan& plan) {
  std::map<ShareKey, SumOfSteps> sums;
  for (const PlanAction& action : plan.actions) {
    if (!action.scale) continue;
    const auto [low, high] =
        std::minmax(action.scale->committed_before, action.scale->committed_after);
    const ShareKey key{action.namespace_name, action.name, action.scale->plane};
    const auto [at, is_new] = sums.try_emplace(key, SumOfSteps{.most = high, .least = low});
    at->second.most = std::max(at->second.most, high);
    at->second.least = std::min(at->second.least, low);
    (action.type == ActionType::scale_down ? at->second.down : at->second.up) = true;
    at->second.asks.insert(ref_text(action.ask));
  }
  return sums;
}

bool is_sum(const PlanNetScale& said, const SumOfSteps& sum) {
  if (sum.down && sum.up) return true;  // Law 8 has more to say about that.
  const std::int64_t before = sum.down ? sum.most : sum.least;
  const std::int64_t after = sum.down ? sum.least : sum.most;
  return said.committed_before == before && said.committed_after == after &&
         std::set<std::string>(said.asks.begin(), said.asks.end()) == sum.asks &&
         said.asks.size() == sum.asks.size();
}

std::string object_of(const PlanNetSchedule& net) {
  return fmt::format("ReplicaSchedule {}/{}", net.namespace_name, net.name);
}

/// What it has unmet afterwards stands in its condition.
void judge_reported(Hearing& hearing, const PlanNetSchedule& net) {
  const std::string change = fmt::format("unmet {} -> {}", net.unmet_before, net.unmet_after);
  const bool reported = std::ranges::any_of(hearing.plan.status, [&](const PlanStatus& status) {
    return ref_and_plane_text(status.object) == object_of(net) &&
           status.condition == "ReplicasMet" && !status.value && status.message.contains(change);
  });
  if (!reported) hearing.breaches.add(9, object_of(net), "its status does not say what it loses");
}

void judge_entry(Hearing& hearing, const PlanNetSchedule& net,
                 std::map<ShareKey, SumOfSteps>& sums) {
  const auto& schedules = hearing.cluster.own<ReplicaSchedule>();
  const auto found = schedules.find({net.namespace_name, net.name});
  if (found == schedules.end() || found->second.deployment != net.deployment) {
    return hearing.breaches.add(9, object_of(net), "the net schedule names another deployment");
  }
  std::int64_t unmet = found->second.unmet;
  bool loses = false;
  for (const PlanNetScale& scale : net.planes) {
    const auto sum = sums.extract({net.namespace_name, net.deployment, scale.plane});
    if (!sum || !is_sum(scale, sum.mapped())) {
      hearing.breaches.add(
          9, object_of(net),
          fmt::format("in plane {} the net schedule is not the sum of its steps", scale.plane));
    }
    unmet += scale.committed_before - scale.committed_after;
    loses = loses || scale.committed_after < scale.committed_before;
  }
  if (net.unmet_before != found->second.unmet || net.unmet_after != unmet) {
    hearing.breaches.add(9, object_of(net), "its unmet replicas do not follow from what it loses");
  }
  if (loses) judge_reported(hearing, net);
}

}  // namespace

void judge_net_schedule(Hearing& hearing) {
  std::map<ShareKey, SumOfSteps> sums = sums_of(hearing.plan);
  for (const PlanNetSchedule& net : hearing.plan.net_schedule) judge_entry(hearing, net, sums);
  for (const auto& [key, sum] : sums) {
    const auto& [space, deployment, plane] = key;
    hearing.breaches.add(9, fmt::format("Deployment {}/{}", space, deployment),
                         fmt::format("it is scaled in plane {}, and the net schedule does not say "
                                     "so",
                                     plane));
  }
}

}  // namespace makeway

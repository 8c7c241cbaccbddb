#include "policies/replica/net_schedule.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/object_text.hpp"

namespace makeway {
namespace {

/// Namespace and deployment.
using DeploymentName = std::pair<std::string, std::string>;
using NetPlanes = std::map<std::string, PlanNetScale>;

void add_step(NetPlanes& planes, const PlanScale& step, const std::string& ask) {
  const auto [at, is_new] =
      planes.try_emplace(step.plane, PlanNetScale{.plane = step.plane,
                                                  .committed_before = step.committed_before,
                                                  .committed_after = step.committed_after,
                                                  .asks = {}});
  PlanNetScale& net = at->second;
  // Steps of one deployment and plane go one way, each on from another.
  const bool down = step.committed_after < step.committed_before;
  if (!is_new && down) {
    net.committed_before = std::max(net.committed_before, step.committed_before);
    net.committed_after = std::min(net.committed_after, step.committed_after);
  }
  if (std::ranges::find(net.asks, ask) == net.asks.end()) net.asks.push_back(ask);
}

std::map<DeploymentName, NetPlanes> steps_of(const Plan& plan) {
  std::map<DeploymentName, NetPlanes> steps;
  for (const PlanAsk& ask : plan.asks) {
    if (!ask.replicas) continue;
    const std::string text = ask_text(ask);
    for (const PlanScaleUp& up : ask.replicas->scale_ups) {
      add_step(steps[{ask.namespace_name, ask.replicas->deployment}],
               {.plane = up.plane,
                .committed_before = up.committed_before,
                .committed_after = up.committed_after},
               text);
    }
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      for (const PlanReplicaVictim& victim : claim.victims) {
        if (victim.action != ReplicaAction::scale_down) continue;
        add_step(steps[{victim.namespace_name, victim.deployment}],
                 {.plane = claim.plane,
                  .committed_before = *victim.committed_before,
                  .committed_after = *victim.committed_after},
                 text);
      }
    }
  }
  return steps;
}

/// "1 replica in plane eu goes for ReplicaSchedule default/reco"
std::string loss_text(const PlanNetScale& scale) {
  const std::int64_t lost = scale.committed_before - scale.committed_after;
  return fmt::format("{} {} in plane {} {} for {}", lost, lost == 1 ? "replica" : "replicas",
                     scale.plane, lost == 1 ? "goes" : "go", fmt::join(scale.asks, ", "));
}

std::string change_text(const PlanNetSchedule& net) {
  return fmt::format("unmet {} -> {}", net.unmet_before, net.unmet_after);
}

void tell_loser(const PlanNetSchedule& net, Plan& plan) {
  std::vector<std::string> parts;
  for (const PlanNetScale& scale : net.planes) {
    if (scale.committed_after < scale.committed_before) parts.push_back(loss_text(scale));
  }
  const bool asks = std::ranges::any_of(plan.asks, [&](const PlanAsk& ask) {
    return ask.replicas && ask.namespace_name == net.namespace_name && ask.name == net.name;
  });
  if (parts.empty() || asks) return;
  parts.push_back(change_text(net));
  plan.status.push_back(
      {.object = object_text(row_of<ReplicaSchedule>.name, net.namespace_name, net.name),
       .condition = "ReplicasMet",
       .value = false,
       .reason = "Preempted",
       .message = fmt::format("{}", fmt::join(parts, "; "))});
}

}  // namespace

void add_net_schedule(const Cluster& cluster, Plan& plan) {
  std::map<DeploymentName, NetPlanes> steps = steps_of(plan);
  if (steps.empty()) return;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    const auto found = steps.find({schedule.namespace_name, schedule.deployment});
    if (found == steps.end()) continue;
    PlanNetSchedule net{.namespace_name = schedule.namespace_name,
                        .name = schedule.name,
                        .deployment = schedule.deployment,
                        .unmet_before = schedule.unmet,
                        .unmet_after = schedule.unmet};
    for (auto& [plane, scale] : found->second) {
      net.unmet_after += scale.committed_before - scale.committed_after;
      net.planes.push_back(std::move(scale));
    }
    tell_loser(net, plan);
    plan.net_schedule.push_back(std::move(net));
  }
}

std::string unmet_text(const Plan& plan, const PlanAsk& ask) {
  for (const PlanNetSchedule& net : plan.net_schedule) {
    if (net.namespace_name != ask.namespace_name || net.name != ask.name) continue;
    const bool loses = std::ranges::any_of(net.planes, [](const PlanNetScale& scale) {
      return scale.committed_after < scale.committed_before;
    });
    if (loses) return "; " + change_text(net);
  }
  return {};
}

}  // namespace makeway

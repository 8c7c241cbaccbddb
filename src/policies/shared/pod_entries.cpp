#include "policies/shared/pod_entries.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "model/request.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {
namespace {

constexpr std::size_t spared_max = 10;
constexpr std::size_t holders_max = 5;

}  // namespace

PlanVictim victim_entry(const Cluster& cluster, const VictimUnit& unit, PodIndex pod,
                        const Reason& reason) {
  const PodColumns& pods = cluster.pods();
  const bool alone = cluster.units()[unit.unit].kind == UnitKind::pod;
  PlanVictim victim;
  victim.namespace_name = std::string(cluster.text(pods.namespace_name[pod]));
  victim.plane = std::string(cluster.text(pods.plane[pod]));
  victim.name = std::string(pods.name[pod.value]);
  victim.uid = std::string(pods.uid[pod.value]);
  victim.node = node_name(cluster, pods.node[pod]);
  victim.unit = alone ? pod_text(cluster, pod) : unit_text(cluster, unit.unit);
  victim.priority = unit.priority;
  victim.reason = write_text(cluster, reason);
  if (unit.whole) victim.reason += write_text(cluster, {.code = ReasonCode::and_its_group});
  if (Departures::leaving(cluster, pod)) {
    victim.reason += write_text(cluster, {.code = ReasonCode::and_already_leaving});
  }
  return victim;
}

void add_spared(const Cluster& cluster, PodIndex pod, std::int32_t priority,
                PlanExplanation& explanation) {
  if (explanation.spared.size() >= spared_max) return;
  const PodColumns& pods = cluster.pods();
  explanation.spared.push_back(
      {.namespace_name = std::string(cluster.text(pods.namespace_name[pod])),
       .name = std::string(pods.name[pod.value]),
       .plane = std::string(cluster.text(pods.plane[pod])),
       .priority = priority});
}

void add_holder(const World& world, PodIndex pod, const std::optional<Reason>& why,
                PlanRefusal& refusal) {
  const Cluster& cluster = world.cluster();
  const PodColumns& pods = cluster.pods();
  const bool holds = std::ranges::any_of(request_of(cluster, pod), [&](const ResourceAmount& item) {
    return cluster.resources().name(item.resource) == refusal.detail;
  });
  if (!holds || !why) return;
  PlanHolder holder{.namespace_name = std::string(cluster.text(pods.namespace_name[pod])),
                    .name = std::string(pods.name[pod.value]),
                    .plane = std::string(cluster.text(pods.plane[pod])),
                    .priority = world.rules().priority_of(pod),
                    .why = write_text(cluster, *why)};
  if (pods.flags[pod].kernel) {
    // "team/train/main"; it may have a row of its own for its memory.
    const std::string key = cluster.pod_key(pod);
    const std::size_t slash = key.find('/');
    holder.namespace_name = key.substr(0, slash);
    holder.name = key.substr(slash + 1, key.find('#') - slash - 1);
  }
  refusal.holders.push_back(std::move(holder));
}

std::optional<Reason> stay_reason(const StaysBecause& because) {
  if (because.empty()) return std::nullopt;
  Reason reason{.code = *because.code};
  if (because.schedule != nullptr) reason.arguments.emplace_back(because.schedule->name);
  return reason;
}

void sort_holders(PlanRefusal& refusal) {
  std::ranges::sort(refusal.holders, [](const PlanHolder& a, const PlanHolder& b) {
    return std::tie(b.priority, a.namespace_name, a.name, a.plane) <
           std::tie(a.priority, b.namespace_name, b.name, b.plane);
  });
  const auto repeated = std::ranges::unique(refusal.holders);
  refusal.holders.erase(repeated.begin(), repeated.end());
  if (refusal.holders.size() > holders_max) refusal.holders.resize(holders_max);
}

// ---- Actions and conditions ---------------------------------------------------------------------

std::string uid_of(const Cluster& cluster, const PodPlacement& placement) {
  const auto pod = cluster.find_pod(placement.namespace_name, placement.name, placement.plane);
  return pod ? std::string(cluster.pods().uid[pod->value]) : std::string();
}

void add_evictions(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  if (ask.victims.empty()) return;
  const ObjectRef asks = ref_of(ask);
  for (const PlanVictim& victim : ask.victims) {
    plan.actions.push_back({.type = ActionType::evict,
                            .namespace_name = victim.namespace_name,
                            .name = victim.name,
                            .uid = victim.uid,
                            .node = victim.node,
                            .ask = asks,
                            .since = {},
                            .plane = victim.plane});
    plan.status.push_back(
        {.object = pod_ref(victim.namespace_name, victim.name, victim.plane),
         .condition = "DisruptionTarget",
         .value = true,
         .reason = "PreemptionByScheduler",
         .message = write_text(cluster, {.code = ReasonCode::makes_room_for,
                                         .arguments = {object_of(ask), victim.reason}})});
  }
}

void add_placements(const Cluster& cluster, const PlanAsk& ask, Plan& plan) {
  const bool bound = ask.outcome == Outcome::fits;
  for (const PodPlacement& placement : ask.placements) {
    plan.actions.push_back({.type = bound ? ActionType::bind : ActionType::nominate,
                            .namespace_name = placement.namespace_name,
                            .name = placement.name,
                            .uid = uid_of(cluster, placement),
                            .node = placement.node,
                            .ask = {},
                            .since = {},
                            .plane = placement.plane});
  }
}

void add_wait(const PlanAsk& ask, Plan& plan) {
  if (ask.outcome != Outcome::waits || !ask.placements.empty()) return;
  plan.actions.push_back({.type = ActionType::wait,
                          .namespace_name = ask.namespace_name,
                          .name = ask.name,
                          .uid = {},
                          .node = {},
                          .ask = {},
                          .since = {},
                          .plane = ask.plane});
}

void add_unscheduled(const PlanAsk& ask, std::string_view condition, Plan& plan) {
  if (ask.outcome == Outcome::fits) return;
  plan.status.push_back({.object = ref_of(ask),
                         .condition = std::string(condition),
                         .value = false,
                         .reason = "Unschedulable",
                         .message = ask.reason,
                         .message_mentions = ask.reason_mentions});
}

}  // namespace makeway

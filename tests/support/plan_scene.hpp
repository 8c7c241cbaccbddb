// Scenes for the tests of check_plan: a small cluster, and a plan for it as an honest planner would
// write it. A test then breaks what it is about.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/check_plan.hpp"

namespace makeway::scene {

using Laws = std::vector<int>;

inline constexpr Time now{1'000'000};

inline Pod pod(std::string name, std::string node, std::int32_t priority, std::int64_t cpu) {
  return {.namespace_name = "default",
          .name = name,
          .uid = "uid-" + name,
          .labels = {{"app", name}},
          .node = std::move(node),
          .priority = priority,
          .requests = {{"cpu", cpu}},
          .created = Time{1000},
          .started = Time{1000}};
}

inline Pod in_group(Pod member, std::string group) {
  member.group = std::move(group);
  return member;
}

inline Pod leaving(Pod object, Time deletion = now) {
  object.deletion = deletion;
  return object;
}

inline Pod nominated(Pod object, std::string node) {
  object.nominated_node = std::move(node);
  return object;
}

inline Node node(std::string name, std::int64_t cpu) {
  return {.name = std::move(name), .allocatable = {{"cpu", cpu}, {"pods", 110}}};
}

inline PodGroup group(std::string name, DisruptionMode mode) {
  return {.namespace_name = "default", .name = std::move(name), .policy = {.mode = mode}};
}

/// What the victims of the plan lose. Pods of scenes state no costs and no checkpoints.
inline void fill_losses(const Cluster& cluster, const Configuration& configuration, Plan& plan) {
  std::vector<PodIndex> gone;
  const auto runs = [&](PodIndex pod) {
    const bool leaving = configuration.workload.leaving_room != LeavingRoom::victims &&
                         cluster.pod(pod).deletion.has_value();
    return !cluster.pod(pod).node.empty() && !leaving && std::ranges::find(gone, pod) == gone.end();
  };
  plan.cost = {};
  for (PlanAsk& ask : plan.asks) {
    ask.cost = {};
    std::map<std::string, PlanDisruptedGroup> groups;
    std::vector<PodIndex> taken;
    for (PlanVictim& victim : ask.victims) {
      const std::optional<PodIndex> pod = cluster.find_pod(victim.namespace_name, victim.name);
      if (!pod) continue;
      taken.push_back(*pod);
      victim.cost.pod_seconds = (plan.now - cluster.pod(*pod).started.value_or(plan.now)).ms / 1000;
      ask.cost = sum(ask.cost, victim.cost);
      const Unit& unit = cluster.units()[cluster.pods().unit[*pod]];
      if (unit.kind != UnitKind::group) continue;
      PlanDisruptedGroup& group = groups[cluster.pod(*pod).group];
      group.namespace_name = victim.namespace_name;
      group.name = cluster.pod(*pod).group;
      group.mode = unit.mode;
      group.minimum = unit.gang ? unit.minimum : 0;
      group.running = std::ranges::count_if(cluster.groups()[unit.group].members, runs);
      group.remaining = group.running - ++group.lost;
      group.fate = group.remaining == 0              ? GroupFate::leaves
                   : group.remaining < group.minimum ? GroupFate::degraded
                                                     : GroupFate::runs_on;
      group.cost = sum(group.cost, victim.cost);
    }
    gone.insert(gone.end(), taken.begin(), taken.end());
    ask.disrupted_groups.clear();
    for (auto& [name, group] : groups) {
      // A gang that falls below its minimum stops: what the rest of it did is lost, too.
      const auto index = cluster.find_group(group.namespace_name, group.name);
      const bool stops = group.fate == GroupFate::degraded && group.running >= group.minimum;
      for (const PodIndex member : cluster.groups()[*index].members) {
        if (!stops || !runs(member)) continue;
        const Time started = cluster.pod(member).started.value_or(plan.now);
        const PlanCost rest{.pod_seconds = (plan.now - started).ms / 1000};
        group.cost = sum(group.cost, rest);
        ask.cost = sum(ask.cost, rest);
      }
      ask.disrupted_groups.push_back(std::move(group));
    }
    plan.cost = sum(plan.cost, ask.cost);
  }
}

/// The next status of every queue that the table changes.
inline void fill_queue_status(const Cluster& cluster, Plan& plan) {
  plan.queue_status.clear();
  for (const PlanQueue& queue : plan.queues) {
    const auto found = cluster.own<Queue>().find({"", queue.name});
    if (found == cluster.own<Queue>().end()) continue;
    PlanQueueStatus status{.name = queue.name, .uid = found->second.uid};
    for (const PlanQueueShare& share : queue.shares) {
      status.deserved.push_back({.resource = share.resource, .amount = share.deserved});
      status.allocated.push_back({.resource = share.resource, .amount = share.allocated});
      status.used.push_back({.resource = share.resource, .amount = share.used});
      status.preempting.push_back({.resource = share.resource, .amount = share.preempting});
    }
    const bool written = found->second.deserved == status.deserved &&
                         found->second.allocated == status.allocated &&
                         found->second.used == status.used;
    if (!written || !found->second.preempting.empty()) {
      plan.queue_status.push_back(std::move(status));
    }
  }
}

/// The net schedule that a correct planner writes for its actions, which scale in one plane each.
inline void write_net_schedule(const Cluster& cluster, Plan& plan) {
  plan.net_schedule.clear();
  std::erase_if(plan.status,
                [](const PlanStatus& status) { return status.condition == "ReplicasMet"; });
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    std::optional<PlanNetScale> net;
    for (const PlanAction& action : plan.actions) {
      if (!action.scale || action.name != schedule.deployment) continue;
      if (!net) {
        net = PlanNetScale{.plane = action.scale->plane,
                           .committed_before = action.scale->committed_before,
                           .committed_after = action.scale->committed_after,
                           .asks = {ref_text(action.ask)}};
      }
      const bool down = action.type == ActionType::scale_down;
      net->committed_after = down ? std::min(net->committed_after, action.scale->committed_after)
                                  : std::max(net->committed_after, action.scale->committed_after);
    }
    if (!net) continue;
    const std::int64_t unmet = schedule.unmet + net->committed_before - net->committed_after;
    plan.status.push_back(
        {.object = {.kind = RefKind::replica_schedule,
                    .namespace_name = schedule.namespace_name,
                    .name = schedule.name},
         .condition = "ReplicasMet",
         .reason = "Preempted",
         .message = "unmet " + std::to_string(schedule.unmet) + " -> " + std::to_string(unmet)});
    plan.net_schedule.push_back({.namespace_name = schedule.namespace_name,
                                 .name = schedule.name,
                                 .deployment = schedule.deployment,
                                 .unmet_before = schedule.unmet,
                                 .unmet_after = unmet,
                                 .planes = {*std::move(net)}});
  }
}

struct Scene {
  Cluster cluster;
  Configuration configuration;
  Plan plan{.now = now};

  template <class... Objects>
  explicit Scene(const Objects&... objects) {
    (cluster.apply(objects), ...);
  }

  std::int32_t priority_of(const std::string& name) const {
    const Unit& unit = cluster.units()[cluster.pods().unit[*cluster.find_pod("default", name)]];
    return unit.preemption_priority;
  }

  PlanVictim victim(const std::string& name, const std::string& ask) const {
    const PodIndex found = *cluster.find_pod("default", name);
    return {.namespace_name = "default",
            .name = name,
            .uid = "uid-" + name,
            .node = cluster.pod(found).node,
            .unit = "Pod default/" + name,
            .priority = priority_of(name),
            .reason = "lower priority",
            .cause_for = "Pod default/" + ask,
            .cause_rule = "workload: pods of lower priority on one node",
            .cause_alternative = "no other node",
            .cause_key = "only candidate"};
  }

  PlanAsk& ask(const std::string& name, Outcome outcome, const std::string& on = "",
               std::initializer_list<const char*> victims = {}) {
    PlanAsk entry{.namespace_name = "default", .name = name, .outcome = outcome};
    entry.priority = priority_of(name);
    if (!on.empty()) {
      entry.placements.push_back({.namespace_name = "default", .name = name, .node = on});
      plan.actions.push_back(
          {.type = outcome == Outcome::fits ? ActionType::bind : ActionType::nominate,
           .namespace_name = "default",
           .name = name,
           .node = on});
    }
    for (const char* const each : victims) {
      entry.victims.push_back(victim(each, name));
      plan.actions.push_back({.type = ActionType::evict,
                              .namespace_name = "default",
                              .name = each,
                              .uid = entry.victims.back().uid,
                              .node = entry.victims.back().node,
                              .ask = pod_ref("default", name)});
    }
    plan.asks.push_back(std::move(entry));
    return plan.asks.back();
  }

  PlanAsk& waits(const std::string& name, const std::string& on, const std::string& leaver) {
    PlanAsk& entry = ask(name, Outcome::waits, on);
    entry.waits_for.push_back({.namespace_name = "default", .name = leaver, .node = on});
    return entry;
  }

  /// Of the plan as it stands.
  std::vector<LawBreach> breaches_as_is() const { return check_plan(cluster, configuration, plan); }
  /// With what is lost recounted: tests change victims.
  std::vector<LawBreach> breaches() const {
    Plan honest = plan;
    fill_losses(cluster, configuration, honest);
    fill_queue_status(cluster, honest);
    return check_plan(cluster, configuration, honest);
  }

  /// The laws that are broken, each once.
  std::vector<int> laws() const {
    std::vector<int> broken;
    for (const LawBreach& breach : breaches()) broken.push_back(breach.law);
    broken.erase(std::ranges::unique(broken).begin(), broken.end());
    return broken;
  }
};

}  // namespace makeway::scene

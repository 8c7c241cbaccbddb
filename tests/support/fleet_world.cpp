#include "support/fleet_world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "judge/check_plan.hpp"
#include "model/names.hpp"
#include "policies/decide.hpp"
#include "support/random_fleet.hpp"

namespace makeway {
namespace {

std::string text_of(const Pod& pod) { return fmt::format("{}/{}", pod.namespace_name, pod.name); }

}  // namespace

FleetWorld::FleetWorld(Cluster cluster, Configuration configuration, Time now,
                       const FleetWorldOptions& options)
    : cluster_(std::move(cluster)),
      configuration_(std::move(configuration)),
      now_(now),
      options_(options),
      random_(options.seed) {
  for (const NodeIndex node : cluster_.nodes_by_name()) {
    for (const Label& label : cluster_.node(node).labels) {
      if (label.key == names::plane) planes_.insert(label.value);
    }
  }
}

void FleetWorld::complain(std::string text) {
  tell("COMPLAINT " + text);
  complaints_.push_back(fmt::format("at {}: {}", to_text(now_), text));
}

void FleetWorld::tell(std::string text) {
  told_.push_back(fmt::format("{} {}", to_text(now_), text));
}

std::string FleetWorld::story() const { return fmt::format("{}\n", fmt::join(told_, "\n")); }

ReplicaSchedule FleetWorld::schedule(const std::string& name) const {
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    if (schedule.name == name) return schedule;
  }
  return {};
}

std::int64_t FleetWorld::lost_for(const std::string& ask) const {
  const auto found = lost_for_.find(ask);
  return found == lost_for_.end() ? 0 : found->second;
}

// ---- One cycle ----------------------------------------------------------------------------------

const Plan& FleetWorld::step() {
  Decision decision = decide(cluster_, configuration_, {.now = now_});
  plan_ = std::move(*decision.plan);
  for (const PlanAsk& ask : plan_.asks) {
    tell(fmt::format("{} {}: {}", ask_text(ask), choice_name(ask.outcome), ask.reason));
  }
  for (const LawBreach& breach : check_plan(cluster_, configuration_, plan_)) {
    complain(fmt::format("law {}: {}: {}", breach.law, breach.ask, breach.text));
  }
  judge_losses(plan_);
  write_status(plan_);
  carry_out(plan_);
  now_ = now_ + options_.step;
  let_go();
  const ObjectMap<ReplicaSchedule> schedules = cluster_.own<ReplicaSchedule>();
  for (const auto& [key, schedule] : schedules) {
    for (const std::string& name : planes_) {
      const auto plane = std::ranges::find(schedule.planes, name, &ReplicaPlane::name);
      control(schedule, plane == schedule.planes.end() ? ReplicaPlane{.name = name} : *plane);
    }
  }
  place_pending();
  return plan_;
}

/// Whoever lost a replica to a claim that stood before this plan and is kept by it gets nothing.
void FleetWorld::judge_losses(const Plan& plan) {
  for (const PlanAction& action : plan.actions) {
    if (action.type != ActionType::scale_up) continue;
    const std::string name = fmt::format("{}/{}", action.namespace_name, action.name);
    if (!out_.contains({name, action.scale->plane})) continue;
    const bool kept = std::ranges::any_of(plan.asks, [&](const PlanAsk& ask) {
      return ask.replicas && std::ranges::any_of(ask.replicas->claims, [&](const auto& claim) {
               return claim.kept && claim.plane == action.scale->plane &&
                      std::ranges::any_of(claim.victims, [&](const PlanReplicaVictim& victim) {
                        return fmt::format("{}/{}", victim.namespace_name, victim.deployment) ==
                               name;
                      });
             });
    });
    if (kept) complain(fmt::format("{} is scaled up where it has just lost a replica", name));
  }
  out_.clear();
  for (const PlanAsk& ask : plan.asks) {
    if (!ask.replicas) continue;
    for (const PlanReplicaClaim& claim : ask.replicas->claims) {
      for (const PlanReplicaVictim& victim : claim.victims) {
        if (victim.action != ReplicaAction::scale_down) continue;
        out_.insert({fmt::format("{}/{}", victim.namespace_name, victim.deployment), claim.plane});
      }
    }
  }
}

void FleetWorld::write_status(const Plan& plan) {
  for (const PlanReplicaStatus& next : plan.replica_status) {
    const auto& schedules = cluster_.own<ReplicaSchedule>();
    ReplicaSchedule schedule = schedules.at({next.namespace_name, next.name});
    schedule.status = next.status;
    cluster_.apply(schedule);
  }
}

void FleetWorld::carry_out(const Plan& plan) {
  for (const PlanAction& action : plan.actions) {
    const std::string name = fmt::format("{}/{}", action.namespace_name, action.name);
    if (action.type == ActionType::force_delete) {
      if (random_.chance(options_.force_lost_percent)) continue;
      forced_.try_emplace(name, static_cast<int>(random_.between(options_.force_cycles_min,
                                                                 options_.force_cycles_max)));
      tell(fmt::format("force-delete {}", name));
    }
    if (!action.scale) continue;
    if (!random_.chance(options_.scale_percent)) {
      tell(fmt::format("{} of {} is not carried out", choice_name(action.type), name));
      continue;
    }
    scale(action);
  }
}

void FleetWorld::scale(const PlanAction& action) {
  for (const auto& [key, found] : cluster_.own<ReplicaSchedule>()) {
    if (found.namespace_name != action.namespace_name || found.deployment != action.name) continue;
    ReplicaSchedule schedule = found;
    const auto plane = std::ranges::find(schedule.planes, action.scale->plane, &ReplicaPlane::name);
    // Steps of one share come one after the other; one that was left out stops those after it.
    if (plane == schedule.planes.end() || plane->committed != action.scale->committed_before) {
      return;
    }
    const std::int64_t more = action.scale->committed_after - plane->committed;
    plane->committed += more;
    schedule.unmet -= more;
    tell(fmt::format("{} {}/{} in {}: {} -> {} {}", choice_name(action.type), action.namespace_name,
                     action.name, plane->name, action.scale->committed_before, plane->committed,
                     action.ask));
    if (more < 0) {
      lost_for_[action.ask] -= more;
      scale_downs_ -= more;
      const bool last = plane->committed < 1 && configuration_.replica.protect_last_replica;
      if (last) complain(fmt::format("{} loses its last replica", action.name));
    }
    cluster_.apply(schedule);
    return;
  }
}

// ---- Kubernetes ---------------------------------------------------------------------------------

std::vector<Pod> FleetWorld::all_pods() const {
  std::vector<Pod> pods;
  for (const PodIndex index : cluster_.pods_by_name()) pods.push_back(cluster_.pod(index));
  return pods;
}

std::string FleetWorld::plane_of(const Pod& pod) const {
  if (pod.node.empty()) {
    const auto found = planes_of_pending_.find(text_of(pod));
    return found == planes_of_pending_.end() ? "" : found->second;
  }
  const Node node = cluster_.node(*cluster_.find_node(pod.node));
  for (const Label& label : node.labels) {
    if (label.key == names::plane) return label.value;
  }
  return {};
}

/// Those that are not leaving, pending ones included.
std::vector<Pod> FleetWorld::pods_of(const ReplicaSchedule& schedule,
                                     const std::string& plane) const {
  std::vector<Pod> pods = all_pods();
  std::erase_if(pods, [&](const Pod& pod) {
    return !is_replica_of(pod, schedule) || plane_of(pod) != plane;
  });
  return pods;
}

/// Whoever terminates goes in the end, whoever is force-deleted a little earlier; pods get ready.
void FleetWorld::let_go() {
  for (Pod& pod : all_pods()) {
    const std::string key = text_of(pod);
    if (!pod.deletion) {
      if (pod.ready || pod.node.empty() || !random_.chance(60)) continue;
      pod.ready = true;
      cluster_.apply(pod);
      continue;
    }
    const auto late = gone_at_.try_emplace(
        key, *pod.deletion + Duration{random_.between(0, options_.late_max_s) * 1000});
    const auto forced = forced_.find(key);
    const bool now_forced = forced != forced_.end() && forced->second-- <= 0;
    if (!now_forced && late.first->second > now_) continue;
    tell(fmt::format("{} is gone from {}", key, pod.node));
    cluster_.apply(Removal{ObjectKind::pod, pod.namespace_name, pod.name});
    gone_at_.erase(key);
    forced_.erase(key);
  }
}

void FleetWorld::control(const ReplicaSchedule& schedule, const ReplicaPlane& plane) {
  if (!random_.chance(options_.delete_percent)) return;
  std::vector<Pod> pods = pods_of(schedule, plane.name);
  while (std::ssize(pods) > plane.committed) {
    remove_one(pods);
    pods = pods_of(schedule, plane.name);
  }
  for (std::int64_t count = std::ssize(pods); count < plane.committed; ++count) {
    add_one(schedule, plane.name);
  }
}

bool FleetWorld::is_claimed(const Pod& pod) const {
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    for (const ReplicaClaim& claim : schedule.status.claims) {
      const bool found = std::ranges::any_of(claim.victims, [&](const ClaimedVictim& victim) {
        return victim.namespace_name == pod.namespace_name && victim.name == pod.name;
      });
      if (found) return true;
    }
  }
  return false;
}

/// ReplicaSet's order; where it says nothing, anybody.
void FleetWorld::remove_one(std::vector<Pod> pods) {
  random_.shuffle(pods);
  std::map<std::string, int> siblings;
  for (const Pod& pod : pods) ++siblings[pod.node];
  const auto rank = [&](const Pod& pod) {
    return std::tuple(!pod.node.empty(), options_.obedient && !is_claimed(pod), pod.ready,
                      -siblings[pod.node], -pod.created.value_or(Time{}).ms);
  };
  Pod chosen = random_.chance(options_.wrong_percent) ? pods.front()
                                                      : *std::ranges::min_element(pods, {}, rank);
  if (chosen.node.empty()) {
    cluster_.apply(Removal{ObjectKind::pod, chosen.namespace_name, chosen.name});
    return;
  }
  start_leaving(chosen, now_, random_, options_.grace_max_s);
  tell(fmt::format("{} terminates on {}", text_of(chosen), chosen.node));
  cluster_.apply(chosen);
}

void FleetWorld::add_one(const ReplicaSchedule& schedule, const std::string& plane) {
  Pod pod = fleet_pod(schedule, fmt::format("{}-new{:03}", schedule.name, ++pods_made_), "", now_);
  pod.ready = false;
  pod.started.reset();
  planes_of_pending_[text_of(pod)] = plane;
  cluster_.apply(pod);
}

/// On some node of the plane where they fit, not always the one that was expected.
void FleetWorld::place_pending() {
  std::vector<Pod> pods = all_pods();
  std::map<std::string, std::map<std::string, std::int64_t>> used;
  for (const Pod& pod : pods) {
    if (pod.node.empty()) continue;
    ++used[pod.node]["pods"];
    for (const Amount& amount : pod.requests) used[pod.node][amount.resource] += amount.amount;
  }
  for (Pod& pod : pods) {
    if (!pod.node.empty()) continue;
    std::vector<std::string> fitting;
    for (const NodeIndex index : cluster_.nodes_by_name()) {
      const Node node = cluster_.node(index);
      const bool here = std::ranges::any_of(node.labels, [&](const Label& label) {
        return label.key == names::plane && label.value == plane_of(pod);
      });
      const auto fits = [&](const Amount& amount) {
        return used[node.name][amount.resource] + amount.amount <=
               amount_of(node.allocatable, amount.resource);
      };
      const bool room = fits({"pods", 1}) && std::ranges::all_of(pod.requests, fits);
      if (here && !node.unschedulable && room) fitting.push_back(node.name);
    }
    if (fitting.empty()) continue;
    pod.node = random_.pick(fitting);
    pod.started = now_;
    ++used[pod.node]["pods"];
    for (const Amount& amount : pod.requests) used[pod.node][amount.resource] += amount.amount;
    tell(fmt::format("{} lands on {}", text_of(pod), pod.node));
    cluster_.apply(pod);
  }
}

bool FleetWorld::at_rest() const {
  const bool acted = std::ranges::any_of(
      plan_.actions, [](const PlanAction& action) { return action.type != ActionType::wait; });
  const std::vector<Pod> pods = all_pods();
  const bool leaving =
      std::ranges::any_of(pods, [](const Pod& pod) { return pod.deletion.has_value(); });
  if (acted || leaving) return false;
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    for (const std::string& name : planes_) {
      const auto plane = std::ranges::find(schedule.planes, name, &ReplicaPlane::name);
      const std::int64_t committed = plane == schedule.planes.end() ? 0 : plane->committed;
      if (std::ssize(pods_of(schedule, name)) > committed) return false;
    }
  }
  return true;
}

}  // namespace makeway

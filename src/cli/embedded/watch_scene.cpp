#include "cli/embedded/watch_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "base/checked_math.hpp"
#include "model/cluster.hpp"
#include "model/unit_ask.hpp"
#include "sim/sim_metrics.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t preemptions_kept = 200;
constexpr std::size_t decisions_kept = 1'000;

std::int64_t amount_in(RequestRow row, ResourceIndex resource) {
  for (const ResourceAmount& item : row) {
    if (item.resource == resource) return item.amount;
  }
  return 0;
}

/// None: nobody here has it or asks for it.
std::optional<ResourceIndex> resource_named(const Cluster& cluster, std::string_view name) {
  for (std::uint32_t index = 0; index < cluster.resources().size(); ++index) {
    if (cluster.resources().name({index}) == name) return ResourceIndex{index};
  }
  return std::nullopt;
}

/// Whether it makes somebody leave who is there.
bool makes_leave(ActionType type) {
  switch (type) {
    case ActionType::evict:
    case ActionType::requeue:
    case ActionType::suspend:
    case ActionType::force_delete:
    case ActionType::scale_down: return true;
    case ActionType::bind:
    case ActionType::nominate:
    case ActionType::wait:
    case ActionType::reserve:
    case ActionType::scale_up:
    case ActionType::resume: break;
  }
  return false;
}

const PlanVictim* victim_of(const Plan& plan, const PlanAction& action) {
  for (const PlanAsk& ask : plan.asks) {
    for (const PlanVictim& victim : ask.victims) {
      if (victim.name == action.name && victim.namespace_name == action.namespace_name) {
        return &victim;
      }
    }
  }
  return nullptr;
}

ScenePreemption preemption_of(const Plan& plan, const PlanAction& action, Time now) {
  ScenePreemption told{.when = now,
                       .victim = fmt::format("{}/{}", action.namespace_name, action.name),
                       .node = action.node,
                       .ask = action.ask};
  const PlanVictim* const victim = victim_of(plan, action);
  if (victim == nullptr) {
    told.reason = choice_name(action.type);
    return told;
  }
  told.priority = victim->priority;
  told.node = victim->node;
  if (told.ask.empty()) told.ask = victim->cause_for;
  told.reason = victim->reason;
  told.alternative = victim->cause_alternative;
  if (!told.alternative.empty() && !victim->cause_key.empty()) {
    told.alternative += fmt::format(" ({})", victim->cause_key);
  }
  return told;
}

struct PendingAsk {
  std::int32_t priority = 0;
  std::size_t pods = 0;
  std::optional<Time> since;
};

void note_pending(PendingAsk& ask, std::int32_t priority, std::optional<Time> since) {
  ask.priority = priority;
  ++ask.pods;
  if (since && (!ask.since || *since < *ask.since)) ask.since = since;
}

std::map<AskName, PendingAsk> pending_of(const Cluster& cluster) {
  std::map<AskName, PendingAsk> pending;
  for (const PodIndex pod : cluster.pending_pods()) {
    const UnitIndex unit = cluster.pods().unit[pod];
    const Time created = cluster.pods().created[pod];
    note_pending(pending[ask_name_of(cluster, unit)], cluster.units()[unit].scheduling_priority,
                 created == no_time ? std::nullopt : std::optional(created));
  }
  for (const auto& [key, session] : cluster.own<Session>()) {
    if (session.status.phase != SessionPhase::pending) continue;
    note_pending(pending[{.kind = AskKind::session,
                          .namespace_name = session.namespace_name,
                          .name = session.name}],
                 session.priority.value_or(0), session.created);
  }
  return pending;
}

}  // namespace

void SceneWatcher::cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) {
  decide_us_.push_front(cycle.made.decide_us);
  if (decide_us_.size() > decisions_kept) decide_us_.pop_back();
  if (!cycle.made.plan) return;
  for (const PlanAsk& ask : cycle.made.plan->asks) {
    answers_[ask_name_of(ask)] =
        ask.reason.empty() ? std::string(choice_name(ask.outcome)) : ask.reason;
  }
  note_actions(*cycle.made.plan, cycle.now);
}

void SceneWatcher::note_actions(const Plan& plan, Time now) {
  for (const PlanAction& action : plan.actions) {
    if (action.type == ActionType::bind) ++start_count_;
    if (!makes_leave(action.type)) continue;
    ++preemption_count_;
    preemptions_.push_front(preemption_of(plan, action, now));
    if (preemptions_.size() > preemptions_kept) preemptions_.pop_back();
    if (preempted_) preempted_(preemptions_.front());
  }
}

void SceneWatcher::begin_counting() {
  preemption_count_ = 0;
  start_count_ = 0;
  decide_us_.clear();
}

std::vector<SceneNode> SceneWatcher::nodes_of(const Cluster& cluster, std::string_view resource) {
  const auto column = resource_named(cluster, resource);
  std::vector<SceneNode> nodes;
  nodes.reserve(cluster.node_count());
  for (const NodeIndex index : cluster.nodes_by_name()) {
    SceneNode node{.name = std::string(cluster.text(cluster.nodes().name[index])),
                   .pods = cluster.nodes().pods[index]};
    const auto pods = cluster.order().pods(index);
    const auto priorities = cluster.order().priorities(index);
    if (column) {
      node.room = amount_in(cluster.requests(cluster.nodes().allocatable[index]), *column);
    }
    for (std::size_t at = 0; at < pods.size(); ++at) {
      priorities_.insert(priorities[at]);
      const std::int64_t amount =
          column ? amount_in(cluster.requests(cluster.pods().requests[pods[at]]), *column) : 0;
      if (cluster.pods().deletion[pods[at]] != no_time) {
        node.leaving = saturated_add(node.leaving, amount);
        continue;
      }
      if (node.used.empty() || node.used.back().priority != priorities[at]) {
        node.used.push_back({.priority = priorities[at]});
      }
      node.used.back().amount = saturated_add(node.used.back().amount, amount);
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

std::vector<SceneAsk> SceneWatcher::asks_of(const Cluster& cluster, Time now) {
  const std::map<AskName, PendingAsk> pending = pending_of(cluster);
  std::erase_if(answers_, [&](const auto& each) { return !pending.contains(each.first); });
  std::vector<SceneAsk> asks;
  asks.reserve(pending.size());
  for (const auto& [name, ask] : pending) {
    priorities_.insert(ask.priority);
    const auto answer = answers_.find(name);
    asks.push_back({.name = ask_text(name),
                    .priority = ask.priority,
                    .pods = ask.pods,
                    .waiting = ask.since && *ask.since < now ? now - *ask.since : Duration{},
                    .why = answer == answers_.end() ? "not decided yet" : answer->second});
  }
  std::ranges::sort(asks, {}, [](const SceneAsk& ask) {
    return std::tuple(-std::int64_t{ask.priority}, -ask.waiting.ms, std::string_view(ask.name));
  });
  return asks;
}

Scene SceneWatcher::scene(const Cluster& cluster, std::string_view resource, Time now) {
  Scene scene{.now = now, .resource = std::string(resource)};
  scene.nodes = nodes_of(cluster, resource);
  scene.asks = asks_of(cluster, now);
  scene.preemptions.assign(preemptions_.begin(), preemptions_.end());
  scene.priorities.assign(priorities_.begin(), priorities_.end());
  for (const SceneAsk& ask : scene.asks) scene.counters.pods_waiting += ask.pods;
  for (const SceneNode& node : scene.nodes) scene.counters.pods_running += node.pods;
  scene.counters.preemptions = preemption_count_;
  scene.counters.pods_started = start_count_;
  const Spread spread = spread_of({decide_us_.begin(), decide_us_.end()});
  scene.counters.decide_p50_us = spread.p50;
  scene.counters.decide_p99_us = spread.p99;
  return scene;
}

}  // namespace makeway::cli

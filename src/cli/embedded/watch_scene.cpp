#include "cli/embedded/watch_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/checked_math.hpp"
#include "control/shown_kernels.hpp"
#include "model/cluster.hpp"
#include "model/find_resource.hpp"
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

ScenePreemption scene_preemption(const ReportedPreemption& preemption,
                                 const ReportedVictim& victim) {
  ScenePreemption scene{.when = preemption.when,
                        .victim = victim.name,
                        .priority = victim.priority,
                        .node = victim.node,
                        .ask = preemption.ask,
                        .reason = victim.reason,
                        .alternative = preemption.alternative};
  if (!preemption.alternative.empty() && !preemption.key.empty()) {
    scene.alternative += fmt::format(" ({})", preemption.key);
  }
  return scene;
}

}  // namespace

void SceneWatcher::start(const LoopStart& start) {
  configuration_ = start.configuration;
  waiting_.forget_answers();
}

void SceneWatcher::cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) {
  decide_us_.push_front(cycle.made.decide_us);
  if (decide_us_.size() > decisions_kept) decide_us_.pop_back();
  if (!cycle.made.plan) return;
  waiting_.note(*cycle.made.plan);
  note_actions(*cycle.made.plan, cycle.now);
}

void SceneWatcher::note_actions(const Plan& plan, Time now) {
  start_count_ += static_cast<std::uint64_t>(
      std::ranges::count(plan.actions, ActionType::bind, &PlanAction::type));
  for (const ReportedPreemption& preemption : preemption_report(plan, now, preemptions_kept)) {
    preemption_count_ += preemption.victims_count;
    for (const ReportedVictim& victim : preemption.victims) {
      preemptions_.push_front(scene_preemption(preemption, victim));
      if (preemptions_.size() > preemptions_kept) preemptions_.pop_back();
      if (preempted_) preempted_(preemptions_.front());
    }
  }
}

void SceneWatcher::begin_counting() {
  preemption_count_ = 0;
  start_count_ = 0;
  decide_us_.clear();
}

std::vector<SceneNode> SceneWatcher::nodes_of(const Cluster& cluster, std::string_view resource) {
  const auto column = find_resource(cluster.resources(), resource);
  const ShownKernels kernels(cluster, configuration_.session);
  std::vector<SceneNode> nodes;
  nodes.reserve(cluster.node_count());
  for (const NodeIndex index : cluster.nodes_by_name()) {
    SceneNode node{.name = std::string(cluster.text(cluster.nodes().name[index])),
                   .pods = cluster.nodes().pods[index] + kernels.kernels_on(index)};
    if (column) {
      node.room = amount_in(cluster.requests(cluster.nodes().allocatable[index]), *column);
    }
    std::map<std::int32_t, std::int64_t, std::greater<>> shares;
    for (const PodIndex pod : cluster.order().pods(index)) {
      const std::int32_t priority = kernels.priority_of(pod);
      priorities_.insert(priority);
      const std::int64_t amount =
          column ? amount_in(cluster.requests(cluster.pods().requests[pod]), *column) : 0;
      const bool leaves = cluster.pods().deletion[pod] != no_time;
      std::int64_t& sum = leaves ? node.leaving : shares[priority];
      sum = saturated_add(sum, amount);
    }
    for (const auto& [priority, amount] : shares) {
      node.used.push_back({.priority = priority, .amount = amount});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// What it waits for, in words.
std::string SceneWatcher::why_of(const WaitingAsk& ask) const {
  const AskAnswer* const answer = waiting_.answer_of(ask.name);
  if (answer == nullptr) return ask.remark.empty() ? "not decided yet" : ask.remark;
  return answer->reason.empty() ? std::string(choice_name(answer->outcome)) : answer->reason;
}

std::vector<SceneAsk> SceneWatcher::asks_of(const Cluster& cluster, Time now) {
  waiting_.look(cluster, configuration_);
  std::vector<SceneAsk> asks;
  asks.reserve(waiting_.all().size());
  for (const WaitingAsk& ask : waiting_.all()) {
    priorities_.insert(ask.priority);
    asks.push_back({.name = ask_text(ask.name),
                    .priority = ask.priority,
                    .pods = static_cast<std::size_t>(ask.pods),
                    .waiting = ask.since && *ask.since < now ? now - *ask.since : Duration{},
                    .why = why_of(ask)});
  }
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

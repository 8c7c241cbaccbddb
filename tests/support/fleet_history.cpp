#include "support/fleet_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <variant>

#include "codec/dump.hpp"
#include "model/names.hpp"
#include "support/history.hpp"
#include "support/random_fleet.hpp"

namespace makeway {
namespace {

/// A controller that does not act in this cycle does so one or two cycles later.
constexpr int misses_max = 2;

std::string deployment_text(const PlanAction& action) {
  return fmt::format("{}/{}", action.namespace_name, action.name);
}

}  // namespace

FleetHistory::FleetHistory(std::vector<Change> objects, Configuration configuration, Time now,
                           const FleetOptions& options)
    : load_{.objects = std::move(objects), .tasks = {}, .notes = {}},
      configuration_(std::move(configuration)),
      options_(options),
      random_(options.seed),
      tools_(history_tools()),
      world_(load_, sim_options(now)),
      loop_(world_, configuration_, tools_,
            {.preset = "fleet", .every_ask = true, .watcher = this}) {
  for (const Change& object : load_.objects) {
    const Node* const node = std::get_if<Node>(&object);
    if (node == nullptr) continue;
    const auto label = std::ranges::find(node->labels, names::plane, &Label::key);
    if (label != node->labels.end()) planes_[node->name] = label->value;
    if (!node->plane.empty()) planes_[node->name] = node->plane;
  }
}

// ---- What Kubernetes leaves open ----------------------------------------------------------------

SimOptions FleetHistory::sim_options(Time now) {
  SimOptions sim{.cycle = {0}, .sample = {0}, .start = now, .seed = options_.seed};
  sim.faults.conflict = 1'000 - 10 * static_cast<std::int64_t>(options_.act_percent);
  SimBehaviour& behaviour = sim.behaviour;
  behaviour.grace = [this](const Pod&) {
    return Duration{random_.between(options_.grace_min_s, options_.grace_max_s) * 1'000};
  };
  behaviour.late = [this](const Pod&, Time) {
    return std::optional(Duration{random_.between(0, options_.late_max_s) * 1'000});
  };
  behaviour.removes = [this](const std::vector<const Pod*>& pods) { return removes(pods); };
  behaviour.lands = [this](const Pod&, const std::vector<std::string>& nodes) {
    return random_.below(nodes.size());
  };
  behaviour.reconciles = [this] {
    int misses = 0;
    while (misses < misses_max && !random_.chance(options_.delete_percent)) ++misses;
    return Duration{1 + misses * options_.step.ms};
  };
  behaviour.forced = [this](const Pod&) -> std::optional<Duration> {
    if (random_.chance(options_.force_lost_percent)) return std::nullopt;
    const std::int64_t cycles =
        random_.between(options_.force_cycles_min, options_.force_cycles_max);
    return Duration{1 + cycles * options_.step.ms};
  };
  return sim;
}

/// ReplicaSet's order; where it says nothing, any of them.
std::size_t FleetHistory::removes(const std::vector<const Pod*>& pods) {
  std::vector<std::size_t> order(pods.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  random_.shuffle(order);
  if (random_.chance(options_.wrong_percent)) return order.front();
  std::map<std::string, int> siblings;
  for (const Pod* const pod : pods) ++siblings[pod->node];
  const auto rank = [&](std::size_t at) {
    const Pod& pod = *pods[at];
    return std::tuple(!pod.node.empty(), options_.obedient && !is_claimed(pod), pod.ready,
                      -siblings[pod.node], -pod.created.value_or(Time{}).ms);
  };
  return *std::ranges::min_element(order, {}, rank);
}

bool FleetHistory::is_claimed(const Pod& pod) const {
  for (const ReplicaSchedule& schedule : schedules()) {
    for (const ReplicaClaim& claim : schedule.status.claims) {
      const bool found = std::ranges::any_of(claim.victims, [&](const ClaimedVictim& victim) {
        return victim.namespace_name == pod.namespace_name && victim.name == pod.name;
      });
      if (found) return true;
    }
  }
  return false;
}

// ---- One cycle ----------------------------------------------------------------------------------

const Plan& FleetHistory::step() {
  loop_.step();
  if (world_.metrics().refused > 0) complain("the world refuses an action");
  world_.pass(now() + options_.step);
  return plan_;
}

void FleetHistory::start(const LoopStart& /*start*/) {}

void FleetHistory::batch(const AppliedBatch& batch, const Cluster& /*cluster*/) {
  for (const Change& change : batch.changes) log_change(change);
  for (const Receipt& receipt : batch.receipts) {
    log(fmt::format("refused: {} for {}: {}", ref_text(receipt.object), ref_text(receipt.ask),
                    receipt.reason));
    for (const PlanAction& action : plan_.actions) {
      const bool it = action.type == ActionType::scale_down && action.ask == receipt.ask &&
                      ref_text(receipt.object) == "ReplicaSchedule " + deployment_text(action);
      if (!it) continue;
      lost_for_[ref_text(action.ask)] -=
          action.scale->committed_before - action.scale->committed_after;
      break;
    }
  }
}

void FleetHistory::cycle(const MadeCycle& cycle, const Cluster& /*cluster*/) {
  for (const RefusedPlan& refused : cycle.made.refused) {
    plan_ = refused.plan;
    for (const LawBreach& breach : refused.breaches) {
      complain(fmt::format("law {}: {}: {}", breach.law, breach.ask, breach.text));
    }
  }
  if (!cycle.made.plan) return;
  plan_ = *cycle.made.plan;
  for (const PlanAsk& ask : plan_.asks) {
    log(fmt::format("{} {}: {}", ask_text(ask), choice_name(ask.outcome), ask.reason));
  }
  judge_losses(plan_);
  judge_last(plan_);
  for (const PlanAction& action : plan_.actions) {
    if (action.type != ActionType::scale_down) continue;
    lost_for_[ref_text(action.ask)] +=
        action.scale->committed_before - action.scale->committed_after;
  }
}

/// A deployment that lost a replica to a claim that stood before this plan and is kept by it gets
/// nothing.
void FleetHistory::judge_losses(const Plan& plan) {
  for (const PlanAction& action : plan.actions) {
    if (action.type != ActionType::scale_up) continue;
    const std::string name = deployment_text(action);
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

void FleetHistory::judge_last(const Plan& plan) {
  for (const PlanAction& action : plan.actions) {
    const bool last = action.type == ActionType::scale_down && action.scale->committed_after < 1;
    if (last) complain(fmt::format("{} loses its last replica", action.name));
  }
}

// ---- Looking at it ------------------------------------------------------------------------------

void FleetHistory::complain(std::string text) {
  log("COMPLAINT " + text);
  complaints_.push_back(fmt::format("at {}: {}", to_text(now()), text));
}

void FleetHistory::log(std::string text) {
  log_.push_back(fmt::format("{} {}", to_text(now()), text));
}

void FleetHistory::log_change(const Change& change) {
  if (const Pod* const pod = std::get_if<Pod>(&change)) {
    log(fmt::format("{} {} {}", pod->name, pod->deletion ? "terminates on" : "is on",
                    pod->node.empty() ? "no node" : pod->node));
  } else if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) {
    for (const ReplicaPlane& plane : schedule->planes) {
      log(fmt::format("{} in {}: {} committed, {} unmet", schedule->name, plane.name,
                      plane.committed, schedule->unmet));
    }
  } else if (const Removal* const gone = std::get_if<Removal>(&change)) {
    log(fmt::format("{} is gone", gone->name));
  }
}

std::string FleetHistory::story() const {
  std::string text;
  for (const std::string& complaint : complaints_) text += "complaint: " + complaint + "\n";
  return fmt::format("{}{}\n{}", text, fmt::join(log_, "\n"),
                     dump(loop_.cluster(), DumpFormat::yaml));
}

std::vector<ReplicaSchedule> FleetHistory::schedules() const {
  std::vector<ReplicaSchedule> all;
  for (const Change& object : world_.objects()) {
    if (const auto* const schedule = std::get_if<ReplicaSchedule>(&object)) {
      all.push_back(*schedule);
    }
  }
  return all;
}

ReplicaSchedule FleetHistory::schedule(const std::string& name) const {
  for (ReplicaSchedule& schedule : schedules()) {
    if (schedule.name == name) return std::move(schedule);
  }
  return {};
}

std::vector<Pod> FleetHistory::pods() const {
  std::vector<Pod> all;
  for (const Change& object : world_.objects()) {
    if (const Pod* const pod = std::get_if<Pod>(&object)) all.push_back(*pod);
  }
  return all;
}

bool FleetHistory::has_pod(const std::string& name) const {
  return std::ranges::any_of(pods(), [&](const Pod& pod) { return pod.name == name; });
}

std::int64_t FleetHistory::lost_for(const std::string& ask) const {
  const auto found = lost_for_.find(ask);
  return found == lost_for_.end() ? 0 : found->second;
}

bool FleetHistory::at_rest() const {
  const bool acted = std::ranges::any_of(
      plan_.actions, [](const PlanAction& action) { return action.type != ActionType::wait; });
  const std::vector<Pod> there = pods();
  const bool leaving =
      std::ranges::any_of(there, [](const Pod& pod) { return pod.deletion.has_value(); });
  if (acted || leaving) return false;
  return std::ranges::none_of(schedules(), [&](const ReplicaSchedule& schedule) {
    std::map<std::string, std::int64_t> more;  // Than committed, by plane.
    for (const ReplicaPlane& plane : schedule.planes) more[plane.name] -= plane.committed;
    for (const Pod& pod : there) {
      const auto node = planes_.find(pod.node);
      if (node != planes_.end() && is_replica_of(pod, schedule)) ++more[node->second];
    }
    return std::ranges::any_of(more, [](const auto& plane) { return plane.second > 0; });
  });
}

}  // namespace makeway

#include "bench/support/plan_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "judge/check_plan.hpp"

namespace makeway::bench {
namespace {

// Above these the slow ways take more than several seconds.
constexpr std::size_t every_node_max = 200'000;  ///< Pods times asks.
constexpr std::size_t node_by_node_max = 100;    ///< Nodes.
constexpr std::size_t steps_per_node = 2'000;

std::string ask_difference(const PlanAsk& fast, const PlanAsk& slow) {
  const auto differ = [&](std::string_view what) {
    return fmt::format("{}: {} differs", ask_text(fast), what);
  };
  if (fast.outcome != slow.outcome) {
    return fmt::format("{}: {}, but {} the slow way", ask_text(fast), choice_name(fast.outcome),
                       choice_name(slow.outcome));
  }
  if (fast.placements != slow.placements) {
    return fmt::format("{}: on {}, but on {} the slow way", ask_text(fast),
                       fast.placements.front().node, slow.placements.front().node);
  }
  if (fast.score != slow.score) return differ("the score");
  const bool same_victims =
      std::ranges::equal(fast.victims, slow.victims, [](const PlanVictim& a, const PlanVictim& b) {
        return a.name == b.name && a.node == b.node && a.violates_budget == b.violates_budget;
      });
  if (!same_victims) return differ("the victims");
  return {};
}

bool any_bound_reached(const Plan& plan) {
  return std::ranges::any_of(plan.asks,
                             [](const PlanAsk& ask) { return !ask.bounds_reached.empty(); });
}

/// With every node searched. The bound grows with the nodes, or it would end that on large
/// clusters; where it does so anyway, the two need not agree.
void compare_with_every_node(const ClusterCase& item, const Cluster& cluster,
                             const Configuration& configuration, const Plan& plan,
                             AnswerCheck& check) {
  PlanRequest request = plan_request(item);
  request.explain = true;
  Configuration patient = configuration;
  const auto steps = static_cast<std::int64_t>(item.nodes * steps_per_node);
  patient.engine.victim_steps_max = std::max(patient.engine.victim_steps_max, steps);
  const Decision slow = decide(cluster, patient, request);
  if (!slow.plan || slow.plan->asks.size() != plan.asks.size()) {
    check.wrong = "no plan with explanations";
    return;
  }
  if (any_bound_reached(*slow.plan)) {
    check.how = "check_plan only: a bound ended the search of every node";
    return;
  }
  check.how = "every node";
  for (std::size_t at = 0; at < plan.asks.size() && check.wrong.empty(); ++at) {
    check.wrong = ask_difference(plan.asks[at], slow.plan->asks[at]);
  }
}

bool is_better(const ScoreTerms& a, const ScoreTerms& b) {
  return std::ranges::lexicographical_compare(a, b, {}, &ScoreTerm::value, &ScoreTerm::value);
}

/// Of equal scores, the first name wins; nodes come by name.
void compare_node_by_node(const ClusterCase& item, const Cluster& cluster,
                          const Configuration& configuration, const Plan& plan,
                          AnswerCheck& check) {
  const PlanAsk& ask = plan.asks.front();
  PlanRequest request = plan_request(item);
  std::optional<PlanAsk> best;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    request.placements = {{.namespace_name = ask.namespace_name,
                           .name = ask.name,
                           .node = std::string(cluster.text(cluster.nodes().name[node]))}};
    const Decision one = decide(cluster, configuration, request);
    if (!one.plan) {
      check.wrong = "no plan for a given node";
      return;
    }
    if (any_bound_reached(*one.plan)) return;
    const PlanAsk& there = one.plan->asks.front();
    if (there.outcome != Outcome::preempts) continue;
    if (!best || is_better(there.score, best->score)) best = there;
  }
  check.how += ", node by node";
  if (best.has_value() != (ask.outcome == Outcome::preempts)) {
    check.wrong = fmt::format("{}, but not so when each node is given", choice_name(ask.outcome));
  } else if (best) {
    check.wrong = ask_difference(ask, *best);
  }
}

}  // namespace

PlanRequest plan_request(const ClusterCase& item) {
  PlanRequest request{.now = plan_now, .preset = "makeway", .explain = false};
  if (item.mix == AskMix::one) {
    const AskKind kind = item.members > 0 ? AskKind::pod_group : AskKind::pod;
    request.asks = {{.kind = kind, .namespace_name = "default", .name = "ask"}};
  }
  return request;
}

AnswerCheck check_answer(const ClusterCase& item, const Cluster& cluster,
                         const Configuration& configuration, const Plan& plan) {
  AnswerCheck check{.how = "check_plan only"};
  if (plan.asks.size() != item.asks) check.wrong = "not every ask was decided";
  const std::vector<LawBreach> breaches = check_plan(cluster, configuration, plan);
  if (!breaches.empty()) {
    check.wrong = fmt::format("law {}, {}: {}", breaches.front().law, breaches.front().ask,
                              breaches.front().text);
  }
  // A search that a bound ended claims to be lawful, not to be the best.
  if (any_bound_reached(plan)) check.how = "check_plan only: a bound ended the search";
  if (!check.wrong.empty() || any_bound_reached(plan)) return check;
  if (item.nodes * item.pods_per_node * item.asks <= every_node_max) {
    compare_with_every_node(item, cluster, configuration, plan, check);
  }
  if (check.wrong.empty() && item.mix == AskMix::one && item.nodes <= node_by_node_max) {
    compare_node_by_node(item, cluster, configuration, plan, check);
  }
  return check;
}

}  // namespace makeway::bench

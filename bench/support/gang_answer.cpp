#include "bench/support/gang_answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "judge/check_plan.hpp"

namespace makeway::bench {
namespace {

constexpr std::size_t again_max = 1'000'000;  ///< Pods times members.

std::string wrong_with(const ClusterCase& item, const Plan& plan) {
  if (plan.asks.size() != 1) return "not one ask was decided";
  const PlanAsk& ask = plan.asks.front();
  if (ask.outcome != Outcome::preempts) {
    return fmt::format("{}: {}", choice_name(ask.outcome), ask.reason);
  }
  if (ask.placements.size() != item.members) {
    return fmt::format("{} of {} members are placed", ask.placements.size(), item.members);
  }
  if (ask.victims.empty()) return "no pod leaves, though every node is full";
  return {};
}

}  // namespace

AnswerCheck check_gang_answer(const ClusterCase& item, const Cluster& cluster,
                              const Configuration& configuration, const Plan& plan) {
  AnswerCheck check{.wrong = wrong_with(item, plan)};
  if (!check.wrong.empty()) return check;
  const std::vector<LawBreach> breaches = check_plan(cluster, configuration, plan);
  if (!breaches.empty()) {
    check.wrong = fmt::format("law {}: {}", breaches.front().law, breaches.front().text);
    return check;
  }
  check.how = "check_plan";
  if (item.nodes * item.pods_per_node * item.members <= again_max) {
    const PlanRequest request = plan_request(item);
    check.how += ", again, shuffled";
    if (decide(cluster, configuration, request).plan != plan) {
      check.wrong = "a second decision is another one";
    } else if (decide(make_shuffled_cluster(item), configuration, request).plan != plan) {
      check.wrong = "objects in another order give another plan";
    }
  }
  const std::vector<std::string>& bounds = plan.asks.front().bounds_reached;
  if (!bounds.empty()) check.how += fmt::format("; ended by {}", fmt::join(bounds, ", "));
  return check;
}

}  // namespace makeway::bench

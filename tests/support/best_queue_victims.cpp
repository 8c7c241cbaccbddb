#include "support/best_queue_victims.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr std::size_t candidates_max = 12;

using Row = std::vector<std::int64_t>;

struct Candidate {
  std::vector<std::string> names;  ///< Sorted.
  std::vector<Pod> pods;
  Row freed;
  Row importance;  ///< By the keys; larger is more important.
  bool over_budget = false;
};

/// What a set is compared by, smaller is better.
struct Quality {
  std::vector<std::int64_t> members;  ///< By class, most important first.
  std::int64_t beyond = 0;
  std::vector<std::string> names;

  friend auto operator<=>(const Quality&, const Quality&) = default;
};

Row importance_of(const std::vector<Pod>& pods, std::int32_t priority, Time now) {
  bool started = false;
  std::int64_t runtime = std::numeric_limits<std::int64_t>::min();
  for (const Pod& pod : pods) {
    started = started || pod.started.has_value();
    if (pod.started) runtime = std::max(runtime, (now - *pod.started).ms);
  }
  if (!started) runtime = 0;
  return {priority, started ? 1 : 0, runtime};
}

/// Of the pods that a budget governs, as many as it allows are ordinary, least important first.
void find_over_budget(const Cluster& cluster, std::vector<Candidate>& candidates) {
  std::ranges::sort(candidates, {},
                    [](const Candidate& each) { return std::tie(each.importance, each.names); });
  std::map<std::string, std::int64_t> left;
  for (const DisruptionBudget* const budget : cluster.budgets()) {
    left[budget->namespace_name + "/" + budget->name] = budget->disruptions_allowed.value_or(0);
  }
  for (Candidate& candidate : candidates) {
    std::map<std::string, std::int64_t> wanted;
    for (const DisruptionBudget* const budget : cluster.budgets()) {
      for (const Pod& pod : candidate.pods) {
        const bool known =
            std::ranges::find(budget->disrupted_pods, pod.name) != budget->disrupted_pods.end();
        if (known || !governs(*budget, pod.namespace_name, pod.labels)) continue;
        ++wanted[budget->namespace_name + "/" + budget->name];
      }
    }
    candidate.over_budget = std::ranges::any_of(
        wanted, [&](const auto& each) { return each.second > left[each.first]; });
    for (const auto& [name, count] : wanted) {
      if (!candidate.over_budget) left[name] -= count;
    }
  }
}

}  // namespace

std::optional<std::vector<std::string>> best_queue_victims(
    const Cluster& cluster, const Configuration& configuration, Time now, const NaiveQueues& queues,
    std::size_t queue, const std::vector<std::int64_t>& needed) {
  std::vector<Candidate> candidates;
  for (const NaiveCandidate& each : queues.candidates) {
    if (each.queue != queue) continue;
    Candidate candidate{.freed = Row(needed.size())};
    for (const PodIndex pod : each.pods) {
      candidate.pods.push_back(cluster.pod(pod));
      candidate.names.push_back(cluster.pod_key(pod));
      const Row row = queues.requests(pod);
      for (std::size_t at = 0; at < row.size(); ++at) candidate.freed[at] += row[at];
    }
    std::ranges::sort(candidate.names);
    const Unit& unit = cluster.units()[cluster.pods().unit[each.pods.front()]];
    const std::int32_t priority = configuration.workload.honour_preemption_priority
                                      ? unit.preemption_priority
                                      : unit.scheduling_priority;
    candidate.importance = importance_of(candidate.pods, priority, now);
    candidates.push_back(std::move(candidate));
  }
  if (candidates.size() > candidates_max) return std::nullopt;
  find_over_budget(cluster, candidates);
  if (configuration.budgets.mode == BudgetMode::strict) {
    std::erase_if(candidates, [](const Candidate& each) { return each.over_budget; });
  }
  Row most(needed.size());
  for (const Candidate& each : candidates) {
    for (std::size_t at = 0; at < most.size(); ++at) most[at] += each.freed[at];
  }
  // Classes, most important first.
  std::map<std::pair<bool, Row>, std::size_t, std::greater<>> classes;
  for (const Candidate& each : candidates) classes[{each.over_budget, each.importance}] = 0;
  std::size_t number = 0;
  for (auto& [key, at] : classes) at = number++;
  std::optional<Quality> best;
  for (std::size_t set = 0; set < (std::size_t{1} << candidates.size()); ++set) {
    Quality quality{.members = std::vector<std::int64_t>(classes.size())};
    Row freed(needed.size());
    for (std::size_t at = 0; at < candidates.size(); ++at) {
      if ((set >> at & 1U) == 0) continue;
      const Candidate& each = candidates[at];
      ++quality.members[classes[{each.over_budget, each.importance}]];
      quality.names.insert(quality.names.end(), each.names.begin(), each.names.end());
      for (std::size_t column = 0; column < freed.size(); ++column) {
        freed[column] += each.freed[column];
      }
    }
    bool enough = true;
    for (std::size_t at = 0; at < freed.size(); ++at) {
      const std::int64_t must = std::min(std::max<std::int64_t>(needed[at], 0), most[at]);
      enough = enough && freed[at] >= must;
      __extension__ const __int128 beyond = freed[at] - must;
      quality.beyond += static_cast<std::int64_t>(beyond * 1'000'000 /
                                                  std::max<std::int64_t>(queues.totals[at], 1));
    }
    if (!enough) continue;
    std::ranges::sort(quality.names);
    if (!best || quality < *best) best = std::move(quality);
  }
  return best->names;
}

}  // namespace makeway

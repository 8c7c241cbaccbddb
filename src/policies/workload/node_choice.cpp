#include "policies/workload/node_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "engine/node_scan.hpp"

namespace makeway {
namespace {

std::int64_t fullness(PodFit& fit, NodeIndex node) {
  const Cluster& cluster = fit.survey().cluster();
  const std::span<const std::int64_t> allocatable = fit.survey().allocatable(node);
  const std::span<const std::int64_t> used = fit.scratch().used(node);
  std::int64_t sum = 0;
  std::int64_t pods = 0;
  bool any = false;
  for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[fit.ask()])) {
    const std::int64_t whole = allocatable[item.resource.value];
    const std::int64_t taken = used[item.resource.value] + item.amount;
    // It fits, so taken <= whole; dividing first keeps amounts of any size within range.
    const std::int64_t permille =
        whole >= 1'000'000 ? taken / (whole / 1000) : taken * 1000 / whole;
    if (item.resource == resource_pods) {
      pods = permille;
    } else {
      sum += permille;
      any = true;
    }
  }
  return any ? sum : pods;
}

/// A node where it fits, now or later; the smallest value is the best.
struct Ranked {
  NodeIndex node;
  std::int64_t value = 0;
  bool now = false;
};

constexpr std::int64_t nominated_value = std::numeric_limits<std::int64_t>::min();

/// Those that come after the best one, with what they lost on.
std::vector<PlanAlternative> runners_up(const Cycle& cycle, std::vector<Ranked> ranked) {
  const bool any_now = std::ranges::any_of(ranked, &Ranked::now);
  std::erase_if(ranked, [&](const Ranked& each) { return any_now && !each.now; });
  std::ranges::stable_sort(ranked, {}, &Ranked::value);
  std::vector<PlanAlternative> result;
  const auto count_max = static_cast<std::size_t>(cycle.configuration.engine.alternatives_max) + 1;
  for (std::size_t at = 1; at < std::min(ranked.size(), count_max); ++at) {
    const std::int64_t best = ranked.front().value;
    const std::int64_t value = ranked[at].value;
    std::string lost_on = best == nominated_value ? std::string("not its nominated node")
                          : value == best         ? std::string("name")
                                                  : fmt::format("fullness: {} against {} permille",
                                                                std::abs(value), std::abs(best));
    result.push_back({.node = node_name(cycle.cluster, ranked[at].node),
                      .score = {},
                      .victims = 0,
                      .victim_units = 0,
                      .lost_on = std::move(lost_on)});
  }
  return result;
}

}  // namespace

NodeChoice choose_node(Cycle& cycle, PodFit& after, PodFit* now,
                       std::span<const NodeIndex> domain) {
  const bool pack = cycle.configuration.workload.node_score == NodeScore::pack;
  const NodeIndex nominated = cycle.cluster.pods().nominated[after.ask()];
  NodeChoice choice;
  std::int64_t best_now = 0;
  std::int64_t best_later = 0;
  std::vector<Ranked> ranked;
  const NodeScan scan(cycle.survey, after.scratch(), after, true);
  for (const NodeIndex node : domain) {
    if (!scan.has_room(node) || after.check(node)) continue;
    if (!keeps_promises(cycle, after.ask(), node, {})) continue;
    const bool fits_now = now == nullptr || !now->check_unreserved(node);
    if (fits_now) ++choice.fitting_now;
    std::optional<NodeIndex>& chosen = fits_now ? choice.now : choice.later;
    std::int64_t& best = fits_now ? best_now : best_later;
    const std::int64_t value = node == nominated ? nominated_value
                               : pack            ? -fullness(after, node)
                                                 : fullness(after, node);
    if (cycle.explain) ranked.push_back({.node = node, .value = value, .now = fits_now});
    if (chosen && value >= best) continue;
    chosen = node;
    best = value;
  }
  choice.others = runners_up(cycle, std::move(ranked));
  return choice;
}

}  // namespace makeway

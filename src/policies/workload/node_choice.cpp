#include "policies/workload/node_choice.hpp"

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

}  // namespace

NodeChoice choose_node(Cycle& cycle, PodFit& after, PodFit* now,
                       std::span<const NodeIndex> domain) {
  const bool pack = cycle.configuration.workload.node_score == NodeScore::pack;
  const NodeIndex nominated = cycle.cluster.pods().nominated[after.ask()];
  NodeChoice choice;
  std::int64_t best_now = 0;
  std::int64_t best_later = 0;
  const NodeScan scan(cycle.survey, after.scratch(), after, true);
  for (const NodeIndex node : domain) {
    if (!scan.has_room(node) || after.check(node) || !keeps_promises(cycle, after.ask(), node, {}))
      continue;
    const bool fits_now = now == nullptr || !now->check_unreserved(node);
    if (fits_now) ++choice.fitting_now;
    std::optional<NodeIndex>& chosen = fits_now ? choice.now : choice.later;
    std::int64_t& best = fits_now ? best_now : best_later;
    const std::int64_t value = node == nominated ? std::numeric_limits<std::int64_t>::min()
                               : pack            ? -fullness(after, node)
                                                 : fullness(after, node);
    if (chosen && value >= best) continue;
    chosen = node;
    best = value;
  }
  return choice;
}

}  // namespace makeway

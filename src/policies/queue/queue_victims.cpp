#include "policies/queue/queue_victims.hpp"

#include <algorithm>

#include "policies/queue/victim_set.hpp"

namespace makeway {
namespace {

std::vector<std::uint32_t> ranks_by_name(const QueueCandidates& candidates,
                                         std::span<const QueueCandidate> all) {
  std::vector<std::uint32_t> by_name;
  by_name.reserve(all.size());
  for (std::uint32_t at = 0; at < all.size(); ++at) by_name.push_back(at);
  std::ranges::sort(by_name, [&](std::uint32_t a, std::uint32_t b) {
    return candidates.name_before(all[a], all[b]);
  });
  std::vector<std::uint32_t> ranks(all.size());
  for (std::uint32_t rank = 0; rank < by_name.size(); ++rank) ranks[by_name[rank]] = rank;
  return ranks;
}

/// Steps in the search for the best set among pods of equal importance in one queue; then the
/// largest go first.
constexpr std::int64_t queue_victim_steps_max = 100'000;

}  // namespace

QueueLosers choose_losers(World& world, const QueueTable& table, const QueueCandidates& candidates,
                          QueueRow row, std::span<const std::int64_t> need) {
  const std::span<const QueueCandidate> all = candidates.of(row);
  VictimSetTask task;
  StepMeter meter(world.steps(), queue_victim_steps_max, "queue victim steps");
  task.steps_max = meter.left();
  for (std::size_t column = 0; column < table.resources(); ++column) {
    task.need.push_back(std::max<std::int64_t>(0, need[column]));
    task.totals.push_back(table.total(column));
  }
  task.amounts.resize(all.size() * table.resources());
  task.class_of.reserve(all.size());
  for (std::uint32_t at = 0; at < all.size(); ++at) {
    const bool same = at > 0 && candidates.compare_importance(all[at - 1], all[at]) == 0;
    task.class_of.push_back(at == 0 ? 0 : task.class_of.back() + (same ? 0 : 1));
    candidates.add_amounts(
        all[at], std::span(task.amounts).subspan(at * table.resources(), table.resources()));
  }
  const bool equals = !all.empty() && task.class_of.back() + 1 < all.size();
  if (equals) task.rank_by_name = ranks_by_name(candidates, all);
  VictimSet set = choose_victim_set(task);
  meter.count(set.steps);
  std::ranges::sort(set.chosen);
  return {.chosen = std::move(set.chosen),
          .bound = set.out_of_steps ? meter.bound() : std::string_view{}};
}

}  // namespace makeway

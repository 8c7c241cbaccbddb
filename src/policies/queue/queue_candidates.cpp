#include "policies/queue/queue_candidates.hpp"

#include <algorithm>
#include <limits>

#include "base/checked_math.hpp"
#include "policies/queue/victim_set.hpp"

namespace makeway {

QueueCandidates::QueueCandidates(World& world, const QueueTable& table,
                                 std::span<const std::uint8_t> marked, std::int64_t priority_below)
    : world_(world), table_(table) {
  collect(marked, priority_below);
  sort_by_queue();
  freeable_.assign(table.rows() * table.resources(), 0);
  for (std::uint32_t row = 0; row < table.rows(); ++row) {
    world.budgets().any() ? charge_budgets(QueueRow{row}) : sum_up(QueueRow{row});
  }
}

/// Sorts each queue for itself, which is cheaper than one sort of all.
void QueueCandidates::sort_by_queue() {
  ranges_.resize(table_.rows());
  for (const QueueCandidate& candidate : candidates_) ++ranges_[candidate.queue.value].all;
  std::size_t begin = 0;
  for (Range& range : ranges_) {
    range.begin = begin;
    begin += range.all;
  }
  std::vector<QueueCandidate> sorted(candidates_.size());
  for (const QueueCandidate& candidate : candidates_) {
    Range& range = ranges_[candidate.queue.value];
    sorted[range.begin + range.size++] = candidate;
  }
  candidates_ = std::move(sorted);
  for (const Range& range : ranges_) sort(range);
}

void QueueCandidates::sort(const Range& range) {
  const auto all = std::span(candidates_).subspan(range.begin, range.all);
  std::ranges::sort(all, [this](const QueueCandidate& a, const QueueCandidate& b) {
    const int order = compare_importance(a, b);
    return order != 0 ? order < 0 : name_before(a, b);
  });
}

void QueueCandidates::sum_up(QueueRow row) {
  const auto sums =
      std::span(freeable_).subspan(row.value * table_.resources(), table_.resources());
  std::ranges::fill(sums, 0);
  for (const QueueCandidate& candidate : of(row)) add_amounts(candidate, sums);
  if (freeable_max_.empty()) return;
  for (std::size_t column = 0; column < sums.size(); ++column) {
    sums[column] = std::min(sums[column], freeable_max_[row.value * table_.resources() + column]);
  }
}

void QueueCandidates::limit_freeable(QueueRow row, std::size_t column) {
  if (freeable_max_.empty()) {
    freeable_max_.assign(freeable_.size(), std::numeric_limits<std::int64_t>::max());
  }
  freeable_max_[row.value * table_.resources() + column] = freeable(row, column);
}

/// The least important first: what a budget allows goes to them.
void QueueCandidates::charge_budgets(QueueRow row) {
  Range& range = ranges_[row.value];
  const auto all = std::span(candidates_).subspan(range.begin, range.all);
  if (all.empty()) return;
  for (QueueCandidate& candidate : all) candidate.violates_budget = false;
  sort(range);
  world_.budgets().start_trial();
  for (QueueCandidate& candidate : all) {
    candidate.violates_budget = !world_.budgets().charge_all(pods_of(candidate));
  }
  sort(range);
  range.size = range.all;
  if (world_.configuration().budgets.mode == BudgetMode::strict) {
    range.size -=
        static_cast<std::size_t>(std::ranges::count_if(all, &QueueCandidate::violates_budget));
  }
  sum_up(row);
}

/// Infrastructure would just come back, and a leaving pod is not evicted again.
bool QueueCandidates::may_leave(PodIndex pod) const {
  return !world_.departures().leaving(pod) && !table_.membership().is_infrastructure(pod) &&
         world_.rules().may_leave(world_.after(), pod);
}

void QueueCandidates::collect(std::span<const std::uint8_t> marked, std::int64_t priority_below) {
  const Cluster& cluster = world_.cluster();
  const PodColumns& pods = cluster.pods();
  std::vector<std::uint8_t> seen(cluster.units().size());
  std::vector<PodIndex> members;
  for (const PodIndex pod : cluster.each_pod()) {
    if (!pods.node[pod].exists() || table_.is_nowhere(pod)) continue;
    const UnitIndex index = pods.unit[pod];
    const QueueRow row = table_.row_of(pod);
    if (marked[row.value] == 0 || world_.rules().priority_of(pod) >= priority_below) continue;
    const Unit& unit = cluster.units()[index];
    const bool whole = unit.kind == UnitKind::group && unit.mode == DisruptionMode::all;
    if (!whole) {
      if (may_leave(pod)) add(row, index, std::span(&pod, 1));
      continue;
    }
    if (seen[index.value] != 0) continue;
    seen[index.value] = 1;
    members.clear();
    for (const PodIndex member : cluster.groups()[unit.group].members) {
      // A leaving member has left its queue already, whatever the rule for other asks.
      const bool leaving = world_.departures().leaving(member);
      if (world_.after().node_of(member).exists() && !leaving) members.push_back(member);
    }
    const bool all =
        std::ranges::all_of(members, [&](PodIndex member) { return may_leave(member); });
    if (!all || members.empty()) continue;
    std::ranges::sort(members, {}, [&](PodIndex member) { return pods.name[member.value]; });
    add(row, index, members);
  }
}

void QueueCandidates::add(QueueRow row, UnitIndex unit, std::span<const PodIndex> pods) {
  QueueCandidate candidate{.queue = row,
                           .unit = unit,
                           .first = pods.front(),
                           .begin = static_cast<std::uint32_t>(pods_.size()),
                           .size = static_cast<std::uint32_t>(pods.size()),
                           .priority = world_.rules().priority_of(pods.front()),
                           .started = world_.rules().now()};
  for (const PodIndex pod : pods) {
    const Time started = world_.cluster().pods().started[pod];
    if (started == no_time) continue;
    candidate.has_started = true;
    candidate.started = std::min(candidate.started, started);
  }
  candidates_.push_back(candidate);
  pods_.insert(pods_.end(), pods.begin(), pods.end());
}

void QueueCandidates::add_amounts(const QueueCandidate& candidate,
                                  std::span<std::int64_t> sums) const {
  for (const PodIndex pod : pods_of(candidate)) {
    if (table_.is_nowhere(pod)) continue;
    for (const ResourceAmount& item : request_of(world_.cluster(), pod)) {
      const std::size_t column = table_.column(item.resource);
      if (column == QueueTable::no_column) continue;
      sums[column] = saturated_add(sums[column], item.amount);
    }
  }
}

int QueueCandidates::compare_importance(const QueueCandidate& a, const QueueCandidate& b) const {
  const auto sign = [](bool less) { return less ? -1 : 1; };
  if (a.violates_budget != b.violates_budget) return sign(b.violates_budget);
  if (a.priority != b.priority) return sign(a.priority < b.priority);
  if (a.has_started != b.has_started) return sign(b.has_started);
  if (a.started != b.started) return sign(a.started > b.started);
  return 0;
}

bool QueueCandidates::name_before(const QueueCandidate& a, const QueueCandidate& b) const {
  const Cluster& cluster = world_.cluster();
  const StringId a_space = cluster.pods().namespace_name[a.first];
  const StringId b_space = cluster.pods().namespace_name[b.first];
  if (a_space != b_space) return cluster.text(a_space) < cluster.text(b_space);
  return cluster.pods().name[a.first.value] < cluster.pods().name[b.first.value];
}

// ---- The pods that leave ------------------------------------------------------------------------

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

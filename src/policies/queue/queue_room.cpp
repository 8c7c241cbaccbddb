#include "policies/queue/queue_room.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <utility>

#include "base/checked_math.hpp"
#include "policies/queue/queue_candidates.hpp"

namespace makeway {

QueueRoom::Ledger::Ledger(const World& world, const QueueTable& table, Horizon horizon)
    : cluster_(world.cluster()),
      departures_(world.departures()),
      table_(table),
      horizon_(horizon),
      used_(table.rows() * table.resources()) {
  for (std::uint32_t at = 0; at < table.rows(); ++at) {
    const QueueRow row{at};
    for (std::size_t column = 0; column < table.resources(); ++column) {
      used_[row.value * table.resources() + column] = table.at(row, column).used;
    }
  }
  for (const PodIndex pod : cluster_.leaving_pods()) {
    if (!Room::counts_in_queue(departures_, pod, horizon)) add(pod, cluster_.pods().node[pod], -1);
  }
}

void QueueRoom::Ledger::moved(PodIndex pod, NodeIndex node, int delta) {
  if (Room::counts_in_queue(departures_, pod, horizon_)) add(pod, node, delta);
}

void QueueRoom::Ledger::add(PodIndex pod, NodeIndex node, int delta) {
  if (!table_.membership().counts(node)) return;
  const std::size_t begin = table_.row_of(pod).value * table_.resources();
  for (const ResourceAmount& item : request_of(cluster_, pod)) {
    const std::size_t column = table_.column(item.resource);
    if (column != QueueTable::no_column) used_[begin + column] += delta * item.amount;
  }
}

QueueRoom::QueueRoom(World& world, QueueTable table)
    : world_(world),
      table_(std::move(table)),
      now_(world, table_, Horizon::now),
      after_(world, table_, Horizon::soon) {
  for (const PodIndex pod : world.gone()) {
    after_.moved(pod, world.cluster().pods().node[pod], -1);
  }
  for (const PodIndex pod : world.cluster().nominated_pods()) {
    if (world.holds().may_come(pod)) nominated_.push_back(pod);
  }
  world.now().attach(now_);
  world.after().attach(after_);
}

QueueRoom::~QueueRoom() {
  world_.rules().limit_to(nullptr);
  world_.now().detach(now_);
  world_.after().detach(after_);
}

/// The pods that ask; some of a group may be infrastructure.
std::span<const PodIndex> QueueRoom::asking() const {
  if (member_.exists()) return {&member_, 1};
  if (!ask_.exists()) return {};
  const Unit& unit = world_.cluster().units()[ask_];
  if (unit.kind == UnitKind::group) return world_.cluster().groups()[unit.group].members;
  return {&unit.pod, 1};
}

void QueueRoom::turn_to(UnitIndex ask, PodIndex member) {
  ask_ = ask;
  member_ = member;
  row_ = table_.outside();
  for (const PodIndex pod : asking()) row_ = std::min(row_, table_.row_of(pod));
  world_.rules().limit_to(ask.exists() ? this : nullptr);
}

bool QueueRoom::contains(PodIndex pod) const {
  if (table_.row_of(pod) != row_) return false;
  return row_ == table_.outside() || world_.configuration().queue.preempt_within_queue;
}

std::vector<std::int64_t> QueueRoom::requests(std::span<const PodIndex> coming) const {
  std::vector<std::int64_t> sums(table_.resources());
  for (const PodIndex pod : coming) {
    if (table_.membership().is_infrastructure(pod)) continue;
    for (const ResourceAmount& item : request_of(world_.cluster(), pod)) {
      const std::size_t column = table_.column(item.resource);
      if (column != QueueTable::no_column) {
        sums[column] = saturated_add(sums[column], item.amount);
      }
    }
  }
  return sums;
}

bool QueueRoom::has_room_now(std::span<const PodIndex> coming) const {
  const std::vector<std::int64_t> wanted = requests(coming);
  for (std::size_t column = 0; column < wanted.size(); ++column) {
    const std::int64_t used = saturated_add(now_.used(row_, column), wanted[column]);
    if (wanted[column] > 0 && used > table_.at(row_, column).allocated) return false;
  }
  return has_room_later(coming);
}

/// Law 7. Pods of the ask that are nominated to the same node take turns there.
bool QueueRoom::is_blocked_by(PodIndex pod) const {
  const Cluster& cluster = world_.cluster();
  const PodColumns& pods = cluster.pods();
  const bool promised = std::ranges::any_of(asking(), [&](PodIndex own) {
    return !pods.node[own].exists() && pods.nominated[own] == pods.nominated[pod];
  });
  const HoldAsk ask{.pod = member_,
                    .unit = member_.exists() ? UnitIndex{} : ask_,
                    .rank = {.priority = cluster.units()[ask_].scheduling_priority},
                    .turns_on = promised ? pods.nominated[pod] : NodeIndex{}};
  return world_.holds().blocks(pod, ask, world_.after());
}

std::int64_t QueueRoom::held_for_others(std::size_t column) const {
  const Cluster& cluster = world_.cluster();
  std::int64_t held = 0;
  for (const PodIndex pod : nominated_) {
    if (table_.row_of(pod) != row_ || !is_blocked_by(pod)) continue;
    for (const ResourceAmount& item : request_of(cluster, pod)) {
      if (table_.column(item.resource) == column) held = saturated_add(held, item.amount);
    }
  }
  return held;
}

std::vector<std::int64_t> QueueRoom::shortage(std::span<const PodIndex> coming) const {
  std::vector<std::int64_t> missing = requests(coming);
  for (std::size_t column = 0; column < missing.size(); ++column) {
    if (missing[column] == 0) continue;
    const QueueNumbers& numbers = table_.at(row_, column);
    const std::int64_t used =
        saturated_add(after_.used(row_, column), nominated_.empty() ? 0 : held_for_others(column));
    missing[column] = saturated_sub(saturated_add(used, missing[column]), numbers.lasting());
  }
  return missing;
}

bool QueueRoom::has_room_later(std::span<const PodIndex> coming) const {
  return std::ranges::all_of(shortage(coming), [](std::int64_t missing) { return missing <= 0; });
}

std::vector<PodIndex> QueueRoom::find_victims(std::span<const PodIndex> coming,
                                              std::int32_t priority) const {
  std::vector<std::uint8_t> marked(table_.rows());
  marked[row_.value] = 1;
  const QueueCandidates candidates(world_, table_, marked, priority);
  const std::vector<std::int64_t> missing = shortage(coming);
  for (std::size_t column = 0; column < missing.size(); ++column) {
    if (candidates.freeable(row_, column) < missing[column]) return {};
  }
  std::vector<PodIndex> victims;
  const QueueLosers losers = choose_losers(world_, table_, candidates, row_, missing);
  for (const std::uint32_t at : losers.chosen) {
    const std::span<const PodIndex> pods = candidates.pods_of(candidates.of(row_)[at]);
    victims.insert(victims.end(), pods.begin(), pods.end());
  }
  return victims;
}

/// Pods that earlier asks wait for or have evicted count only if the others are not enough.
std::vector<PodIndex> QueueRoom::awaited(std::span<const PodIndex> coming) const {
  std::vector<PodIndex> all;
  const auto is_own = [this](PodIndex pod) {
    return table_.row_of(pod) == row_ &&
           table_.membership().counts(world_.cluster().pods().node[pod]);
  };
  // `enough_of` takes from the end, so pods that leave late stand first.
  std::ranges::copy_if(world_.late(), std::back_inserter(all), is_own);
  std::ranges::copy_if(world_.gone(), std::back_inserter(all), is_own);
  std::vector<PodIndex> fresh;
  std::ranges::copy_if(all, std::back_inserter(fresh),
                       [this](PodIndex pod) { return !world_.is_taken(pod); });
  // As if the earlier asks were placed, and only the pods that they wait for were gone.
  std::vector<std::int64_t> missing = requests(coming);
  for (std::size_t column = 0; column < missing.size(); ++column) {
    if (missing[column] == 0) continue;
    std::int64_t used = after_.used(row_, column);
    for (const PodIndex pod : fresh) used = saturated_add(used, amount(pod, column));
    missing[column] =
        saturated_sub(saturated_add(used, missing[column]), table_.at(row_, column).allocated);
  }
  std::vector<PodIndex> needed = enough_of(fresh, missing);
  if (!needed.empty()) return needed;
  missing = requests(coming);
  for (std::size_t column = 0; column < missing.size(); ++column) {
    if (missing[column] == 0) continue;
    missing[column] = saturated_sub(saturated_add(now_.used(row_, column), missing[column]),
                                    table_.at(row_, column).allocated);
  }
  return enough_of(all, missing);
}

std::int64_t QueueRoom::amount(PodIndex pod, std::size_t column) const {
  const Cluster& cluster = world_.cluster();
  for (const ResourceAmount& item : request_of(cluster, pod)) {
    if (table_.column(item.resource) == column) return item.amount;
  }
  return 0;
}

/// The last of these pods that free so much, as an irreducible set; if all are not enough, all that
/// free a part of it.
std::vector<PodIndex> QueueRoom::enough_of(std::span<const PodIndex> pods,
                                           std::vector<std::int64_t> missing) const {
  std::vector<PodIndex> needed;
  for (const PodIndex pod : pods | std::views::reverse) {
    bool frees = false;
    for (std::size_t column = 0; column < missing.size(); ++column) {
      const std::int64_t freed = missing[column] > 0 ? amount(pod, column) : 0;
      frees = frees || freed > 0;
    }
    if (!frees) continue;
    for (std::size_t column = 0; column < missing.size(); ++column) {
      missing[column] -= amount(pod, column);
    }
    needed.push_back(pod);
  }
  // A pod may free what others were taken for before it.
  std::erase_if(needed, [&](PodIndex pod) {
    for (std::size_t column = 0; column < missing.size(); ++column) {
      const std::int64_t freed = amount(pod, column);
      if (freed > 0 && saturated_add(missing[column], freed) > 0) return false;
    }
    for (std::size_t column = 0; column < missing.size(); ++column) {
      missing[column] += amount(pod, column);
    }
    return true;
  });
  return needed;
}

Reason QueueRoom::title() const {
  if (row_ == table_.outside()) return {.code = ReasonCode::room_outside_queues};
  return {.code = ReasonCode::queue_title, .arguments = {table_.entry(row_).name}};
}

Reason QueueRoom::own_pods() const {
  return {.code =
              row_ == table_.outside() ? ReasonCode::outside_own_pods : ReasonCode::queue_own_pods};
}

Reason QueueRoom::full_reason(std::span<const PodIndex> coming) const {
  const std::vector<std::int64_t> wanted = requests(coming);
  const std::vector<std::int64_t> missing = shortage(coming);
  Reasons columns;
  bool is_too_small = false;
  for (std::size_t column = 0; column < missing.size(); ++column) {
    if (missing[column] <= 0) continue;
    const std::string resource(world_.cluster().resources().name(table_.resource(column)));
    const auto quantity = [&](std::int64_t amount) {
      return Quantity{.resource = resource, .amount = amount, .decimals = true};
    };
    const std::int64_t may_use = table_.at(row_, column).lasting();
    const std::int64_t used =
        saturated_sub(saturated_add(may_use, missing[column]), wanted[column]);
    is_too_small = is_too_small || wanted[column] > may_use;
    if (row_ == table_.outside()) {
      const std::int64_t left = std::max<std::int64_t>(0, saturated_sub(may_use, used));
      columns.push_back({.code = ReasonCode::outside_column,
                         .arguments = {resource, quantity(left), quantity(wanted[column])}});
    } else {
      columns.push_back(
          {.code = ReasonCode::queue_column,
           .arguments = {resource, quantity(may_use), quantity(used), quantity(wanted[column])}});
    }
  }
  if (row_ != table_.outside()) {
    return {.code = is_too_small ? ReasonCode::queue_too_small : ReasonCode::queue_full,
            .arguments = {title(), std::move(columns)}};
  }
  const bool by_weight = world_.configuration().queue.division == Division::by_weight;
  return {
      .code = by_weight ? ReasonCode::outside_too_small_by_weight : ReasonCode::outside_too_small,
      .arguments = {std::move(columns)}};
}

}  // namespace makeway

#include "policies/queue/queue_plan.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {

QueuePlan::QueuePlan(Draft& draft, const QueueTable& table, const QueueCandidates& candidates,
                     std::span<const QueueMove> moves)
    : draft_(draft),
      world_(draft.world),
      table_(table),
      candidates_(candidates),
      moves_(moves),
      claims_(table.size()),
      taken_from_(table.size()) {
  for (const QueueMove& move : moves) {
    if (move.to.exists()) claims_[move.to.value].moves.push_back(&move);
    if (!move.served.exists()) continue;
    taken_from_[move.from.value].push_back({.move = &move, .open = move.amount});
  }
  // Each is filled before the next; what is still to come first.
  std::vector<std::size_t> rank(table.size());
  for (std::vector<Taken>& taken : taken_from_) {
    std::ranges::stable_partition(taken, [](const Taken& item) { return !item.move->at_once; });
    for (std::size_t at = taken.size(); at-- > 0;) rank[taken[at].move->served.value] = at;
    std::ranges::stable_sort(taken, {},
                             [&](const Taken& item) { return rank[item.move->served.value]; });
  }
}

std::string QueuePlan::resource(std::size_t column) const {
  return std::string(world_.cluster().resources().name(table_.resource(column)));
}

std::string QueuePlan::name(QueueRow row) const {
  return row.exists() ? std::string(table_.entry(row).name) : std::string();
}

void QueuePlan::lose(QueueRow row, const QueueLosers& losers) {
  std::vector<std::int64_t> over(table_.resources());
  std::vector<std::int64_t> spare(table_.resources());
  for (std::size_t column = 0; column < over.size(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    const std::int64_t may_use =
        std::max(numbers.allocated_before, numbers.allocated - numbers.stuck);
    over[column] = std::max<std::int64_t>(0, numbers.staying() - may_use);
    spare[column] = -std::max<std::int64_t>(
        0, std::min(numbers.holding() - numbers.allocated, candidates_.freeable(row, column)));
  }
  const std::span<const QueueCandidate> all = candidates_.of(row);
  for (const std::uint32_t at : losers.chosen) candidates_.add_amounts(all[at], spare);
  Neighbours neighbours;
  for (const std::uint32_t at : losers.chosen) {
    find_neighbours(all, losers.chosen, at, neighbours);
    const QueueRow receiver = receiver_of(all[at], over);
    const QueueRow cause = receiver.exists() ? receiver : row;
    Claim& claim = claims_[cause.value];
    if (claim.bound.empty()) claim.bound = losers.bound;
    claim.losses.push_back(losses_.size());
    const QueueCandidate* const spared = spared_for(all[at], neighbours);
    losses_.push_back({.for_queue = cause,
                       .from = row,
                       .candidate = &all[at],
                       .spared = spared,
                       .key = spared == nullptr ? Reason{.code = ReasonCode::only_candidate}
                                                : lost_on(all[at], *spared, spare)});
    world_.leave(candidates_.pods_of(all[at]));
  }
}

/// The next candidates in order that stay; the chosen come in order, too.
void QueuePlan::find_neighbours(std::span<const QueueCandidate> all,
                                std::span<const std::uint32_t> chosen, std::uint32_t at,
                                Neighbours& neighbours) {
  std::uint32_t& next = neighbours.next;
  next = std::max(next, at + 1);
  while (next < all.size() && std::ranges::binary_search(chosen, next)) ++next;
  if (at > 0 && !std::ranges::binary_search(chosen, at - 1)) neighbours.below = &all[at - 1];
  neighbours.above = next < all.size() ? &all[next] : nullptr;
}

/// The candidate that stays in its place: an equal, or the next more important one, or one that
/// frees too little. Null: no other candidate may leave.
const QueueCandidate* QueuePlan::spared_for(const QueueCandidate& gone,
                                            const Neighbours& neighbours) const {
  const auto [above, below, next] = neighbours;
  if (above == nullptr || below == nullptr) return above == nullptr ? below : above;
  const bool equal_below = candidates_.compare_importance(*below, gone) == 0;
  return equal_below && candidates_.compare_importance(gone, *above) != 0 ? below : above;
}

/// The queue for which the candidate makes room; none: its own was over what it may use before.
QueueRow QueuePlan::receiver_of(const QueueCandidate& candidate, std::vector<std::int64_t>& over) {
  std::vector<std::int64_t> held(table_.resources());
  candidates_.add_amounts(candidate, held);
  bool overuse = false;
  for (std::size_t column = 0; column < held.size(); ++column) {
    const std::int64_t own = std::min(over[column], held[column]);
    overuse = overuse || own > 0;
    over[column] -= own;
    held[column] -= own;
  }
  QueueRow receiver;
  for (Taken& taken : taken_from_[candidate.queue.value]) {
    const std::int64_t part = std::min(taken.open, held[taken.move->column]);
    if (part <= 0) continue;
    if (!receiver.exists()) receiver = taken.move->served;
    taken.open -= part;
    held[taken.move->column] -= part;
  }
  return overuse ? QueueRow{} : receiver;
}

void QueuePlan::write() {
  write_queues();
  write_statuses();
  draft_.plan.queue_moves.reserve(moves_.size());
  for (const QueueMove& move : moves_) {
    draft_.plan.queue_moves.push_back({.resource = resource(move.column),
                                       .from = name(move.from),
                                       .to = name(move.to),
                                       .amount = move.amount,
                                       .at_once = move.at_once});
  }
  std::vector<QueueRow> asking;
  std::ranges::copy_if(table_.leaves(), std::back_inserter(asking), [this](QueueRow row) {
    return claims(row) || is_over(row) || !claims_[row.value].losses.empty();
  });
  draft_.plan.asks.reserve(asking.size());
  for (const QueueRow row : asking) write_ask(row);
}

/// Leaves as they are, and sums over them for the queues above.
void QueuePlan::write_queues() {
  std::vector<PlanQueue>& queues = draft_.plan.queues;
  queues.reserve(table_.size());
  for (std::uint32_t at = 0; at < table_.size(); ++at) {
    const QueueEntry& entry = table_.entry(QueueRow{at});
    PlanQueue queue{.name = std::string(entry.name),
                    .parent = name(entry.parent),
                    .weight = entry.weight,
                    .leaf = entry.leaf()};
    queue.shares.reserve(table_.resources());
    for (std::size_t column = 0; column < table_.resources(); ++column) {
      queue.shares.push_back(
          {.resource = resource(column), .deserved = table_.at(QueueRow{at}, column).deserved});
    }
    count_adopted(QueueRow{at}, queue);
    queues.push_back(std::move(queue));
  }
  for (const QueueRow leaf : table_.leaves()) {
    for (QueueRow row = leaf; row.exists(); row = table_.entry(row).parent) {
      for (std::size_t column = 0; column < table_.resources(); ++column) {
        const QueueNumbers& numbers = table_.at(leaf, column);
        PlanQueueShare& share = queues[row.value].shares[column];
        share.allocated_before += numbers.allocated_before;
        share.allocated += numbers.allocated;
        share.used += numbers.used;
        share.leaving += numbers.leaving;
        share.demand += numbers.used + numbers.pending;
        share.preempting += numbers.preempting;
      }
    }
  }
}

/// A new default queue takes in the pods that were outside: the plan reports it.
void QueuePlan::count_adopted(QueueRow row, PlanQueue& queue) const {
  const Queue& object = *table_.entry(row).object;
  if (object.name != default_queue_name) return;
  if (!object.allocated.empty() || !object.preempting.empty()) return;
  const PodColumns& pods = world_.cluster().pods();
  const auto adopted = [&](PodIndex pod) {
    return table_.row_of(pod) == row && table_.membership().is_adopted(pods.unit[pod]);
  };
  for (const PodIndex pod : world_.cluster().each_pod()) {
    if (adopted(pod)) ++queue.adopts;
  }
  for (const Loss& loss : losses_) {
    queue.adopted_leave += std::ranges::count_if(candidates_.pods_of(*loss.candidate), adopted);
  }
}

/// Of the queues whose status is another one now.
void QueuePlan::write_statuses() {
  for (const PlanQueue& queue : draft_.plan.queues) {
    const Queue& object = world_.cluster().own<Queue>().find({"", queue.name})->second;
    PlanQueueStatus status{.name = queue.name, .uid = object.uid};
    Amounts promised;  // As the object has it: without zeros.
    for (const PlanQueueShare& share : queue.shares) {
      status.deserved.push_back({.resource = share.resource, .amount = share.deserved});
      status.allocated.push_back({.resource = share.resource, .amount = share.allocated});
      status.used.push_back({.resource = share.resource, .amount = share.used});
      status.preempting.push_back({.resource = share.resource, .amount = share.preempting});
      if (share.preempting > 0) promised.push_back(status.preempting.back());
    }
    const bool same = status.deserved == object.deserved && status.allocated == object.allocated &&
                      status.used == object.used && promised == object.preempting;
    if (!same) draft_.plan.queue_status.push_back(std::move(status));
  }
}

bool QueuePlan::claims(QueueRow row) const {
  for (std::size_t column = 0; column < table_.resources(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    if (numbers.deserved > numbers.kept) return true;
  }
  return false;
}

/// It uses more than it may, as the cycle found it.
bool QueuePlan::is_over(QueueRow row) const {
  for (std::size_t column = 0; column < table_.resources(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    if (numbers.staying() > numbers.allocated_before) return true;
  }
  return false;
}

void QueuePlan::write_ask(QueueRow row) {
  PlanAsk ask;
  ask.kind = AskKind::queue;
  ask.name = name(row);
  ask.priority = table_.entry(row).priority;
  const Claim& claim = claims_[row.value];
  for (const std::size_t at : claim.losses) add_victims(losses_[at], ask);
  std::ranges::reverse(ask.victims);  // Most important first.
  if (!claim.bound.empty()) ask.bounds_reached.emplace_back(claim.bound);
  ask.outcome = outcome_of(row);
  set_reason(world_.cluster(), ask, reason_of(row));
  draft_.plan.asks.push_back(std::move(ask));
}

Outcome QueuePlan::outcome_of(QueueRow row) const {
  const Claim& claim = claims_[row.value];
  if (!claim.losses.empty()) return Outcome::preempts;
  if (std::ranges::any_of(claim.moves, [](const QueueMove* move) { return !move->at_once; })) {
    return Outcome::waits;
  }
  if (!amounts_of(unmet(row)).empty() || !stuck(row).empty()) return Outcome::infeasible;
  return amounts_of(delayed(row)).empty() ? Outcome::fits : Outcome::waits;
}

/// "cpu 1, memory 9Gi"; none: no resource has an amount.
Reasons QueuePlan::amounts_of(std::span<const std::int64_t> amounts) const {
  Reasons parts;
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    if (amounts[column] <= 0) continue;
    const std::string name = resource(column);
    parts.push_back(
        {.code = ReasonCode::amount_of,
         .arguments = {name,
                       Quantity{.resource = name, .amount = amounts[column], .decimals = true}}});
  }
  return parts;
}

/// What it deserves beyond its exact share; no pod is evicted for it. Not reported for finer units.
std::vector<std::int64_t> QueuePlan::rounding(QueueRow row) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    const std::int64_t lacks = numbers.deserved - numbers.allocated - numbers.preempting;
    if (!table_.in_devices(column)) continue;
    amounts[column] = std::min(lacks, numbers.deserved - numbers.certain);
  }
  return amounts;
}

/// What it deserves and no queue gives.
std::vector<std::int64_t> QueuePlan::unmet(QueueRow row) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    const std::int64_t lacks = numbers.deserved - numbers.allocated - numbers.preempting;
    amounts[column] = std::min(lacks - numbers.deserved_young(), numbers.claim());
  }
  return amounts;
}

/// What it deserves for pods that are too young for others to leave.
std::vector<std::int64_t> QueuePlan::delayed(QueueRow row) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    amounts[column] = std::min(numbers.claim(), numbers.deserved_young());
  }
  return amounts;
}

/// Why queues that have more than they deserve keep it, resource by resource, each once.
Reasons QueuePlan::keepers_of(std::span<const std::int64_t> amounts) {
  keepers_.resize(table_.resources());
  Reasons keepers;
  std::vector<std::string_view> known;
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    if (amounts[column] <= 0) continue;
    if (keepers_[column].empty()) {
      keepers_[column] = write_text(world_.cluster(), find_keepers(column));
    }
    if (std::ranges::find(known, keepers_[column]) != known.end()) continue;
    known.emplace_back(keepers_[column]);
    keepers.push_back({.code = ReasonCode::as_written, .arguments = {keepers_[column]}});
  }
  return keepers;
}

Reason QueuePlan::find_keepers(std::size_t column) const {
  struct Kind {
    ReasonCode code = ReasonCode::keeper_limited;
    std::string_view first;  ///< Queue.
    std::size_t queues = 0;
  };
  std::array<Kind, 4> kinds{{{.code = ReasonCode::keeper_not_reclaimable},
                             {.code = ReasonCode::keeper_stuck},
                             {.code = ReasonCode::keeper_protected},
                             {.code = ReasonCode::keeper_limited}}};
  for (const QueueRow row : table_.leaves()) {
    const QueueNumbers& numbers = table_.at(row, column);
    const std::int64_t more = std::min(numbers.used, numbers.allocated) - numbers.deserved;
    if (more <= 0) continue;
    const bool stays = candidates_.freeable(row, column) <= numbers.holding() - numbers.allocated;
    Kind& kind = kinds[!table_.entry(row).reclaimable ? 0
                       : more <= numbers.stuck        ? 1
                       : stays                        ? 2
                                                      : 3];
    if (kind.queues++ == 0) kind.first = table_.entry(row).name;
  }
  Reasons keepers;
  for (const Kind& kind : kinds) {
    if (kind.queues == 0) continue;
    Reason keeper{.code = kind.code, .arguments = {kind.first}};
    if (kind.queues > 1) {
      keeper = {.code = ReasonCode::keeper_and_more,
                .arguments = {std::move(keeper), kind.queues - 1}};
    }
    keepers.push_back(std::move(keeper));
  }
  if (keepers.empty()) return {.code = ReasonCode::no_keepers};
  return {.code = ReasonCode::keepers, .arguments = {std::move(keepers)}};
}

/// What it uses beyond what it may, and no pod that holds it may leave.
Reasons QueuePlan::stuck(QueueRow row) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    amounts[column] = numbers.holding() - numbers.allocated - candidates_.freeable(row, column);
  }
  return amounts_of(amounts);
}

Reasons QueuePlan::conceded(QueueRow row) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    amounts[column] = table_.at(row, column).conceded;
  }
  return amounts_of(amounts);
}

/// What moves to it, at once or when pods are gone.
Reasons QueuePlan::received(QueueRow row, bool at_once) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (const QueueMove* const move : claims_[row.value].moves) {
    if (move->at_once == at_once) amounts[move->column] += move->amount;
  }
  for (std::size_t column = 0; at_once && column < amounts.size(); ++column) {
    amounts[column] -= table_.at(row, column).conceded;
  }
  return amounts_of(amounts);
}

Reason QueuePlan::reason_of(QueueRow row) {
  Reasons parts;
  const auto add = [&](ReasonCode code, Reasons amounts, const std::vector<Argument>& more = {}) {
    if (amounts.empty()) return;
    Reason& part = parts.emplace_back(Reason{.code = code, .arguments = {std::move(amounts)}});
    part.arguments.insert(part.arguments.end(), more.begin(), more.end());
  };
  add(ReasonCode::queue_gets_at_once, received(row, true));
  add(ReasonCode::queue_gets_later, received(row, false));
  add(ReasonCode::queue_delayed, amounts_of(delayed(row)),
      {world_.configuration().engine.preemption_delay});
  const std::vector<std::int64_t> open = unmet(row);
  add(ReasonCode::queue_unmet, amounts_of(open), {keepers_of(open)});
  add(ReasonCode::queue_rounding, amounts_of(rounding(row)));
  const bool overuse = std::ranges::any_of(claims_[row.value].losses,
                                           [&](std::size_t at) { return losses_[at].from == row; });
  if (overuse) {
    parts.push_back({.code = is_over(row) ? ReasonCode::queue_overuses_limit
                                          : ReasonCode::queue_overuses_share});
  }
  add(ReasonCode::queue_conceded, conceded(row));
  add(ReasonCode::queue_stuck, stuck(row));
  if (parts.empty()) {
    parts.push_back(
        {.code = claims(row) ? ReasonCode::queue_lacks_fraction : ReasonCode::queue_within_limits});
  }
  return {.code = ReasonCode::queue_parts, .arguments = {std::move(parts)}};
}

void QueuePlan::add_victims(const Loss& loss, PlanAsk& ask) const {
  const Cluster& cluster = world_.cluster();
  const bool own = loss.from == loss.for_queue;
  const Reason other =
      loss.spared == nullptr
          ? Reason{.code = ReasonCode::no_other_in_queue, .arguments = {name(loss.from)}}
          : Reason{.code = ReasonCode::named, .arguments = {loss.spared->unit}};
  const std::string reason = write_text(cluster, loss_reason(loss));
  const std::string alternative = write_text(cluster, other);
  const std::string key = write_text(cluster, loss.key);
  const std::string rule = write_text(
      cluster, {.code = own ? ReasonCode::queue_limit_rule : ReasonCode::queue_share_rule});
  ask.victims.reserve(ask.victims.size() + loss.candidate->size);
  for (const PodIndex pod : candidates_.pods_of(*loss.candidate)) {
    PodPlacement place = placement_of(cluster, pod, cluster.pods().node[pod]);
    ask.victims.push_back(
        {.namespace_name = std::move(place.namespace_name),
         .name = std::move(place.name),
         .uid = std::string(cluster.pods().uid[pod.value]),
         .node = std::move(place.node),
         .plane = std::move(place.plane),
         .unit = unit_text(cluster, loss.candidate->unit),
         .priority = loss.candidate->priority,
         .violates_budget = loss.candidate->violates_budget,
         .budget = loss.candidate->violates_budget ? world_.budgets().violated(pod) : std::string(),
         .reason = reason,
         .cause_for = ask_text(ask),
         .cause_rule = rule,
         .cause_alternative = alternative,
         .cause_key = key});
  }
}

/// Why a pod leaves the queue, and why this one.
Reason QueuePlan::loss_reason(const Loss& loss) const {
  const ReasonCode over =
      is_over(loss.from) ? ReasonCode::queue_loses_over_limit : ReasonCode::queue_loses_over_share;
  Reason why = loss.from == loss.for_queue
                   ? Reason{.code = over, .arguments = {name(loss.from)}}
                   : Reason{.code = ReasonCode::queue_gives_back,
                            .arguments = {name(loss.from), name(loss.for_queue)}};
  if (loss.spared == nullptr) {
    return {.code = ReasonCode::chosen_alone, .arguments = {std::move(why)}};
  }
  return {.code = ReasonCode::chosen_over,
          .arguments = {std::move(why), loss.spared->unit, loss.key}};
}

/// The key by which the candidate that leaves loses against the one that stays. `spare` is what all
/// leaving candidates free beyond the need.
Reason QueuePlan::lost_on(const QueueCandidate& gone, const QueueCandidate& kept,
                          std::span<const std::int64_t> spare) const {
  const int order = candidates_.compare_importance(gone, kept);
  if (order > 0) return {.code = ReasonCode::by_need};
  if (order == 0) return lost_among_equals(gone, kept, spare);
  if (gone.violates_budget != kept.violates_budget) return {.code = ReasonCode::by_budget};
  if (gone.priority != kept.priority) {
    return {.code = ReasonCode::by_priority, .arguments = {gone.priority, kept.priority}};
  }
  if (gone.has_started != kept.has_started) return {.code = ReasonCode::by_phase};
  const auto seconds = [&](const QueueCandidate& candidate) {
    return (world_.rules().now() - candidate.started).ms / 1000;
  };
  return {.code = ReasonCode::by_runtime, .arguments = {seconds(gone), seconds(kept)}};
}

Reason QueuePlan::lost_among_equals(const QueueCandidate& gone, const QueueCandidate& kept,
                                    std::span<const std::int64_t> spare) const {
  std::vector<std::int64_t> frees(table_.resources());
  std::vector<std::int64_t> instead(table_.resources());
  candidates_.add_amounts(gone, frees);
  candidates_.add_amounts(kept, instead);
  if (frees == instead) return {.code = ReasonCode::by_name};
  for (std::size_t column = 0; column < frees.size(); ++column) {
    // Amounts beyond the need of a resource do not count.
    const std::int64_t lacks = frees[column] - instead[column] - spare[column];
    if (lacks > 0) return {.code = ReasonCode::by_freed_amount};
  }
  return {.code = ReasonCode::by_excess};
}

}  // namespace makeway

#include "policies/queue/queue_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "policies/queue/queue_amount.hpp"
#include "policies/shared/cluster_text.hpp"

namespace makeway {
namespace {

constexpr std::string_view overuse_rule = "queue: pods beyond what the queue may use";
constexpr std::string_view claim_rule = "queue: pods beyond what the queue deserves";

}  // namespace

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
    losses_.push_back(
        {.for_queue = cause,
         .from = row,
         .candidate = &all[at],
         .spared = spared,
         .key = spared == nullptr ? "only candidate" : lost_on(all[at], *spared, spare)});
    world_.leave(candidates_.pods_of(all[at]));
  }
}

/// Among those who stay, the next ones in order; the chosen come in order, too.
void QueuePlan::find_neighbours(std::span<const QueueCandidate> all,
                                std::span<const std::uint32_t> chosen, std::uint32_t at,
                                Neighbours& neighbours) {
  std::uint32_t& next = neighbours.next;
  next = std::max(next, at + 1);
  while (next < all.size() && std::ranges::binary_search(chosen, next)) ++next;
  if (at > 0 && !std::ranges::binary_search(chosen, at - 1)) neighbours.below = &all[at - 1];
  neighbours.above = next < all.size() ? &all[next] : nullptr;
}

/// Who stays in its place: an equal, or the next more important one, or somebody who frees too
/// little. Null: nobody else may leave.
const QueueCandidate* QueuePlan::spared_for(const QueueCandidate& gone,
                                            const Neighbours& neighbours) const {
  const auto [above, below, next] = neighbours;
  if (above == nullptr || below == nullptr) return above == nullptr ? below : above;
  const bool equal_below = candidates_.compare_importance(*below, gone) == 0;
  return equal_below && candidates_.compare_importance(gone, *above) != 0 ? below : above;
}

/// For whom the candidate makes room; none: its queue was over what it may use before.
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

/// A default queue that is new takes in whoever was outside: that is told.
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
  ask.reason = reason_of(row);
  draft_.plan.asks.push_back(std::move(ask));
}

Outcome QueuePlan::outcome_of(QueueRow row) const {
  const Claim& claim = claims_[row.value];
  if (!claim.losses.empty()) return Outcome::preempts;
  if (std::ranges::any_of(claim.moves, [](const QueueMove* move) { return !move->at_once; })) {
    return Outcome::waits;
  }
  if (!amounts_text(unmet(row)).empty() || !stuck_text(row).empty()) return Outcome::infeasible;
  return amounts_text(delayed(row)).empty() ? Outcome::fits : Outcome::waits;
}

/// "cpu 1, memory 9Gi"
std::string QueuePlan::amounts_text(std::span<const std::int64_t> amounts) const {
  std::string text;
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    if (amounts[column] <= 0) continue;
    const std::string_view resource = world_.cluster().resources().name(table_.resource(column));
    if (!text.empty()) text += ", ";
    text += resource;
    text += ' ';
    text += queue_amount(resource, amounts[column]);
  }
  return text;
}

/// What it deserves beyond its exact share, and nobody is made to leave for. Of finer units that is
/// nothing to talk about.
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

/// What it deserves and nobody gives.
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

/// Why those who have more than they deserve keep it, resource by resource.
std::string QueuePlan::keepers_text(std::span<const std::int64_t> amounts) {
  keepers_.resize(table_.resources());
  std::vector<std::string> texts;
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    if (amounts[column] <= 0) continue;
    if (keepers_[column].empty()) keepers_[column] = find_keepers(column);
    if (std::ranges::find(texts, keepers_[column]) == texts.end()) {
      texts.push_back(keepers_[column]);
    }
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string QueuePlan::find_keepers(std::size_t column) const {
  struct Kind {
    std::string_view text;
    std::string_view first;  ///< Queue.
    std::size_t queues = 0;
  };
  std::array<Kind, 4> kinds{{{.text = "is not reclaimable"},
                             {.text = "has leaving pods that do not terminate"},
                             {.text = "has pods that may not be evicted"},
                             {.text = "gives only what it holds beyond a limit"}}};
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
  std::vector<std::string> texts;
  for (const Kind& kind : kinds) {
    if (kind.queues == 0) continue;
    const std::string more =
        kind.queues == 1 ? std::string() : fmt::format(" (and {} more)", kind.queues - 1);
    texts.push_back(fmt::format("{} {}{}", kind.first, kind.text, more));
  }
  if (texts.empty()) return "no queue has more than it deserves";
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// What it uses beyond what it may, and nobody who holds it may leave.
std::string QueuePlan::stuck_text(QueueRow row) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    const QueueNumbers& numbers = table_.at(row, column);
    amounts[column] = numbers.holding() - numbers.allocated - candidates_.freeable(row, column);
  }
  return amounts_text(amounts);
}

std::string QueuePlan::conceded_text(QueueRow row) const {
  std::vector<std::int64_t> amounts(table_.resources());
  for (std::size_t column = 0; column < amounts.size(); ++column) {
    amounts[column] = table_.at(row, column).conceded;
  }
  return amounts_text(amounts);
}

std::string QueuePlan::reason_of(QueueRow row) {
  const Claim& claim = claims_[row.value];
  std::vector<std::string> parts;
  const auto part_of = [&](bool at_once, std::string_view text) {
    std::vector<std::int64_t> amounts(table_.resources());
    for (const QueueMove* const move : claim.moves) {
      if (move->at_once == at_once) amounts[move->column] += move->amount;
    }
    for (std::size_t column = 0; at_once && column < amounts.size(); ++column) {
      amounts[column] -= table_.at(row, column).conceded;
    }
    const std::string amounts_moved = amounts_text(amounts);
    if (!amounts_moved.empty()) parts.push_back(fmt::format("{} {}", amounts_moved, text));
  };
  part_of(true, "at once");
  part_of(false, "once pods that hold it are gone");
  if (const std::string later = amounts_text(delayed(row)); !later.empty()) {
    parts.push_back(fmt::format("no pod is evicted for {} before its pods have waited {}", later,
                                to_text(world_.configuration().engine.preemption_delay)));
  }
  const std::vector<std::int64_t> open = unmet(row);
  if (const std::string text = amounts_text(open); !text.empty()) {
    parts.push_back(fmt::format("no queue gives {}: {}", text, keepers_text(open)));
  }
  if (const std::string text = amounts_text(rounding(row)); !text.empty()) {
    parts.push_back(fmt::format(
        "no pod is evicted for {}: it exceeds the exact share and comes from free room only",
        text));
  }
  const bool overuse =
      std::ranges::any_of(claim.losses, [&](std::size_t at) { return losses_[at].from == row; });
  if (overuse) {
    parts.push_back(fmt::format("it uses more than it {}, so some of its own pods leave",
                                is_over(row) ? "may" : "deserves"));
  }
  if (const std::string conceded = conceded_text(row); !conceded.empty()) {
    parts.push_back(
        fmt::format("it keeps {} more than it deserves, held by pods that stay", conceded));
  }
  if (const std::string stuck = stuck_text(row); !stuck.empty()) {
    parts.push_back(fmt::format("it uses {} more than it may, held by pods that stay", stuck));
  }
  if (parts.empty()) {
    parts.emplace_back(claims(row) ? "it lacks less than one unit" : "it uses no more than it may");
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

void QueuePlan::add_victims(const Loss& loss, PlanAsk& ask) const {
  const Cluster& cluster = world_.cluster();
  const bool own = loss.from == loss.for_queue;
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
         .reason = loss_reason(loss),
         .cause_for = ask_text(ask),
         .cause_rule = std::string(own ? overuse_rule : claim_rule),
         .cause_alternative =
             loss.spared == nullptr
                 ? fmt::format("none: no other pod in queue {} may leave", name(loss.from))
                 : unit_text(cluster, loss.spared->unit),
         .cause_key = loss.key});
  }
}

/// Why somebody leaves the queue, and why this one.
std::string QueuePlan::loss_reason(const Loss& loss) const {
  const bool own = loss.from == loss.for_queue;
  const std::string why =
      own ? fmt::format("queue {} uses more than it {}", name(loss.from),
                        is_over(loss.from) ? "may" : "deserves")
          : fmt::format("queue {} gives back to {}", name(loss.from), name(loss.for_queue));
  if (loss.spared == nullptr) return why + "; no other pod there may leave";
  return fmt::format("{}; chosen over {} ({})", why, unit_text(world_.cluster(), loss.spared->unit),
                     loss.key);
}

/// On which key the one who leaves loses against the one who stays. `spare` is what all who leave
/// free beyond the need.
std::string QueuePlan::lost_on(const QueueCandidate& gone, const QueueCandidate& kept,
                               std::span<const std::int64_t> spare) const {
  const int order = candidates_.compare_importance(gone, kept);
  if (order > 0) return "need: less important pods free too little";
  if (order == 0) return lost_among_equals(gone, kept, spare);
  if (gone.violates_budget != kept.violates_budget) return "budget-violations: 0 against 1";
  if (gone.priority != kept.priority) {
    return fmt::format("priority: {} against {}", gone.priority, kept.priority);
  }
  if (gone.has_started != kept.has_started) return "phase: not started against started";
  const auto seconds = [&](const QueueCandidate& candidate) {
    return (world_.rules().now() - candidate.started).ms / 1000;
  };
  return fmt::format("runtime: {} s against {} s", seconds(gone), seconds(kept));
}

std::string QueuePlan::lost_among_equals(const QueueCandidate& gone, const QueueCandidate& kept,
                                         std::span<const std::int64_t> spare) const {
  std::vector<std::int64_t> frees(table_.resources());
  std::vector<std::int64_t> instead(table_.resources());
  candidates_.add_amounts(gone, frees);
  candidates_.add_amounts(kept, instead);
  if (frees == instead) return "name";
  for (std::size_t column = 0; column < frees.size(); ++column) {
    // Beyond the need of a resource, or without one, anything will do.
    const std::int64_t lacks = frees[column] - instead[column] - spare[column];
    if (lacks > 0) return "need: the other frees too little";
  }
  return "frees less beyond the need, then name";
}

}  // namespace makeway

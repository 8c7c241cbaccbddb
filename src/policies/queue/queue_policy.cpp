// The queue stage of a cycle (SPEC section 3, decision 0008): divides the cluster, moves room
// between queues, and makes pods leave queues that use more than they may. The plan has its queues
// and their claims, and from then on the World holds asks to what their queue may use. Left out
// (law 14), the stage moves nothing, and asks are held to what was allocated before.
#include <algorithm>
#include <utility>

#include "policies/policy.hpp"
#include "policies/queue/queue_candidates.hpp"
#include "policies/queue/queue_plan.hpp"
#include "policies/queue/queue_room.hpp"
#include "policies/queue/queue_stage.hpp"
#include "policies/shared/pod_entries.hpp"

namespace makeway {
namespace {

/// Leaves that may have to give, or use more than they may.
std::vector<std::uint8_t> possible_losers(const QueueTable& table) {
  std::vector<std::uint8_t> marked(table.rows());
  for (const QueueRow row : table.leaves()) {
    for (std::size_t column = 0; column < table.resources(); ++column) {
      const QueueNumbers& numbers = table.at(row, column);
      if (numbers.holding() > std::min(numbers.allocated, numbers.deserved)) marked[row.value] = 1;
    }
  }
  return marked;
}

/// What the queue must lose, as far as pods that may leave hold it. Empty: nothing.
std::vector<std::int64_t> need_of(const QueueTable& table, const QueueCandidates& candidates,
                                  QueueRow row) {
  std::vector<std::int64_t> need(table.resources());
  bool any = false;
  for (std::size_t column = 0; column < table.resources(); ++column) {
    const QueueNumbers& numbers = table.at(row, column);
    const std::int64_t over = numbers.holding() - numbers.allocated;
    need[column] = std::max<std::int64_t>(0, std::min(over, candidates.freeable(row, column)));
    any = any || need[column] > 0;
  }
  return any ? need : std::vector<std::int64_t>{};
}

struct RowLosers {
  QueueRow row;
  QueueLosers losers;
};

/// The losers of each queue. False: a pod was counted that a budget keeps, because pods of other
/// queues that leave spend it; what its queue can free is less, and known now.
bool choose_all_losers(World& world, const QueueTable& table, QueueCandidates& candidates,
                       std::vector<RowLosers>& losers) {
  const Budgets::Supposition supposed(world.budgets());
  bool as_counted = true;
  losers.clear();
  for (const QueueRow row : table.leaves()) {
    std::vector<std::int64_t> need = need_of(table, candidates, row);
    if (!need.empty() && world.budgets().any()) {
      candidates.charge_budgets(row);
      const std::vector<std::int64_t> counted =
          std::exchange(need, need_of(table, candidates, row));
      for (std::size_t column = 0; column < counted.size(); ++column) {
        if ((need.empty() ? 0 : need[column]) >= counted[column]) continue;
        candidates.limit_freeable(row, column);
        as_counted = false;
      }
    }
    if (need.empty()) continue;
    losers.push_back({.row = row, .losers = choose_losers(world, table, candidates, row, need)});
    for (const std::uint32_t at : losers.back().losers.chosen) {
      world.budgets().commit(candidates.pods_of(candidates.of(row)[at]));
    }
  }
  return as_counted;
}

class QueuePolicy : public Policy {
 public:
  explicit QueuePolicy(const PolicyContext& context) : context_(context) {}

  /// The stage is one turn for all queues.
  std::optional<Problem> collect_turns(std::vector<AskTurn>& turns) override {
    turns.push_back({.policy = this});
    return std::nullopt;
  }
  void decide(const AskTurn& turn) override;
  void finish(PlanAsk& ask, Losses& losses) override {
    losses.add(ask, no_time);
    add_evictions(context_.draft.world.cluster(), ask, context_.draft.plan);
  }

 private:
  PolicyContext context_;
};

void QueuePolicy::decide(const AskTurn& /*turn*/) {
  World& world = context_.draft.world;
  QueueTable table(world.survey(), world.holds(), world.configuration(), world.rules());
  if (leaves_out_queues(context_.request.left_out)) {
    table.open_to_outside();
    return world.limit_asks(std::make_unique<QueueRoom>(world, std::move(table)));
  }
  context_.deciding.start_queues();
  QueueCandidates candidates(world, table, possible_losers(table), QueueCandidates::every_priority);
  const std::vector<QueueNumbers> before = table.numbers();
  std::vector<QueueMove> moves = move_room(table, candidates, world.configuration().queue);
  std::vector<RowLosers> losers;
  // Each time some queue can free less, so it ends; it seldom takes more than two rounds.
  while (!choose_all_losers(world, table, candidates, losers)) {
    table.restore(before);
    for (const QueueRow row : table.leaves()) candidates.charge_budgets(row);
    moves = move_room(table, candidates, world.configuration().queue);
  }
  QueuePlan plan(context_.draft, table, candidates, moves);
  for (const RowLosers& each : losers) plan.lose(each.row, each.losers);
  plan.write();
  table.open_to_outside();
  world.limit_asks(std::make_unique<QueueRoom>(world, std::move(table)));
}

}  // namespace

std::unique_ptr<Policy> make_queue_policy(const PolicyContext& context) {
  const World& world = context.draft.world;
  if (!world.configuration().queue.enabled || world.cluster().own<Queue>().empty()) return nullptr;
  return std::make_unique<QueuePolicy>(context);
}

}  // namespace makeway

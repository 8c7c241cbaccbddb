// QueuePlan: what the queue stage says in the plan: the queues, what moves, what leaves and why.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/reason.hpp"
#include "policies/queue/queue_candidates.hpp"
#include "policies/queue/queue_stage.hpp"
#include "policies/shared/draft.hpp"

namespace makeway {

class QueuePlan {
 public:
  QueuePlan(Draft& draft, const QueueTable& table, const QueueCandidates& candidates,
            std::span<const QueueMove> moves);

  /// These leave the queue; they leave the cycle's worlds at once.
  void lose(QueueRow row, const QueueLosers& losers);
  /// Adds everything to the cycle's plan.
  void write();

 private:
  struct Loss {
    QueueRow for_queue;
    QueueRow from;
    const QueueCandidate* candidate = nullptr;
    const QueueCandidate* spared = nullptr;  ///< It stays in its place.
    Reason key;                              ///< On which it lost against that one.
  };
  struct Claim {
    std::vector<const QueueMove*> moves;  ///< To the queue.
    std::vector<std::size_t> losses;
    std::string_view bound;  ///< That the choice of its victims reached; empty: none.
  };

  /// What pods of a queue are to free for another one.
  struct Taken {
    const QueueMove* move = nullptr;
    std::int64_t open = 0;  ///< For which no pod leaves yet.
  };
  struct Neighbours {
    const QueueCandidate* above = nullptr;
    const QueueCandidate* below = nullptr;
    std::uint32_t next = 0;  ///< Where to look for the one above.
  };

  static void find_neighbours(std::span<const QueueCandidate> all,
                              std::span<const std::uint32_t> chosen, std::uint32_t at,
                              Neighbours& neighbours);
  const QueueCandidate* spared_for(const QueueCandidate& gone, const Neighbours& neighbours) const;
  QueueRow receiver_of(const QueueCandidate& candidate, std::vector<std::int64_t>& over);
  void write_queues();
  void count_adopted(QueueRow row, PlanQueue& queue) const;
  void write_statuses();
  void write_ask(QueueRow row);
  Reason find_keepers(std::size_t column) const;
  bool claims(QueueRow row) const;
  bool is_over(QueueRow row) const;
  Outcome outcome_of(QueueRow row) const;
  Reason reason_of(QueueRow row);
  Reasons received(QueueRow row, bool at_once) const;
  Reasons amounts_of(std::span<const std::int64_t> amounts) const;
  std::vector<std::int64_t> unmet(QueueRow row) const;
  std::vector<std::int64_t> delayed(QueueRow row) const;
  std::vector<std::int64_t> rounding(QueueRow row) const;
  Reasons keepers_of(std::span<const std::int64_t> amounts);
  Reasons stuck(QueueRow row) const;
  Reasons conceded(QueueRow row) const;
  void add_victims(const Loss& loss, PlanAsk& ask) const;
  Reason loss_reason(const Loss& loss) const;
  Reason lost_on(const QueueCandidate& gone, const QueueCandidate& kept,
                 std::span<const std::int64_t> spare) const;
  Reason lost_among_equals(const QueueCandidate& gone, const QueueCandidate& kept,
                           std::span<const std::int64_t> spare) const;
  std::string resource(std::size_t column) const;
  std::string name(QueueRow row) const;

  Draft& draft_;
  World& world_;
  const QueueTable& table_;
  const QueueCandidates& candidates_;
  std::span<const QueueMove> moves_;
  std::vector<Claim> claims_;                   ///< By row.
  std::vector<std::vector<Taken>> taken_from_;  ///< By row; first what is still to come.
  std::vector<Loss> losses_;
  std::vector<std::string> keepers_;  ///< By column, once it was asked for.
};

}  // namespace makeway

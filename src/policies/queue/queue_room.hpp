// QueueRoom: holds the asks of a cycle to what their queues may use.
//
// Counts what runs in each queue now and soon (engine/room.hpp), as pods come and go there. An ask
// fits at once while used + request <= allocated, and once others have left while that holds with
// what its queue is promised. While it is an ask's turn, victims come from its queue only. Asks
// outside every queue use room that no queue is promised, and take victims among pods outside. No
// queue limits infrastructure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/ask_limits.hpp"
#include "engine/room.hpp"
#include "policies/queue/queue_candidates.hpp"
#include "policies/queue/queue_table.hpp"

namespace makeway {

class QueueRoom : public AskLimits {
 public:
  /// After the queue stage: its victims have left `after`.
  QueueRoom(World& world, QueueTable table);
  ~QueueRoom() override;
  QueueRoom(const QueueRoom&) = delete;
  QueueRoom& operator=(const QueueRoom&) = delete;

  const QueueTable& table() const { return table_; }

  /// The unit asks now; none: an ask that queues do not limit.
  void turn_to(UnitIndex ask, PodIndex member) override;
  bool contains(PodIndex pod) const override;

  /// Whether pods of the ask may all start in its queue.
  bool has_room_now(std::span<const PodIndex> coming) const override;
  /// The same in `after`, as that is at the moment.
  bool has_room_later(std::span<const PodIndex> coming) const override;
  /// Which other pods of the queue, of lower priority, must leave so that these may come; none
  /// when that cannot be: then `has_room_later` stays false.
  std::vector<PodIndex> find_victims(std::span<const PodIndex> coming,
                                     std::int32_t priority) const override;

  /// Pods of the queue that are leaving and hold what these are short of now.
  std::vector<PodIndex> awaited(std::span<const PodIndex> coming) const override;

  /// "queue team-a is full: it may use cpu 4, holds 4, and 2 more is asked for"
  Reason full_reason(std::span<const PodIndex> coming) const override;
  Reason own_pods() const override;
  /// "queue team-a"
  Reason title() const override;

 private:
  /// What runs in each queue at one horizon.
  class Ledger : public ScratchWatcher {
   public:
    Ledger(const World& world, const QueueTable& table, Horizon horizon);
    void moved(PodIndex pod, NodeIndex node, int delta) override;
    std::int64_t used(QueueRow row, std::size_t column) const {
      return used_[row.value * table_.resources() + column];
    }

   private:
    void add(PodIndex pod, NodeIndex node, int delta);

    const Cluster& cluster_;
    const Departures& departures_;
    const QueueTable& table_;
    Horizon horizon_;
    std::vector<std::int64_t> used_;
  };

  std::span<const PodIndex> asking() const;
  std::vector<std::int64_t> requests(std::span<const PodIndex> coming) const;
  /// By column, what is missing in `after`; at most 0 where there is enough.
  std::vector<std::int64_t> shortage(std::span<const PodIndex> coming) const;
  bool is_blocked_by(PodIndex pod) const;
  std::int64_t held_for_others(std::size_t column) const;
  std::int64_t amount(PodIndex pod, std::size_t column) const;
  std::vector<PodIndex> enough_of(std::span<const PodIndex> pods,
                                  std::vector<std::int64_t> missing) const;

  World& world_;
  QueueTable table_;
  Ledger now_;
  Ledger after_;
  /// Pending with a nomination from before; until they are decided, they hold their queue's room.
  std::vector<PodIndex> nominated_;
  QueueRow row_;
  UnitIndex ask_;
  PodIndex member_;  ///< Of that unit, if it asks for itself.
};

}  // namespace makeway

#include "policies/queue/queue_stage.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "base/wide.hpp"

namespace makeway {
namespace {

/// One resource.
class RoomMover {
 public:
  RoomMover(QueueTable& table, const QueueCandidates& candidates, const QueueSettings& settings,
            std::size_t column, std::vector<QueueMove>& moves)
      : table_(table),
        candidates_(candidates),
        settings_(settings),
        column_(column),
        moves_(moves) {}

  void run();

 private:
  QueueNumbers& of(QueueRow row) { return table_.at(row, column_); }
  const QueueNumbers& of(QueueRow row) const { return table_.at(row, column_); }

  void give_back_unused();
  void count_room();
  void list_receivers();
  void list_givers();
  bool larger_claim(QueueRow a, QueueRow b) const;
  bool gives_first(QueueRow a, QueueRow b) const;
  bool tolerated(QueueRow row, std::int64_t difference) const;
  std::int64_t giveable(QueueRow row) const;

  void serve(std::span<const QueueRow> band);
  void keep_used(QueueRow receiver);
  std::int64_t take_now(QueueRow receiver, std::int64_t most);
  std::int64_t take_coming(QueueRow receiver, std::int64_t most);
  void take_from_givers(QueueRow receiver, std::int64_t wanted);
  struct Part {
    QueueRow row;
    std::int64_t amount = 0;
  };
  void take(Part& giver, QueueRow receiver, std::int64_t amount);

  QueueTable& table_;
  const QueueCandidates& candidates_;
  const QueueSettings& settings_;
  std::size_t column_;
  std::vector<QueueMove>& moves_;

  std::vector<Part> given_back_;  ///< Not taken by anybody yet; by name.
  std::int64_t now_ = 0;          ///< Room that nobody holds.
  std::int64_t coming_ = 0;       ///< Room that comes; negative: promised more than there is.
  std::vector<QueueRow> receivers_;
  std::vector<Part> givers_;  ///< With what they can still give.
  std::size_t giver_ = 0;     ///< Those before it have nothing more to give.
};

/// (D - A) / D, exactly; nobody who deserves nothing receives.
int compare_ratio(std::int64_t a, std::int64_t a_whole, std::int64_t b, std::int64_t b_whole) {
  const Wide left = Wide{a} * b_whole;
  const Wide right = Wide{b} * a_whole;
  return left < right ? -1 : left > right ? 1 : 0;
}

void RoomMover::run() {
  give_back_unused();
  count_room();
  list_receivers();
  if (!receivers_.empty()) {
    list_givers();
    const bool by_priority = std::ranges::find(settings_.receiver_keys, ReceiverKey::priority) !=
                             settings_.receiver_keys.end();
    for (auto begin = receivers_.begin(); begin != receivers_.end();) {
      const auto end = std::find_if(begin, receivers_.end(), [&](QueueRow row) {
        return by_priority && table_.entry(row).priority != table_.entry(*begin).priority;
      });
      serve({begin, end});
      begin = end;
    }
  }
  for (const Part& part : given_back_) {
    if (part.amount > 0) {
      moves_.push_back({.column = column_, .from = part.row, .to = {}, .amount = part.amount});
    }
  }
}

void RoomMover::give_back_unused() {
  for (const QueueRow row : table_.leaves()) {
    QueueNumbers& numbers = of(row);
    const std::int64_t kept = std::max(numbers.used, numbers.deserved);
    if (numbers.allocated <= kept) continue;
    given_back_.push_back({.row = row, .amount = numbers.allocated - kept});
    numbers.allocated = kept;
  }
}

void RoomMover::count_room() {
  Wide held = 0;
  Wide allocated = 0;
  for (const QueueRow row : table_.leaves()) {
    const QueueNumbers& numbers = of(row);
    held += std::max(numbers.allocated, numbers.used);
    allocated += numbers.allocated;
  }
  const Wide now = std::max<Wide>(0, table_.total(column_) - held);
  now_ = static_cast<std::int64_t>(now);
  coming_ = static_cast<std::int64_t>(table_.total(column_) - allocated - now);
}

void RoomMover::list_receivers() {
  for (const QueueRow row : table_.leaves()) {
    if (of(row).deserved > of(row).allocated) receivers_.push_back(row);
  }
  std::ranges::stable_sort(receivers_,
                           [this](QueueRow a, QueueRow b) { return larger_claim(a, b); });
}

bool RoomMover::larger_claim(QueueRow a, QueueRow b) const {
  for (const ReceiverKey key : settings_.receiver_keys) {
    if (key == ReceiverKey::priority) {
      const std::int32_t first = table_.entry(a).priority;
      const std::int32_t second = table_.entry(b).priority;
      if (first != second) return first > second;
      continue;
    }
    const int ratio = compare_ratio(of(a).deserved - of(a).allocated, of(a).deserved,
                                    of(b).deserved - of(b).allocated, of(b).deserved);
    if (ratio != 0) return ratio > 0;
  }
  return false;
}

/// What rounding may have made.
bool RoomMover::tolerated(QueueRow row, std::int64_t difference) const {
  return difference <= settings_.rounding_tolerance &&
         (of(row).rounded || !table_.in_devices(column_));
}

/// The used part that its queue does not deserve, as far as pods that may leave hold it.
std::int64_t RoomMover::giveable(QueueRow row) const {
  const QueueNumbers& numbers = of(row);
  const std::int64_t part = std::min(numbers.used, numbers.allocated) - numbers.deserved;
  if (part <= 0 || !table_.entry(row).reclaimable || tolerated(row, part)) return 0;
  const std::int64_t freeable =
      saturated_sub(candidates_.freeable(row, column_), numbers.staying() - numbers.allocated);
  return std::max<std::int64_t>(0, std::min(part, freeable));
}

void RoomMover::list_givers() {
  for (const QueueRow row : table_.leaves()) {
    const std::int64_t amount = giveable(row);
    if (amount > 0) givers_.push_back({.row = row, .amount = amount});
  }
  std::ranges::stable_sort(
      givers_, [this](const Part& a, const Part& b) { return gives_first(a.row, b.row); });
}

/// By (U - D) / D.
bool RoomMover::gives_first(QueueRow a, QueueRow b) const {
  const QueueNumbers& first = of(a);
  const QueueNumbers& second = of(b);
  if (first.deserved == 0 || second.deserved == 0) {
    if (first.deserved != second.deserved) return first.deserved == 0;
    return first.used > second.used;
  }
  return compare_ratio(first.used - first.deserved, first.deserved, second.used - second.deserved,
                       second.deserved) > 0;
}

/// Receivers of one priority: first what they were promised, then each to the full.
void RoomMover::serve(std::span<const QueueRow> band) {
  for (const QueueRow row : band) keep_used(row);
  for (const QueueRow row : band) {
    std::int64_t promised = std::min(of(row).promised_before, of(row).deserved - of(row).allocated);
    if (promised <= 0) continue;
    promised -= take_now(row, promised);
    take_coming(row, promised);
  }
  for (const QueueRow row : band) {
    std::int64_t wanted = of(row).deserved - of(row).allocated - of(row).preempting;
    wanted -= take_now(row, wanted);
    wanted -= take_coming(row, wanted);
    if (wanted > 0 && !tolerated(row, wanted)) take_from_givers(row, wanted);
  }
}

/// What its own pods hold above its allocation, and go on holding, is its own first.
void RoomMover::keep_used(QueueRow receiver) {
  QueueNumbers& numbers = of(receiver);
  const std::int64_t above = numbers.staying() - numbers.allocated;
  const std::int64_t amount = std::min({above, coming_, numbers.deserved - numbers.allocated});
  if (amount <= 0) return;
  coming_ -= amount;
  numbers.allocated += amount;
  moves_.push_back({.column = column_, .from = {}, .to = receiver, .amount = amount});
}

std::int64_t RoomMover::take_now(QueueRow receiver, std::int64_t most) {
  const std::int64_t amount = std::max<std::int64_t>(0, std::min(most, now_));
  if (amount == 0) return 0;
  now_ -= amount;
  of(receiver).allocated += amount;
  std::int64_t left = amount;
  for (Part& part : given_back_) {
    const std::int64_t piece = std::min(left, part.amount);
    if (piece == 0) continue;
    moves_.push_back({.column = column_, .from = part.row, .to = receiver, .amount = piece});
    part.amount -= piece;
    left -= piece;
  }
  if (left > 0) {
    moves_.push_back({.column = column_, .from = {}, .to = receiver, .amount = left});
  }
  return amount;
}

std::int64_t RoomMover::take_coming(QueueRow receiver, std::int64_t most) {
  const std::int64_t amount = std::max<std::int64_t>(0, std::min(most, coming_));
  if (amount == 0) return 0;
  coming_ -= amount;
  of(receiver).preempting += amount;
  moves_.push_back(
      {.column = column_, .from = {}, .to = receiver, .amount = amount, .at_once = false});
  return amount;
}

void RoomMover::take_from_givers(QueueRow receiver, std::int64_t wanted) {
  for (; wanted > 0 && giver_ < givers_.size(); ++giver_) {
    Part& giver = givers_[giver_];
    const std::int64_t missing = std::max<std::int64_t>(0, std::min(giver.amount, -coming_));
    take(giver, {}, missing);
    coming_ += missing;
    const std::int64_t amount = std::min(giver.amount, wanted);
    take(giver, receiver, amount);
    of(receiver).preempting += amount;
    wanted -= amount;
    if (giver.amount > 0) return;
  }
}

void RoomMover::take(Part& giver, QueueRow receiver, std::int64_t amount) {
  if (amount == 0) return;
  giver.amount -= amount;
  of(giver.row).allocated -= amount;
  moves_.push_back(
      {.column = column_, .from = giver.row, .to = receiver, .amount = amount, .at_once = false});
}

}  // namespace

std::vector<QueueMove> move_room(QueueTable& table, const QueueCandidates& candidates,
                                 const QueueSettings& settings) {
  std::vector<QueueMove> moves;
  for (std::size_t column = 0; column < table.resources(); ++column) {
    RoomMover(table, candidates, settings, column, moves).run();
  }
  return moves;
}

}  // namespace makeway

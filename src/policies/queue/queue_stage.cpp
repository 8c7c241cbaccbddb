#include "policies/queue/queue_stage.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/checked_math.hpp"
#include "base/wide.hpp"
#include "policies/queue/queue_table.hpp"

namespace makeway {

// QueueCaps: how much more the leaves below each limit may get, for one resource.
//
// The cluster's total is a limit above all queues, and a queue with children may have one of its
// own. What is allocated below a limit never grows beyond it; it may be beyond already, after a
// limit was lowered or nodes went away. A move between two leaves below a limit leaves it as it is.

class QueueCaps {
 public:
  using Cap = std::uint32_t;
  static constexpr Cap whole_cluster = 0;
  static constexpr Cap none = ~Cap{0};

  QueueCaps(const QueueTable& table, std::size_t column);

  /// Copies the current numbers of the table.
  void count_allocated();
  void count_held();

  /// The innermost limit above the leaf; from there outwards with `above`.
  Cap cap_of(QueueRow leaf) const { return cap_of_[leaf.value]; }
  Cap above(Cap cap) const { return entries_[cap].above; }
  bool contains(Cap cap, QueueRow leaf) const;
  /// Inner limits before outer ones.
  std::vector<Cap> inner_first() const;

  /// Negative: so much is allocated beyond the limit.
  Wide slack(Cap cap) const { return entries_[cap].slack; }
  /// What the leaf may get of room that is there or comes.
  std::int64_t room(QueueRow leaf) const;
  /// The same of room that is there.
  std::int64_t room_now(QueueRow leaf) const;
  /// The same of what another leaf gives.
  std::int64_t room_from(QueueRow leaf, QueueRow giver) const;

  /// The leaf gets more, or less where the amount is negative.
  void add(QueueRow leaf, std::int64_t amount);
  void add_now(QueueRow leaf, std::int64_t amount);

 private:
  struct Entry {
    Cap above = none;
    std::uint32_t depth = 0;
    std::int64_t limit = 0;
    Wide slack = 0;  ///< Below the limit, beside what is allocated or taken.
    Wide now = 0;    ///< The same beside what is allocated or used.
  };
  void find_cap(QueueRow row);

  const QueueTable& table_;
  std::size_t column_;
  std::vector<Entry> entries_;
  std::vector<Cap> cap_of_;  ///< By row: the innermost limit, its own included if it has children.
};

namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

std::int64_t at_least_zero(Wide amount) {
  return static_cast<std::int64_t>(std::clamp<Wide>(amount, 0, unlimited));
}

}  // namespace

QueueCaps::QueueCaps(const QueueTable& table, std::size_t column)
    : table_(table), column_(column), cap_of_(table.size(), none) {
  entries_.push_back({.limit = table.total(column)});
  for (const QueueRow leaf : table.leaves()) find_cap(leaf);
}

/// Up to the first queue whose limit is known, then down again.
void QueueCaps::find_cap(QueueRow row) {
  std::vector<QueueRow> path;
  for (; row.exists() && cap_of_[row.value] == none; row = table_.entry(row).parent) {
    path.push_back(row);
  }
  Cap cap = row.exists() ? cap_of_[row.value] : whole_cluster;
  for (; !path.empty(); path.pop_back()) {
    const std::int64_t limit = table_.limit(path.back(), column_);
    if (!table_.entry(path.back()).leaf() && limit != unlimited) {
      entries_.push_back({.above = cap, .depth = entries_[cap].depth + 1, .limit = limit});
      cap = static_cast<Cap>(entries_.size() - 1);
    }
    cap_of_[path.back().value] = cap;
  }
}

void QueueCaps::count_allocated() {
  for (Entry& entry : entries_) entry.slack = entry.limit;
  for (const QueueRow leaf : table_.leaves()) add(leaf, table_.at(leaf, column_).allocated);
}

void QueueCaps::count_held() {
  for (Entry& entry : entries_) entry.now = entry.limit;
  for (const QueueRow leaf : table_.leaves()) {
    const QueueNumbers& numbers = table_.at(leaf, column_);
    add_now(leaf, std::max(numbers.allocated, numbers.used));
  }
}

bool QueueCaps::contains(Cap cap, QueueRow leaf) const {
  Cap at = cap_of(leaf);
  while (at != none && entries_[at].depth > entries_[cap].depth) at = above(at);
  return at == cap;
}

std::vector<QueueCaps::Cap> QueueCaps::inner_first() const {
  std::vector<Cap> caps;
  caps.reserve(entries_.size());
  for (Cap cap = 0; cap < entries_.size(); ++cap) caps.push_back(cap);
  std::ranges::stable_sort(caps, std::ranges::greater{},
                           [this](Cap cap) { return entries_[cap].depth; });
  return caps;
}

std::int64_t QueueCaps::room(QueueRow leaf) const {
  Wide least = unlimited;
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) {
    least = std::min(least, entries_[cap].slack);
  }
  return at_least_zero(least);
}

std::int64_t QueueCaps::room_now(QueueRow leaf) const {
  Wide least = unlimited;
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) {
    least = std::min(least, entries_[cap].now);
  }
  return at_least_zero(least);
}

std::int64_t QueueCaps::room_from(QueueRow leaf, QueueRow giver) const {
  Wide least = unlimited;
  for (Cap cap = cap_of(leaf); !contains(cap, giver); cap = above(cap)) {
    least = std::min(least, entries_[cap].slack);
  }
  return at_least_zero(least);
}

void QueueCaps::add(QueueRow leaf, std::int64_t amount) {
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) entries_[cap].slack -= amount;
}

void QueueCaps::add_now(QueueRow leaf, std::int64_t amount) {
  for (Cap cap = cap_of(leaf); cap != none; cap = above(cap)) entries_[cap].now -= amount;
}

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
        moves_(moves),
        caps_(table, column) {}

  void run();

 private:
  QueueNumbers& of(QueueRow row) { return table_.at(row, column_); }
  const QueueNumbers& of(QueueRow row) const { return table_.at(row, column_); }

  void give_back_unused();
  void allocate_what_stays();
  void cut_promises();
  void cut_promises(QueueCaps::Cap cap);
  void count_room();
  void list_receivers();
  void list_givers();
  bool larger_claim(QueueRow a, QueueRow b) const;
  bool gives_first(QueueRow a, QueueRow b) const;
  std::int64_t giveable(QueueRow row) const;

  struct Part {
    QueueRow row;
    std::int64_t amount = 0;
  };
  /// What a receiver gets.
  struct Taken {
    std::int64_t sum = 0;
    std::int64_t room = 0;    ///< Free, or becoming free.
    std::vector<Part> given;  ///< By which queues.
  };
  std::int64_t wanted(QueueRow row) const {
    return of(row).deserved - of(row).allocated - taken_[row.value].sum;
  }
  void serve();
  void take_room(QueueRow receiver, std::int64_t most);
  void take_from_givers(QueueRow receiver, std::int64_t claim);
  struct Take {
    std::size_t giver = 0;
    std::int64_t amount = 0;
    bool lost = false;  ///< It makes up for what is beyond a limit.
  };
  bool make_up(QueueRow receiver, std::vector<Take>& takes);
  void take(std::vector<Take>& takes, const Take& item);
  void give_up(const std::vector<Take>& takes);
  void keep(QueueRow receiver, const std::vector<Take>& takes);
  void lower_excess();
  void settle();
  void give_now(QueueRow receiver, std::int64_t amount);
  void give(QueueRow receiver, QueueRow from, std::int64_t amount, bool at_once);

  QueueTable& table_;
  const QueueCandidates& candidates_;
  const QueueSettings& settings_;
  std::size_t column_;
  std::vector<QueueMove>& moves_;

  QueueCaps caps_;
  std::vector<Part> given_back_;  ///< Not taken by a queue yet; by name.
  std::size_t returned_ = 0;      ///< Those before it are taken.
  std::vector<QueueRow> receivers_;
  std::vector<Part> givers_;   ///< With what they can still give.
  std::size_t giver_ = 0;      ///< Those before it have nothing more to give.
  std::int64_t giveable_ = 0;  ///< What all of them can still give.
  std::vector<Taken> taken_;   ///< By row.
};

/// (D - A) / D, exactly; a queue that deserves nothing does not receive.
int compare_ratio(std::int64_t a, std::int64_t a_whole, std::int64_t b, std::int64_t b_whole) {
  const Wide left = Wide{a} * b_whole;
  const Wide right = Wide{b} * a_whole;
  return left < right ? -1 : left > right ? 1 : 0;
}

void RoomMover::run() {
  give_back_unused();
  allocate_what_stays();
  cut_promises();
  count_room();
  list_receivers();
  list_givers();
  serve();
  if (settings_.excess_leaves == ExcessLeaves::always) lower_excess();
  settle();
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

/// What no eviction can free is allocated in fact; promised to others, it would never come.
void RoomMover::allocate_what_stays() {
  for (const QueueRow row : table_.leaves()) {
    QueueNumbers& numbers = of(row);
    const std::int64_t fixed = saturated_sub(numbers.staying(), candidates_.freeable(row, column_));
    const std::int64_t own = std::max(numbers.allocated, fixed);
    // Beside what is stuck its other pods keep what they have.
    const std::int64_t stays =
        std::max(own, saturated_add(std::min(numbers.staying(), own), numbers.stuck));
    if (stays <= numbers.allocated) continue;
    numbers.conceded = stays - numbers.allocated;
    numbers.allocated = stays;
    moves_.push_back({.column = column_, .from = {}, .to = row, .amount = numbers.conceded});
  }
}

/// More is allocated than there is or than a limit allows: unused room is cut first.
void RoomMover::cut_promises() {
  caps_.count_allocated();
  for (const QueueCaps::Cap cap : caps_.inner_first()) {
    if (caps_.slack(cap) < 0) cut_promises(cap);
  }
}

void RoomMover::cut_promises(QueueCaps::Cap cap) {
  std::vector<Part> unused;
  for (const QueueRow row : table_.leaves()) {
    const std::int64_t amount = of(row).allocated - of(row).used;
    if (amount > 0 && caps_.contains(cap, row)) unused.push_back({.row = row, .amount = amount});
  }
  std::ranges::stable_sort(unused, std::ranges::greater{}, &Part::amount);
  for (const Part& part : unused) {
    const auto cut = static_cast<std::int64_t>(std::min<Wide>(-caps_.slack(cap), part.amount));
    if (cut <= 0) break;
    caps_.add(part.row, -cut);
    of(part.row).allocated -= cut;
    moves_.push_back({.column = column_, .from = part.row, .to = {}, .amount = cut});
  }
}

void RoomMover::count_room() {
  for (const QueueRow row : table_.leaves()) of(row).kept = of(row).allocated;
  caps_.count_held();
  taken_.resize(table_.size());
}

void RoomMover::list_receivers() {
  for (const QueueRow row : table_.leaves()) {
    if (of(row).deserved > of(row).allocated) receivers_.push_back(row);
  }
  std::ranges::stable_sort(receivers_,
                           [this](QueueRow a, QueueRow b) { return larger_claim(a, b); });
}

bool RoomMover::larger_claim(QueueRow a, QueueRow b) const {
  const std::int32_t first = table_.entry(a).priority;
  const std::int32_t second = table_.entry(b).priority;
  if (first != second) return first > second;
  return compare_ratio(of(a).deserved - of(a).allocated, of(a).deserved,
                       of(b).deserved - of(b).allocated, of(b).deserved) > 0;
}

/// The used part that its queue does not deserve, as far as pods that may leave hold it. What is
/// stuck cannot be given, and no other pod of its queue gives in its place.
std::int64_t RoomMover::giveable(QueueRow row) const {
  const QueueNumbers& numbers = of(row);
  const std::int64_t part =
      std::min(numbers.used, numbers.allocated) - numbers.stuck - numbers.deserved;
  if (part <= 0 || !table_.entry(row).reclaimable) return 0;
  const std::int64_t freeable =
      saturated_sub(candidates_.freeable(row, column_), numbers.holding() - numbers.allocated);
  return std::max<std::int64_t>(0, std::min(part, freeable));
}

void RoomMover::list_givers() {
  for (const QueueRow row : table_.leaves()) {
    const std::int64_t amount = giveable(row);
    if (amount > 0) givers_.push_back({.row = row, .amount = amount});
    giveable_ = saturated_add(giveable_, amount);
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

/// What their own staying pods hold, then what they were promised, then each to the full.
void RoomMover::serve() {
  for (const QueueRow row : receivers_) take_room(row, of(row).holding() - of(row).allocated);
  for (const QueueRow row : receivers_) take_room(row, of(row).promised_before);
  for (const QueueRow row : receivers_) {
    take_room(row, wanted(row));
    // Rounding evicts no pod: the unit above its exact share comes from free room.
    const std::int64_t certain = of(row).certain - of(row).allocated - taken_[row.value].sum;
    const std::int64_t urgent = std::min(certain, wanted(row) - of(row).deserved_young());
    if (urgent > 0) take_from_givers(row, urgent);
  }
  // Below limits, a giver may have left room to others.
  for (const QueueRow row : receivers_) take_room(row, wanted(row));
}

/// No queue claims it, and it leaves all the same; a queue that lacks some by rounding gets it
/// then.
void RoomMover::lower_excess() {
  for (Part& giver : givers_) {
    if (giver.amount <= 0) continue;
    of(giver.row).allocated -= giver.amount;
    caps_.add(giver.row, -giver.amount);
    moves_.push_back({.column = column_,
                      .from = giver.row,
                      .to = {},
                      .amount = giver.amount,
                      .at_once = false,
                      .served = giver.row});
    giver.amount = 0;
  }
  for (const QueueRow row : receivers_) take_room(row, wanted(row));
}

void RoomMover::take_room(QueueRow receiver, std::int64_t most) {
  const std::int64_t amount = std::min({most, wanted(receiver), caps_.room(receiver)});
  if (amount <= 0) return;
  caps_.add(receiver, amount);
  taken_[receiver.value].room += amount;
  taken_[receiver.value].sum += amount;
}

/// No queue gives where the receiver would get nothing of it.
void RoomMover::take_from_givers(QueueRow receiver, std::int64_t claim) {
  while (giver_ < givers_.size() && givers_[giver_].amount == 0) ++giver_;
  if (giveable_ <= -caps_.slack(QueueCaps::whole_cluster)) return;
  std::vector<Take> takes;
  if (!make_up(receiver, takes)) return give_up(takes);
  std::int64_t left = claim;
  for (std::size_t at = giver_; left > 0 && at < givers_.size(); ++at) {
    const Part& giver = givers_[at];
    if (giver.amount == 0) continue;
    const std::int64_t amount =
        std::min({giver.amount, left, caps_.room_from(receiver, giver.row)});
    if (amount <= 0) continue;
    take(takes, {.giver = at, .amount = amount});
    caps_.add(receiver, amount);
    left -= amount;
  }
  left == claim ? give_up(takes) : keep(receiver, takes);
}

/// Where more is allocated below a limit than it allows, that is made up for first.
bool RoomMover::make_up(QueueRow receiver, std::vector<Take>& takes) {
  for (QueueCaps::Cap cap = caps_.cap_of(receiver); cap != QueueCaps::none;
       cap = caps_.above(cap)) {
    for (std::size_t at = giver_; caps_.slack(cap) < 0 && at < givers_.size(); ++at) {
      const Part& giver = givers_[at];
      if (giver.amount == 0 || !caps_.contains(cap, giver.row)) continue;
      const auto lost = static_cast<std::int64_t>(std::min<Wide>(giver.amount, -caps_.slack(cap)));
      take(takes, {.giver = at, .amount = lost, .lost = true});
    }
    if (caps_.slack(cap) < 0) return false;
  }
  return true;
}

void RoomMover::take(std::vector<Take>& takes, const Take& item) {
  givers_[item.giver].amount -= item.amount;
  giveable_ -= item.amount;
  caps_.add(givers_[item.giver].row, -item.amount);
  takes.push_back(item);
}

void RoomMover::give_up(const std::vector<Take>& takes) {
  for (const Take& item : takes) {
    givers_[item.giver].amount += item.amount;
    giveable_ += item.amount;
    caps_.add(givers_[item.giver].row, item.amount);
  }
}

void RoomMover::keep(QueueRow receiver, const std::vector<Take>& takes) {
  for (const Take& item : takes) {
    const QueueRow from = givers_[item.giver].row;
    of(from).allocated -= item.amount;
    if (item.lost) {
      moves_.push_back({.column = column_,
                        .from = from,
                        .to = {},
                        .amount = item.amount,
                        .at_once = false,
                        .served = receiver});
      continue;
    }
    taken_[receiver.value].sum += item.amount;
    taken_[receiver.value].given.push_back({.row = from, .amount = item.amount});
  }
}

// ---- At once or later -------------------------------------------------------------------------

/// At once is what the queue's pods hold already, and room that is there.
void RoomMover::settle() {
  for (const QueueRow row : receivers_) {
    Taken& taken = taken_[row.value];
    std::int64_t held = std::max<std::int64_t>(0, of(row).used - of(row).allocated);
    const std::int64_t own = std::min(held, taken.room);
    taken.room -= own;
    held -= own;
    give(row, {}, own, true);
    for (Part& part : taken.given) {
      const std::int64_t piece = std::min(held, part.amount);
      part.amount -= piece;
      held -= piece;
      give(row, part.row, piece, true);
      if (piece > 0) moves_.back().served = row;
    }
  }
  for (const QueueRow row : receivers_) {
    Taken& taken = taken_[row.value];
    const std::int64_t now = std::min(taken.room, caps_.room_now(row));
    caps_.add_now(row, now);
    give_now(row, now);
    give(row, {}, taken.room - now, false);
    for (const Part& part : taken.given) {
      give(row, part.row, part.amount, false);
      if (part.amount > 0) moves_.back().served = row;
    }
  }
}

/// Names the giver, where a queue gave it back in this cycle.
void RoomMover::give_now(QueueRow receiver, std::int64_t amount) {
  for (; amount > 0 && returned_ < given_back_.size(); ++returned_) {
    Part& part = given_back_[returned_];
    const std::int64_t piece = std::min(amount, part.amount);
    part.amount -= piece;
    amount -= piece;
    give(receiver, part.row, piece, true);
    if (part.amount > 0) break;
  }
  give(receiver, {}, amount, true);
}

void RoomMover::give(QueueRow receiver, QueueRow from, std::int64_t amount, bool at_once) {
  if (amount <= 0) return;
  (at_once ? of(receiver).allocated : of(receiver).preempting) += amount;
  moves_.push_back(
      {.column = column_, .from = from, .to = receiver, .amount = amount, .at_once = at_once});
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

#include "policies/session/session_victims.hpp"

#include <algorithm>
#include <limits>

namespace makeway {

SessionVictims::SessionVictims(const SessionTable& table, const SessionSettings& settings,
                               SessionPlacer& placer)
    : table_(table), settings_(settings), placer_(placer) {}

SessionFate SessionVictims::fate(SessionIndex session) const {
  const SessionEntry& entry = table_.sessions()[session];
  return fate_of(settings_, *entry.object, table_.partition_of(entry));
}

void SessionVictims::start(const SessionEntry& ask, std::span<const SessionIndex> candidates,
                           const RoomRows& after) {
  ask_ = &ask;
  candidates_ = candidates;
  room_ = after;
  taken_ = 0;
  victims_.clear();
  places_.clear();
  bounds_.clear();
  alike_ = placer_.alike(ask);
  needed_ = ask.kernels_count;
  open_ = IndexedVector<SessionPlace, std::uint8_t>(table_.nodes().size());
  counts_ = IndexedVector<SessionPlace, std::int64_t>(table_.nodes().size());
  capacity_ = 0;
  for (const SessionPlace place : table_.open_nodes(ask)) {
    open_[place] = 1;
    recount(place);
  }
}

const RoomRows& SessionVictims::without_all(const SessionEntry& ask,
                                            std::span<const SessionIndex> candidates,
                                            const RoomRows& after) {
  start(ask, candidates, after);
  for (const SessionIndex session : candidates) leave(session);
  return room_;
}

void SessionVictims::recount(SessionPlace place) {
  if (!alike_) return;
  const DemandIndex demand = table_.kernels(*ask_).front().demand;
  const std::int64_t fresh = room_.count(place, table_.demand(demand), needed_);
  capacity_ += fresh - counts_[place];
  counts_[place] = fresh;
}

/// The session leaves the room looked at, or is back; only where the ask may go.
void SessionVictims::move(SessionIndex session, bool leaves) {
  const SessionEntry& entry = table_.sessions()[session];
  const Cluster& cluster = table_.cluster();
  const bool keeps_memory = entry.partition.exists() && fate(session) == SessionFate::suspends;
  for (const SessionKernel& kernel : table_.kernels(entry)) {
    if (!kernel.place.exists() || open_[kernel.place] == 0) continue;
    const auto shift = [&](PodIndex row) {
      const RequestRow amounts = request_of(cluster, row);
      if (leaves) {
        room_.give(kernel.place, amounts);
      } else {
        room_.take(kernel.place, amounts);
      }
    };
    shift(kernel.row);
    if (kernel.memory_row.exists() && !keeps_memory) shift(kernel.memory_row);
    recount(kernel.place);
  }
}

bool SessionVictims::leave_until_it_fits() {
  while (taken_ < candidates_.size() && !still_fits()) leave(candidates_[taken_++]);
  return still_fits();
}

void SessionVictims::leave_first(std::size_t count) {
  while (taken_ < count) leave(candidates_[taken_++]);
  while (taken_ > count) come_back(candidates_[--taken_]);
}

bool SessionVictims::fits_with_first(std::size_t count) {
  leave_first(count);
  return place();
}

/// Kernels that differ are placed by a search, so the beginning that is enough is found by halving.
bool SessionVictims::leave_until_unlike_fit() {
  if (!fits_with_first(candidates_.size())) return false;
  std::size_t enough = candidates_.size();
  std::size_t too_few = 0;  // It did not fit before any session left.
  while (enough - too_few > 1) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    (fits_with_first(middle) ? enough : too_few) = middle;
  }
  leave_first(enough);  // The places are those of the last try that succeeded: of this one.
  return true;
}

bool SessionVictims::place() {
  const std::vector<SessionPlace>& found = placer_.find(*ask_, room_);
  if (placer_.stopped()) note_bound(bounds_, placer_.bound());
  if (found.empty()) return false;
  places_ = found;
  return true;
}

/// Most important first.
void SessionVictims::put_back_alike() {
  for (std::size_t rank = taken_; rank-- > 0;) {
    if (gone_[rank] == 0) continue;
    come_back(candidates_[rank]);
    if (still_fits()) {
      gone_[rank] = 0;
    } else {
      leave(candidates_[rank]);
    }
  }
}

/// Whether the ask can stay where it is placed, with the room as it is.
bool SessionVictims::still_placed() {
  const std::span<const SessionKernel> own = table_.kernels(*ask_);
  for (std::size_t at = 0; at < own.size(); ++at) {
    room_.take(places_[at], table_.demand(own[at].demand));
  }
  bool fits = true;
  for (std::size_t at = 0; at < own.size(); ++at) {
    const std::span<const std::int64_t> row = std::as_const(room_)[places_[at]];
    fits = fits && std::ranges::all_of(table_.demand(own[at].demand), [&](const auto& item) {
             return row[item.resource.value] >= 0;
           });
  }
  for (std::size_t at = 0; at < own.size(); ++at) {
    room_.give(places_[at], table_.demand(own[at].demand));
  }
  return fits;
}

/// The last round is for a search that a bound stopped: with the places as they are in the end,
/// no session may leave in vain.
void SessionVictims::put_back_unlike() {
  for (const bool elsewhere : {true, false}) {
    for (std::size_t rank = taken_; rank-- > 0;) {
      if (gone_[rank] == 0) continue;
      come_back(candidates_[rank]);
      if (still_placed() || (elsewhere && place())) {
        gone_[rank] = 0;
      } else {
        leave(candidates_[rank]);
      }
    }
  }
}

bool SessionVictims::find(const SessionEntry& ask, std::span<const SessionIndex> candidates,
                          const RoomRows& after, const SessionVictimsOptions& options,
                          const StepMeter& steps) {
  start(ask, candidates, after);
  options_ = options;
  steps_ = steps;
  if (!(alike_ ? leave_until_it_fits() : leave_until_unlike_fit())) return false;
  gone_.assign(candidates_.size(), 0);
  std::fill_n(gone_.begin(), taken_, 1);
  if (options_.fewest) take_fewest();
  if (options_.put_back != PutBack::none) {
    if (alike_) {
      put_back_alike();
    } else {
      put_back_unlike();
    }
  }
  if (alike_) place();
  CHECK(!places_.empty(), "it fitted a moment ago");
  for (std::size_t rank = 0; rank < taken_; ++rank) {
    if (gone_[rank] != 0) victims_.push_back(candidates_[rank]);
  }
  return true;
}

// ---- The fewest victims -------------------------------------------------------------------------

/// The beginning that was enough ends somewhere among sessions of one tier and priority; all of
/// these are candidates.
void SessionVictims::take_level() {
  const auto level = [this](std::size_t rank) {
    const SessionEntry& entry = table_.sessions()[candidates_[rank]];
    return std::pair(entry.tier, entry.priority);
  };
  std::size_t end = taken_;
  while (end < candidates_.size() && level(end) == level(taken_ - 1)) ++end;
  candidates_ = candidates_.first(end);
}

/// All sessions are back.
void SessionVictims::start_over() {
  for (std::size_t rank = 0; rank < gone_.size(); ++rank) {
    if (gone_[rank] != 0) come_back(candidates_[rank]);
  }
  gone_.assign(candidates_.size(), 0);
}

/// Exactly these leave; none is gone before.
void SessionVictims::take(const std::vector<std::uint8_t>& gone) {
  gone_ = gone;
  for (std::size_t rank = 0; rank < gone_.size(); ++rank) {
    if (gone_[rank] != 0) leave(candidates_[rank]);
  }
}

/// Which kernels of candidates are on which node; candidates in their order.
void SessionVictims::list_by_node() {
  node_begin_.assign(table_.nodes().size() + 1, 0);
  const auto each = [this](const auto& visit) {
    for (std::uint32_t rank = 0; rank < candidates_.size(); ++rank) {
      const SessionEntry& entry = table_.sessions()[candidates_[rank]];
      for (std::uint32_t at = 0; at < entry.kernels_count; ++at) {
        const SessionPlace place = table_.kernels(entry)[at].place;
        if (place.exists() && open_[place] != 0) visit(place, OnNode{.rank = rank, .kernel = at});
      }
    }
  };
  each([this](SessionPlace place, const OnNode&) { ++node_begin_[place.value + 1]; });
  for (std::size_t place = 1; place < node_begin_.size(); ++place) {
    node_begin_[place] += node_begin_[place - 1];
  }
  on_node_.resize(node_begin_.back());
  std::vector<std::uint32_t> next(node_begin_.begin(), node_begin_.end() - 1);
  each([&](SessionPlace place, const OnNode& entry) { on_node_[next[place.value]++] = entry; });
}

/// What each candidate on the node that is not gone yet would give of what is missing there.
/// False: not even all of them are enough.
bool SessionVictims::shares_of(SessionPlace place, std::span<const ResourceAmount> demand) {
  const Cluster& cluster = table_.cluster();
  missing_.clear();
  shortfall_.clear();
  shares_.clear();
  share_amounts_.clear();
  for (const ResourceAmount& item : demand) {
    const std::int64_t left = std::as_const(room_)[place][item.resource.value];
    if (item.amount <= left) continue;
    missing_.push_back(item.resource);
    shortfall_.push_back(item.amount - left);
  }
  std::vector<std::int64_t> sums(missing_.size());
  for (std::uint32_t at = node_begin_[place.value]; at < node_begin_[place.value + 1]; ++at) {
    const std::uint32_t rank = on_node_[at].rank;
    if (gone_[rank] != 0) continue;
    if (shares_.empty() || shares_.back().rank != rank) {
      shares_.push_back({.rank = rank, .begin = static_cast<std::uint32_t>(share_amounts_.size())});
      share_amounts_.resize(share_amounts_.size() + missing_.size());
    }
    const SessionEntry& entry = table_.sessions()[candidates_[rank]];
    const SessionKernel& kernel = table_.kernels(entry)[on_node_[at].kernel];
    const bool suspends = fate(candidates_[rank]) == SessionFate::suspends;
    for (const PodIndex row : {kernel.row, suspends ? PodIndex{} : kernel.memory_row}) {
      if (!row.exists()) continue;
      for (const ResourceAmount& item : request_of(cluster, row)) {
        const auto found = std::ranges::find(missing_, item.resource);
        if (found == missing_.end()) continue;
        const auto column = static_cast<std::size_t>(found - missing_.begin());
        share_amounts_[shares_.back().begin + column] += item.amount;
        sums[column] += item.amount;
      }
    }
  }
  return std::ranges::equal(sums, shortfall_, std::ranges::greater_equal{});
}

/// The largest share of each resource among the first candidates, for every beginning.
void SessionVictims::find_largest() {
  const std::size_t columns = missing_.size();
  share_largest_.assign((shares_.size() + 1) * columns, 0);
  for (std::size_t at = 0; at < shares_.size(); ++at) {
    for (std::size_t column = 0; column < columns; ++column) {
      share_largest_[(at + 1) * columns + column] = std::max(
          share_largest_[at * columns + column], share_amounts_[shares_[at].begin + column]);
    }
  }
}

bool SessionVictims::out_of_steps() {
  steps_->count(1);
  return steps_->left() < 0;
}

/// Covers the shortfall with `size` of the first `end` shares. The most important one is chosen
/// first, as unimportant as possible; so the first set that is found is the best of its size.
bool SessionVictims::cover(std::size_t size, std::size_t end) {
  const std::size_t columns = missing_.size();
  if (size == 0) {
    return std::ranges::all_of(shortfall_, [](std::int64_t left) { return left <= 0; });
  }
  for (std::size_t at = size - 1; at < end; ++at) {
    if (out_of_steps()) return false;
    const std::int64_t* const own = share_amounts_.data() + shares_[at].begin;
    bool possible = true;
    for (std::size_t column = 0; column < columns; ++column) {
      const std::int64_t others = share_largest_[at * columns + column];
      possible = possible &&
                 own[column] + others * static_cast<std::int64_t>(size - 1) >= shortfall_[column];
    }
    if (!possible) continue;
    for (std::size_t column = 0; column < columns; ++column) shortfall_[column] -= own[column];
    chosen_.push_back(shares_[at].rank);
    const bool found = cover(size - 1, at);
    for (std::size_t column = 0; column < columns; ++column) shortfall_[column] += own[column];
    if (found) return true;
    chosen_.pop_back();
  }
  return false;
}

/// Makes the fewest leave so that one kernel finds a place; false: nowhere, or out of steps.
bool SessionVictims::fewest_for(DemandIndex demand, SessionPlace& best_place) {
  const std::span<const ResourceAmount> amounts = table_.demand(demand);
  best_place = {};
  best_.clear();
  for (const SessionPlace place : table_.open_nodes(*ask_)) {
    if (!shares_of(place, amounts)) continue;
    if (missing_.empty()) {
      best_place = place;
      best_.clear();
      return true;
    }
    find_largest();
    const std::size_t most =
        !best_place.exists() ? shares_.size() : std::min(best_.size(), shares_.size());
    for (std::size_t size = 1; size <= most; ++size) {
      chosen_.clear();
      const bool found = cover(size, shares_.size());
      if (steps_->left() < 0) {
        note_bound(bounds_, steps_->bound());
        return best_place.exists();
      }
      if (!found) continue;
      if (!best_place.exists() || size < best_.size() || chosen_ < best_) {
        best_place = place;
        best_ = chosen_;
      }
      break;
    }
  }
  return best_place.exists();
}

/// How many more kernels of the ask find room when a session leaves: never more than if all
/// sessions on its nodes left.
void SessionVictims::list_gains() {
  const auto before = counts_;
  for (const SessionIndex session : candidates_) leave(session);
  const auto emptied = counts_;
  for (const SessionIndex session : candidates_) come_back(session);
  gains_.assign(candidates_.size(), 0);
  gains_before_.assign(candidates_.size(), 0);
  std::int64_t largest = 0;
  for (std::size_t rank = 0; rank < candidates_.size(); ++rank) {
    for (const SessionKernel& kernel : table_.kernels(table_.sessions()[candidates_[rank]])) {
      if (!kernel.place.exists() || open_[kernel.place] == 0) continue;
      gains_[rank] += emptied[kernel.place] - before[kernel.place];
    }
    gains_before_[rank] = largest;
    largest = std::max(largest, gains_[rank]);
  }
}

/// Makes `size` of the first `end` candidates leave so that the ask fits. As in `cover`, the first
/// set that is found is the best of its size.
bool SessionVictims::pick(std::size_t size, std::size_t end) {
  if (size == 0) return still_fits();
  for (std::size_t at = size - 1; at < end; ++at) {
    if (out_of_steps()) return false;
    const std::int64_t others = gains_before_[at] * static_cast<std::int64_t>(size - 1);
    if (capacity_ + gains_[at] + others < needed_) continue;
    leave(candidates_[at]);
    gone_[at] = 1;
    if (pick(size - 1, at)) return true;
    come_back(candidates_[at]);
    gone_[at] = 0;
  }
  return false;
}

/// One kernel after the other found some; for kernels that are alike fewer may be enough, or as
/// many that are less important.
void SessionVictims::take_fewer() {
  const std::vector<std::uint8_t> found = gone_;
  const auto most = static_cast<std::size_t>(std::ranges::count(found, 1));
  start_over();
  list_gains();
  for (std::size_t size = 1; size <= most; ++size) {
    if (pick(size, candidates_.size())) return;
  }
  note_bound(bounds_, steps_->bound());
  start_over();
  take(found);
}

void SessionVictims::take_fewest() {
  const std::vector<std::uint8_t> fallback = gone_;
  const std::span<const SessionIndex> all = candidates_;
  start_over();
  take_level();
  gone_.assign(candidates_.size(), 0);
  list_by_node();
  const std::span<const SessionKernel> kernels = table_.kernels(*ask_);
  std::vector<std::pair<SessionPlace, DemandIndex>> placed;
  bool found = true;
  for (std::size_t at = 0; found && at < kernels.size(); ++at) {
    SessionPlace place;
    found = fewest_for(kernels[at].demand, place);
    if (!found) break;
    for (const std::uint32_t rank : best_) {
      leave(candidates_[rank]);
      gone_[rank] = 1;
    }
    room_.take(place, table_.demand(kernels[at].demand));
    placed.emplace_back(place, kernels[at].demand);
  }
  for (const auto& [place, demand] : placed) {
    room_.give(place, table_.demand(demand));
    recount(place);
  }
  if (found) {
    taken_ = candidates_.size();
    places_.clear();
    for (const auto& [place, demand] : placed) places_.push_back(place);
    if (alike_ && kernels.size() > 1) take_fewer();
    return;
  }
  // One kernel after the other led nowhere, or the steps ran out: as the order says.
  start_over();
  candidates_ = all;
  take(fallback);
}

}  // namespace makeway

#include "policies/session/session_victims.hpp"

#include <algorithm>

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
      const RequestRow amounts = cluster.requests(cluster.pods().requests[row]);
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

}  // namespace makeway

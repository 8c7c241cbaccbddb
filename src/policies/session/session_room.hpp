// SessionRoom: what is free on the nodes of resource groups, and where a session fits into it.
//
// The rows are read from Room (engine/room.hpp), beside the reservations of pinned pods. `after` is
// what is free soon. A session that starts at once must fit now and soon, so `both` is the smaller
// of the two, amount by amount. Rows of amounts lie one after the other, one row a node; `refresh`
// reads again what other asks changed meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/room.hpp"
#include "policies/session/session_table.hpp"

namespace makeway {

/// Free amounts by place in the table and resource column.
class RoomRows {
 public:
  RoomRows() = default;
  RoomRows(std::size_t places, std::size_t columns) : columns_(columns), free_(places * columns) {}

  std::span<std::int64_t> operator[](SessionPlace place) {
    return std::span(free_).subspan(place.value * columns_, columns_);
  }
  std::span<const std::int64_t> operator[](SessionPlace place) const {
    return std::span(free_).subspan(place.value * columns_, columns_);
  }
  bool fits(SessionPlace place, std::span<const ResourceAmount> demand) const {
    const std::int64_t* const row = free_.data() + place.value * columns_;
    return std::ranges::all_of(demand, [row](const ResourceAmount& item) {
      return item.amount <= row[item.resource.value];
    });
  }
  void take(SessionPlace place, std::span<const ResourceAmount> demand);
  void give(SessionPlace place, std::span<const ResourceAmount> demand);
  /// How many of such a demand find room there, at most `most`.
  std::int64_t count(SessionPlace place, std::span<const ResourceAmount> demand,
                     std::int64_t most) const;
  std::size_t columns() const { return columns_; }

 private:
  std::size_t columns_ = 0;
  std::vector<std::int64_t> free_;
};

class SessionRoom {
 public:
  SessionRoom(World& world, const SessionTable& table);

  /// Brings the rows up to date. Reservations of pinned pods keep their room.
  void refresh();
  /// Counts how often room may have grown anywhere; what found no place finds none while it stands.
  std::uint64_t growth() const { return growth_; }

  /// Whether some kernel asks for more of something than any of its nodes will have. What is found
  /// is kept: room shrinks, so yes stays yes.
  bool too_large(const SessionEntry& entry);

  /// Room that is kept for a unit that comes later: what is there until then is not touched.
  void keep(SessionPlace place, std::span<const ResourceAmount> amounts);
  /// The same, and `refresh` does not forget it.
  void keep_for_good(SessionPlace place, std::span<const ResourceAmount> amounts);

  RoomRows& both() { return both_; }
  RoomRows& after() { return after_; }

 private:
  void read(SessionPlace place);
  void hold(SessionPlace place);

  World& world_;
  Room room_;
  const SessionTable& table_;
  RoomRows both_;
  RoomRows after_;
  RoomRows kept_;                       ///< For sessions without a turn, until the cycle ends.
  std::vector<SessionPlace> promised_;  ///< Places with nominated pinned pods.
  std::size_t seen_ = 0;                ///< Of the cycle's changed nodes.
  std::uint64_t growth_ = 0;
  std::vector<std::int64_t> before_;  ///< Used again and again.
  /// The most that some node of a domain has of each resource, at some moment since room last grew.
  struct Ceiling {
    bool known = false;
    std::uint64_t growth = 0;
    std::vector<std::int64_t> most;
  };
  std::vector<Ceiling> ceilings_;
};

/// Finds nodes for all kernels of a session. Kernels that are alike are placed exactly; different
/// ones by best fit first, then by searches that `engine.placementStepsMax` bounds, all together.
class SessionPlacer {
 public:
  SessionPlacer(const SessionTable& table, const StepMeter& steps)
      : table_(table), start_(steps), steps_(steps) {}

  /// Another ask: its own bound counts from the beginning.
  void start() { steps_ = start_; }
  /// Places of its kernels in their order; empty: none was found. `room` is as before afterwards.
  const std::vector<SessionPlace>& find(const SessionEntry& session, RoomRows& room);
  /// Whether the bound stopped the last search: that it found nothing proves nothing.
  bool stopped() const { return stopped_; }
  std::string_view bound() const { return steps_.bound(); }
  /// Whether all kernels ask for the same.
  bool alike(const SessionEntry& session) const;

 private:
  bool greedy(RoomRows& room);
  bool infeasible(const RoomRows& room) const;
  void number_equal_nodes(const RoomRows& room);
  bool search(RoomRows& room, std::size_t level, std::size_t from);
  SessionPlace best_fit(const RoomRows& room, std::span<const ResourceAmount> demand) const;
  bool larger(DemandIndex a, DemandIndex b) const;

  const SessionTable& table_;
  StepMeter start_;
  StepMeter steps_;
  bool stopped_ = false;
  std::span<const SessionKernel> kernels_;
  std::span<const SessionPlace> nodes_;
  std::vector<std::uint32_t> order_;  ///< Of the kernels, largest first.
  std::vector<SessionPlace> places_;  ///< By kernel.
  std::vector<std::uint32_t> kinds_;  ///< By place in `nodes_`: equal rows, equal numbers.
  std::vector<std::int32_t> taken_;   ///< By place in `nodes_`: kernels there so far.
};

}  // namespace makeway

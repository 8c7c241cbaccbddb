// Where an ask goes for which no pod has to leave: now, or once a leaving pod is gone.
//
// Its nominated node, when it fits there. Otherwise by its preferences: the fewest taints
// PreferNoSchedule that it does not tolerate; then the most points, which are the weights of its
// preferred node affinity and of each pod in the domain of a preferred affinity, less those of
// preferred anti-affinity; then the fewest pods in the domains over which it would spread
// (ScheduleAnyway). Then by fullness: the sum, over the resources that
// it asks for, of used / allocatable in thousandths with the ask placed; `workload.nodeScore` pack
// takes the fullest node, spread the emptiest. Ties by name. Deterministic, integers only.
//
// RoomRanking answers the same for many asks of one class: only nodes that changed are looked at
// again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/winner_tree.hpp"
#include "engine/emptied_nodes.hpp"
#include "engine/fit.hpp"
#include "engine/world.hpp"

namespace makeway {

/// The smallest is the best.
struct RoomValue {
  std::int64_t avoided = 0;      ///< Taints.
  std::int64_t unpreferred = 0;  ///< Points, below 0.
  std::int64_t crowded = 0;
  std::int64_t fullness = 0;  ///< Below 0: the fullest is the best.

  friend auto operator<=>(const RoomValue&, const RoomValue&) = default;
};

struct NodeChoice {
  std::optional<NodeIndex> now;    ///< It fits there at once.
  std::optional<NodeIndex> later;  ///< It will fit there; only nodes where it does not fit now.
  std::int64_t fitting_now = 0;    ///< How many nodes there were to choose from.
  /// Where they are wanted: the next best nodes of the same kind, best first.
  std::vector<PlanAlternative> others;
};

/// Whether the nodes that were not chosen are listed, too: for explanations.
enum class Others : std::uint8_t { left_out, listed };

/// A pod that comes with others is checked together with them whether it may come at once.
enum class Comes : std::uint8_t { with_others, alone };

/// `now` may be null: then it is the same world as `after`. By `workload.nodeScore`.
NodeChoice choose_node(World& world, PodFit& after, PodFit* now, std::span<const NodeIndex> domain,
                       Others others = Others::left_out, Comes comes = Comes::with_others);
NodeChoice choose_node(World& world, PodFit& after, PodFit* now, std::span<const NodeIndex> domain,
                       NodeScore score, Others others = Others::left_out,
                       Comes comes = Comes::with_others);

/// In the world of the fit: every pod comes whose nomination blocks its ask, on every node.
void place_nominated_pods(const World& world, PodFit& fit);
/// Whether the ask fits on the node that it is nominated to: now, and when every pod has come that
/// was promised a place together with it. Those of one node alone may look uneven.
bool fits_as_nominated(const World& world, PodFit& fit, NodeIndex node);

/// Whether another nominated pod could lose its place if these, which have one, took
/// another: by what they mean to each other, on whatever nodes. Room is not meant.
bool others_may_lose(const World& world, std::span<const PodIndex> own);

class RoomRanking {
 public:
  /// All nodes, by `workload.nodeScore`.
  RoomRanking(World& world, PodFit& after);
  /// `nodes` in the order of Survey::nodes. `emptied` may be null: none leaves. Otherwise nodes
  /// are looked at as they will be, and no pod may be promised a place.
  RoomRanking(World& world, PodFit& after, std::span<const NodeIndex> nodes, NodeScore score,
              EmptiedNodes* emptied);
  RoomRanking(const RoomRanking&) = delete;
  RoomRanking& operator=(const RoomRanking&) = delete;

  /// Without alternatives, and without a look at the ask's own nomination.
  NodeChoice choose(PodFit* now);
  /// Something came to the node or left it.
  void changed(NodeIndex node) { changed_.push_back(node); }

 private:
  struct Entry {
    enum class Fits : std::uint8_t { now, later, never };
    Fits fits = Fits::never;
    RoomValue value;

    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  struct Before {
    const std::vector<Entry>* entries;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      const auto order = (*entries)[a] <=> (*entries)[b];
      return order != 0 ? order < 0 : a < b;
    }
  };

  std::uint32_t position_of(NodeIndex node);

  World& world_;
  PodFit& after_;
  std::span<const NodeIndex> nodes_;
  NodeScore score_;
  EmptiedNodes* emptied_;
  bool looked_ = false;
  std::vector<NodeIndex> changed_;
  std::vector<Entry> entries_;  ///< By position in `nodes_`.
  std::int64_t fitting_now_ = 0;
  WinnerTree<Before> tree_;
};

}  // namespace makeway

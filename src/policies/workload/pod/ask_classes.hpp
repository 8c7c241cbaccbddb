// AskClasses: asks that are alike share what was found out about nodes.
//
// Pending pods come in batches: the replicas of a Job or Deployment ask for the same. Such asks are
// one class: equal requests, shape, labels, namespace, priority, notes and profile, and no
// nomination. Where
// at least two of a class are pending, counts of constraints, rooms and rankings of nodes are kept
// from one to the next, and only nodes that changed in between are looked at again.
//
// Nothing is decided here; with and without classes the plan is the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "policies/shared/draft.hpp"
#include "policies/workload/pod/node_choice.hpp"
#include "policies/workload/pod/node_ranking.hpp"

namespace makeway {

/// Equal for pods that are alike in everything that placing them looks at, nominations aside.
using AskKey = std::tuple<RequestId, ShapeId, LabelSetId, StringId, NotesId, std::int32_t, bool,
                          StringId, bool, StringId>;
AskKey ask_key(const Cluster& cluster, PodIndex pod);

struct AskClass {
  AskClass(World& world, PodIndex ask);

  PodFit after;
  std::optional<PodFit> now;  ///< Once the worlds differ.
  std::optional<RoomRanking> room;
  std::optional<NodeRanking> ranking;
  std::size_t changes_seen = 0;   ///< Of World::changed_nodes.
  std::size_t promises_seen = 0;  ///< Of World::promises.
  /// The answer to an ask of the class for which nothing could be done, and when.
  std::optional<PlanAsk> nothing;
  std::size_t nothing_at = 0;
  LabelSetId nothing_labels;  ///< That ask's: with others it may break no promise.
};

class AskClasses {
 public:
  /// `pods`: all that will ask in this cycle.
  AskClasses(const Draft& draft, std::span<const PodIndex> pods);

  /// What is kept for the pod's class, brought up to date; null: nothing is.
  AskClass* of(PodIndex pod);
  /// The pod has been decided: the last of its class takes everything with it.
  void done(PodIndex pod);

 private:
  struct Slot {
    std::int64_t asks = 0;
    std::unique_ptr<AskClass> kept;
  };

  using Key = std::pair<AskKey, std::size_t>;  ///< With its profile.

  Key key_of(PodIndex pod) const;
  Slot* slot_of(PodIndex pod);
  void forget_oldest();

  World& world_;
  std::map<Key, Slot> slots_;
  std::vector<Slot*> kept_;  ///< Oldest first.
  std::size_t kept_max_ = 0;
};

}  // namespace makeway

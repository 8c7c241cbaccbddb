// Holds: every room that a node keeps for a pending unit at the start of a cycle, as one table.
//
// Rows are nominations from before and reservations of pinned pods (SPEC section 5); nominated
// kernels of sessions are rows as well. What this cycle promises is no row: it is placed in the
// world `after`, and the row of the pod is closed by then. Claims of replicas name no pod; they are
// amounts of a node (`claimed`).
//
// `blocks` is law 7, and `nomination_hold` says which rows are void (model/hold.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/sparse_column.hpp"
#include "engine/scratch.hpp"
#include "engine/survey.hpp"
#include "model/configuration.hpp"
#include "model/hold.hpp"

namespace makeway {

class Holds {
 public:
  /// Costs O(nominated pods).
  Holds(Survey& survey, const Configuration& configuration);

  // ---- Rows -----------------------------------------------------------------------------------
  /// By name of the node, then of the pod; none is void. Pods whose constraints look at other pods.
  std::span<const Hold> constrained() const { return constrained_; }
  /// The same for pods without such constraints.
  std::span<const Hold> unconstrained() const { return unconstrained_; }
  /// The pod's nomination holds nothing, whatever happens; also where it has none.
  bool is_void(PodIndex pod) const { return row_of(pod).is_void; }
  /// The nomination can come true: its queue keeps room for it.
  bool may_come(PodIndex pod) const { return row_of(pod).may_come; }
  /// The room is that of a reservation.
  bool is_reserved(PodIndex pod) const { return row_of(pod).reserved; }

  // ---- Law 7 ----------------------------------------------------------------------------------
  HoldAsk ask_of(PodIndex pod) const;
  /// Whether the pod's nomination closes its room to the ask in this world.
  bool blocks(PodIndex pod, const HoldAsk& ask, const Scratch& scratch) const {
    return is_open(pod) && !scratch.node_of(pod).exists() && makeway::blocks(row_of(pod), ask);
  }
  bool blocks(const Hold& hold, const HoldAsk& ask, const Scratch& scratch) const {
    return is_open(hold.pod) && !scratch.node_of(hold.pod).exists() && makeway::blocks(hold, ask);
  }

  // ---- Turns ----------------------------------------------------------------------------------
  /// The pod's turn is still to come, and its group has not taken its nomination.
  bool is_open(PodIndex pod) const { return states_[pod] == State::open; }
  bool is_decided(PodIndex pod) const { return states_[pod] == State::decided; }
  void decide(PodIndex pod) { states_.writable(pod) = State::decided; }
  void lose(PodIndex pod) { states_.writable(pod) = State::lost; }
  /// For an open row only, and undone by `open` (World::NominationsIgnored).
  void ignore(PodIndex pod) { states_.writable(pod) = State::decided; }
  void open(PodIndex pod) { states_.writable(pod) = State::open; }

  // ---- Claims ---------------------------------------------------------------------------------
  /// What claims of replicas keep on the node beyond what their victims there still hold in this
  /// world (SPEC section 4), by resource column; empty: nothing.
  std::vector<std::int64_t> claimed(const Scratch& scratch, NodeIndex node) const;

 private:
  enum class State : std::uint8_t { open, decided, lost };

  Hold row(PodIndex pod, NodeIndex node);
  bool asks_pinned(PodIndex pod) const;
  const Hold& row_of(PodIndex pod) const { return rows_[row_at_[pod]]; }

  Survey& survey_;
  const Cluster& cluster_;
  bool infeasible_stand_;   ///< `workload.nominationHeldBy` preempted-pods
  std::vector<Hold> rows_;  ///< The first is void, for pods without a nomination.
  SparseColumn<PodIndex, std::uint32_t> row_at_;
  std::vector<Hold> constrained_;
  std::vector<Hold> unconstrained_;
  SparseColumn<PodIndex, State> states_;
};

/// What a claim of the schedule needs of its node beyond what those of its victims hold that are
/// still there, by resource column.
std::vector<std::int64_t> claim_need(const Cluster& cluster, const ReplicaSchedule& schedule,
                                     std::span<const PodIndex> still_there);

}  // namespace makeway

// Room: what is free on a node at a horizon, beside what is held against an ask.
//
//   now    nothing has left yet; what this cycle binds is there
//   soon   what this cycle nominates is there, and the pods that the world counts as gone are not.
//          While late pods are credited to an ask (World::credit_late) this is what is free late
//
// A row has one amount per resource column: allocatable, less what the pods of that horizon use,
// less what the holds keep that block the ask (law 7). An amount below zero is missing.
// An ask that starts at once must fit now, and also soon beside the holds.
//
// A queue counts the same pods by the same horizons, with one difference: a pod that leaves soon or
// late has left its queue, whether its room on the node is credited or not (SPEC section 3).
//
// Reads the two worlds as they are at the moment, trials included. It keeps nothing and allocates
// nothing: a policy that asks often keeps rows and reads the nodes in `World::changed_nodes` again.
// Costs O(resources) for a node, and O(nominations to the node) for its holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/world.hpp"

namespace makeway {

enum class Horizon : std::uint8_t { now, soon };

class Room {
 public:
  using Row = std::span<std::int64_t>;

  explicit Room(World& world) : world_(world) {}

  // ---- Nodes ----------------------------------------------------------------------------------
  /// Holds are left out.
  void free(NodeIndex node, Horizon horizon, Row row) const;
  /// Beside the holds that block the ask; claims of replicas are left out.
  void free_for(NodeIndex node, Horizon horizon, const HoldAsk& ask, Row row) const;
  /// Takes from the row what holds on the node keep against the ask.
  void take_held(NodeIndex node, const HoldAsk& ask, Row row) const;
  /// What claims of replicas keep on the node; empty: nothing (Holds).
  std::vector<std::int64_t> claimed(NodeIndex node, Horizon horizon) const {
    return world_.holds().claimed(pods_at(horizon), node);
  }
  /// Whether these amounts are free, holds left out. What is not wanted may be missing.
  bool fits(NodeIndex node, Horizon horizon, std::span<const std::int64_t> wanted) const;
  /// Before the cycle decided anything; nothing is held.
  void free_at_start(NodeIndex node, Row row) const;

  /// Takes from a row of `now` what this cycle nominates to the node.
  void take_arrivals(NodeIndex node, Row row) const;
  /// Whether this cycle evicts the pod.
  bool made_to_leave(PodIndex pod) const;
  void take(PodIndex pod, Row row) const;
  void give(PodIndex pod, Row row) const;

  // ---- Queues ---------------------------------------------------------------------------------
  /// Whether a pod that is there in the world of this horizon uses room of its queue.
  static bool counts_in_queue(const Departures& departures, PodIndex pod, Horizon horizon) {
    return horizon == Horizon::now || !departures.departing(pod);
  }

 private:
  const Scratch& pods_at(Horizon horizon) const {
    return horizon == Horizon::now ? world_.now() : world_.after();
  }
  void subtract(NodeIndex node, std::span<const std::int64_t> used, Row row) const;

  World& world_;
};

}  // namespace makeway

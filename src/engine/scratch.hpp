// Scratch: a what-if overlay on a cluster, with checkpoint and rollback.
//
// It says where pods are and what nodes hold after some pods were removed and others placed. The
// cluster itself is never touched; what was not moved costs nothing. Every move is logged, so that
// `rollback` undoes everything since a checkpoint, and watchers (counts that depend on where pods
// are) are called for each move and each undone move.
//
//   Scratch scratch(cluster);
//   const Scratch::Checkpoint before = scratch.checkpoint();
//   scratch.remove(victim);
//   scratch.place(ask, node);
//   scratch.rollback(before);
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/sparse_column.hpp"
#include "model/cluster.hpp"

namespace makeway {

class ScratchWatcher {
 public:
  ScratchWatcher() = default;
  ScratchWatcher(const ScratchWatcher&) = delete;
  ScratchWatcher& operator=(const ScratchWatcher&) = delete;
  virtual ~ScratchWatcher() = default;

  /// `delta` 1: the pod came to the node; -1: it left.
  virtual void moved(PodIndex pod, NodeIndex node, int delta) = 0;
};

class Scratch {
 public:
  explicit Scratch(const Cluster& cluster);

  const Cluster& cluster() const { return cluster_; }

  /// Where the pod is in this world; none: nowhere.
  NodeIndex node_of(PodIndex pod) const;
  /// What the node's pods request, per resource column.
  std::span<const std::int64_t> used(NodeIndex node) const {
    const std::uint32_t at = row_of_[node];
    return at == no_row ? cluster_.order().used(node)
                        : std::span<const std::int64_t>(rows_[at].used);
  }
  /// Whether the node's pods differ from the cluster's.
  bool touched(NodeIndex node) const {
    const std::uint32_t at = row_of_[node];
    return at != no_row && rows_[at].moves != 0;
  }
  /// Running sums of a touched node, made when first needed; see NodeScan.
  struct Order {
    bool valid = false;  ///< Until the next move.
    std::vector<std::int32_t> priorities;
    std::vector<std::int64_t> sums;
  };
  Order& order_of_touched(NodeIndex node) const { return rows_[row_of_[node]].order; }
  /// Pods that this world has placed on the node and the cluster has not.
  std::span<const PodIndex> placed(NodeIndex node) const;

  /// Every pod that is on the node in this world; the unmoved ones most important first.
  template <class Visit>
  void for_each_pod(NodeIndex node, const Visit& visit) const {
    for (const PodIndex pod : cluster_.order().pods(node)) {
      if (states_[pod] == State::as_in_cluster) visit(pod);
    }
    for (const PodIndex pod : placed(node)) visit(pod);
  }

  /// The pod must be somewhere.
  void remove(PodIndex pod);
  /// The pod must be nowhere. Placing it where the cluster has it puts it back.
  void place(PodIndex pod, NodeIndex node);

  void remove(std::span<const PodIndex> pods);
  /// To where the cluster has them.
  void put_back(std::span<const PodIndex> pods);

  struct Checkpoint {
    std::size_t moves = 0;

    friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
  };
  struct Move {
    PodIndex pod;
    NodeIndex node;
    bool came = false;
  };
  Checkpoint checkpoint() const { return {log_.size()}; }
  std::span<const Move> moves_since(Checkpoint checkpoint) const {
    return std::span(log_).subspan(checkpoint.moves);
  }
  void rollback(Checkpoint checkpoint);

  void attach(ScratchWatcher& watcher) { watchers_.push_back(&watcher); }
  void detach(ScratchWatcher& watcher);

 private:
  enum class State : std::uint8_t { as_in_cluster, nowhere, placed };
  /// A node that some move touched.
  struct Row {
    std::vector<std::int64_t> used;
    std::vector<PodIndex> placed;
    std::int32_t moves = 0;  ///< Pods that are gone from it or new to it.
    Order order;
  };

  void come(PodIndex pod, NodeIndex node);
  void leave(PodIndex pod, NodeIndex node);
  Row& row(NodeIndex node);
  void sum_again(NodeIndex node, Row& row) const;

  static constexpr std::uint32_t no_row = 0;  ///< The first row is no node's.

  const Cluster& cluster_;
  SparseColumn<PodIndex, State> states_;
  SparseColumn<NodeIndex, std::uint32_t> row_of_;
  mutable std::vector<Row> rows_ = std::vector<Row>(1);
  std::vector<Move> log_;
  std::map<PodIndex, NodeIndex> placed_on_;  ///< Of pods in state `placed`.
  std::vector<ScratchWatcher*> watchers_;
};

}  // namespace makeway

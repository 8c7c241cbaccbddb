#include "engine/scratch.hpp"

#include <algorithm>
#include <limits>

namespace makeway {

Scratch::Scratch(const Cluster& cluster)
    : cluster_(cluster), states_(cluster.pods().slots()), row_of_(cluster.nodes().slots()) {}

NodeIndex Scratch::node_of(PodIndex pod) const {
  if (states_[pod] == State::as_in_cluster) return cluster_.pods().node[pod];
  if (states_[pod] == State::nowhere) return {};
  return placed_on_.at(pod);
}

std::span<const PodIndex> Scratch::placed(NodeIndex node) const {
  const std::uint32_t at = row_of_[node];
  return at == no_row ? std::span<const PodIndex>() : std::span<const PodIndex>(rows_[at].placed);
}

Scratch::Row& Scratch::row(NodeIndex node) {
  std::uint32_t at = row_of_[node];
  if (at == no_row) {
    const std::span<const std::int64_t> base = cluster_.order().used(node);
    at = static_cast<std::uint32_t>(rows_.size());
    row_of_.writable(node) = at;
    rows_.push_back({.used = {base.begin(), base.end()}, .placed = {}, .moves = 0, .order = {}});
  }
  return rows_[at];
}

void Scratch::come(PodIndex pod, NodeIndex node) {
  Row& touched = row(node);
  touched.order.valid = false;
  if (cluster_.pods().node[pod] == node) {
    states_.writable(pod) = State::as_in_cluster;
    --touched.moves;
  } else {
    ++touched.moves;
    states_.writable(pod) = State::placed;
    placed_on_[pod] = node;
    touched.placed.push_back(pod);
  }
  add_request(touched.used, request_of(cluster_, pod));
  for (ScratchWatcher* watcher : watchers_) watcher->moved(pod, node, 1);
}

void Scratch::leave(PodIndex pod, NodeIndex node) {
  Row& touched = row(node);
  touched.order.valid = false;
  State& state = states_.writable(pod);
  touched.moves += state == State::placed ? -1 : 1;
  if (state == State::placed) {
    std::erase(touched.placed, pod);
    placed_on_.erase(pod);
  }
  state = State::nowhere;
  bool saturated = false;
  for (const ResourceAmount& item : request_of(cluster_, pod)) {
    std::int64_t& used = touched.used.at(item.resource.value);
    saturated = saturated || used == std::numeric_limits<std::int64_t>::max();
    used -= item.amount;
  }
  if (saturated) sum_again(node, touched);
  for (ScratchWatcher* watcher : watchers_) watcher->moved(pod, node, -1);
}

/// A sum that hit the ceiling does not know how far above it was.
void Scratch::sum_again(NodeIndex node, Row& row) const {
  std::ranges::fill(row.used, 0);
  for_each_pod(node, [&](PodIndex pod) { add_request(row.used, request_of(cluster_, pod)); });
}

void Scratch::remove(PodIndex pod) {
  const NodeIndex node = node_of(pod);
  CHECK(node.exists(), "the pod is nowhere");
  leave(pod, node);
  log_.push_back({.pod = pod, .node = node, .came = false});
}

void Scratch::place(PodIndex pod, NodeIndex node) {
  CHECK(!node_of(pod).exists(), "the pod is somewhere already");
  come(pod, node);
  log_.push_back({.pod = pod, .node = node, .came = true});
}

void Scratch::remove(std::span<const PodIndex> pods) {
  for (const PodIndex pod : pods) remove(pod);
}

void Scratch::put_back(std::span<const PodIndex> pods) {
  for (const PodIndex pod : pods) place(pod, cluster_.pods().node[pod]);
}

void Scratch::rollback(Checkpoint checkpoint) {
  CHECK(checkpoint.moves <= log_.size(), "a checkpoint from the future");
  while (log_.size() > checkpoint.moves) {
    const Move move = log_.back();
    log_.pop_back();
    if (move.came) {
      leave(move.pod, move.node);
    } else {
      come(move.pod, move.node);
    }
  }
}

void Scratch::detach(ScratchWatcher& watcher) {
  CHECK(std::erase(watchers_, &watcher) == 1, "it is not attached");
}

}  // namespace makeway

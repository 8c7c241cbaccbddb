#include "engine/room.hpp"

#include "base/checked_math.hpp"

namespace makeway {

void Room::subtract(NodeIndex node, std::span<const std::int64_t> used, Row row) const {
  const std::span<const std::int64_t> allocatable = world_.survey().allocatable(node);
  for (std::size_t column = 0; column < row.size(); ++column) {
    row[column] = saturated_sub(allocatable[column], used[column]);
  }
}

void Room::free(NodeIndex node, Horizon horizon, Row row) const {
  subtract(node, pods_at(horizon).used(node), row);
}

void Room::free_at_start(NodeIndex node, Row row) const {
  subtract(node, world_.cluster().order().used(node), row);
}

void Room::free_for(NodeIndex node, Horizon horizon, const HoldAsk& ask, Row row) const {
  free(node, horizon, row);
  take_held(node, ask, row);
}

/// A pod of a hold that has its place in `after` already is counted there.
void Room::take_held(NodeIndex node, const HoldAsk& ask, Row row) const {
  for (const PodIndex pod : world_.cluster().nodes().nominated[node]) {
    if (world_.holds().blocks(pod, ask, world_.after())) take(pod, row);
  }
}

void Room::take_arrivals(NodeIndex node, Row row) const {
  for (const PodIndex pod : world_.after().placed(node)) {
    if (world_.now().node_of(pod) != node) take(pod, row);
  }
}

bool Room::made_to_leave(PodIndex pod) const {
  return world_.rules().settled(pod) && world_.now().node_of(pod).exists() &&
         !world_.after().node_of(pod).exists();
}

bool Room::fits(NodeIndex node, Horizon horizon, std::span<const std::int64_t> wanted) const {
  const std::span<const std::int64_t> allocatable = world_.survey().allocatable(node);
  const std::span<const std::int64_t> used = pods_at(horizon).used(node);
  for (std::size_t column = 0; column < wanted.size(); ++column) {
    const std::int64_t room = saturated_sub(allocatable[column], used[column]);
    if (wanted[column] > 0 && room < wanted[column]) return false;
  }
  return true;
}

void Room::take(PodIndex pod, Row row) const {
  const Cluster& cluster = world_.cluster();
  subtract_request(row, request_of(cluster, pod));
}

void Room::give(PodIndex pod, Row row) const {
  const Cluster& cluster = world_.cluster();
  add_request(row, request_of(cluster, pod));
}

}  // namespace makeway

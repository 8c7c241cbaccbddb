#include "model/queue_tree.hpp"

#include <algorithm>

namespace makeway {

QueueTree::QueueTree(const Cluster& cluster) {
  for (const auto& [key, queue] : cluster.own<Queue>()) queues_.push_back(&queue);
  for (const Queue* const queue : queues_) {
    parents_.push_back(queue->parent.empty() ? no_position : position_of(queue->parent));
  }
  has_children_.resize(queues_.size());
  for (const std::size_t parent : parents_) {
    if (parent != no_position) has_children_[parent] = true;
  }
}

std::size_t QueueTree::position_of(std::string_view name) const {
  const auto found = std::ranges::lower_bound(queues_, name, {}, &Queue::name);
  if (found == queues_.end() || (*found)->name != name) return no_position;
  return static_cast<std::size_t>(found - queues_.begin());
}

std::vector<bool> QueueTree::circular() const {
  std::vector<bool> result(size());
  std::vector<std::size_t> walk_of(size(), no_position);
  for (std::size_t start = 0; start < size(); ++start) {
    std::size_t at = start;
    while (at != no_position && walk_of[at] == no_position) {
      walk_of[at] = start;
      at = parents_[at];
    }
    if (at == no_position || walk_of[at] != start) continue;
    for (std::size_t around = at; !result[around]; around = parents_[around]) {
      result[around] = true;
    }
  }
  return result;
}

std::vector<std::size_t> QueueTree::children_first() const {
  std::vector<std::size_t> waiting_for(size());
  for (const std::size_t parent : parents_) {
    if (parent != no_position) ++waiting_for[parent];
  }
  std::vector<std::size_t> order;
  order.reserve(size());
  for (std::size_t position = 0; position < size(); ++position) {
    if (!has_children_[position]) order.push_back(position);
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    const std::size_t up = parents_[order[next]];
    if (up != no_position && --waiting_for[up] == 0) order.push_back(up);
  }
  return order;
}

}  // namespace makeway

// QueueTree: the Queue objects by name, with the positions of their parents. Private to
// validation_queues*.cpp.
//
// Positions are those in the order of names. Parents that are not there count as none, and queues
// may still hang in a circle: validation is what finds that out.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/cluster.hpp"

namespace makeway {

class QueueTree {
 public:
  static constexpr std::size_t no_position = static_cast<std::size_t>(-1);

  explicit QueueTree(const Cluster& cluster);

  std::size_t size() const { return queues_.size(); }
  const Queue& queue(std::size_t position) const { return *queues_[position]; }
  /// None: there is no parent, or none that is here.
  std::size_t parent(std::size_t position) const { return parents_[position]; }
  bool has_children(std::size_t position) const { return has_children_[position]; }
  std::size_t position_of(std::string_view name) const;

  /// Which queues are their own ancestors.
  std::vector<bool> circular() const;
  /// Children before their parents; only where no queue is its own ancestor.
  std::vector<std::size_t> children_first() const;

 private:
  std::vector<const Queue*> queues_;
  std::vector<std::size_t> parents_;
  std::vector<bool> has_children_;
};

}  // namespace makeway

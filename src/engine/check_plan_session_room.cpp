#include "engine/check_plan_session_room.hpp"

#include <algorithm>
#include <set>

#include "base/checked_math.hpp"

namespace makeway {
namespace {

constexpr std::int64_t steps_max = 100'000;

}  // namespace

KernelRoom::KernelRoom(NaiveWorld& world, std::span<const NodeIndex> nodes,
                       const std::vector<std::vector<PodIndex>>& rows, bool staying)
    : cluster_(&world.cluster()) {
  const Cluster& cluster = world.cluster();
  for (const std::vector<PodIndex>& kernel : rows) {
    for (const PodIndex row : kernel) {
      for (const ResourceAmount& each : cluster.requests(cluster.pods().requests[row])) {
        const bool known = std::ranges::find(resources_, each.resource) != resources_.end();
        if (each.amount > 0 && !known) resources_.push_back(each.resource);
      }
    }
  }
  for (const std::vector<PodIndex>& kernel : rows) {
    KernelNeed& need = needs_.emplace_back(resources_.size());
    for (const PodIndex row : kernel) {
      for (const ResourceAmount& each : cluster.requests(cluster.pods().requests[row])) {
        const auto found = std::ranges::find(resources_, each.resource);
        if (found != resources_.end()) need[found - resources_.begin()] += each.amount;
      }
    }
  }
  for (const NodeIndex node : nodes) {
    NodeRoom& room = rooms_.emplace_back(NodeRoom{.node = node, .free = {}});
    // What is too large for a node may be told before that the node is closed.
    room.open = staying || std::ranges::all_of(rows, [&](const std::vector<PodIndex>& kernel) {
                  const MaybeRefusal lasting =
                      NaiveFit(world, kernel.front()).lasting_refusal(node);
                  return !lasting || lasting->reason == RefusalReason::resource;
                });
    const RequestRow whole = cluster.requests(cluster.nodes().allocatable[node]);
    for (const ResourceIndex resource : resources_) {
      const auto found = std::ranges::find(whole, resource, &ResourceAmount::resource);
      const std::int64_t amount = found == whole.end() ? 0 : found->amount;
      room.free.push_back(saturated_sub(amount, world.used(node, resource)));
    }
  }
  std::ranges::sort(rooms_, {}, &NodeRoom::node);
}

KernelRoom::NodeRoom* KernelRoom::at(NodeIndex node) {
  const auto found = std::ranges::lower_bound(rooms_, node, {}, &NodeRoom::node);
  return found == rooms_.end() || found->node != node ? nullptr : &*found;
}

void KernelRoom::change(PodIndex row, NodeIndex node, std::int64_t sign) {
  NodeRoom* const room = at(node);
  if (room == nullptr) return;
  for (const ResourceAmount& each : cluster_->requests(cluster_->pods().requests[row])) {
    const auto found = std::ranges::find(resources_, each.resource);
    if (found == resources_.end()) continue;
    std::int64_t& free = room->free[found - resources_.begin()];
    free = saturated_add(free, sign * each.amount);
  }
}

void KernelRoom::limit(const KernelRoom& other) {
  for (std::size_t node = 0; node < rooms_.size(); ++node) {
    for (std::size_t column = 0; column < resources_.size(); ++column) {
      std::int64_t& free = rooms_[node].free[column];
      free = std::min(free, other.rooms_[node].free[column]);
    }
  }
}

bool KernelRoom::holds(const NodeRoom& room, const KernelNeed& need) {
  if (!room.open) return false;
  for (std::size_t column = 0; column < need.size(); ++column) {
    if (need[column] > 0 && need[column] > room.free[column]) return false;
  }
  return true;
}

bool KernelRoom::fits(std::span<const NodeIndex> places) const {
  if (places.size() != needs_.size()) return false;
  KernelRoom left = *this;
  for (std::size_t kernel = 0; kernel < needs_.size(); ++kernel) {
    NodeRoom* const room = left.at(places[kernel]);
    if (room == nullptr || !holds(*room, needs_[kernel])) return false;
    for (std::size_t column = 0; column < resources_.size(); ++column) {
      room->free[column] -= needs_[kernel][column];
    }
  }
  return true;
}

// ---- Is there room? -----------------------------------------------------------------------------

std::int64_t KernelRoom::how_many(const NodeRoom& room, const KernelNeed& need, std::int64_t most) {
  if (!holds(room, need)) return 0;
  for (std::size_t column = 0; column < need.size(); ++column) {
    if (need[column] > 0) most = std::min(most, room.free[column] / need[column]);
  }
  return most;
}

/// Every way to distribute kernels over nodes, largest kernels first; of nodes that look the same
/// one, and equal kernels in the order of the nodes.
class KernelRoom::Search {
 public:
  explicit Search(const KernelRoom& room) : rooms_(room.rooms_), needs_(room.needs_) {
    std::ranges::sort(needs_, std::ranges::greater{});
  }

  Finding run() {
    if (place(0, 0)) return Finding::yes;
    return steps_ > steps_max ? Finding::unknown : Finding::no;
  }

 private:
  bool place(std::size_t kernel, std::size_t first) {
    if (kernel == needs_.size()) return true;
    std::set<std::vector<std::int64_t>> tried;
    for (std::size_t node = first; node < rooms_.size(); ++node) {
      if (++steps_ > steps_max) return false;
      if (!holds(rooms_[node], needs_[kernel])) continue;
      // Nodes before `first` are closed to the next equal kernel, so it is not the same any more.
      const bool next_equal = kernel + 1 < needs_.size() && needs_[kernel + 1] == needs_[kernel];
      if (!next_equal && !tried.insert(rooms_[node].free).second) continue;
      move(node, kernel, -1);
      if (place(kernel + 1, next_equal ? node : 0)) return true;
      move(node, kernel, 1);
    }
    return false;
  }

  void move(std::size_t node, std::size_t kernel, std::int64_t sign) {
    for (std::size_t column = 0; column < needs_[kernel].size(); ++column) {
      rooms_[node].free[column] += sign * needs_[kernel][column];
    }
  }

  std::vector<NodeRoom> rooms_;
  std::vector<KernelNeed> needs_;
  std::int64_t steps_ = 0;
};

Finding KernelRoom::find() const {
  if (needs_.empty()) return Finding::yes;
  const bool equal =
      std::ranges::all_of(needs_, [&](const KernelNeed& need) { return need == needs_.front(); });
  if (!equal) return Search(*this).run();
  auto missing = static_cast<std::int64_t>(needs_.size());
  for (const NodeRoom& room : rooms_) {
    missing -= how_many(room, needs_.front(), missing);
    if (missing == 0) return Finding::yes;
  }
  return Finding::no;
}

}  // namespace makeway

#include "judge/check_plan_session_room.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/checked_math.hpp"

namespace makeway {
namespace {

constexpr std::int64_t steps_max = 50'000;

/// For a kernel that is too large, the size may be reported before the closed node: several are
/// asked.
bool is_open(NaiveWorld& world, NodeIndex node, const std::vector<std::vector<PodIndex>>& rows,
             OpenNodes& known) {
  if (known.size() <= node.value) known.resize(world.cluster().nodes().slots());
  if (known[node] != Openness::unknown) return known[node] == Openness::open;
  for (const std::vector<PodIndex>& kernel : rows) {
    const MaybeRefusal lasting = NaiveFit(world, kernel.front()).lasting_refusal(node);
    if (lasting && lasting->reason == RefusalReason::resource) continue;
    known[node] = lasting ? Openness::closed : Openness::open;
    return !lasting;
  }
  return true;  // All are too large for it: any answer does.
}

}  // namespace

void KernelRoom::read_needs(const Cluster& cluster,
                            const std::vector<std::vector<PodIndex>>& rows) {
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
        if (found == resources_.end()) continue;
        need[static_cast<std::size_t>(found - resources_.begin())] += each.amount;
      }
    }
  }
}

KernelNodes::KernelNodes(std::vector<NodeIndex> nodes) : nodes_(std::move(nodes)) {
  std::ranges::sort(nodes_);
  nodes_.erase(std::ranges::unique(nodes_).begin(), nodes_.end());
}

const std::vector<std::int64_t>& KernelNodes::free(const NaiveWorld& world,
                                                   const std::vector<ResourceIndex>& resources) {
  const auto [at, is_new] = known_.try_emplace(&world);
  Known& known = at->second;
  const bool same = known.changes == world.changes() && known.resources == resources;
  if (!is_new && same) return known.free;
  const Cluster& cluster = world.cluster();
  known = {.changes = world.changes(), .resources = resources, .free = {}};
  known.free.reserve(nodes_.size() * resources.size());
  for (const NodeIndex node : nodes_) {
    const RequestRow whole = cluster.requests(cluster.nodes().allocatable[node]);
    for (const ResourceIndex resource : resources) {
      const auto found = std::ranges::find(whole, resource, &ResourceAmount::resource);
      const std::int64_t amount = found == whole.end() ? 0 : found->amount;
      known.free.push_back(saturated_sub(amount, world.used(node, resource)));
    }
  }
  return known.free;
}

KernelRoom::KernelRoom(NaiveWorld& world, KernelNodes& nodes,
                       const std::vector<std::vector<PodIndex>>& rows, OpenNodes* open)
    : cluster_(&world.cluster()), nodes_(nodes.nodes()) {
  read_needs(*cluster_, rows);
  free_ = nodes.free(world, resources_);
  open_.reserve(nodes_.size());
  for (const NodeIndex node : nodes_) {
    open_.push_back(open == nullptr || is_open(world, node, rows, *open) ? 1 : 0);
  }
}

std::size_t KernelRoom::find_node(NodeIndex node) const {
  const auto found = std::ranges::lower_bound(nodes_, node);
  if (found == nodes_.end() || *found != node) return nodes_.size();
  return static_cast<std::size_t>(found - nodes_.begin());
}

void KernelRoom::change(PodIndex row, NodeIndex node, std::int64_t sign) {
  const std::size_t at = find_node(node);
  if (at == nodes_.size()) return;
  for (const ResourceAmount& each : cluster_->requests(cluster_->pods().requests[row])) {
    const auto found = std::ranges::find(resources_, each.resource);
    if (found == resources_.end()) continue;
    const auto column = static_cast<std::size_t>(found - resources_.begin());
    std::int64_t& free = free_[at * resources_.size() + column];
    free = saturated_add(free, sign * each.amount);
  }
}

void KernelRoom::limit(const KernelRoom& other) {
  for (std::size_t at = 0; at < free_.size(); ++at)
    free_[at] = std::min(free_[at], other.free_[at]);
}

bool KernelRoom::holds(std::size_t node, const KernelNeed& need) const {
  if (open_[node] == 0) return false;
  const std::span<const std::int64_t> room = free(node);
  for (std::size_t column = 0; column < need.size(); ++column) {
    if (need[column] > 0 && need[column] > room[column]) return false;
  }
  return true;
}

void KernelRoom::move(std::size_t node, const KernelNeed& need, std::int64_t sign) {
  for (std::size_t column = 0; column < need.size(); ++column) {
    free_[node * resources_.size() + column] += sign * need[column];
  }
}

bool KernelRoom::fits(std::span<const NodeIndex> places) const {
  if (places.size() != needs_.size()) return false;
  std::map<std::size_t, KernelNeed> together;  // What goes to each node.
  for (std::size_t kernel = 0; kernel < needs_.size(); ++kernel) {
    const std::size_t node = find_node(places[kernel]);
    if (node == nodes_.size() || !holds(node, needs_[kernel])) return false;
    KernelNeed& sum = together.try_emplace(node, resources_.size()).first->second;
    for (std::size_t column = 0; column < sum.size(); ++column) {
      sum[column] = saturated_add(sum[column], needs_[kernel][column]);
    }
  }
  return std::ranges::all_of(together,
                             [this](const auto& each) { return holds(each.first, each.second); });
}

// ---- Is there room? -----------------------------------------------------------------------------

std::int64_t KernelRoom::how_many(std::size_t node, const KernelNeed& need,
                                  std::int64_t most) const {
  if (!holds(node, need)) return 0;
  for (std::size_t column = 0; column < need.size(); ++column) {
    if (need[column] > 0) most = std::min(most, free(node)[column] / need[column]);
  }
  return most;
}

/// Every way to distribute kernels over nodes, largest kernels first; of nodes that look the same
/// one, and equal kernels in the order of the nodes.
class KernelRoom::Search {
 public:
  explicit Search(KernelRoom room) : room_(std::move(room)) {
    std::ranges::sort(room_.needs_, std::ranges::greater{});
  }

  Finding run() {
    if (place(0, 0)) return Finding::yes;
    return steps_ > steps_max ? Finding::unknown : Finding::no;
  }

 private:
  bool place(std::size_t kernel, std::size_t first) {
    const std::vector<KernelNeed>& needs = room_.needs_;
    if (kernel == needs.size()) return true;
    // Nodes before the last one are closed to the next equal kernel, so nodes differ in that too.
    const bool next_equal = kernel + 1 < needs.size() && needs[kernel + 1] == needs[kernel];
    std::set<std::vector<std::int64_t>> tried;
    for (std::size_t node = first; node < room_.nodes_.size(); ++node) {
      if (!room_.holds(node, needs[kernel])) continue;
      if (++steps_ > steps_max) return false;
      const std::span<const std::int64_t> free = room_.free(node);
      if (!next_equal && !tried.emplace(free.begin(), free.end()).second) continue;
      room_.move(node, needs[kernel], -1);
      if (place(kernel + 1, next_equal ? node : 0)) return true;
      room_.move(node, needs[kernel], 1);
    }
    return false;
  }

  KernelRoom room_;
  std::int64_t steps_ = 0;
};

Finding KernelRoom::find() const {
  if (needs_.empty()) return Finding::yes;
  // Kernels of one kind are counted; and where one kind alone finds no room, all do not.
  for (const KernelNeed& need : needs_) {
    auto missing = std::ranges::count(needs_, need);
    const bool all = missing == std::ssize(needs_);
    for (std::size_t node = 0; node < nodes_.size() && missing > 0; ++node) {
      missing -= how_many(node, need, missing);
    }
    if (missing > 0) return Finding::no;
    if (all) return Finding::yes;
  }
  return Search(*this).run();
}

}  // namespace makeway

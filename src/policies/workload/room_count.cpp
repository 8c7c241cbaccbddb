#include "policies/workload/room_count.hpp"

#include <algorithm>

#include "base/checked_math.hpp"

namespace makeway {

RoomCount::RoomCount(Cycle& cycle, const GroupDomain& domain, MemberFits& fits, PodIndex member,
                     const VictimList& list, std::span<const std::uint8_t> evicted) {
  const Cluster& cluster = cycle.cluster;
  const PodColumns& pods = cluster.pods();
  for (const ResourceAmount& item : cluster.requests(pods.requests[member])) {
    if (item.amount > 0) requests_.push_back(item);
  }
  std::vector<std::vector<std::pair<std::int32_t, PodIndex>>> held(cycle.survey.nodes().size());
  for (std::size_t at = 0; at < list.units.size(); ++at) {
    if (evicted[at] == 0) continue;
    for (const PodIndex pod : list.pods_of(list.units[at])) {
      const NodeIndex node = pods.node[pod];
      if (!cluster.nodes().flags[node].exists) continue;
      held[cycle.survey.place_of(node)].emplace_back(list.units[at].priority, pod);
    }
  }
  PodFit& fit = fits.of(member);
  for (const NodeIndex node : domain.nodes) {
    if (fit.refused_by_node(node)) continue;
    Node entry{.begin = static_cast<std::uint32_t>(priorities_.size()),
               .room = static_cast<std::uint32_t>(nodes_.size())};
    const std::span<const std::int64_t> allocatable = cycle.survey.allocatable(node);
    const std::span<const std::int64_t> used = fits.world().used(node);
    for (const ResourceAmount& item : requests_) {
      rooms_.push_back(allocatable[item.resource.value] - used[item.resource.value]);
    }
    std::vector<std::int64_t> sum(requests_.size());
    auto& here = held[cycle.survey.place_of(node)];
    std::ranges::sort(here, std::ranges::greater{});
    for (const auto& [priority, pod] : here) {
      for (const ResourceAmount& item : cluster.requests(pods.requests[pod])) {
        const auto found = std::ranges::find(requests_, item.resource, &ResourceAmount::resource);
        if (found == requests_.end()) continue;
        std::int64_t& amount = sum[static_cast<std::size_t>(found - requests_.begin())];
        amount = saturated_add(amount, item.amount);
      }
      priorities_.push_back(priority);
      sums_.insert(sums_.end(), sum.begin(), sum.end());
    }
    entry.end = static_cast<std::uint32_t>(priorities_.size());
    nodes_.push_back(entry);
  }
}

std::size_t RoomCount::members_up_to(std::int32_t highest, std::size_t enough) const {
  std::size_t count = 0;
  for (const Node& node : nodes_) {
    if (count >= enough) break;
    count += members_on(node, highest, enough);
  }
  return count;
}

std::size_t RoomCount::members_on(const Node& node, std::int32_t highest,
                                  std::size_t enough) const {
  const auto pods = std::span(priorities_).subspan(node.begin, node.end - node.begin);
  const auto stays =
      std::ranges::partition_point(pods, [&](std::int32_t priority) { return priority > highest; });
  const auto staying = static_cast<std::size_t>(stays - pods.begin());
  auto fitting = static_cast<std::int64_t>(enough);
  for (std::size_t at = 0; at < requests_.size(); ++at) {
    const std::int64_t taken =
        staying == 0 ? 0 : sums_[(node.begin + staying - 1) * requests_.size() + at];
    const std::int64_t room = saturated_sub(rooms_[node.room * requests_.size() + at], taken);
    fitting = std::min(fitting, std::max<std::int64_t>(room, 0) / requests_[at].amount);
  }
  return static_cast<std::size_t>(fitting);
}

}  // namespace makeway

// RoomCount: how many alike members find room when everybody up to a priority is gone, from sums
// alone.
//
// For each node the room with all potential victims gone, and running sums of what they hold, most
// important first. So one priority costs a binary search and a division a node, and no what-if
// world has to be changed. Reservations of others are not looked at: the true number is never
// higher.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/workload/group_domains.hpp"
#include "policies/workload/member_fits.hpp"

namespace makeway {

class RoomCount {
 public:
  /// The victims of `list` with `evicted` set have left the world, and no member is in it.
  /// `member`: any of the alike members.
  RoomCount(Cycle& cycle, const GroupDomain& domain, MemberFits& fits, PodIndex member,
            const VictimList& list, std::span<const std::uint8_t> evicted);

  /// Stops counting at `enough`.
  std::size_t members_up_to(std::int32_t highest, std::size_t enough) const;

 private:
  struct Node {
    std::uint32_t begin = 0;  ///< Of its pods in `priorities_`.
    std::uint32_t end = 0;
    std::uint32_t room = 0;  ///< Its row in `rooms_`.
  };

  std::size_t members_on(const Node& node, std::int32_t highest, std::size_t enough) const;

  std::vector<ResourceAmount> requests_;
  std::vector<Node> nodes_;
  std::vector<std::int64_t> rooms_;  ///< By node, one for each requested resource.
  std::vector<std::int32_t> priorities_;
  std::vector<std::int64_t> sums_;  ///< By pod, likewise: of it and the more important ones.
};

}  // namespace makeway

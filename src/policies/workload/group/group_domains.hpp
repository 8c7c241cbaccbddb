// Where a group may go as a whole, in the order in which it would like to.
//
// Required: nodes with equal values of all labels of `schedulingConstraints.topology` are one
// domain; nodes that lack one are in none. Members that run bind their group to their domain.
// Without such labels the whole cluster is the one domain.
//
// Preferred (annotation `makeway.dev/preferred-topology`, narrowest level first): each level
// divides the next wider one, the widest divides the required domains. So a rack lies in one block
// by construction: racks of the same name in two blocks are two domains. A node that lacks a
// level's label is in no domain of that level, but may be in narrower and wider ones.
//
// All of them are listed: the narrowest level first, then the wider ones, then what is required;
// each level by name. Preferred domains in which members run come before all others, those with
// more of them first. Taking the first of equals thereby obeys the preference. Equal sets of
// nodes are listed once, as the narrower level.
//
// `workload.groupDomains: cluster` reads neither.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/world.hpp"

namespace makeway {

struct GroupDomain {
  std::string name;              ///< "block=b,rack=a", widest first; empty: the whole cluster.
  std::vector<NodeIndex> nodes;  ///< By name.
  /// The label that bounds it, of several the narrowest; empty: the whole cluster. Lives as long as
  /// the cluster.
  std::string_view level;
  bool preferred = false;  ///< A level that the group prefers, not one that it requires.
  /// No other domain contains it: these together are all nodes that the group may use, each once.
  bool widest = false;
  std::uint32_t rank = 0;  ///< In the order of preference; settles ties.
};

/// None: no node has the required labels, or the running members are in several domains.
std::vector<GroupDomain> domains_of(World& world, UnitIndex unit);

bool contains(World& world, const GroupDomain& domain, NodeIndex node);
/// All of the places.
bool contains(World& world, const GroupDomain& domain, std::span<const PodOnNode> places);

}  // namespace makeway

// Where a group may go as a whole: the domains of its topology constraint, or the whole cluster.
//
// A constraint names node labels (`schedulingConstraints.topology`); nodes with equal values of all
// of them are one domain, nodes that lack one are in none. Members that run already bind the group
// to their domain. `workload.groupDomains: cluster` does not read the constraint.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "policies/cycle.hpp"

namespace makeway {

struct GroupDomain {
  std::string name;              ///< "rack=a"; empty: the whole cluster.
  std::vector<NodeIndex> nodes;  ///< By name.
};

/// By name. None: no node has the labels, or the running members are in several domains.
std::vector<GroupDomain> domains_of(Cycle& cycle, UnitIndex unit);

bool contains(Cycle& cycle, const GroupDomain& domain, NodeIndex node);

}  // namespace makeway

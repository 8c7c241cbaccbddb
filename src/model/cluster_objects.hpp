// Every object of a cluster, as a change that makes it: kind by kind, each by name.
#pragma once

#include <vector>

#include "model/cluster.hpp"

namespace makeway {

std::vector<Change> objects_of(const Cluster& cluster);

}  // namespace makeway

// A unit of pods by the name under which it asks.
#pragma once

#include "model/cluster.hpp"
#include "model/request.hpp"

namespace makeway {

/// The pod, or the group.
AskName ask_name_of(const Cluster& cluster, UnitIndex index);

}  // namespace makeway

// What if nodes were drained, gone or added? Changes a loaded cluster before it is planned; the
// plan itself is made as always.
//
//  1. A node that is gone takes its pods along, those of DaemonSets that wait for it, too: as if
//     none of them had been there.
//  2. New nodes are like another one: labels, taints, room, volume limits, membership in resource
//     groups and partitions; open even if that one is cordoned. Pods of DaemonSets and mirror pods
//     of the other one run there, too, or wait as they do on the other one.
//  3. A drained node is cordoned, and its pods ask again, as if they were created now. Pods that
//     stay: of DaemonSets, mirror pods, pods that are leaving, replicas that their planes place,
//     and kernels of sessions.
//  4. Units that stop because some of their pods left, and sessions with kernels there, are only
//     reported: their other pods stay where they are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/problem.hpp"
#include "base/time.hpp"
#include "cli/plan/ask_name.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

struct NodeWhatIf {
  std::vector<std::string> drained;
  std::vector<std::string> gone;
  std::uint64_t added = 0;
  std::string like;  ///< What the added ones are like.

  bool any() const { return !drained.empty() || !gone.empty() || added > 0; }
};

/// A pod that asks again.
struct DrainedPod {
  std::string namespace_name;
  std::string name;
};

struct WhatIfChange {
  std::vector<std::string> notes;  ///< One line each: what was changed.
  std::vector<DrainedPod> drained;
};

/// Nodes that are not there, with what could have been meant.
Problems what_if_problems(const NodeWhatIf& what_if, const Cluster& cluster);

/// There are no problems. `now` is when drained pods are created again.
WhatIfChange apply_what_if(const NodeWhatIf& what_if, const Configuration& configuration, Time now,
                           Cluster& cluster);

/// The outcome of the pods that ask again, and the effect of the change on all other asks; `before`
/// is the plan without it. Null: only some asks are planned, and there is nothing to report.
std::string what_if_text(const WhatIfChange& change, const Plan* before, const Plan& after,
                         const Parties& parties, std::size_t width);

}  // namespace makeway::cli

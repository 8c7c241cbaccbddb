// The planes of a live cluster, read once: the same as `run --plane` watches and shows, so that a
// plan from outside is the one that a run would make (SPEC sections 4 and 8).
//
//  1. A plane is read whole or not at all. One that does not answer, or where a right is missing,
//     was not seen: a warning gives the reason, and everything else goes on.
//  2. Schedules are then shown by the rules of PlaneView: what is committed is what the Deployments
//     say, and nothing is decided about a schedule one of whose planes was not seen.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "codec/load.hpp"
#include "control/plane_view.hpp"
#include "kube/api_client.hpp"
#include "model/cluster.hpp"

namespace makeway::kube {

struct PlaneReading {
  std::string plane;
  bool sees = false;
  PlaneNews news;     ///< What scales there.
  Problems problems;  ///< Why it was not seen; warnings.
};

/// `take` gets the pages, when all are there; `progress` may be empty.
PlaneReading read_live_plane(ApiClient& client, std::string plane,
                             const std::function<void(std::string_view resource)>& progress,
                             const TextTaker& take);

struct ShownPlanes {
  const std::vector<PlaneReading>& planes;
  bool needs_selector = false;  ///< See PlaneView.
  Time now;
};

/// Rule 2, on a cluster that has everything that was read. Returns the notes of PlaneView.
std::map<std::string, std::string> show_planes(const ShownPlanes& shown, Cluster& cluster);

}  // namespace makeway::kube

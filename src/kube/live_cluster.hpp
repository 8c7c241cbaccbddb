// Reading a whole cluster from its API server: every kind that scheduling reads, page by page.
//
// Read-only: nothing but GET is sent. Each kind is one consistent list; the kinds are read one
// after the other, so a pod may be newer than the node that it is on, as in a dump of kubectl.
//
// The planes of a live cluster, read once: the same as `run --plane` watches and shows, so that a
// plan from outside is the one that a run would make (SPEC sections 4 and 8).
//
//  1. A plane is read whole or not at all. One that does not answer, or where a right is missing,
//     was not seen: a warning gives the reason, and everything else goes on.
//  2. Schedules are then shown by the rules of PlaneView: what is committed is what the Deployments
//     say, and nothing is decided about a schedule one of whose planes was not seen.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "codec/load.hpp"
#include "codec/source.hpp"
#include "control/plane_view.hpp"
#include "kube/api_client.hpp"
#include "model/cluster.hpp"

namespace makeway::kube {

/// A kind that was read.
struct ListedKind {
  ServedResource served;
  std::string resource_version;
};

struct LiveReading {
  std::vector<ListedKind> kinds;
  Problems problems;  ///< With errors the cluster is not complete.
};

struct LiveRequest {
  /// What may not be read is left out with a warning; nodes and pods are always needed.
  bool keep_going = false;
  /// Called with every kind before it is read; may be empty.
  std::function<void(std::string_view resource)> progress;
};

/// `take(name, page)` gets every page; the name stands for a file in messages ("live: pods").
LiveReading read_live_cluster(
    ApiClient& client, const LiveRequest& request,
    const std::function<void(std::string_view name, const PaddedText& page)>& take);

struct PlaneReading {
  std::string plane;
  bool sees = false;
  PlaneUpdates updates;  ///< What scales there.
  Problems problems;     ///< Why it was not seen; warnings.
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

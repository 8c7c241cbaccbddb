// Reading a whole cluster from its API server: every kind that scheduling reads, page by page.
//
// Read-only: nothing but GET is sent. Each kind is one consistent list; the kinds are read one
// after the other, so a pod may be newer than the node that it is on, as in a dump of kubectl.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "codec/source.hpp"
#include "kube/api_client.hpp"

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

}  // namespace makeway::kube

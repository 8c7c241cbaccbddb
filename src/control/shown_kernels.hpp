// ShownKernels: kernels of sessions as people know them.
//
// In the store a kernel is a row among the pods, above every priority, and its memory may be a
// second row (model/cluster_sessions.cpp). A view of a node needs the session's priority, its name,
// and each kernel once. Made in one pass over the kernels; a pod costs one flag.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

class ShownKernels {
 public:
  /// The cluster outlives it, and does not change.
  ShownKernels(const Cluster& cluster, const SessionSettings& rules);

  /// Of a kernel its session's; of a pod the one that preemption goes by.
  std::int32_t priority_of(PodIndex row) const;
  /// "default/web-1", of a kernel "default/train/main".
  std::string name_of(PodIndex row) const;
  std::size_t kernels_on(NodeIndex node) const;
  /// Pods and kernels that are leaving, there and everywhere. A kernel's memory is no second one.
  std::int64_t leaving_on(NodeIndex node) const;
  std::int64_t leaving() const;

 private:
  const Cluster& cluster_;
  std::map<PodIndex, std::int32_t> priorities_;
  std::map<NodeIndex, std::size_t> counts_;
  std::map<NodeIndex, std::int64_t> leaving_twice_;  ///< Kernels of which both rows are leaving.
};

}  // namespace makeway

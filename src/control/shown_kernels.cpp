#include "control/shown_kernels.hpp"

#include <iterator>
#include <set>

namespace makeway {

ShownKernels::ShownKernels(const Cluster& cluster, const SessionSettings& rules)
    : cluster_(cluster) {
  for (const auto& [key, kernels] : cluster.kernel_rows()) {
    const auto session = cluster.own<Session>().find(key);
    if (session == cluster.own<Session>().end()) continue;
    const std::int32_t priority =
        session->second.priority.value_or(static_cast<std::int32_t>(rules.default_priority));
    for (const KernelRows& rows : kernels) {
      // A suspended kernel is there with its memory only.
      NodeIndex node = cluster.pods().node[rows.row];
      priorities_[rows.row] = priority;
      if (rows.memory.exists()) {
        priorities_[rows.memory] = priority;
        if (!node.exists()) node = cluster.pods().node[rows.memory];
        const std::set<PodIndex>& leaving = cluster.leaving_pods();
        if (leaving.contains(rows.row) && leaving.contains(rows.memory)) ++leaving_twice_[node];
      }
      if (node.exists()) ++counts_[node];
    }
  }
}

std::int32_t ShownKernels::priority_of(PodIndex row) const {
  if (cluster_.pods().flags[row].kernel) {
    const auto found = priorities_.find(row);
    if (found != priorities_.end()) return found->second;
  }
  const UnitIndex unit = cluster_.pods().unit[row];
  return unit.exists() ? cluster_.units()[unit].preemption_priority : cluster_.pods().priority[row];
}

std::string ShownKernels::name_of(PodIndex row) const {
  if (!cluster_.pods().flags[row].kernel) return cluster_.pod_key(row);
  return std::string(cluster_.pods().name[row.value]);
}

std::int64_t ShownKernels::leaving_on(NodeIndex node) const {
  const auto found = leaving_twice_.find(node);
  const std::int64_t twice = found == leaving_twice_.end() ? 0 : found->second;
  return static_cast<std::int64_t>(cluster_.nodes().leaving[node]) - twice;
}

std::int64_t ShownKernels::leaving() const {
  std::int64_t count = std::ssize(cluster_.leaving_pods());
  for (const auto& [node, twice] : leaving_twice_) count -= twice;
  return count;
}

std::size_t ShownKernels::kernels_on(NodeIndex node) const {
  const auto found = counts_.find(node);
  return found == counts_.end() ? 0 : found->second;
}

}  // namespace makeway

#include "cli/load_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "cli/text.hpp"

namespace makeway::cli {
namespace {

/// Kinds whose controllers make pods from a template.
constexpr std::array<std::string_view, 10> templated_kinds = {
    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet",      "ReplicationController",
    "Job",        "CronJob",     "JobSet",    "LeaderWorkerSet", "PodTemplate"};

/// "apps/v1 Deployment"
bool has_template(std::string_view name) {
  const std::string_view kind = name.substr(name.rfind(' ') + 1);
  return std::ranges::find(templated_kinds, kind) != templated_kinds.end();
}

std::string skipped_note(const LoadStatistics& statistics) {
  std::vector<std::string> kinds;
  std::uint64_t total = 0;
  for (const auto& [name, count] : statistics.skipped) {
    if (!has_template(name)) continue;
    kinds.push_back(fmt::format("{} {}", grouped(count), name));
    total += count;
  }
  if (kinds.empty()) return {};
  return fmt::format(
      "note: skipped {}: only pods are scheduled; provide {}\n", fmt::join(kinds, ", "),
      total == 1 ? "a Pod made from its template" : "Pods made from their templates");
}

std::string missing_nodes_note(const Cluster& cluster) {
  const PodColumns& pods = cluster.pods();
  std::uint64_t count = 0;
  for (const PodIndex pod : cluster.each_pod()) {
    if (!pods.node[pod].exists()) continue;
    if (!cluster.nodes().flags[pods.node[pod]].exists) ++count;
  }
  if (count == 0) return {};
  return count == 1
             ? std::string(
                   "note: 1 pod runs on a node that is not in the input; it is not counted\n")
             : fmt::format(
                   "note: {} pods run on nodes that are not in the input; they are not "
                   "counted\n",
                   grouped(count));
}

}  // namespace

std::string load_notes(const Loaded& loaded) {
  return skipped_note(loaded.statistics) + missing_nodes_note(loaded.cluster);
}

}  // namespace makeway::cli

#include "cli/load_notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/problem.hpp"
#include "cli/text.hpp"

namespace makeway::cli {
namespace {

/// "kubeflow.org/v1 TFJob"
bool is_unsupported(std::string_view name) {
  const std::size_t blank = name.rfind(' ');
  return blank != std::string_view::npos &&
         is_unsupported_workload(name.substr(0, blank), name.substr(blank + 1));
}

std::string unsupported_note(const LoadStatistics& statistics) {
  std::vector<std::string> kinds;
  std::uint64_t total = 0;
  for (const auto& [name, count] : statistics.skipped) {
    if (!is_unsupported(name)) continue;
    kinds.push_back(fmt::format("{} {}", grouped(count), printable(name)));
    total += count;
  }
  if (kinds.empty()) return {};
  return fmt::format("note: skipped {}: not supported yet; provide {}\n", fmt::join(kinds, ", "),
                     total == 1 ? "Pods made from its template" : "Pods made from their templates");
}

/// "a, b and 3 more"
std::string first_few(std::vector<std::string> names) {
  constexpr std::size_t shown_max = 5;
  const std::size_t others = names.size() > shown_max ? names.size() - shown_max : 0;
  if (others > 0) names.resize(shown_max);
  std::string text = fmt::format("{}", fmt::join(names, ", "));
  if (others > 0) text += fmt::format(" and {} more", grouped(others));
  return text;
}

/// Which pods were made, and which workloads make none.
std::string made_note(const Loaded& loaded) {
  std::vector<std::string> makers;
  std::vector<std::string> held;
  std::uint64_t total = 0;
  for (const WorkloadPods& workload : loaded.workloads) {
    const std::string object = shorten(workload.object(), 120);
    if (workload.made > 0) {
      makers.push_back(fmt::format("{} of {}", grouped(workload.made), object));
      total += workload.made;
    } else if (!workload.held.empty()) {
      held.push_back(fmt::format("{}: {}", object, workload.held));
    }
  }
  std::string text;
  if (total > 0) {
    text += fmt::format("note: made {} from templates: {}\n", counted(total, "pod"),
                        first_few(std::move(makers)));
  }
  if (!held.empty()) {
    text += fmt::format(
        "note: no pods made of {}; `makeway plan --ask KIND/NAMESPACE/NAME` plans "
        "one\n",
        first_few(std::move(held)));
  }
  return text;
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
  return made_note(loaded) + unsupported_note(loaded.statistics) +
         missing_nodes_note(loaded.cluster);
}

}  // namespace makeway::cli

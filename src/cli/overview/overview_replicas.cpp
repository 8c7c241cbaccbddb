// Planes, and deployments that are scaled per plane.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/checked_math.hpp"
#include "cli/amount.hpp"
#include "cli/overview/overview_sections.hpp"
#include "cli/text.hpp"
#include "model/names.hpp"
#include "model/planes.hpp"
#include "model/replica_priority.hpp"

namespace makeway::cli {
namespace {

/// Namespace, deployment, plane; outside of planes it is empty.
using ShareName = std::tuple<std::string_view, std::string_view, std::string>;

struct ReplicaCounts {
  std::uint64_t running = 0;
  std::uint64_t leaving = 0;
};

std::map<ShareName, ReplicaCounts> count_replicas(const Cluster& cluster) {
  std::map<ShareName, ReplicaCounts> counts;
  const auto key = cluster.strings().find(names::deployment);
  if (!key) return counts;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    if (!pods.node[pod].exists()) continue;
    const auto labels = cluster.labels(pods.labels[pod]);
    const auto label = std::ranges::find(labels, *key, &LabelPair::key);
    if (label == labels.end()) continue;
    ReplicaCounts& count =
        counts[{cluster.text(pods.namespace_name[pod]), cluster.text(label->value),
                plane_text(cluster, pods.node[pod])}];
    ++(pods.deletion[pod] == no_time ? count.running : count.leaving);
  }
  return counts;
}

/// The planes that the schedule lists, and those where pods of it are all the same.
std::map<std::string, const ReplicaPlane*> planes_of(
    const ReplicaSchedule& schedule, const std::map<ShareName, ReplicaCounts>& counts) {
  std::map<std::string, const ReplicaPlane*> planes;
  for (const ReplicaPlane& plane : schedule.planes) planes[plane.name] = &plane;
  const ShareName first{schedule.namespace_name, schedule.deployment, {}};
  for (auto at = counts.lower_bound(first); at != counts.end(); ++at) {
    const auto& [space, deployment, plane] = at->first;
    if (space != schedule.namespace_name || deployment != schedule.deployment) break;
    planes.try_emplace(plane, nullptr);
  }
  if (planes.empty()) planes.try_emplace("", nullptr);
  return planes;
}

void add_rows(const Cluster& cluster, const ReplicaSchedule& schedule,
              const std::map<ShareName, ReplicaCounts>& counts, Table& table) {
  bool first = true;
  for (const auto& [name, plane] : planes_of(schedule, counts)) {
    const auto found = counts.find({schedule.namespace_name, schedule.deployment, name});
    const ReplicaCounts count = found == counts.end() ? ReplicaCounts{} : found->second;
    const auto once = [&](std::string text) { return first ? std::move(text) : std::string(); };
    table.row({{.text = once(fmt::format("{}/{}", schedule.namespace_name, schedule.name))},
               {.text = once(fmt::format("{}", priority_of(cluster, schedule)))},
               {.text = name.empty() ? "-" : name},
               {.text = plane == nullptr ? "-" : fmt::format("{}", plane->committed)},
               {.text = grouped(count.running)},
               {.text = grouped(count.leaving)},
               {.text = once(fmt::format("{}", schedule.unmet)),
                .tone = schedule.unmet > 0 ? Tone::warning : Tone::plain},
               {.text = once(fmt::format("{}", schedule.status.claims.size()))}});
    first = false;
  }
}

}  // namespace

std::string plane_text(const Cluster& cluster, NodeIndex node) {
  const auto plane = replica_plane(cluster, node, cluster.strings().find(names::plane));
  return plane ? std::string(cluster.text(*plane)) : std::string();
}

std::string planes_section(const View& view) {
  struct Sum {
    std::uint64_t nodes = 0;
    std::uint64_t pods = 0;
    std::uint64_t leaving = 0;
    AmountRow allocatable;
    AmountRow used;
  };
  std::map<std::string, Sum> planes;
  for (const NodeUsage& node : view.nodes) {
    const std::string name = plane_text(view.cluster, node.node);
    if (name.empty()) continue;
    Sum& sum = planes[name];
    ++sum.nodes;
    sum.pods += view.cluster.nodes().pods[node.node];
    sum.leaving += view.cluster.nodes().leaving[node.node];
    sum.allocatable.resize(node.allocatable.size());
    sum.used.resize(node.used.size());
    for (std::size_t at = 0; at < node.used.size(); ++at) {
      sum.allocatable[at] = saturated_add(sum.allocatable[at], node.allocatable[at]);
      sum.used[at] = saturated_add(sum.used[at], node.used[at]);
    }
  }
  if (planes.empty()) return {};
  std::vector<Column> columns = {{.heading = "PLANE"},
                                 {.heading = "NODES", .align = Align::right},
                                 {.heading = "PODS", .align = Align::right},
                                 {.heading = "LEAVING", .align = Align::right}};
  for (const ShownResource& resource : view.columns) {
    columns.push_back({.heading = resource.heading, .align = Align::right});
  }
  Table table(std::move(columns));
  const std::size_t shown = rows_shown(view, planes.size());
  std::size_t listed = 0;
  for (const auto& [name, sum] : planes) {
    if (listed++ == shown) break;
    std::vector<Cell> cells = {{.text = name},
                               {.text = grouped(sum.nodes)},
                               {.text = grouped(sum.pods)},
                               {.text = grouped(sum.leaving)}};
    for (const ShownResource& resource : view.columns) {
      const std::uint32_t slot = resource.index.value;
      cells.push_back({.text = fmt::format("{}/{}", amount_text(resource.name, sum.used[slot]),
                                           amount_text(resource.name, sum.allocatable[slot]))});
    }
    table.row(std::move(cells));
  }
  return title(view, "Planes", "") + table.text(view.options.palette) +
         cut_line(shown, planes.size());
}

std::string replicas_section(const View& view) {
  const Cluster& cluster = view.cluster;
  std::vector<const ReplicaSchedule*> schedules;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) schedules.push_back(&schedule);
  if (schedules.empty()) return {};
  std::ranges::stable_sort(schedules, std::ranges::greater{}, [&](const ReplicaSchedule* item) {
    return priority_of(cluster, *item);
  });
  const std::size_t shown = rows_shown(view, schedules.size());
  const std::map<ShareName, ReplicaCounts> counts = count_replicas(cluster);
  Table table({{.heading = "REPLICA SCHEDULE"},
               {.heading = "PRIORITY", .align = Align::right},
               {.heading = "PLANE"},
               {.heading = "COMMITTED", .align = Align::right},
               {.heading = "RUNNING", .align = Align::right},
               {.heading = "LEAVING", .align = Align::right},
               {.heading = "UNMET", .align = Align::right},
               {.heading = "CLAIMS", .align = Align::right}});
  for (const ReplicaSchedule* item : std::span(schedules).first(shown)) {
    add_rows(cluster, *item, counts, table);
  }
  return title(view, "Replicas", " (most important first)") + table.text(view.options.palette) +
         cut_line(shown, schedules.size());
}

}  // namespace makeway::cli

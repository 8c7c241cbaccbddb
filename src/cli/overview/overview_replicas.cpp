// Deployments that are scaled per plane.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "cli/overview/overview_sections.hpp"
#include "cli/text.hpp"
#include "model/names.hpp"
#include "model/replica_priority.hpp"

namespace makeway::cli {
namespace {

using DeploymentName = std::pair<std::string_view, std::string_view>;

struct ReplicaCounts {
  std::uint64_t running = 0;
  std::uint64_t leaving = 0;
};

std::map<DeploymentName, ReplicaCounts> count_replicas(const Cluster& cluster) {
  std::map<DeploymentName, ReplicaCounts> counts;
  const auto key = cluster.strings().find(names::deployment);
  if (!key) return counts;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    if (!pods.node[pod].exists()) continue;
    const auto labels = cluster.labels(pods.labels[pod]);
    const auto label = std::ranges::find(labels, *key, &LabelPair::key);
    if (label == labels.end()) continue;
    ReplicaCounts& count =
        counts[{cluster.text(pods.namespace_name[pod]), cluster.text(label->value)}];
    ++(pods.deletion[pod] == no_time ? count.running : count.leaving);
  }
  return counts;
}

std::string planes_text(const ReplicaSchedule& schedule) {
  constexpr std::size_t planes_max = 5;
  std::vector<std::string> planes;
  for (const ReplicaPlane& plane : schedule.planes) {
    if (planes.size() == planes_max) break;
    planes.push_back(fmt::format("{} {}", plane.name, plane.committed));
  }
  std::string text = fmt::format("{}", fmt::join(planes, ", "));
  if (schedule.planes.size() > planes_max) text += ", ...";
  return text.empty() ? "-" : text;
}

}  // namespace

std::string replicas_section(const View& view) {
  const Cluster& cluster = view.cluster;
  std::vector<const ReplicaSchedule*> schedules;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) schedules.push_back(&schedule);
  if (schedules.empty()) return {};
  std::ranges::stable_sort(schedules, std::ranges::greater{}, [&](const ReplicaSchedule* item) {
    return priority_of(cluster, *item);
  });
  const std::size_t shown = rows_shown(view, schedules.size());
  auto counts = count_replicas(cluster);
  Table table({{.heading = "REPLICA SCHEDULE"},
               {.heading = "PRIORITY", .align = Align::right},
               {.heading = "COMMITTED"},
               {.heading = "RUNNING", .align = Align::right},
               {.heading = "LEAVING", .align = Align::right},
               {.heading = "UNMET", .align = Align::right},
               {.heading = "CLAIMS", .align = Align::right}});
  for (const ReplicaSchedule* item : std::span(schedules).first(shown)) {
    const ReplicaCounts& count = counts[{item->namespace_name, item->deployment}];
    table.row({{.text = fmt::format("{}/{}", item->namespace_name, item->name)},
               {.text = fmt::format("{}", priority_of(cluster, *item))},
               {.text = planes_text(*item)},
               {.text = grouped(count.running)},
               {.text = grouped(count.leaving)},
               {.text = fmt::format("{}", item->unmet),
                .tone = item->unmet > 0 ? Tone::warning : Tone::plain},
               {.text = fmt::format("{}", item->status.claims.size())}});
  }
  return title(view, "Replicas", " (most important first)") + table.text(view.options.palette) +
         cut_line(shown, schedules.size());
}

}  // namespace makeway::cli

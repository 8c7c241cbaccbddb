// Resource groups and their sessions in the overview of a cluster.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

#include "base/checked_math.hpp"
#include "cli/overview/overview.hpp"
#include "cli/text.hpp"
#include "model/names.hpp"
#include "model/planes.hpp"
#include "model/queue_membership.hpp"
#include "model/replica_priority.hpp"
#include "model/session_names.hpp"

namespace makeway::cli {
namespace {

using PhaseCounts = std::array<std::uint64_t, choice_names<SessionPhase>.size()>;

}  // namespace

std::string sessions_section(const View& view) {
  const Cluster& cluster = view.cluster;
  std::map<std::string_view, PhaseCounts> counts;
  std::map<std::string_view, std::uint64_t> partitions;
  for (const auto& [key, group] : cluster.own<ResourceGroup>()) counts[group.name] = {};
  for (const auto& [key, session] : cluster.own<Session>()) {
    ++counts[session.resource_group][static_cast<std::size_t>(session.status.phase)];
  }
  for (const auto& [key, partition] : cluster.own<Partition>()) {
    ++partitions[partition.resource_group];
  }
  if (counts.empty()) return {};
  std::vector<Column> columns = {{"RESOURCE GROUP"}};
  for (const std::string_view phase : choice_names<SessionPhase>) {
    std::string heading(phase);
    for (char& byte : heading) byte = static_cast<char>(byte - 'a' + 'A');
    columns.push_back({std::move(heading), Align::right});
  }
  columns.push_back({"PARTITIONS", Align::right});
  Table table(std::move(columns));
  const std::size_t shown = rows_shown(view, counts.size());
  std::size_t row = 0;
  for (const auto& [group, phases] : counts) {
    if (row++ == shown) break;
    std::vector<Cell> cells = {{std::string(group)}};
    for (const std::uint64_t count : phases) {
      cells.push_back({count == 0 ? std::string("-") : grouped(count)});
    }
    const std::uint64_t parts = partitions[group];
    cells.push_back({parts == 0 ? std::string("-") : grouped(parts)});
    table.row(std::move(cells));
  }
  return title(view, "Sessions", "") + table.text(view.options.palette) +
         cut_line(shown, counts.size());
}

// Planes, and deployments that are scaled per plane.

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
    table.row({{once(fmt::format("{}/{}", schedule.namespace_name, schedule.name))},
               {once(fmt::format("{}", priority_of(cluster, schedule)))},
               {name.empty() ? "-" : name},
               {plane == nullptr ? "-" : fmt::format("{}", plane->committed)},
               {grouped(count.running)},
               {grouped(count.leaving)},
               {once(fmt::format("{}", schedule.unmet)),
                schedule.unmet > 0 ? Tone::warning : Tone::plain},
               {once(fmt::format("{}", schedule.status.claims.size()))}});
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
  std::vector<Column> columns = {
      {"PLANE"}, {"NODES", Align::right}, {"PODS", Align::right}, {"LEAVING", Align::right}};
  for (const ShownResource& resource : view.columns) {
    columns.push_back({resource.heading, Align::right});
  }
  Table table(std::move(columns));
  const std::size_t shown = rows_shown(view, planes.size());
  std::size_t listed = 0;
  for (const auto& [name, sum] : planes) {
    if (listed++ == shown) break;
    std::vector<Cell> cells = {
        {name}, {grouped(sum.nodes)}, {grouped(sum.pods)}, {grouped(sum.leaving)}};
    for (const ShownResource& resource : view.columns) {
      const std::uint32_t slot = resource.index.value;
      cells.push_back({fmt::format("{}/{}", amount_text(resource.name, sum.used[slot]),
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
  Table table({{"REPLICA SCHEDULE"},
               {"PRIORITY", Align::right},
               {"PLANE"},
               {"COMMITTED", Align::right},
               {"RUNNING", Align::right},
               {"LEAVING", Align::right},
               {"UNMET", Align::right},
               {"CLAIMS", Align::right}});
  for (const ReplicaSchedule* item : std::span(schedules).first(shown)) {
    add_rows(cluster, *item, counts, table);
  }
  return title(view, "Replicas", " (most important first)") + table.text(view.options.palette) +
         cut_line(shown, schedules.size());
}

namespace {

/// The row of pods that are in no queue.
constexpr std::string_view outside = "(none)";

struct PodsOfQueue {
  std::uint64_t bound = 0;  ///< Leaving ones included, as in `used`.
  std::uint64_t pending = 0;
};

using PodsByQueue = std::map<std::string_view, PodsOfQueue>;

PodsByQueue pods_by_queue(const Cluster& cluster) {
  const QueueMembership membership(cluster, Configuration{});
  std::map<QueueRow, PodsOfQueue> by_row;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    PodsOfQueue& count = by_row[membership.of(pod)];
    if (pods.node[pod].exists()) {
      ++count.bound;
    } else if (pods.deletion[pod] == no_time) {
      ++count.pending;
    }
  }
  PodsByQueue by_name;
  QueueRow row{0};
  for (const auto& [key, queue] : cluster.own<Queue>()) by_name[queue.name] = by_row[{row.value++}];
  if (by_row.contains(QueueRow{})) by_name[outside] = by_row[QueueRow{}];
  return by_name;
}

/// "cpu 4, gpu 2"; "-" when nothing is said.
std::string amounts_text(const Amounts& amounts) {
  std::vector<std::string> parts;
  parts.reserve(amounts.size());
  for (const Amount& item : amounts) {
    parts.push_back(
        fmt::format("{} {}", short_name(item.resource), amount_text(item.resource, item.amount)));
  }
  return parts.empty() ? std::string("-") : fmt::format("{}", fmt::join(parts, ", "));
}

/// Columns that are empty throughout are left out.
struct QueueColumns {
  bool priority = false;
  bool guarantee = false;
  bool limit = false;
  bool preempting = false;
  bool kept = false;
};

QueueColumns queue_columns_of(const Cluster& cluster) {
  QueueColumns columns;
  for (const auto& [key, queue] : cluster.own<Queue>()) {
    columns.priority |= queue.priority != 0;
    columns.guarantee |= !queue.guarantee.empty();
    columns.limit |= !queue.limit.empty();
    columns.preempting |= !queue.preempting.empty();
    columns.kept |= !queue.reclaimable;
  }
  return columns;
}

Table table_of(const QueueColumns& columns) {
  std::vector<Column> headings = {{"QUEUE"}, {"WEIGHT", Align::right}};
  if (columns.priority) headings.push_back({"PRIORITY", Align::right});
  headings.push_back({"BOUND", Align::right});
  headings.push_back({"PENDING", Align::right});
  if (columns.guarantee) headings.push_back({"GUARANTEE"});
  if (columns.limit) headings.push_back({"LIMIT"});
  headings.push_back({"ALLOCATED"});
  if (columns.preempting) headings.push_back({"PREEMPTING"});
  if (columns.kept) headings.push_back({""});
  return Table(std::move(headings));
}

std::vector<Cell> queue_cells(const Queue& queue, std::size_t depth, const PodsOfQueue& pods,
                              const QueueColumns& columns) {
  std::vector<Cell> cells = {{indented(queue.name, depth)}, {fmt::format("{}", queue.weight)}};
  if (columns.priority) cells.push_back({fmt::format("{}", queue.priority)});
  cells.push_back({grouped(pods.bound)});
  cells.push_back({grouped(pods.pending), pods.pending > 0 ? Tone::warning : Tone::plain});
  if (columns.guarantee) cells.push_back({amounts_text(queue.guarantee)});
  if (columns.limit) cells.push_back({amounts_text(queue.limit)});
  cells.push_back({amounts_text(queue.allocated)});
  if (columns.preempting) cells.push_back({amounts_text(queue.preempting)});
  if (columns.kept) cells.push_back({queue.reclaimable ? "" : "not reclaimable"});
  return cells;
}

/// Parents show the pods of all queues below them.
void add_up(const std::vector<const Queue*>& queues, const std::vector<QueueLine>& rows,
            PodsByQueue& pods) {
  for (const QueueLine& row : std::views::reverse(rows)) {  // Children before their parents.
    const Queue& queue = *queues[row.position];
    if (row.depth == 0) continue;
    const PodsOfQueue own = pods[queue.name];
    PodsOfQueue& above = pods[queue.parent];
    above.bound += own.bound;
    above.pending += own.pending;
  }
}

}  // namespace

std::string queues_section(const View& view) {
  const Cluster& cluster = view.cluster;
  if (cluster.own<Queue>().empty()) return {};
  PodsByQueue pods = pods_by_queue(cluster);
  std::vector<const Queue*> queues;
  for (const auto& [key, queue] : cluster.own<Queue>()) queues.push_back(&queue);
  std::vector<QueueName> names;
  names.reserve(queues.size());
  for (const Queue* const queue : queues) names.push_back({queue->name, queue->parent});
  const std::vector<QueueLine> rows = queue_lines(names);
  add_up(queues, rows, pods);
  const QueueColumns columns = queue_columns_of(cluster);
  Table table = table_of(columns);
  const std::size_t shown = rows_shown(view, rows.size());
  for (const QueueLine& row : std::span(rows).first(shown)) {
    const Queue& queue = *queues[row.position];
    table.row(queue_cells(queue, row.depth, pods[queue.name], columns));
  }
  const auto others = pods.find(outside);
  if (others != pods.end()) {
    std::vector<Cell> cells =
        queue_cells({.name = std::string(outside)}, 0, others->second, columns);
    cells[1].text = "-";
    table.row(std::move(cells));
  }
  return title(view, "Queues", {}) + table.text(view.options.palette) +
         cut_line(shown, rows.size());
}

}  // namespace makeway::cli

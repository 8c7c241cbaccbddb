#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "cli/amount.hpp"
#include "cli/overview/overview_sections.hpp"
#include "cli/overview/queue_tree.hpp"
#include "cli/text.hpp"
#include "model/queue_membership.hpp"

namespace makeway::cli {
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

QueueColumns columns_of(const Cluster& cluster) {
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
  std::vector<Column> headings = {{.heading = "QUEUE"},
                                  {.heading = "WEIGHT", .align = Align::right}};
  if (columns.priority) headings.push_back({.heading = "PRIORITY", .align = Align::right});
  headings.push_back({.heading = "BOUND", .align = Align::right});
  headings.push_back({.heading = "PENDING", .align = Align::right});
  if (columns.guarantee) headings.push_back({.heading = "GUARANTEE"});
  if (columns.limit) headings.push_back({.heading = "LIMIT"});
  headings.push_back({.heading = "ALLOCATED"});
  if (columns.preempting) headings.push_back({.heading = "PREEMPTING"});
  if (columns.kept) headings.push_back({.heading = ""});
  return Table(std::move(headings));
}

std::vector<Cell> queue_cells(const Queue& queue, std::size_t depth, const PodsOfQueue& pods,
                              const QueueColumns& columns) {
  std::vector<Cell> cells = {{.text = indented(queue.name, depth)},
                             {.text = fmt::format("{}", queue.weight)}};
  if (columns.priority) cells.push_back({.text = fmt::format("{}", queue.priority)});
  cells.push_back({.text = grouped(pods.bound)});
  cells.push_back(
      {.text = grouped(pods.pending), .tone = pods.pending > 0 ? Tone::warning : Tone::plain});
  if (columns.guarantee) cells.push_back({.text = amounts_text(queue.guarantee)});
  if (columns.limit) cells.push_back({.text = amounts_text(queue.limit)});
  cells.push_back({.text = amounts_text(queue.allocated)});
  if (columns.preempting) cells.push_back({.text = amounts_text(queue.preempting)});
  if (columns.kept) cells.push_back({.text = queue.reclaimable ? "" : "not reclaimable"});
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
  const QueueColumns columns = columns_of(cluster);
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

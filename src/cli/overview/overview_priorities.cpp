#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/checked_math.hpp"
#include "cli/amount.hpp"
#include "cli/overview/overview_sections.hpp"
#include "cli/text.hpp"
#include "model/names.hpp"

namespace makeway::cli {
namespace {

struct PriorityRow {
  std::uint64_t bound = 0;
  std::uint64_t pending = 0;
  AmountRow used;
};

/// Bound pods count where they may be victims, pending ones where they ask.
std::map<std::int32_t, PriorityRow, std::greater<>> rows_by_priority(const View& view) {
  std::map<std::int32_t, PriorityRow, std::greater<>> rows;
  const Cluster& cluster = view.cluster;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    const Unit& unit = cluster.units()[pods.unit[pod]];
    if (!pods.node[pod].exists()) {
      ++rows[unit.scheduling_priority].pending;
      continue;
    }
    PriorityRow& row = rows[unit.preemption_priority];
    ++row.bound;
    row.used.resize(cluster.resources().size());
    if (!cluster.nodes().flags[pods.node[pod]].exists) continue;
    for (const ResourceAmount& item : cluster.requests(pods.requests[pod])) {
      std::int64_t& sum = row.used[item.resource.value];
      sum = saturated_add(sum, item.amount);
    }
  }
  return rows;
}

std::map<std::int32_t, std::vector<std::string_view>> names_by_value(const Cluster& cluster) {
  std::map<std::int32_t, std::vector<std::string_view>> names;
  for (const PriorityClass* item : cluster.priority_classes()) {
    names[item->value].push_back(item->name);
  }
  for (const std::string_view built_in : {names::node_critical, names::cluster_critical}) {
    const PriorityClass* const item = cluster.find_priority_class(built_in);
    if (item == nullptr) continue;
    std::vector<std::string_view>& known = names[item->value];
    if (std::ranges::find(known, built_in) == known.end()) known.push_back(built_in);
  }
  return names;
}

std::string amount_or_dash(const ShownResource& resource, std::int64_t amount) {
  return amount == 0 ? std::string("-") : amount_text(resource.name, amount);
}

/// What an ask above this priority could find if it and everything below left.
std::int64_t free_above(const View& view, std::int32_t priority, ResourceIndex resource) {
  std::int64_t sum = 0;
  for (const NodeUsage& node : view.nodes) {
    const std::span<const std::int32_t> all = view.cluster.order().priorities(node.node);
    const auto stays =
        std::ranges::partition_point(all, [&](std::int32_t other) { return other > priority; });
    const auto count = static_cast<std::size_t>(stays - all.begin());
    sum = saturated_add(sum, left_with_first(view, node, count, resource));
  }
  return sum;
}

}  // namespace

std::string priorities_section(const View& view) {
  const auto rows = rows_by_priority(view);
  if (rows.empty()) return {};
  const auto names = names_by_value(view.cluster);
  std::vector<Column> columns = {{.heading = "PRIORITY", .align = Align::right},
                                 {.heading = "CLASS"},
                                 {.heading = "BOUND", .align = Align::right},
                                 {.heading = "PENDING", .align = Align::right}};
  // Without nodes nothing is used and nothing can be freed.
  const std::vector<ShownResource> shown_resources =
      view.nodes.empty() ? std::vector<ShownResource>{} : view.columns;
  for (int pass = 0; pass < 2; ++pass) {
    for (const ShownResource& resource : shown_resources) {
      columns.push_back({.heading = resource.heading, .align = Align::right});
    }
  }
  const std::size_t fixed = 4;
  Table table(std::move(columns));
  if (!shown_resources.empty()) {
    table.band(fixed, "USED BY THEM");
    table.band(fixed + shown_resources.size(), "FREE WITHOUT THEM AND ALL BELOW");
  }
  const std::size_t shown = rows_shown(view, rows.size());
  std::size_t count = 0;
  for (const auto& [priority, row] : rows) {
    if (count++ == shown) break;
    const auto found = names.find(priority);
    std::vector<Cell> cells = {
        {.text = fmt::format("{}", priority)},
        {.text = found == names.end() ? "-" : fmt::format("{}", fmt::join(found->second, ", "))},
        {.text = row.bound == 0 ? "-" : grouped(row.bound)},
        {.text = row.pending == 0 ? "-" : grouped(row.pending)}};
    for (const ShownResource& resource : shown_resources) {
      const std::int64_t used = row.used.empty() ? 0 : row.used[resource.index.value];
      cells.push_back({.text = amount_or_dash(resource, used)});
    }
    for (const ShownResource& resource : shown_resources) {
      cells.push_back({.text = amount_or_dash(resource, free_above(view, priority, resource.index)),
                       .tone = Tone::good});
    }
    table.row(std::move(cells));
  }
  return title(view, "Priorities", " (highest first)") + table.text(view.options.palette) +
         cut_line(shown, rows.size());
}

}  // namespace makeway::cli

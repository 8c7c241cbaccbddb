#include "cli/overview/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/checked_math.hpp"
#include "cli/amount.hpp"
#include "cli/overview/overview_sections.hpp"
#include "cli/text.hpp"
#include "codec/quantity.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t columns_max = 6;
constexpr std::size_t bar_width = 24;

std::int64_t at(const AmountRow& row, ResourceIndex resource) {
  return resource.value < row.size() ? row[resource.value] : 0;
}

void add(AmountRow& sum, ResourceIndex resource, std::int64_t amount) {
  if (sum.size() <= resource.value) sum.resize(resource.value + 1);
  sum[resource.value] = saturated_add(sum[resource.value], amount);
}

/// What pods ask for, bound or pending.
AmountRow asked_for(const Cluster& cluster) {
  AmountRow sum(cluster.resources().size());
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_row()) {
    for (const ResourceAmount& item : cluster.requests(pods.requests[pod])) {
      add(sum, item.resource, item.amount);
    }
  }
  return sum;
}

/// The four common resources first, then the others by name.
std::vector<ShownResource> resources_by_name(const Cluster& cluster) {
  std::vector<ShownResource> all;
  std::map<std::string_view, int> short_names;
  for (std::uint32_t slot = 0; slot < cluster.resources().size(); ++slot) {
    const std::string_view name = cluster.resources().name(ResourceIndex{slot});
    ++short_names[short_name(name)];
    all.push_back({.index = ResourceIndex{slot}, .name = std::string(name), .heading = {}});
  }
  for (ShownResource& resource : all) {
    const std::string_view shown = short_name(resource.name);
    std::string heading = short_names[shown] > 1 ? resource.name : std::string(shown);
    std::ranges::transform(heading, heading.begin(), [](unsigned char byte) {
      return static_cast<char>(std::toupper(byte));
    });
    resource.heading = printable(heading);
  }
  std::ranges::sort(all, [](const ShownResource& a, const ShownResource& b) {
    const auto rank = [](const ShownResource& resource) {
      return std::min(resource.index.value, resource_pods.value + 1);
    };
    return std::pair(rank(a), std::string_view(a.name)) <
           std::pair(rank(b), std::string_view(b.name));
  });
  return all;
}

void choose_resources(View& view) {
  const AmountRow asked = asked_for(view.cluster);
  for (const ShownResource& resource : resources_by_name(view.cluster)) {
    const bool wanted = at(asked, resource.index) > 0;
    if (!wanted && at(view.allocatable, resource.index) == 0) continue;
    view.resources.push_back(resource);
    const bool always = resource.index == resource_cpu || resource.index == resource_memory;
    const bool shown = resource.index != resource_pods && (wanted || always);
    if (shown && view.columns.size() < columns_max) view.columns.push_back(resource);
  }
}

void add_node(View& view, NodeIndex node) {
  const Cluster& cluster = view.cluster;
  NodeUsage usage{.node = node, .allocatable = AmountRow(cluster.resources().size()), .used = {}};
  for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
    add(usage.allocatable, item.resource, item.amount);
    add(view.allocatable, item.resource, item.amount);
  }
  const std::span<const std::int64_t> used = cluster.order().used(node);
  usage.used.assign(used.begin(), used.end());
  usage.used.resize(cluster.resources().size());
  for (std::uint32_t slot = 0; slot < usage.used.size(); ++slot) {
    const ResourceIndex resource{slot};
    add(view.used, resource, usage.used[slot]);
    add(view.free, resource,
        std::max<std::int64_t>(0,
                               saturated_sub(at(usage.allocatable, resource), usage.used[slot])));
  }
  view.nodes.push_back(std::move(usage));
}

void find_fullest(const View& view, NodeUsage& node) {
  for (std::size_t i = 0; i < view.columns.size(); ++i) {
    const ResourceIndex resource = view.columns[i].index;
    const std::int64_t permille =
        share_permille(at(node.used, resource), at(node.allocatable, resource));
    if (permille <= node.full_permille) continue;
    node.full_permille = permille;
    node.fullest = i;
  }
}

struct PodCounts {
  std::uint64_t bound = 0;
  std::uint64_t pending = 0;
  std::uint64_t leaving = 0;
};

PodCounts count_pods(const Cluster& cluster) {
  PodCounts counts;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    if (pods.deletion[pod] != no_time) {
      ++counts.leaving;
    } else if (pods.node[pod].exists()) {
      ++counts.bound;
    } else {
      ++counts.pending;
    }
  }
  return counts;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t shown_in_full = 1'024;
  if (bytes < shown_in_full) return counted(bytes, "byte");
  return human_bytes(static_cast<std::int64_t>(bytes));
}

std::string header(const Loaded& loaded, const OverviewOptions& options) {
  const Cluster& cluster = loaded.cluster;
  const PodCounts pods = count_pods(cluster);
  const std::string counts =
      fmt::format("{}, {} ({} bound, {} pending, {} leaving), {}, {}, {}",
                  counted(cluster.node_count(), "node"), counted(cluster.pod_count(), "pod"),
                  grouped(pods.bound), grouped(pods.pending), grouped(pods.leaving),
                  counted(cluster.groups_by_name().size(), "group"),
                  counted(cluster.budgets().size(), "budget"),
                  counted(cluster.priority_classes().size(), "priority class", "priority classes"));
  const LoadStatistics& statistics = loaded.statistics;
  std::string read = fmt::format("{} in {} ({})", counted(statistics.objects, "object"),
                                 counted(statistics.files, "file"), size_text(statistics.bytes));
  if (statistics.finished_pods > 0) {
    read += fmt::format("; {} left out", counted(statistics.finished_pods, "finished pod"));
  }
  std::string_view separator = "; skipped: ";
  for (const auto& [kind, count] : statistics.skipped) {
    read += fmt::format("{}{} {}", separator, grouped(count), kind);
    separator = ", ";
  }
  return fmt::format("{}\n{}\n", options.palette.paint(counts, Tone::strong),
                     options.palette.paint(read, Tone::dim));
}

std::string resources_section(const View& view) {
  if (view.nodes.empty()) return {};
  Table table({{.heading = "RESOURCE"},
               {.heading = "USED", .align = Align::right},
               {.heading = "ALLOCATABLE", .align = Align::right},
               {.heading = "FREE", .align = Align::right},
               {.heading = "", .align = Align::right},
               {.heading = ""}});
  for (const ShownResource& resource : view.resources) {
    const std::int64_t used = at(view.used, resource.index);
    const std::int64_t allocatable = at(view.allocatable, resource.index);
    const std::int64_t percent = percent_of(used, allocatable);
    const auto text = [&](std::int64_t amount) { return amount_text(resource.name, amount); };
    table.row({{.text = resource.name},
               {.text = text(used)},
               {.text = text(allocatable)},
               {.text = text(at(view.free, resource.index))},
               {.text = fmt::format("{}%", percent), .tone = tone_of_percent(percent)},
               {.text = bar(used, allocatable, bar_width, view.options.palette.ascii_only()),
                .tone = tone_of_percent(percent)}});
  }
  const bool any_cordoned = std::ranges::any_of(view.nodes, [&](const NodeUsage& node) {
    return view.cluster.nodes().flags[node.node].unschedulable;
  });
  return title(view, "Resources", any_cordoned ? " (cordoned nodes included)" : "") +
         table.text(view.options.palette);
}

}  // namespace

View view_of(const Cluster& cluster, const OverviewOptions& options) {
  View view{
      .cluster = cluster, .options = options, .regimes = Regimes(cluster, options.configuration)};
  for (AmountRow* row : {&view.allocatable, &view.used, &view.free}) {
    row->resize(cluster.resources().size());
  }
  for (const NodeIndex node : cluster.nodes_by_name()) add_node(view, node);
  choose_resources(view);
  for (NodeUsage& node : view.nodes) find_fullest(view, node);
  return view;
}

std::int64_t left_with_first(const View& view, const NodeUsage& node, std::size_t count,
                             ResourceIndex resource) {
  const std::span<const std::int64_t> used = view.cluster.order().used_by_first(node.node, count);
  const std::int64_t held = resource.value < used.size() ? used[resource.value] : 0;
  return std::max<std::int64_t>(0, saturated_sub(at(node.allocatable, resource), held));
}

std::string title(const View& view, std::string_view name, std::string_view remark) {
  return fmt::format("\n{}{}\n", view.options.palette.paint(name, Tone::strong), remark);
}

std::size_t rows_shown(const View& view, std::size_t rows) {
  return view.options.all ? rows : std::min(rows, rows_max);
}

std::string cut_line(std::size_t shown, std::size_t rows) {
  if (shown >= rows) return {};
  return fmt::format("  ... and {} more (--all lists them)\n", grouped(rows - shown));
}

Tone tone_of_percent(std::int64_t percent) {
  constexpr std::int64_t tight = 75;
  constexpr std::int64_t full = 90;
  if (percent >= full) return Tone::bad;
  return percent >= tight ? Tone::warning : Tone::good;
}

std::string overview_text(const Loaded& loaded, const OverviewOptions& options) {
  const View view = view_of(loaded.cluster, options);
  std::string text = header(loaded, options);
  for (const auto& section :
       {resources_section, nodes_section, priorities_section, groups_section, queues_section,
        budgets_section, planes_section, replicas_section, sessions_section, pending_section}) {
    text += section(view);
  }
  return text;
}

}  // namespace makeway::cli

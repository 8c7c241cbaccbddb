#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/checked_math.hpp"
#include "cli/amount.hpp"
#include "cli/overview/overview_sections.hpp"
#include "cli/text.hpp"
#include "model/cordon.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t kinds_max = 10;
constexpr std::size_t fullest_max = 10;

std::string_view effect_text(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::no_schedule: return "NoSchedule";
    case TaintEffect::prefer_no_schedule: return "PreferNoSchedule";
    case TaintEffect::no_execute: return "NoExecute";
  }
  return "";
}

bool is_cordoned(const Cluster& cluster, NodeIndex node) {
  return cluster.nodes().flags[node].unschedulable;
}

/// "open", or what keeps pods away.
std::string state_text(const Cluster& cluster, NodeIndex node) {
  std::vector<std::string> parts;
  if (is_cordoned(cluster, node)) parts.emplace_back("cordoned");
  for (const Taint& taint : cluster.taints(cluster.nodes().taints[node])) {
    if (taint.key == names::cordon_taint && !parts.empty()) continue;
    parts.push_back(fmt::format("{}{}{}:{}", taint.key, taint.value.empty() ? "" : "=", taint.value,
                                effect_text(taint.effect)));
  }
  return parts.empty() ? std::string("open") : fmt::format("{}", fmt::join(parts, ", "));
}

Tone state_tone(const Cluster& cluster, NodeIndex node) {
  return is_cordoned(cluster, node) ? Tone::warning : Tone::plain;
}

std::string fullest_text(const View& view, const NodeUsage& node) {
  if (node.full_permille == 0) return "-";
  return fmt::format("{}% {}", std::min<std::int64_t>((node.full_permille + 5) / 10, 999),
                     short_name(view.columns[node.fullest].name));
}

/// Empty for a resource that the node neither has nor gives.
Ratio usage_ratio(const ShownResource& resource, const NodeUsage& node) {
  const std::int64_t used = node.used[resource.index.value];
  const std::int64_t allocatable = node.allocatable[resource.index.value];
  if (used == 0 && allocatable == 0) return {};
  return {.part = amount_text(resource.name, used),
          .whole = amount_text(resource.name, allocatable)};
}

std::string regime_text(const View& view, NodeIndex node) {
  return std::string(choice_name(view.regimes.of(node)));
}

/// "2 of sessions, 1 of replicas"; empty: all are of pods.
std::string regimes_text(const View& view) {
  std::vector<std::string> parts;
  for (const Regime regime : {Regime::sessions, Regime::replicas}) {
    const auto count = std::ranges::count_if(
        view.nodes, [&](const NodeUsage& node) { return view.regimes.of(node.node) == regime; });
    if (count == 0) continue;
    parts.push_back(
        fmt::format("{} of {}", grouped(static_cast<std::uint64_t>(count)), choice_name(regime)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// One line per node, in the order given.
std::string node_table(const View& view, std::span<const NodeUsage* const> nodes) {
  const Cluster& cluster = view.cluster;
  const bool any_leaving = std::ranges::any_of(
      nodes, [&](const NodeUsage* node) { return cluster.nodes().leaving[node->node] > 0; });
  const bool planes = std::ranges::any_of(
      nodes, [&](const NodeUsage* node) { return !plane_text(cluster, node->node).empty(); });
  std::vector<Column> columns = {{.heading = "NODE"}};
  if (planes) columns.push_back({.heading = "PLANE"});
  columns.push_back({.heading = "STATE"});
  if (view.regimes.mixed()) columns.push_back({.heading = "REGIME"});
  columns.push_back({.heading = "PODS", .align = Align::right});
  if (any_leaving) columns.push_back({.heading = "LEAVING", .align = Align::right});
  std::vector<std::vector<Ratio>> ratios(view.columns.size() + 1);
  for (const NodeUsage* node : nodes) {
    ratios[0].push_back({.part = fmt::format("{}", cluster.nodes().pods[node->node]),
                         .whole = fmt::format("{}", node->allocatable[resource_pods.value])});
    for (std::size_t i = 0; i < view.columns.size(); ++i) {
      const ShownResource& resource = view.columns[i];
      ratios[i + 1].push_back(usage_ratio(resource, *node));
    }
  }
  std::vector<std::vector<std::string>> texts;
  texts.reserve(ratios.size());
  for (const std::vector<Ratio>& column : ratios) texts.push_back(aligned_ratios(column));
  for (const ShownResource& resource : view.columns) {
    columns.push_back({.heading = resource.heading, .align = Align::right});
  }
  columns.push_back({.heading = "FULLEST", .align = Align::right});
  Table table(std::move(columns));
  for (std::size_t row = 0; row < nodes.size(); ++row) {
    const NodeUsage& node = *nodes[row];
    std::vector<Cell> cells = {
        {.text = std::string(cluster.text(cluster.nodes().name[node.node]))}};
    if (planes) {
      const std::string plane = plane_text(cluster, node.node);
      cells.push_back({.text = plane.empty() ? "-" : plane});
    }
    cells.push_back(
        {.text = state_text(cluster, node.node), .tone = state_tone(cluster, node.node)});
    if (view.regimes.mixed()) cells.push_back({.text = regime_text(view, node.node)});
    cells.push_back({.text = texts[0][row]});
    if (any_leaving) {
      const std::uint32_t leaving = cluster.nodes().leaving[node.node];
      cells.push_back({.text = leaving == 0 ? "-" : fmt::format("{}", leaving)});
    }
    for (std::size_t i = 1; i < texts.size(); ++i) cells.push_back({.text = texts[i][row]});
    cells.push_back(
        {.text = fullest_text(view, node), .tone = tone_of_percent((node.full_permille + 5) / 10)});
    table.row(std::move(cells));
  }
  return table.text(view.options.palette);
}

/// Nodes that have the same and take the same, put together.
struct NodeKind {
  const NodeUsage* first = nullptr;  ///< By name.
  std::uint64_t count = 0;
  std::uint64_t pods = 0;
  AmountRow allocatable;
  AmountRow used;
};

std::vector<NodeKind> kinds_of(const View& view) {
  using Key = std::tuple<RequestId, TaintSetId, bool, Regime>;
  std::map<Key, NodeKind> kinds;  // Its order is that of ids, so it is sorted below.
  const NodeColumns& columns = view.cluster.nodes();
  for (const NodeUsage& node : view.nodes) {
    NodeKind& kind = kinds[Key{columns.allocatable[node.node], columns.taints[node.node],
                               columns.flags[node.node].unschedulable, view.regimes.of(node.node)}];
    if (kind.first == nullptr) kind.first = &node;
    ++kind.count;
    kind.pods += columns.pods[node.node];
    kind.allocatable.resize(node.allocatable.size());
    kind.used.resize(node.used.size());
    for (std::size_t i = 0; i < node.used.size(); ++i) {
      kind.allocatable[i] = saturated_add(kind.allocatable[i], node.allocatable[i]);
      kind.used[i] = saturated_add(kind.used[i], node.used[i]);
    }
  }
  std::vector<NodeKind> sorted;
  sorted.reserve(kinds.size());
  for (auto& [key, kind] : kinds) sorted.push_back(std::move(kind));
  std::ranges::sort(sorted, [&](const NodeKind& a, const NodeKind& b) {
    const auto name = [&](const NodeKind& kind) {
      return view.cluster.text(columns.name[kind.first->node]);
    };
    return std::tuple(b.count, name(a)) < std::tuple(a.count, name(b));
  });
  return sorted;
}

std::string kinds_table(const View& view) {
  std::vector<Column> columns = {
      {.heading = "NODES", .align = Align::right}, {.heading = "FIRST"}, {.heading = "STATE"}};
  if (view.regimes.mixed()) columns.push_back({.heading = "REGIME"});
  columns.push_back({.heading = "EACH HAS"});
  columns.push_back({.heading = "PODS", .align = Align::right});
  for (const ShownResource& resource : view.columns) {
    columns.push_back({.heading = resource.heading, .align = Align::right});
  }
  Table table(std::move(columns));
  const std::vector<NodeKind> kinds = kinds_of(view);
  const std::size_t shown = std::min(kinds.size(), kinds_max);
  for (const NodeKind& kind : std::span(kinds).first(shown)) {
    const NodeIndex first = kind.first->node;
    std::vector<std::string> has;
    for (const ShownResource& resource : view.columns) {
      const std::int64_t amount = kind.first->allocatable[resource.index.value];
      if (amount == 0) continue;
      has.push_back(
          fmt::format("{} {}", amount_text(resource.name, amount), short_name(resource.name)));
    }
    std::vector<Cell> cells = {
        {.text = grouped(kind.count)},
        {.text = std::string(view.cluster.text(view.cluster.nodes().name[first]))},
        {.text = state_text(view.cluster, first), .tone = state_tone(view.cluster, first)}};
    if (view.regimes.mixed()) cells.push_back({.text = regime_text(view, first)});
    cells.push_back({.text = fmt::format("{}", fmt::join(has, ", "))});
    cells.push_back({.text = grouped(kind.pods)});
    for (const ShownResource& resource : view.columns) {
      const std::uint32_t slot = resource.index.value;
      const std::int64_t percent = percent_of(kind.used[slot], kind.allocatable[slot]);
      cells.push_back({.text = kind.allocatable[slot] == 0 ? "-" : fmt::format("{}%", percent),
                       .tone = tone_of_percent(percent)});
    }
    table.row(std::move(cells));
  }
  std::string text = table.text(view.options.palette);
  if (shown < kinds.size()) {
    text += fmt::format("  ... and {} more kinds of nodes\n", grouped(kinds.size() - shown));
  }
  return text;
}

/// How many nodes are how full, by their fullest resource.
std::string fullness_table(const View& view) {
  struct Bucket {
    std::string_view name;
    std::int64_t permille_min;
    std::uint64_t count = 0;
  };
  std::array buckets = {Bucket{"over 100%", 1'001}, Bucket{"90 to 100%", 900},
                        Bucket{"75 to 90%", 750},   Bucket{"50 to 75%", 500},
                        Bucket{"25 to 50%", 250},   Bucket{"up to 25%", 1},
                        Bucket{"empty", 0}};
  for (const NodeUsage& node : view.nodes) {
    const auto bucket = std::ranges::find_if(buckets, [&](const Bucket& candidate) {
      return node.full_permille >= candidate.permille_min;
    });
    ++bucket->count;
  }
  Table table({{.heading = "FULLEST RESOURCE"},
               {.heading = "NODES", .align = Align::right},
               {.heading = ""}});
  constexpr std::size_t bar_width = 24;
  for (const Bucket& bucket : buckets) {
    if (bucket.count == 0) continue;
    table.row({{.text = std::string(bucket.name)},
               {.text = grouped(bucket.count)},
               {.text = bar(static_cast<std::int64_t>(bucket.count),
                            static_cast<std::int64_t>(view.nodes.size()), bar_width,
                            view.options.palette.ascii_only()),
                .tone = Tone::dim}});
  }
  return table.text(view.options.palette);
}

/// Pods that name nodes which are not there hold room nowhere; say so.
std::string missing_nodes_line(const View& view) {
  const NodeColumns& nodes = view.cluster.nodes();
  std::uint64_t missing = 0;
  std::uint64_t pods = 0;
  for (std::uint32_t slot = 0; slot < nodes.slots(); ++slot) {
    const NodeIndex node{slot};
    if (!nodes.flags[node].used || nodes.flags[node].exists || nodes.pods[node] == 0) continue;
    ++missing;
    pods += nodes.pods[node];
  }
  if (missing == 0) return {};
  return fmt::format("  {} bound to {} not in the input; not counted above\n",
                     counted(pods, "pod is", "pods are"),
                     counted(missing, "node that is", "nodes that are"));
}

}  // namespace

std::string nodes_section(const View& view) {
  if (view.nodes.empty()) return {};
  const auto cordoned = std::ranges::count_if(
      view.nodes, [&](const NodeUsage& node) { return is_cordoned(view.cluster, node.node); });
  std::vector<std::string> remarks;
  if (cordoned > 0) {
    remarks.push_back(fmt::format("{} cordoned", grouped(static_cast<std::uint64_t>(cordoned))));
  }
  if (std::string regimes = regimes_text(view); !regimes.empty()) {
    remarks.push_back(std::move(regimes));
  }
  std::string text =
      title(view, "Nodes",
            remarks.empty() ? std::string{} : fmt::format(" ({})", fmt::join(remarks, "; ")));
  std::vector<const NodeUsage*> order;
  order.reserve(view.nodes.size());
  for (const NodeUsage& node : view.nodes) order.push_back(&node);
  if (rows_shown(view, order.size()) == order.size()) {
    return text + node_table(view, order) + missing_nodes_line(view);
  }
  std::ranges::stable_sort(order, std::ranges::greater{}, &NodeUsage::full_permille);
  order.resize(fullest_max);
  text += kinds_table(view) + "\n" + fullness_table(view);
  text += fmt::format("\n  The {} fullest (--all lists every node):\n{}", fullest_max,
                      node_table(view, order));
  return text + missing_nodes_line(view);
}

}  // namespace makeway::cli

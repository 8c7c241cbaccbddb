#include "cli/overview/overview.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <tuple>

#include "base/checked_math.hpp"
#include "codec/quantity.hpp"
#include "model/cordon.hpp"
#include "model/names.hpp"
#include "model/selector.hpp"

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
  std::vector<Column> columns = {
      {"PRIORITY", Align::right}, {"CLASS"}, {"BOUND", Align::right}, {"PENDING", Align::right}};
  // Without nodes nothing is used and nothing can be freed.
  const std::vector<ShownResource> shown_resources =
      view.nodes.empty() ? std::vector<ShownResource>{} : view.columns;
  for (int pass = 0; pass < 2; ++pass) {
    for (const ShownResource& resource : shown_resources) {
      columns.push_back({resource.heading, Align::right});
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
        {fmt::format("{}", priority)},
        {found == names.end() ? "-" : fmt::format("{}", fmt::join(found->second, ", "))},
        {row.bound == 0 ? "-" : grouped(row.bound)},
        {row.pending == 0 ? "-" : grouped(row.pending)}};
    for (const ShownResource& resource : shown_resources) {
      const std::int64_t used = row.used.empty() ? 0 : row.used[resource.index.value];
      cells.push_back({amount_or_dash(resource, used)});
    }
    for (const ShownResource& resource : shown_resources) {
      cells.push_back(
          {amount_or_dash(resource, free_above(view, priority, resource.index)), Tone::good});
    }
    table.row(std::move(cells));
  }
  return title(view, "Priorities", " (highest first)") + table.text(view.options.palette) +
         cut_line(shown, rows.size());
}

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
  for (const std::string_view regime : choice_names<Regime>) {
    const auto count = std::ranges::count_if(view.nodes, [&](const NodeUsage& node) {
      return choice_name(view.regimes.of(node.node)) == regime;
    });
    if (count == 0 || regime == choice_name(Regime::pods)) continue;
    parts.push_back(fmt::format("{} of {}", grouped(static_cast<std::uint64_t>(count)), regime));
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
  std::vector<Column> columns = {{"NODE"}};
  if (planes) columns.push_back({"PLANE"});
  columns.push_back({"STATE"});
  if (view.regimes.mixed()) columns.push_back({"REGIME"});
  columns.push_back({"PODS", Align::right});
  if (any_leaving) columns.push_back({"LEAVING", Align::right});
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
    columns.push_back({resource.heading, Align::right});
  }
  columns.push_back({"FULLEST", Align::right});
  Table table(std::move(columns));
  for (std::size_t row = 0; row < nodes.size(); ++row) {
    const NodeUsage& node = *nodes[row];
    std::vector<Cell> cells = {{std::string(cluster.text(cluster.nodes().name[node.node]))}};
    if (planes) {
      const std::string plane = plane_text(cluster, node.node);
      cells.push_back({plane.empty() ? "-" : plane});
    }
    cells.push_back({state_text(cluster, node.node), state_tone(cluster, node.node)});
    if (view.regimes.mixed()) cells.push_back({regime_text(view, node.node)});
    cells.push_back({texts[0][row]});
    if (any_leaving) {
      const std::uint32_t leaving = cluster.nodes().leaving[node.node];
      cells.push_back({leaving == 0 ? "-" : fmt::format("{}", leaving)});
    }
    for (std::size_t i = 1; i < texts.size(); ++i) cells.push_back({texts[i][row]});
    cells.push_back({fullest_text(view, node), tone_of_percent((node.full_permille + 5) / 10)});
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
  std::vector<Column> columns = {{"NODES", Align::right}, {"FIRST"}, {"STATE"}};
  if (view.regimes.mixed()) columns.push_back({"REGIME"});
  columns.push_back({"EACH HAS"});
  columns.push_back({"PODS", Align::right});
  for (const ShownResource& resource : view.columns) {
    columns.push_back({resource.heading, Align::right});
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
    std::vector<Cell> cells = {{grouped(kind.count)},
                               {std::string(view.cluster.text(view.cluster.nodes().name[first]))},
                               {state_text(view.cluster, first), state_tone(view.cluster, first)}};
    if (view.regimes.mixed()) cells.push_back({regime_text(view, first)});
    cells.push_back({fmt::format("{}", fmt::join(has, ", "))});
    cells.push_back({grouped(kind.pods)});
    for (const ShownResource& resource : view.columns) {
      const std::uint32_t slot = resource.index.value;
      const std::int64_t percent = percent_of(kind.used[slot], kind.allocatable[slot]);
      cells.push_back({kind.allocatable[slot] == 0 ? "-" : fmt::format("{}%", percent),
                       tone_of_percent(percent)});
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
  Table table({{"FULLEST RESOURCE"}, {"NODES", Align::right}, {""}});
  constexpr std::size_t bar_width = 24;
  for (const Bucket& bucket : buckets) {
    if (bucket.count == 0) continue;
    table.row(
        {{std::string(bucket.name)},
         {grouped(bucket.count)},
         {bar(static_cast<std::int64_t>(bucket.count), static_cast<std::int64_t>(view.nodes.size()),
              bar_width, view.options.palette.ascii_only()),
          Tone::dim}});
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

namespace {

std::string or_dash(std::string_view text) { return std::string(text.empty() ? "-" : text); }

std::string object_key(std::string_view namespace_name, std::string_view name) {
  return fmt::format("{}/{}", namespace_name, name);
}

// ---- Groups -----------------------------------------------------------------------------------

std::vector<GroupIndex> groups_by_priority(const Cluster& cluster) {
  std::vector<GroupIndex> groups = cluster.groups_by_name();
  std::ranges::stable_sort(groups, std::ranges::greater{}, [&](GroupIndex group) {
    return cluster.units()[cluster.groups()[group].unit].scheduling_priority;
  });
  return groups;
}

std::string minimum_text(const Unit& unit) {
  if (!unit.defined) return "?";
  return unit.gang ? fmt::format("{}", unit.minimum) : std::string("-");
}

std::string mode_text(const Unit& unit) {
  if (!unit.defined) return "no PodGroup";
  return unit.mode == DisruptionMode::all ? "all" : "single";
}

std::vector<Cell> group_cells(const Cluster& cluster, const Group& group, bool show_victim) {
  const Unit& unit = cluster.units()[group.unit];
  const auto strays = static_cast<std::ptrdiff_t>(group.strays.size());
  const auto bound = strays + std::ranges::count_if(group.members, [&](PodIndex pod) {
                       return cluster.pods().node[pod].exists();
                     });
  const auto pods = static_cast<std::ptrdiff_t>(group.members.size()) + strays;
  const auto pending = pods - bound;
  std::vector<Cell> cells = {
      {object_key(cluster.text(group.namespace_name), cluster.text(group.name))},
      {mode_text(unit), unit.defined ? Tone::plain : Tone::warning},
      {minimum_text(unit)},
      {fmt::format("{}", pods)},
      {fmt::format("{}", bound), bound > 0 && bound < unit.minimum ? Tone::warning : Tone::plain},
      {fmt::format("{}", pending), pending > 0 ? Tone::warning : Tone::plain},
      {fmt::format("{}", unit.scheduling_priority)}};
  if (show_victim) cells.push_back({fmt::format("{}", unit.preemption_priority)});
  cells.push_back({or_dash(cluster.text(unit.queue))});
  return cells;
}

// ---- Budgets ----------------------------------------------------------------------------------

std::string count_text(const CountOrPercent& count) {
  return fmt::format("{}{}", count.value, count.percent ? "%" : "");
}

std::string wants_text(const DisruptionBudget& budget) {
  if (budget.available_min)
    return fmt::format("minAvailable {}", count_text(*budget.available_min));
  if (budget.unavailable_max) {
    return fmt::format("maxUnavailable {}", count_text(*budget.unavailable_max));
  }
  return "-";
}

/// How many bound pods each budget governs. Pods share few sets of labels, so each set is
/// compared once per namespace.
std::map<const DisruptionBudget*, std::uint64_t> governed_pods(const Cluster& cluster) {
  std::map<std::pair<StringId, LabelSetId>, std::uint64_t> counts;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    if (pods.node[pod].exists()) ++counts[{pods.namespace_name[pod], pods.labels[pod]}];
  }
  std::multimap<std::string_view, const DisruptionBudget*> by_namespace;
  for (const DisruptionBudget* budget : cluster.budgets()) {
    by_namespace.emplace(budget->namespace_name, budget);
  }
  std::map<const DisruptionBudget*, std::uint64_t> governed;
  for (const auto& [key, count] : counts) {
    const auto [first, last] = by_namespace.equal_range(cluster.text(key.first));
    if (first == last) continue;
    const Labels labels = cluster.label_objects(key.second);
    for (auto entry = first; entry != last; ++entry) {
      if (governs(*entry->second, entry->first, labels)) governed[entry->second] += count;
    }
  }
  return governed;
}

// ---- Pending pods -----------------------------------------------------------------------------

std::vector<PodIndex> pending_by_priority(const Cluster& cluster) {
  std::vector<PodIndex> pending;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    if (!pods.node[pod].exists()) pending.push_back(pod);
  }
  const auto key = [&](PodIndex pod) {
    return std::tuple(-std::int64_t{cluster.units()[pods.unit[pod]].scheduling_priority},
                      pods.created[pod], cluster.text(pods.namespace_name[pod]),
                      std::string_view(pods.name[pod.value]));
  };
  std::ranges::sort(pending, {}, key);
  return pending;
}

std::string requests_text(const View& view, PodIndex pod) {
  const Cluster& cluster = view.cluster;
  std::vector<std::string> parts;
  for (const ShownResource& resource : view.resources) {
    if (resource.index == resource_pods) continue;
    for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
      if (item.resource != resource.index) continue;
      parts.push_back(
          fmt::format("{} {}", amount_text(resource.name, item.amount), short_name(resource.name)));
    }
  }
  return parts.empty() ? std::string("nothing") : fmt::format("{}", fmt::join(parts, ", "));
}

std::string remarks(const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  std::vector<std::string> parts;
  if (pods.deletion[pod] != no_time) parts.emplace_back("leaving");
  if (cluster.units()[pods.unit[pod]].never_preempts) parts.emplace_back("never preempts");
  const std::string& node = cluster.notes(pods.notes[pod]).required_node;
  if (!node.empty()) parts.push_back(fmt::format("only on {}", node));
  std::vector<std::string> needs;
  for (const std::string& need : cluster.shape(pods.shape[pod]).unsupported) {
    const bool held = need.starts_with(names::held_need);
    (held ? parts : needs).push_back(held ? need.substr(names::held_need.size()) : need);
  }
  if (!needs.empty()) parts.push_back(fmt::format("not checked: {}", fmt::join(needs, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::vector<Cell> pending_cells(const View& view, PodIndex pod) {
  const Cluster& cluster = view.cluster;
  const PodColumns& pods = cluster.pods();
  const Unit& unit = cluster.units()[pods.unit[pod]];
  const bool member = unit.kind == UnitKind::group;
  const NodeIndex nominated = pods.nominated[pod];
  return {{cluster.pod_key(pod)},
          {fmt::format("{}", unit.scheduling_priority)},
          {requests_text(view, pod)},
          {or_dash(member ? cluster.text(cluster.groups()[unit.group].name) : "")},
          {or_dash(nominated.exists() ? cluster.text(cluster.nodes().name[nominated]) : "")},
          {remarks(cluster, pod), Tone::warning}};
}

}  // namespace

std::string groups_section(const View& view) {
  const Cluster& cluster = view.cluster;
  const std::vector<GroupIndex> groups = groups_by_priority(cluster);
  if (groups.empty()) return {};
  const std::size_t shown = rows_shown(view, groups.size());
  const bool show_victim = std::ranges::any_of(groups, [&](GroupIndex group) {
    const Unit& unit = cluster.units()[cluster.groups()[group].unit];
    return unit.preemption_priority != unit.scheduling_priority;
  });
  std::vector<Column> columns = {{"GROUP"},
                                 {"DISRUPTION"},
                                 {"MINIMUM", Align::right},
                                 {"PODS", Align::right},
                                 {"BOUND", Align::right},
                                 {"PENDING", Align::right},
                                 {"PRIORITY", Align::right}};
  if (show_victim) columns.push_back({"AS VICTIM", Align::right});
  columns.push_back({"QUEUE"});
  Table table(std::move(columns));
  for (const GroupIndex group : std::span(groups).first(shown)) {
    table.row(group_cells(cluster, cluster.groups()[group], show_victim));
  }
  return title(view, "Groups", " (most important first)") + table.text(view.options.palette) +
         cut_line(shown, groups.size());
}

std::string budgets_section(const View& view) {
  const std::vector<const DisruptionBudget*> budgets = view.cluster.budgets();
  if (budgets.empty()) return {};
  const std::size_t shown = rows_shown(view, budgets.size());
  auto governed = governed_pods(view.cluster);
  Table table({{"BUDGET"}, {"WANTS"}, {"MAY LEAVE", Align::right}, {"BOUND PODS", Align::right}});
  for (const DisruptionBudget* budget : std::span(budgets).first(shown)) {
    const std::int32_t allowed = budget->disruptions_allowed.value_or(0);
    table.row({{object_key(budget->namespace_name, budget->name)},
               {wants_text(*budget)},
               {budget->disruptions_allowed ? fmt::format("{}", allowed) : "?",
                allowed == 0 ? Tone::warning : Tone::plain},
               {grouped(governed[budget])}});
  }
  return title(view, "Budgets", {}) + table.text(view.options.palette) +
         cut_line(shown, budgets.size());
}

std::string pending_section(const View& view) {
  const std::vector<PodIndex> pending = pending_by_priority(view.cluster);
  if (pending.empty()) return {};
  const std::size_t shown = rows_shown(view, pending.size());
  Table table({{"POD"}, {"PRIORITY", Align::right}, {"ASKS FOR"}, {"GROUP"}, {"NOMINATED"}, {""}});
  for (const PodIndex pod : std::span(pending).first(shown)) table.row(pending_cells(view, pod));
  return title(view, "Pending pods", " (most important first)") + table.text(view.options.palette) +
         cut_line(shown, pending.size());
}

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
  Table table({{"RESOURCE"},
               {"USED", Align::right},
               {"ALLOCATABLE", Align::right},
               {"FREE", Align::right},
               {"", Align::right},
               {""}});
  for (const ShownResource& resource : view.resources) {
    const std::int64_t used = at(view.used, resource.index);
    const std::int64_t allocatable = at(view.allocatable, resource.index);
    const std::int64_t percent = percent_of(used, allocatable);
    const auto text = [&](std::int64_t amount) { return amount_text(resource.name, amount); };
    table.row({{resource.name},
               {text(used)},
               {text(allocatable)},
               {text(at(view.free, resource.index))},
               {fmt::format("{}%", percent), tone_of_percent(percent)},
               {bar(used, allocatable, bar_width, view.options.palette.ascii_only()),
                tone_of_percent(percent)}});
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

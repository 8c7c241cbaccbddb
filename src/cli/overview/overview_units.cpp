#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "cli/amount.hpp"
#include "cli/overview/overview_sections.hpp"
#include "cli/text.hpp"
#include "model/names.hpp"
#include "model/selector.hpp"

namespace makeway::cli {
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
      {.text = object_key(cluster.text(group.namespace_name), cluster.text(group.name))},
      {.text = mode_text(unit), .tone = unit.defined ? Tone::plain : Tone::warning},
      {.text = minimum_text(unit)},
      {.text = fmt::format("{}", pods)},
      {.text = fmt::format("{}", bound),
       .tone = bound > 0 && bound < unit.minimum ? Tone::warning : Tone::plain},
      {.text = fmt::format("{}", pending), .tone = pending > 0 ? Tone::warning : Tone::plain},
      {.text = fmt::format("{}", unit.scheduling_priority)}};
  if (show_victim) cells.push_back({.text = fmt::format("{}", unit.preemption_priority)});
  cells.push_back({.text = or_dash(cluster.text(unit.queue))});
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
  return {
      {.text = cluster.pod_key(pod)},
      {.text = fmt::format("{}", unit.scheduling_priority)},
      {.text = requests_text(view, pod)},
      {.text = or_dash(member ? cluster.text(cluster.groups()[unit.group].name) : "")},
      {.text = or_dash(nominated.exists() ? cluster.text(cluster.nodes().name[nominated]) : "")},
      {.text = remarks(cluster, pod), .tone = Tone::warning}};
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
  std::vector<Column> columns = {{.heading = "GROUP"},
                                 {.heading = "DISRUPTION"},
                                 {.heading = "MINIMUM", .align = Align::right},
                                 {.heading = "PODS", .align = Align::right},
                                 {.heading = "BOUND", .align = Align::right},
                                 {.heading = "PENDING", .align = Align::right},
                                 {.heading = "PRIORITY", .align = Align::right}};
  if (show_victim) columns.push_back({.heading = "AS VICTIM", .align = Align::right});
  columns.push_back({.heading = "QUEUE"});
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
  Table table({{.heading = "BUDGET"},
               {.heading = "WANTS"},
               {.heading = "MAY LEAVE", .align = Align::right},
               {.heading = "BOUND PODS", .align = Align::right}});
  for (const DisruptionBudget* budget : std::span(budgets).first(shown)) {
    const std::int32_t allowed = budget->disruptions_allowed.value_or(0);
    table.row({{.text = object_key(budget->namespace_name, budget->name)},
               {.text = wants_text(*budget)},
               {.text = budget->disruptions_allowed ? fmt::format("{}", allowed) : "?",
                .tone = allowed == 0 ? Tone::warning : Tone::plain},
               {.text = grouped(governed[budget])}});
  }
  return title(view, "Budgets", {}) + table.text(view.options.palette) +
         cut_line(shown, budgets.size());
}

std::string pending_section(const View& view) {
  const std::vector<PodIndex> pending = pending_by_priority(view.cluster);
  if (pending.empty()) return {};
  const std::size_t shown = rows_shown(view, pending.size());
  Table table({{.heading = "POD"},
               {.heading = "PRIORITY", .align = Align::right},
               {.heading = "ASKS FOR"},
               {.heading = "GROUP"},
               {.heading = "NOMINATED"},
               {.heading = ""}});
  for (const PodIndex pod : std::span(pending).first(shown)) table.row(pending_cells(view, pod));
  return title(view, "Pending pods", " (most important first)") + table.text(view.options.palette) +
         cut_line(shown, pending.size());
}

}  // namespace makeway::cli

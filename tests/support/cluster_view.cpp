#include "support/cluster_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "model/object_text.hpp"

namespace makeway {
namespace {

template <class T>
std::vector<T> copied(const std::vector<const T*>& pointers) {
  std::vector<T> values;
  values.reserve(pointers.size());
  for (const T* const pointer : pointers) values.push_back(*pointer);
  return values;
}

std::string unit_key(const Cluster& cluster, const Unit& unit) {
  if (unit.kind == UnitKind::pod) return "Pod " + cluster.pod_key(unit.pod);
  const Group& group = cluster.groups()[unit.group];
  return object_text("PodGroup", ObjectKeyView{.namespace_name = cluster.text(group.namespace_name),
                                               .name = cluster.text(group.name),
                                               .plane = cluster.text(group.plane)});
}

std::vector<std::string> sorted_keys(const Cluster& cluster, const std::vector<PodIndex>& pods) {
  std::vector<std::string> keys;
  keys.reserve(pods.size());
  for (const PodIndex pod : pods) keys.push_back(cluster.pod_key(pod));
  std::ranges::sort(keys);
  return keys;
}

UnitView unit_view(const Cluster& cluster, const Unit& unit) {
  UnitView view{.key = unit_key(cluster, unit),
                .kind = unit.kind,
                .mode = unit.mode,
                .defined = unit.defined,
                .gang = unit.gang,
                .never_preempts = unit.never_preempts,
                .scheduling_priority = unit.scheduling_priority,
                .preemption_priority = unit.preemption_priority,
                .minimum = unit.minimum,
                .size = unit.size,
                .queue = std::string(cluster.text(unit.queue))};
  if (unit.kind == UnitKind::pod) {
    view.members = {cluster.pod_key(unit.pod)};
  } else {
    view.members = sorted_keys(cluster, cluster.groups()[unit.group].members);
    view.object = cluster.groups()[unit.group].object;
  }
  return view;
}

Amounts amounts_of(const Cluster& cluster, std::span<const std::int64_t> row) {
  Amounts amounts;
  for (std::size_t column = 0; column < row.size(); ++column) {
    if (row[column] == 0) continue;
    amounts.push_back(
        {.resource = std::string(cluster.resources().name(ResourceIndex::from(column))),
         .amount = row[column]});
  }
  std::ranges::sort(amounts);
  return amounts;
}

std::string node_text(const Cluster& cluster, NodeIndex node) {
  std::string text(cluster.text(cluster.nodes().name[node]));
  const std::string_view plane = cluster.text(cluster.nodes().plane[node]);
  return plane.empty() ? text : fmt::format("{}{}{}", text, of_plane, plane);
}

NodeView node_view(const Cluster& cluster, NodeIndex node) {
  const NodeOrder& order = cluster.order();
  NodeView view{.name = node_text(cluster, node),
                .claims = cluster.nodes().claims[node],
                .pod_count = cluster.nodes().pods[node],
                .leaving = cluster.nodes().leaving[node],
                .nominated = sorted_keys(cluster, cluster.nodes().nominated[node])};
  if (cluster.nodes().flags[node].exists) view.object = cluster.node(node);
  for (const PodIndex pod : order.pods(node)) view.pods.push_back(cluster.pod_key(pod));
  view.priorities.assign(order.priorities(node).begin(), order.priorities(node).end());
  for (std::size_t count = 0; count <= view.pods.size(); ++count) {
    view.used_by_first.push_back(amounts_of(cluster, order.used_by_first(node, count)));
  }
  return view;
}

std::vector<NodeView> node_views(const Cluster& cluster) {
  const NodeColumns& nodes = cluster.nodes();
  std::vector<NodeView> views;
  std::map<NodeClassId, std::string> first_of_class;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    first_of_class.emplace(nodes.node_class[node], node_text(cluster, node));
  }
  for (std::uint32_t slot = 0; slot < nodes.slots(); ++slot) {
    const NodeIndex node{slot};
    if (!nodes.flags[node].used) continue;
    views.push_back(node_view(cluster, node));
    if (nodes.flags[node].exists) views.back().class_of = first_of_class[nodes.node_class[node]];
  }
  std::ranges::sort(views, {}, &NodeView::name);
  return views;
}

}  // namespace

ClusterView view_of(const Cluster& cluster) {
  ClusterView view;
  for (const PodIndex pod : cluster.pods_by_name()) {
    view.pods.push_back({.key = cluster.pod_key(pod),
                         .object = cluster.pod(pod),
                         .unit = unit_key(cluster, cluster.units()[cluster.pods().unit[pod]]),
                         .priority = cluster.pods().priority[pod]});
  }
  for (const Unit& unit : cluster.units()) {
    if (unit.kind != UnitKind::none) view.units.push_back(unit_view(cluster, unit));
  }
  std::ranges::sort(view.units, {}, &UnitView::key);
  view.nodes = node_views(cluster);
  view.priority_classes = copied(cluster.priority_classes());
  view.budgets = copied(cluster.budgets());
  view.workloads = copied(cluster.workloads());
  view.namespaces = copied(cluster.namespaces());
  each_kind([&](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    if constexpr (OwnObject<Object>) {
      cluster.each<Object>([&](const Object& object) { view.own.emplace_back(object); });
    }
  });
  return view;
}

// ---- Differences ------------------------------------------------------------------------------

namespace {

std::string text_of(const PodView& pod) {
  return fmt::format("pod {} unit=[{}] priority={} node=[{}] nominated=[{}] group=[{}]", pod.key,
                     pod.unit, pod.priority, pod.object.node, pod.object.nominated_node,
                     pod.object.group);
}

std::string text_of(const UnitView& unit) {
  return fmt::format(
      "unit [{}] kind={} mode={} defined={} gang={} never={} scheduling={} preemption={} "
      "minimum={} size={} queue=[{}] members={} object={}",
      unit.key, static_cast<int>(unit.kind), static_cast<int>(unit.mode), unit.defined, unit.gang,
      unit.never_preempts, unit.scheduling_priority, unit.preemption_priority, unit.minimum,
      unit.size, unit.queue, unit.members, unit.object.has_value());
}

std::string text_of(const NodeView& node) {
  std::string text = fmt::format(
      "node {} exists={} class_of=[{}] sessions={} replicas={} pods={} priorities={} count={} "
      "leaving={} nominated={}",
      node.name, node.object.has_value(), node.class_of, static_cast<bool>(node.claims.sessions),
      static_cast<bool>(node.claims.replicas), node.pods, node.priorities, node.pod_count,
      node.leaving, node.nominated);
  for (std::size_t row = 0; row < node.used_by_first.size(); ++row) {
    text += fmt::format("\n    first {}:", row);
    for (const Amount& amount : node.used_by_first[row]) {
      text += fmt::format(" {}={}", amount.resource, amount.amount);
    }
  }
  return text;
}

std::string text_of(const PriorityClass& object) { return "priority class " + object.name; }
std::string text_of(const Namespace& object) { return "namespace " + object.name; }
std::string text_of(const Change& object) { return object_text(object); }

template <class T>
std::string text_of(const T& object) {
  return fmt::format("object {}/{}", object.namespace_name, object.name);
}

template <class T>
std::string first_difference(const std::vector<T>& expected, const std::vector<T>& actual) {
  if (expected == actual) return "";
  for (std::size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    const bool both = i < expected.size() && i < actual.size();
    if (both && expected[i] == actual[i]) continue;
    // Equal texts: the difference is in a part of the object that the text leaves out.
    return fmt::format("expected {}\n  actual {}\n",
                       i < expected.size() ? text_of(expected[i]) : "nothing",
                       i < actual.size() ? text_of(actual[i]) : "nothing");
  }
  return "";
}

}  // namespace

std::string difference(const ClusterView& expected, const ClusterView& actual) {
  if (expected == actual) return "";
  return first_difference(expected.pods, actual.pods) +
         first_difference(expected.units, actual.units) +
         first_difference(expected.nodes, actual.nodes) +
         first_difference(expected.priority_classes, actual.priority_classes) +
         first_difference(expected.budgets, actual.budgets) +
         first_difference(expected.workloads, actual.workloads) +
         first_difference(expected.namespaces, actual.namespaces) +
         first_difference(expected.own, actual.own);
}

}  // namespace makeway

#include "model/queue_membership.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "model/names.hpp"
#include "model/required_node.hpp"

namespace makeway {

QueueMembership::QueueMembership(const Cluster& cluster, const Configuration& configuration)
    : cluster_(cluster),
      regimes_(cluster, configuration),
      pinned_apart_(configuration.required_node.enabled) {
  const StringPool& strings = cluster.strings();
  if (configuration.protection.protect_system_critical) {
    for (const std::string_view name : {names::node_critical, names::cluster_critical}) {
      if (const auto id = strings.find(name)) critical_classes_.push_back(*id);
    }
  }
  std::set<std::string_view> parents;
  for (const auto& [key, queue] : cluster.own<Queue>()) parents.insert(queue.parent);
  by_name_.resize(strings.size());
  QueueRow row{0};
  for (const auto& [key, queue] : cluster.own<Queue>()) {
    const QueueRow here{row.value++};
    if (parents.contains(queue.name)) continue;
    if (const auto id = strings.find(queue.name)) by_name_[id->value] = here;
    if (queue.name == default_queue_name) default_ = here;
    for (const std::string& space : queue.namespaces) {
      const auto id = strings.find(space);
      if (!id) continue;  // No pod is there.
      by_namespace_.resize(strings.size());
      if (!by_namespace_[id->value].exists()) by_namespace_[id->value] = here;
    }
  }
}

bool QueueMembership::is_infrastructure(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  if (pods.flags[pod].mirror || pods.flags[pod].kept == KeptBy::other_scheduler) return true;
  if (!critical_classes_.empty() &&
      std::ranges::find(critical_classes_, pods.priority_class[pod]) != critical_classes_.end()) {
    return true;
  }
  return pinned_apart_ && cluster_.units()[pods.unit[pod]].kind == UnitKind::pod &&
         is_pinned(cluster_, pod);
}

QueueRow QueueMembership::of(PodIndex pod) const {
  const bool away = cluster_.pods().plane[pod] != StringId{0};
  if (away || regimes_.of(pod) != Regime::pods || is_infrastructure(pod)) return {};
  return of(cluster_.pods().unit[pod]);
}

QueueRow QueueMembership::of(UnitIndex index) const {
  const Unit& unit = cluster_.units()[index];
  if (const QueueRow row = labelled(unit); row.exists()) return row;
  const QueueRow row = listing(unit);
  return row.exists() ? row : default_;
}

bool QueueMembership::is_adopted(UnitIndex index) const {
  const Unit& unit = cluster_.units()[index];
  return default_.exists() && !labelled(unit).exists() && !listing(unit).exists();
}

QueueRow QueueMembership::labelled(const Unit& unit) const {
  const QueueRow stated = named(unit.queue);
  if (stated.exists() || unit.kind != UnitKind::group || unit.queue == StringId{0}) return stated;
  QueueRow first;  // Rows are in the order of names.
  for (const PodIndex member : cluster_.groups()[unit.group].members) {
    const QueueRow row = named(cluster_.pods().queue[member]);
    if (row.exists() && (!first.exists() || row < first)) first = row;
  }
  return first;
}

QueueRow QueueMembership::listing(const Unit& unit) const {
  if (by_namespace_.empty()) return {};
  const StringId space = unit.kind == UnitKind::group ? cluster_.groups()[unit.group].namespace_name
                                                      : cluster_.pods().namespace_name[unit.pod];
  return space.value < by_namespace_.size() ? by_namespace_[space.value] : QueueRow{};
}

}  // namespace makeway

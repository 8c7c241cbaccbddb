#include "policies/session/session_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/checked_math.hpp"
#include "model/names.hpp"
#include "model/selector.hpp"
#include "policies/shared/cluster_text.hpp"

namespace makeway {
namespace {

bool has_labels(const Labels& all, const Labels& wanted) {
  return std::ranges::all_of(wanted, [&](const Label& label) {
    return find_label(all, label.key) == std::string_view(label.value);
  });
}

}  // namespace

SessionTable::SessionTable(const Cluster& cluster, const SessionSettings& settings, Time now)
    : cluster_(cluster), now_(now), places_(cluster.nodes().slots()) {
  order_resources();
  read_groups(settings);
  read_partitions();
  read_sessions(settings);
}

/// Extended resources by name, then memory, cpu, the rest: what runs out first comes first. Columns
/// come in the order of the input, names do not.
void SessionTable::order_resources() {
  const ResourceTable& resources = cluster_.resources();
  std::vector<std::uint32_t> columns(resources.size());
  for (std::uint32_t column = 0; column < columns.size(); ++column) columns[column] = column;
  const auto rank = [](std::uint32_t column) -> int {
    if (column == resource_memory.value) return 1;
    if (column == resource_cpu.value) return 2;
    return column <= resource_pods.value ? 3 : 0;
  };
  std::ranges::sort(columns, {}, [&](std::uint32_t column) {
    return std::pair(rank(column), resources.name(ResourceIndex{column}));
  });
  scarcity_.resize(columns.size());
  for (std::uint32_t at = 0; at < columns.size(); ++at) scarcity_[columns[at]] = at;
}

/// Cordoned nodes take no kernel. A taint keeps kernels away too, unless it reserves the node for
/// resource groups.
bool SessionTable::takes_kernels(NodeIndex node, std::string_view group) const {
  if (cluster_.nodes().flags[node].unschedulable) return false;
  return std::ranges::all_of(cluster_.taints(cluster_.nodes().taints[node]),
                             [&](const Taint& taint) {
                               if (taint.effect == TaintEffect::prefer_no_schedule) return true;
                               const bool own = taint.key == names::resource_group;
                               return own && (taint.value.empty() || taint.value == group);
                             });
}

void SessionTable::add_nodes(const ResourceGroup& object, SessionGroupIndex group) {
  std::vector<NodeIndex> found;
  for (const std::string& name : object.nodes) {
    const auto node = cluster_.find_node(name);
    if (node && cluster_.nodes().flags[*node].exists) found.push_back(*node);
  }
  if (!object.node_selector.empty()) {
    std::ranges::copy_if(cluster_.home_nodes(), std::back_inserter(found), [&](NodeIndex node) {
      return has_labels(cluster_.label_objects(cluster_.nodes().labels[node]),
                        object.node_selector);
    });
  }
  std::ranges::sort(found, {},
                    [this](NodeIndex node) { return cluster_.text(cluster_.nodes().name[node]); });
  SessionGroup& entry = groups_[group];
  entry.nodes_begin = SessionPlace::from(nodes_.size());
  for (const NodeIndex node : found) {
    if (places_[node].exists()) continue;  // Named twice, or by another group: see validation.
    places_[node] = nodes_.push_back(node);
    if (takes_kernels(node, object.name)) entry.open.push_back(places_[node]);
  }
  entry.nodes_end = SessionPlace::from(nodes_.size());
}

void SessionTable::read_groups(const SessionSettings& settings) {
  for (const auto& [key, object] : cluster_.own<ResourceGroup>()) {
    const SessionGroupIndex group =
        groups_.push_back({.object = &object,
                           .preemptible_priority =
                               object.preemptible_priority.value_or(settings.preemptible_priority),
                           .order = object.preemption_order.value_or(settings.preemption_order),
                           .open = {},
                           .sessions = {}});
    add_nodes(object, group);
  }
}

void SessionTable::read_partitions() {
  for (const auto& [key, object] : cluster_.own<Partition>()) {
    SessionPartition& entry = partitions_[partitions_.push_back({.object = &object})];
    const auto found =
        std::ranges::find(groups_, object.resource_group,
                          [](const SessionGroup& at) { return std::string_view(at.object->name); });
    if (found == groups_.end()) continue;
    entry.group = SessionGroupIndex::from(static_cast<std::size_t>(found - groups_.begin()));
    SessionGroup* const group = &groups_[entry.group];
    group->divided = true;
    const std::vector<std::string>& named = entry.object->nodes;
    std::ranges::copy_if(group->open, std::back_inserter(entry.open), [&](SessionPlace place) {
      return named.empty() || std::ranges::binary_search(named, node_name(place));
    });
  }
}

DemandIndex SessionTable::demand_of(const KernelRows& rows) {
  const RequestId row = cluster_.pods().requests[rows.row];
  const std::int64_t memory =
      rows.memory.exists() ? cluster_.pods().requests[rows.memory].value : -1;
  const auto [known, is_new] =
      demand_ids_.try_emplace(std::pair(row.value, memory), DemandIndex::from(demands_.size()));
  if (!is_new) return known->second;
  Demand fresh{.begin = static_cast<std::uint32_t>(amounts_.size())};
  const auto add = [&](RequestRow amounts) {
    std::ranges::copy_if(amounts, std::back_inserter(amounts_),
                         [](const ResourceAmount& amount) { return amount.amount > 0; });
  };
  add(cluster_.requests(row));
  if (rows.memory.exists()) add(request_of(cluster_, rows.memory));
  std::ranges::sort(
      amounts_.begin() + fresh.begin, amounts_.end(), {},
      [this](const ResourceAmount& amount) { return scarcity_[amount.resource.value]; });
  fresh.count = static_cast<std::uint32_t>(amounts_.size()) - fresh.begin;
  demands_.push_back(fresh);
  return known->second;
}

void SessionTable::read_kernels(const Session& session, std::span<const KernelRows> rows,
                                SessionEntry& entry) {
  entry.kernels_begin = static_cast<std::uint32_t>(kernels_.size());
  entry.kernels_count = static_cast<std::uint32_t>(rows.size());
  auto kernel = session.kernels.begin();
  for (const KernelRows& each : rows) {
    NodeIndex node = cluster_.pods().node[each.row];
    if (entry.standing == SessionStanding::suspended) {
      node = cluster_.find_node(kernel->node).value_or(NodeIndex{});
    }
    ++kernel;
    kernels_.push_back({.row = each.row,
                        .memory_row = each.memory,
                        .demand = demand_of(each),
                        .node = node,
                        .place = node.exists() ? places_[node] : SessionPlace{}});
  }
  entry.nominated =
      !session.kernels.empty() && std::ranges::none_of(session.kernels, [](const Kernel& each) {
        return each.nominated_node.empty();
      });
}

void SessionTable::read_sessions(const SessionSettings& settings) {
  std::map<std::string_view, SessionGroupIndex> groups;
  for (std::uint32_t at = 0; at < groups_.size(); ++at) {
    const SessionGroupIndex index{at};
    groups[groups_[index].object->name] = index;
  }
  std::map<std::string_view, PartitionIndex> partitions;
  for (std::uint32_t at = 0; at < partitions_.size(); ++at) {
    const PartitionIndex index{at};
    partitions[partitions_[index].object->name] = index;
  }
  auto rows = cluster_.kernel_rows().begin();
  auto group = groups.end();
  auto partition = partitions.end();
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const std::span<const KernelRows> own = (rows++)->second;
    // Neighbours are often of one group.
    if (group == groups.end() || group->first != session.resource_group) {
      group = groups.find(session.resource_group);
    }
    if (partition == partitions.end() || partition->first != session.partition) {
      partition = partitions.find(session.partition);
    }
    const bool known =
        group != groups.end() && (session.partition.empty() || partition != partitions.end());
    // What validation refuses is usage, and neither asks nor leaves (law 13).
    if (!known || own.empty()) continue;
    SessionEntry entry{
        .object = &session,
        .group = group->second,
        .priority = session.priority.value_or(static_cast<std::int32_t>(settings.default_priority)),
        .standing = standing_of(session, now_),
        .created = session.created.value_or(Time{std::numeric_limits<std::int64_t>::max()}),
        .started = runs_since(session, now_)};
    if (!session.partition.empty()) {
      entry.partition = partition->second;
      entry.tier = partitions_[entry.partition].object->tier;
    }
    read_kernels(session, own, entry);
    groups_[entry.group].sessions.push_back(sessions_.push_back(entry));
  }
}

SessionIndex SessionTable::find(std::string_view namespace_name, std::string_view name) const {
  const auto key = std::pair(namespace_name, name);
  const auto at = std::ranges::lower_bound(sessions_, key, {}, [](const SessionEntry& entry) {
    return std::pair(std::string_view(entry.object->namespace_name),
                     std::string_view(entry.object->name));
  });
  const bool found = at != sessions_.end() && at->object->namespace_name == namespace_name &&
                     at->object->name == name;
  return found ? SessionIndex::from(static_cast<std::size_t>(at - sessions_.begin()))
               : SessionIndex{};
}

std::int64_t SessionTable::lost_work_seconds(const SessionEntry& entry) const {
  const Partition* const partition = partition_of(entry);
  if (partition != nullptr && partition->mode == PartitionMode::suspend) return 0;
  const std::optional<Time>& checkpoint = entry.object->status.last_checkpoint;
  const Time since = std::max(entry.started, checkpoint.value_or(entry.started));
  const std::int64_t seconds = std::max<std::int64_t>(0, (now_ - since).ms / 1000);
  return saturated_mul(seconds, entry.kernels_count);
}

}  // namespace makeway

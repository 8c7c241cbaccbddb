// SessionTable: the sessions of a cluster in columns, for one cycle.
//
// Sessions come by namespace and name, so a smaller index is the earlier name and settles ties.
// Nodes are those of resource groups, group by group and by name in each. A demand is what one
// kernel asks for, with the scarce resources first: extended ones by name, then memory, cpu and the
// rest. Nothing here changes while the cycle runs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "base/index.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway {

using SessionIndex = Index<struct SessionTag>;
using SessionGroupIndex = Index<struct SessionGroupTag>;
using PartitionIndex = Index<struct PartitionTag>;
/// A node of a resource group, by its place in the table.
using SessionPlace = Index<struct SessionPlaceTag>;
/// What one kernel asks for.
using DemandIndex = Index<struct DemandTag>;

struct SessionKernel {
  PodIndex row;         ///< All of it, or all but its memory.
  PodIndex memory_row;  ///< None: it has no row of its own for memory.
  DemandIndex demand;
  NodeIndex node;      ///< Where it runs; none: it does not.
  SessionPlace place;  ///< That node in the table; none: it is in no group.
};

struct SessionEntry {
  const Session* object = nullptr;
  SessionGroupIndex group;
  PartitionIndex partition;  ///< None: its group is not divided.
  std::int32_t priority = 0;
  std::int32_t tier = 0;  ///< 0 where the group is not divided.
  SessionStanding standing = SessionStanding::pending;
  bool nominated = false;
  Time created;  ///< Unknown counts as the latest.
  Time started;  ///< Unknown counts as now.
  std::uint32_t kernels_begin = 0;
  std::uint32_t kernels_count = 0;
};

struct SessionGroup {
  const ResourceGroup* object = nullptr;
  SessionPlace nodes_begin;
  SessionPlace nodes_end;
  std::int64_t preemptible_priority = 0;
  PreemptionOrder order = PreemptionOrder::oldest;
  bool divided = false;
  std::vector<SessionPlace> open;      ///< Its nodes that take kernels.
  std::vector<SessionIndex> sessions;  ///< All of its sessions.
};

struct SessionPartition {
  const Partition* object = nullptr;
  SessionGroupIndex group;
  std::vector<SessionPlace> open;
};

class SessionTable {
 public:
  SessionTable(const Cluster& cluster, const SessionSettings& settings, Time now);

  const Cluster& cluster() const { return cluster_; }
  Time now() const { return now_; }
  const IndexedVector<SessionIndex, SessionEntry>& sessions() const { return sessions_; }
  const IndexedVector<SessionGroupIndex, SessionGroup>& groups() const { return groups_; }
  const SessionGroup& group_of(const SessionEntry& entry) const { return groups_[entry.group]; }
  /// Null: its group is not divided.
  const Partition* partition_of(const SessionEntry& entry) const {
    return !entry.partition.exists() ? nullptr : partitions_[entry.partition].object;
  }
  std::span<const SessionKernel> kernels(const SessionEntry& entry) const {
    return std::span(kernels_).subspan(entry.kernels_begin, entry.kernels_count);
  }
  /// What one kernel asks for; never a zero amount.
  std::span<const ResourceAmount> demand(DemandIndex id) const {
    const Demand& found = demands_[id];
    return std::span(amounts_).subspan(found.begin, found.count);
  }
  /// The nodes that may take its kernels.
  std::span<const SessionPlace> open_nodes(const SessionEntry& entry) const {
    return !entry.partition.exists() ? groups_[entry.group].open
                                     : partitions_[entry.partition].open;
  }
  /// Counts groups, then partitions: which of these `open_nodes` are.
  std::uint32_t domain_of(const SessionEntry& entry) const {
    const auto groups = static_cast<std::uint32_t>(groups_.size());
    return !entry.partition.exists() ? entry.group.value : groups + entry.partition.value;
  }
  std::size_t domains() const { return groups_.size() + partitions_.size(); }
  /// By place in the table.
  const IndexedVector<SessionPlace, NodeIndex>& nodes() const { return nodes_; }
  /// None: the node is in no resource group.
  SessionPlace place_of(NodeIndex node) const { return places_[node]; }
  /// None: there is no such session, or validation refuses it.
  SessionIndex find(std::string_view namespace_name, std::string_view name) const;
  std::string_view node_name(SessionPlace place) const {
    return cluster_.text(cluster_.nodes().name[nodes_[place]]);
  }
  bool scarcer(ResourceIndex a, ResourceIndex b) const {
    return scarcity_[a.value] < scarcity_[b.value];
  }
  SessionIndex index_of(const SessionEntry& entry) const {
    return SessionIndex::from(static_cast<std::size_t>(&entry - sessions_.data()));
  }
  /// Seconds of work that are lost when it leaves, times its kernels. A suspended one loses none.
  std::int64_t lost_work_seconds(const SessionEntry& entry) const;

 private:
  struct Demand {
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
  };

  void read_groups(const SessionSettings& settings);
  void read_partitions();
  void read_sessions(const SessionSettings& settings);
  void add_nodes(const ResourceGroup& object, SessionGroupIndex group);
  void read_kernels(const Session& session, std::span<const KernelRows> rows, SessionEntry& entry);
  DemandIndex demand_of(const KernelRows& rows);
  void order_resources();
  bool takes_kernels(NodeIndex node, std::string_view group) const;

  const Cluster& cluster_;
  Time now_;
  IndexedVector<SessionIndex, SessionEntry> sessions_;
  std::vector<SessionKernel> kernels_;
  IndexedVector<SessionGroupIndex, SessionGroup> groups_;
  IndexedVector<PartitionIndex, SessionPartition> partitions_;
  IndexedVector<SessionPlace, NodeIndex> nodes_;
  IndexedVector<NodeIndex, SessionPlace> places_;
  IndexedVector<DemandIndex, Demand> demands_;
  /// By the requests of the rows; -1: it has no row for memory.
  std::map<std::pair<std::uint32_t, std::int64_t>, DemandIndex> demand_ids_;
  std::vector<ResourceAmount> amounts_;
  std::vector<std::uint32_t> scarcity_;  ///< By resource column: its place among scarce ones.
};

}  // namespace makeway

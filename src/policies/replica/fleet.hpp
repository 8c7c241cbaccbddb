// Fleet: the cluster as the replica policy sees it, in columns.
//
//   plane       a value of the node label makeway.dev/plane that some ReplicaSchedule names
//   place       a node of a plane and of regime `replicas`, with the room that is left on it
//   deployment  a ReplicaSchedule
//   share       one deployment in one plane: its commit, its pods, how many of them are surplus
//   replica     a pod on a place that is leaving, or belongs to a deployment; with its victim class
//
// Two kinds of room, both read from Room: `free_room` is free now; `room` is that once the victims
// of this cycle and the pods that its asks wait for are gone, and once what it nominates has come.
// A replica that comes at once needs both, a claim the second.
//
// Built once a cycle in O(nodes + pods); the phases change only the room, the shares' `raised` and
// `lowered`, and what is `taken`. Numbers of planes follow their names, places of one plane follow
// the names of their nodes, and no other number means anything.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "engine/room.hpp"
#include "policies/shared/draft.hpp"

namespace makeway {

struct PlaneTag;
struct PlaceTag;
struct DeploymentTag;
struct ShareTag;
struct ReplicaTag;
using PlaneIndex = Index<PlaneTag>;
using PlaceIndex = Index<PlaceTag>;
using DeploymentIndex = Index<DeploymentTag>;
using ShareIndex = Index<ShareTag>;
using ReplicaIndex = Index<ReplicaTag>;

struct FleetPlane {
  std::string_view name;
  std::uint32_t begin = 0;  ///< Its places.
  std::uint32_t end = 0;
};

struct FleetPlace {
  NodeIndex node;
  PlaneIndex plane;
  std::uint32_t rank = 0;   ///< Of the node's name among all nodes.
  std::uint32_t begin = 0;  ///< Its replicas in `Fleet::in_order`.
  std::uint32_t end = 0;
  bool open = false;  ///< Not cordoned: a new pod may land here.
};

struct FleetDeployment {
  const ReplicaSchedule* object = nullptr;
  std::int32_t priority = 0;
  std::uint32_t request = 0;  ///< Deployments that request the same have the same number.
  std::uint32_t begin = 0;    ///< Its listed shares, by plane.
  std::uint32_t end = 0;
};

struct FleetShare {
  DeploymentIndex deployment;
  PlaneIndex plane;
  bool listed = false;  ///< In the spec; otherwise its commit is 0.
  std::int64_t committed = 0;
  std::int64_t score = 0;
  std::int64_t running = 0;         ///< Bound and not leaving.
  std::int64_t surplus = 0;         ///< Of these, above the commit.
  std::int64_t surplus_moving = 0;  ///< Of these, not past `surplusTimeout`.
  std::uint32_t begin = 0;          ///< Its running pods in `Fleet::in_share`.
  std::uint32_t end = 0;
  std::int64_t raised = 0;   ///< Scaled up in this cycle.
  std::int64_t lowered = 0;  ///< Scaled down in this cycle.
};

struct FleetReplica {
  PodIndex pod;
  ShareIndex share;  ///< None: it belongs to no deployment, and is only leaving.
  PlaceIndex place;
  std::uint32_t amounts = 0;  ///< Row of `Fleet::amounts`.
  std::int32_t priority = 0;  ///< Its deployment's.
  Time created;
  Time force_from;  ///< terminating: from then on it may be force-deleted.
  ReplicaClass victim_class = ReplicaClass::committed;
  bool is_protected : 1 = false;  ///< Nothing may be done to it; waiting for it is free.
  bool expired : 1 = false;       ///< It has been waited for long enough.
  bool last : 1 = false;          ///< The deployment's last replica in the plane.
  bool taken : 1 = false;         ///< By a claim of this cycle.
  bool awaited : 1 = false;       ///< By an ask of another policy: the room counts it as gone.
};

class Fleet {
 public:
  explicit Fleet(const Draft& draft);

  const Cluster& cluster() const { return world_.cluster(); }
  const ReplicaSettings& settings() const { return world_.configuration().replica; }
  Time now() const { return world_.rules().now(); }
  bool counts_cascades() const { return world_.configuration().engine.cascade_depth > 0; }

  const IndexedVector<PlaneIndex, FleetPlane>& planes() const { return planes_; }
  const IndexedVector<PlaceIndex, FleetPlace>& places() const { return places_; }
  const IndexedVector<DeploymentIndex, FleetDeployment>& deployments() const {
    return deployments_;
  }
  const IndexedVector<ShareIndex, FleetShare>& shares() const { return shares_; }
  FleetShare& share(ShareIndex index) { return shares_[index]; }
  const FleetReplica& replica(ReplicaIndex index) const { return replicas_[index]; }

  /// Those that may be victims on the place, least intrusive first.
  std::span<const ReplicaIndex> in_order(PlaceIndex place) const {
    return std::span(in_order_).subspan(places_[place].begin,
                                        places_[place].end - places_[place].begin);
  }
  /// The running pods of the share; its surplus first, most likely to be removed first.
  std::span<const ReplicaIndex> in_share(ShareIndex share) const {
    return std::span(in_share_).subspan(shares_[share].begin,
                                        shares_[share].end - shares_[share].begin);
  }
  std::optional<PlaceIndex> find_place(std::string_view plane, std::string_view node) const;
  std::optional<ReplicaIndex> find_replica(PlaceIndex place, PodIndex pod) const;
  std::optional<DeploymentIndex> find_deployment(std::string_view namespace_name,
                                                 std::string_view deployment) const;
  std::optional<ShareIndex> find_share(DeploymentIndex deployment, PlaneIndex plane) const;
  /// Planes where it has pods, but that its spec does not list.
  std::vector<ShareIndex> unlisted_shares(DeploymentIndex deployment) const;

  /// Since when its schedule knows it as surplus; none: not yet.
  std::optional<Time> surplus_since(const ReplicaSchedule& schedule, PodIndex pod) const;
  /// Whether a pod of it is leaving or surplus in the plane.
  bool some_pod_leaves(DeploymentIndex deployment, PlaneIndex plane) const;

  // ---- Amounts: rows of `columns` numbers ----------------------------------------------------
  std::size_t columns() const { return columns_.size(); }
  std::size_t request_count() const { return requests_.size() / columns_.size(); }
  /// The column of `replica.resource`.
  static constexpr std::size_t counted = 0;
  /// From amounts by resource column; what no node or pod has ever named stays.
  void copy_columns(std::span<const std::int64_t> row, std::span<std::int64_t> amounts) const {
    for (std::size_t column = 0; column < columns(); ++column) {
      if (columns_[column].exists()) amounts[column] = row[columns_[column].value];
    }
  }
  std::string_view column_name(std::size_t column) const { return column_names_[column]; }
  std::span<const std::int64_t> request(std::uint32_t number) const {
    return std::span(requests_).subspan(number * columns_.size(), columns_.size());
  }
  std::span<const std::int64_t> amounts(const FleetReplica& replica) const {
    return std::span(amounts_).subspan(replica.amounts * columns_.size(), columns_.size());
  }
  /// What the place gains when it leaves; nothing when the room has it already.
  std::span<const std::int64_t> freed(const FleetReplica& replica) const {
    return replica.awaited ? std::span<const std::int64_t>(nothing_) : amounts(replica);
  }
  std::span<std::int64_t> free_room(PlaceIndex place) {
    return std::span(free_room_).subspan(place.value * columns_.size(), columns_.size());
  }
  std::span<const std::int64_t> free_room(PlaceIndex place) const {
    return std::span(free_room_).subspan(place.value * columns_.size(), columns_.size());
  }
  std::span<std::int64_t> room(PlaceIndex place) {
    return std::span(room_).subspan(place.value * columns_.size(), columns_.size());
  }
  std::span<const std::int64_t> room(PlaceIndex place) const {
    return std::span(room_).subspan(place.value * columns_.size(), columns_.size());
  }
  /// As it was before any ask got anything in this cycle, and without what others make leave.
  void first_room(PlaceIndex place, std::vector<std::int64_t>& left) const;

  // ---- Potential victims ---------------------------------------------------------------------
  /// Whether the replica may be a victim of an ask of this priority, besides `spare`.
  bool usable(const FleetReplica& replica, std::int32_t ask_priority) const;
  /// The same without regard to what happened in this cycle.
  bool ever_usable(const FleetReplica& replica, std::int32_t ask_priority) const;
  /// How many more committed replicas the share can lose.
  std::int64_t spare(ShareIndex share) const;
  /// What would be done to it.
  ReplicaAction action(const FleetReplica& replica, std::int32_t ask_priority) const;
  /// It may be force-deleted for such an ask, once it is time.
  bool forcible(const FleetReplica& replica, std::int32_t ask_priority) const;
  void take(ReplicaIndex index);
  void release(ReplicaIndex index);

  /// Whether a comes before b on one place: class, lower priority, newer, higher name.
  bool before_in_place(const FleetReplica& a, const FleetReplica& b) const;
  /// Places where what may be used, or what is done to it, depends on the ask's priority in more
  /// than committed replicas.
  std::span<const PlaceIndex> conditional_places() const { return conditional_places_; }

 private:
  /// Pods of one deployment share their labels, and mostly their namespace.
  struct PodOwner {
    bool known = false;
    StringId namespace_name{0};
    StringId label{0};  ///< 0: none.
    DeploymentIndex deployment;
  };
  struct ByName {
    StringId namespace_name;
    StringId deployment;
    DeploymentIndex index;
  };

  void find_planes();
  void find_columns();
  void add_deployments();
  void add_places();
  void find_awaited();
  void give_leaving(NodeIndex node, bool awaited_too) const;
  void add_room(PlaceIndex place);
  void add_replicas();
  bool add_replica(PlaceIndex place, PodIndex pod, bool plain, FleetReplica& replica);
  void start_plane(PlaneIndex plane);
  ShareIndex share_of(PodIndex pod, PlaneIndex plane);
  DeploymentIndex deployment_of(PodIndex pod);
  DeploymentIndex find_deployment(StringId namespace_name, StringId deployment) const;
  std::uint32_t amounts_of(RequestId id);
  void classify_leaving(FleetReplica& replica) const;
  void order_shares();
  void mark_surplus(ShareIndex index);
  void order_places();

  const Draft& draft_;
  World& world_;
  Room world_room_;
  mutable std::vector<std::int64_t> row_;  ///< Of a node, by resource column; used again and again.
  StringId deployment_key_;
  std::vector<ResourceIndex> columns_;  ///< None: no node or pod has ever named it.
  std::vector<std::string_view> column_names_;
  IndexedVector<PlaneIndex, FleetPlane> planes_;
  IndexedVector<PlaceIndex, FleetPlace> places_;
  IndexedVector<NodeIndex, PlaceIndex> place_of_;
  IndexedVector<DeploymentIndex, FleetDeployment> deployments_;
  std::vector<ByName> by_name_;  ///< Sorted.
  IndexedVector<ShareIndex, FleetShare> shares_;
  std::map<std::pair<DeploymentIndex, PlaneIndex>, ShareIndex> unlisted_;
  IndexedVector<ReplicaIndex, FleetReplica> replicas_;
  std::vector<ReplicaIndex> in_order_;
  std::vector<ReplicaIndex> in_share_;
  std::vector<PlaceIndex> conditional_places_;
  std::vector<std::int64_t> requests_;
  std::vector<std::int64_t> amounts_;
  std::vector<std::uint32_t> amounts_row_;  ///< By RequestId; 0: not made yet.
  std::vector<std::int64_t> room_;
  std::vector<std::int64_t> free_room_;
  std::vector<std::int64_t> nothing_;  ///< A row of zeros.
  std::set<PodIndex> awaited_;         ///< Leaving, and waited for by asks of other policies.
  /// While replicas are added: the shares of the plane at hand, by deployment.
  IndexedVector<DeploymentIndex, ShareIndex> shares_here_;
  std::vector<std::vector<ShareIndex>> shares_by_plane_;
  std::vector<PodOwner> owners_;            ///< By LabelSetId.
  std::map<PodIndex, Time> force_deleted_;  ///< By plans before.
};

}  // namespace makeway

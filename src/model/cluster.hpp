// Cluster: the whole state at one instant, in columns. The one store that everything reads.
//
// Rules
//  1. `apply` costs O(what changed): a pod moves within its node's order and its unit's row. Some
//     rare changes cost more: a PriorityClass (every pod that relies on a class), a resource or a
//     node-selector key never seen before and a ResourceGroup with a selector (every node), the
//     size of a group that is evicted whole (its members; silent groups, whose priority is their
//     pods', too).
//  2. The order of changes leaves no trace: the same objects give the same dump and the same
//     derived state, whatever slots they got. (Node classes may stay finer than needed after a pod
//     that selected nodes by some label is gone; `compacted` forgets.)
//  3. References may dangle: a pod may name a node, a group or a class that is not here (yet). It
//     is kept and counted; `validate` in validation.hpp reports it. A bound pod whose group is not
//     here is a unit of its own.
//  4. Reading is free of side effects; while a decision is made the cluster is const.
//  5. Kernels of sessions are rows among the pods, so that a count of what a node holds includes
//     them. They are no pods: flags.kernel is set, their namespace is empty, they take none of the
//     resource `pods`, no selector matches them, and lists of pods do not have them. `find_pod`
//     finds one by the session's namespace and "session/kernel".
//  6. Every object has a plane: whose cluster it is in, empty: home. It is part of the key, and
//     what an object names (node, group, class, workload) is meant in its own plane. The label
//     makeway.dev/plane of a node is no part of the key. Makeway's own kinds mean something at home
//     only: elsewhere pods are in no queue, and sessions have no kernels.
//
//   Cluster cluster;
//   cluster.apply(Node{.name = "n1", .allocatable = {{"cpu", 4000}, {"pods", 110}}});
//   cluster.apply(Pod{.namespace_name = "default", .name = "web", .node = "n1"});
//   cluster.order().used(*cluster.find_node("n1"));   // -> {0, 0, 0, 1}
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/intern.hpp"
#include "model/columns.hpp"
#include "model/ids.hpp"
#include "model/node_order.hpp"
#include "model/object_hash.hpp"
#include "model/objects.hpp"
#include "model/resource.hpp"
#include "model/span_interner.hpp"

namespace makeway {

/// Where the bytes are; see docs/performance.md.
struct ClusterBytes {
  std::size_t pods = 0;
  std::size_t nodes = 0;
  std::size_t units = 0;
  std::size_t order = 0;
  std::size_t texts = 0;
  std::size_t interned = 0;

  std::size_t total() const { return pods + nodes + units + order + texts + interned; }
};

template <class Object>
using ObjectMap = std::map<ObjectKey, Object, ObjectKeyLess>;

/// One map for each kind that is kept in a map.
template <class List>
struct MapsOf;
template <class... Objects>
struct MapsOf<KindList<Objects...>> {
  using Type = decltype(std::tuple_cat(
      std::declval<std::conditional_t<MappedObject<Objects>, std::tuple<ObjectMap<Objects>>,
                                      std::tuple<>>>()...));
};

/// The rows of one kernel of a session among the pods.
struct KernelRows {
  PodIndex row;     ///< All that it asks for, or all but memory.
  PodIndex memory;  ///< None: its memory is in the other row.
};

class Cluster {
 public:
  Cluster();
  // Its maps and columns are compiled once, not wherever a cluster is kept.
  Cluster(Cluster&& other) noexcept;
  Cluster& operator=(Cluster&& other) noexcept;
  ~Cluster();

  /// Inserts the object or replaces the one of that name; true when it was not there before.
  bool apply(const Pod& pod);
  bool apply(const Node& node);
  bool apply(const PriorityClass& priority_class);
  bool apply(const PodGroup& object);
  bool apply(const Workload& object);
  bool apply(const Session& session);
  bool apply(const ResourceGroup& group);
  template <MappedObject Object>
  bool apply(const Object& object);
  /// True when it was there. Removing what is not there changes nothing.
  bool apply(const Removal& removal);
  bool apply(const Change& change);

  /// Many changes at once: derived state is not touched until `finish_bulk`, which computes it from
  /// the columns in O(everything) and releases spare memory. In between, `order`, the units'
  /// values, node classes and the list of nodes are stale.
  void begin_bulk() { bulk_ = true; }
  void finish_bulk();

  // ---- Finding ------------------------------------------------------------------------------
  std::optional<PodIndex> find_pod(std::string_view namespace_name, std::string_view name,
                                   std::string_view plane = {}) const;
  /// Also a merely named one.
  std::optional<NodeIndex> find_node(std::string_view name, std::string_view plane = {}) const;
  std::optional<GroupIndex> find_group(std::string_view namespace_name, std::string_view name,
                                       std::string_view plane = {}) const;
  /// Built-in ones too; every plane has those.
  const PriorityClass* find_priority_class(std::string_view name,
                                           std::string_view plane = {}) const;
  const PriorityClass* default_priority_class(std::string_view plane = {}) const;

  // ---- Columns ------------------------------------------------------------------------------
  const PodColumns& pods() const { return pods_; }
  PodRange each_pod() const { return {pods_, PodRange::Kernels::skipped}; }
  /// For counting what is held: kernels of sessions, too.
  PodRange each_row() const { return {pods_, PodRange::Kernels::included}; }
  const NodeColumns& nodes() const { return nodes_; }
  const IndexedVector<UnitIndex, Unit>& units() const { return units_; }
  const IndexedVector<GroupIndex, Group>& groups() const { return groups_; }
  /// Of its Workload; null: there is none.
  const GroupTemplate* template_of(const Group& group) const;
  /// What its PodGroup says or, where there is none, its Workload's template; null: neither does.
  const GroupPolicy* policy_of(const Group& group) const;
  const NodeOrder& order() const { return order_; }
  const ResourceTable& resources() const { return resources_; }
  const StringPool& strings() const { return strings_; }
  RequestRow requests(RequestId id) const { return requests_[id]; }
  std::size_t request_rows() const { return requests_.size(); }
  std::span<const LabelPair> labels(LabelSetId id) const { return label_sets_[id]; }
  const PodShape& shape(ShapeId id) const { return shapes_[id]; }
  const PodNotes& notes(NotesId id) const { return notes_[id]; }
  const std::vector<Taint>& taints(TaintSetId id) const { return taint_sets_[id]; }
  const std::vector<OwnerReference>& owners(OwnersId id) const { return owner_sets_[id]; }
  const NodeClass& node_class(NodeClassId id) const { return node_classes_[id]; }

  std::string_view text(StringId id) const { return strings_.text(id); }
  /// "namespace/name", of another plane "namespace/name of plane east": as messages call it.
  std::string pod_key(PodIndex pod) const;
  std::size_t pod_count() const { return pod_count_ - kernel_count_; }  ///< No kernels.
  std::size_t node_count() const { return node_count_; }
  /// Nodes that a policy other than that of pods would schedule, were it enabled; see regime.hpp.
  std::size_t claimed_node_count() const { return claimed_node_count_; }

  // Lists of pods that `apply` keeps, so that a cycle does not walk over all; in no order that
  // means anything.
  /// Not bound and not being deleted; no kernels, and none of other planes: Makeway does not place
  /// those.
  const std::set<PodIndex>& pending_pods() const { return pending_pods_; }
  /// Bound and being deleted; kernels of sessions that end, too.
  const std::set<PodIndex>& leaving_pods() const { return leaving_pods_; }
  /// Not bound, with a nomination to a node that may only be named; kernels, too.
  const std::set<PodIndex>& nominated_pods() const { return nominated_pods_; }
  /// Pods that repel others (required anti-affinity), bound or not.
  const std::set<PodIndex>& repelling_pods() const { return repelling_pods_; }
  /// Pods that stop together with others (LossShare), bound or not.
  const std::set<PodIndex>& sharing_pods() const { return sharing_pods_; }

  /// Importance for ties inside one node: priority, group over pod, size, age, name.
  bool more_important(PodIndex a, PodIndex b) const;

  // ---- Objects, as they were given; lists are sorted by plane, namespace and name -------------
  Pod pod(PodIndex index) const;
  Node node(NodeIndex index) const;
  Labels label_objects(LabelSetId id) const;
  Amounts amount_objects(RequestId id) const;
  std::vector<PodIndex> pods_by_name() const;
  const std::vector<NodeIndex>& nodes_by_name() const { return nodes_by_name_; }  ///< Existing.
  /// Those of home, the first of them: where asks are placed.
  std::span<const NodeIndex> home_nodes() const {
    return std::span(nodes_by_name_).first(home_node_count_);
  }
  std::vector<GroupIndex> groups_by_name() const;
  std::vector<const PriorityClass*> priority_classes() const;
  std::vector<const DisruptionBudget*> budgets() const;
  std::vector<const Workload*> workloads() const;
  /// Null: the group follows none, or it is not here.
  const Workload* workload_of(const Group& group) const {
    if (!group.workload.exists() || !workloads_[group.workload].object) return nullptr;
    return &*workloads_[group.workload].object;
  }
  std::vector<const Namespace*> namespaces() const;
  /// The objects of home, of a kind that is kept in a map:
  /// `for (const auto& [key, queue] : own<Queue>())`.
  template <MappedObject Object>
  const ObjectMap<Object>& own() const {
    return std::get<ObjectMap<Object>>(home_);
  }
  /// Calls `visit(object)` for every object of any kind, in the order of lists.
  template <ClusterObject Object, class Visit>
  void each(const Visit& visit) const {
    if constexpr (MappedObject<Object>) {
      for (const auto& [key, object] : own<Object>()) visit(object);
      for (const auto& [key, object] : std::get<ObjectMap<Object>>(elsewhere_)) visit(object);
    } else {
      each_in_columns(KindTag<Object>{}, visit);
    }
  }

  /// The rows of the kernels of every session, in the order of `own<Session>()` and of its kernels;
  /// none of a session that has ended.
  const ObjectMap<std::vector<KernelRows>>& kernel_rows() const { return kernel_rows_; }

  /// The same cluster without the strings and rows that removed objects left behind.
  Cluster compacted() const;
  ClusterBytes bytes() const;
  /// How many texts, label sets, rows and shapes it remembers, also of objects that are gone.
  std::size_t interned_count() const;

 private:
  friend class ClusterCompaction;

  template <class Visit>
  void each_in_columns(KindTag<Node> /*kind*/, const Visit& visit) const {
    for (const NodeIndex index : nodes_by_name()) visit(node(index));
  }
  template <class Visit>
  void each_in_columns(KindTag<Pod> /*kind*/, const Visit& visit) const {
    for (const PodIndex index : pods_by_name()) visit(pod(index));
  }
  template <class Visit>
  void each_in_columns(KindTag<Workload> /*kind*/, const Visit& visit) const {
    for (const Workload* const workload : workloads()) visit(*workload);
  }
  template <class Visit>
  void each_in_columns(KindTag<PodGroup> /*kind*/, const Visit& visit) const {
    for (const GroupIndex group : groups_by_name()) {
      if (groups_[group].object) visit(*groups_[group].object);
    }
  }

  template <MappedObject Object>
  ObjectMap<Object>& map_of(std::string_view plane) {
    return std::get<ObjectMap<Object>>(plane.empty() ? home_ : elsewhere_);
  }
  template <MappedObject Object>
  const ObjectMap<Object>& map_of(std::string_view plane) const {
    return std::get<ObjectMap<Object>>(plane.empty() ? home_ : elsewhere_);
  }
  template <MappedObject Object>
  bool put(const Object& object) {
    return map_of<Object>(object.plane).insert_or_assign(owned(key_of(object)), object).second;
  }
  template <MappedObject Object>
  bool drop(const Removal& removal) {
    return map_of<Object>(removal.plane)
               .erase({removal.namespace_name, removal.name, removal.plane}) > 0;
  }
  template <MappedObject Object>
  bool remove(KindTag<Object> /*kind*/, const Removal& removal) {
    return drop<Object>(removal);
  }
  bool remove(KindTag<PriorityClass> kind, const Removal& removal);
  bool remove(KindTag<Session> kind, const Removal& removal);
  bool remove(KindTag<ResourceGroup> kind, const Removal& removal);
  bool remove(KindTag<Node> kind, const Removal& removal);
  bool remove(KindTag<Pod> kind, const Removal& removal);
  bool remove(KindTag<PodGroup> kind, const Removal& removal);
  bool remove(KindTag<Workload> kind, const Removal& removal);

  struct OrderKey {
    std::int32_t priority = 0;
    std::int32_t size = 1;
    bool group = false;
    Time started;
    PodIndex pod;
  };

  // cluster_pods.cpp
  bool upsert(const Pod& pod, bool kernel);
  PodIndex pod_slot(const Pod& pod);
  void add_free_pods();
  void write_pod(PodIndex index, const Pod& pod, bool kernel);
  void remove_pod(PodIndex pod);
  void bind(PodIndex pod, NodeIndex node);
  void unbind(PodIndex pod);
  void nominate(PodIndex pod, NodeIndex node);
  void list_pending(PodIndex pod);
  bool guarded(PodIndex pod) const;  ///< See NodeOrder.
  void enter_order(PodIndex pod);
  void leave_order(PodIndex pod);
  OrderKey order_key(PodIndex pod) const;
  bool before(const OrderKey& a, const OrderKey& b) const;
  std::optional<PodIndex> pod_in(Space space, std::string_view name) const;
  RequestId intern_requests(const Amounts& amounts, bool one_pod);
  LabelSetId intern_labels(const Labels& labels);
  ShapeId intern_shape(const PodShape& shape);
  void rebuild_order();

  // cluster_sessions.cpp
  void enter_kernels(const Session& session);
  void leave_kernels(const ObjectKeyView& key);
  PodIndex enter_kernel(const Session& session, const Kernel& kernel, bool memory);

  // cluster_nodes.cpp
  NodeIndex node_slot(std::string_view name, std::string_view plane);
  bool before_by_name(NodeIndex a, NodeIndex b) const;
  void drop_node_if_unused(NodeIndex node);
  void classify(NodeIndex node);
  void classify_all();
  void list_node(NodeIndex node);
  void list_all_nodes();
  void set_claims(NodeIndex node, NodeClaims claims);
  void claim(NodeIndex node);
  void claim_all();
  void list_nodes(const ResourceGroup& group, int delta);
  void claim_listed(const ResourceGroup& group);

  // cluster_units.cpp
  struct ResolvedPriority {
    std::int32_t scheduling = 0;
    std::int32_t preemption = 0;
    bool never_preempts = false;
  };
  GroupIndex group_slot(Space space, std::string_view name);
  WorkloadIndex workload_slot(Space space, std::string_view name);
  void join_unit(PodIndex pod, std::string_view group, bool bound);
  void leave_unit(PodIndex pod);
  void attach(PodIndex pod, GroupIndex group, bool bound);
  void free_lone_unit(PodIndex pod);
  void settle_members(GroupIndex index);
  void follow_workload(GroupIndex index);
  void drop_group_if_unused(GroupIndex index);
  void drop_workload_if_unused(WorkloadIndex index);
  void refresh_unit(UnitIndex index);
  void refresh_all_priorities();
  Unit computed(const Unit& unit) const;
  Unit computed_group(const Unit& unit) const;
  ResolvedPriority own_priority(PodIndex pod) const;
  ResolvedPriority group_priority(const Group& group,
                                  std::span<const PriorityClaim* const> claims) const;
  ResolvedPriority members_priority(const Group& group) const;
  StringId stated_queue(PodIndex pod);
  StringId group_queue(const Group& group) const;
  UnitIndex new_unit();
  std::optional<GroupIndex> group_in(Space space, std::string_view name) const;
  std::optional<WorkloadIndex> find_workload(Space space, std::string_view name) const;
  std::optional<Space> find_space(std::string_view namespace_name, std::string_view plane) const;

  bool bulk_ = false;
  StringPool strings_;
  ResourceTable resources_;
  SpanInterner<LabelSetId, LabelPair> label_sets_;
  SpanInterner<RequestId, ResourceAmount> requests_;
  Interner<ShapeId, PodShape> shapes_;
  Interner<NotesId, PodNotes> notes_;
  Interner<TaintSetId, std::vector<Taint>> taint_sets_;
  Interner<OwnersId, std::vector<OwnerReference>> owner_sets_;
  Interner<NodeClassId, NodeClass> node_classes_;
  std::array<StringId, 3> queue_keys_;      ///< Labels that name a queue; the first one counts.
  std::vector<ResourceAmount> row_buffer_;  ///< Used again by every change.
  std::vector<LabelPair> pair_buffer_;
  Space last_space_;
  std::vector<StringId> selecting_keys_;  ///< Keys that pods select nodes by; sorted by id.

  PodColumns pods_;
  std::vector<PodIndex> free_pods_;
  HashTable pods_by_key_;
  std::size_t pod_count_ = 0;
  std::set<PodIndex> repelling_pods_;
  std::set<PodIndex> sharing_pods_;
  std::set<PodIndex> pending_pods_;
  std::set<PodIndex> leaving_pods_;
  std::set<PodIndex> nominated_pods_;

  NodeColumns nodes_;
  std::vector<NodeIndex> free_nodes_;
  HashTable nodes_by_key_;
  std::size_t node_count_ = 0;
  std::vector<NodeIndex> nodes_by_name_;
  std::size_t home_node_count_ = 0;
  StringId plane_key_{0};
  std::map<std::string, std::int64_t, std::less<>> listed_nodes_;  ///< How many groups name them.
  std::int64_t selecting_groups_ = 0;                              ///< Those with a selector.
  std::size_t claimed_node_count_ = 0;
  NodeOrder order_;

  IndexedVector<UnitIndex, Unit> units_;
  std::vector<UnitIndex> free_units_;
  IndexedVector<GroupIndex, Group> groups_;
  std::vector<GroupIndex> free_groups_;
  HashTable groups_by_key_;
  IndexedVector<WorkloadIndex, WorkloadSlot> workloads_;
  std::vector<WorkloadIndex> free_workloads_;
  HashTable workloads_by_key_;

  // Few objects, looked up by key: ordered maps, so that listing them is deterministic.
  MapsOf<ObjectKinds>::Type home_;
  MapsOf<ObjectKinds>::Type elsewhere_;  ///< Of all other planes.
  ObjectMap<std::vector<KernelRows>> kernel_rows_;
  std::size_t kernel_count_ = 0;  ///< Rows of kernels; they are in pod_count_.
};

}  // namespace makeway

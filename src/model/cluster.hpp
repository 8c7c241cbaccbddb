// Cluster: the whole state at one instant, in columns. The one store that everything reads.
//
// Rules
//  1. `apply` costs O(what changed): a pod moves within its node's order and its unit's row. Three
//     rare changes cost more: a PriorityClass (every pod that relies on a class), a resource or a
//     node-selector key never seen before (every node), the size of a group that is evicted whole
//     (its members; silent groups, whose priority is their pods', too).
//  2. The order of changes leaves no trace: the same objects give the same dump and the same
//     derived state, whatever slots they got. (Node classes may stay finer than needed after a pod
//     that selected nodes by some label is gone; `compacted` forgets.)
//  3. References may dangle: a pod may name a node, a group or a class that is not here (yet). It
//     is kept and counted; `validate` in validation.hpp tells.
//  4. Reading is free of side effects; while a decision is made the cluster is const.
//  5. Kernels of sessions are rows among the pods, so that whoever counts what a node holds counts
//     them. They are no pods: flags.kernel is set, their namespace is empty, they take none of the
//     resource `pods`, no selector matches them, and lists of pods do not have them. `find_pod`
//     finds one by the session's namespace and "session/kernel".
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

/// The rows of one kernel of a session among the pods.
struct KernelRows {
  PodIndex row;     ///< All that it asks for, or all but memory.
  PodIndex memory;  ///< None: its memory is in the other row.
};

class Cluster {
 public:
  Cluster();

  /// Inserts the object or replaces the one of that name; true when it was not there before.
  bool apply(const Pod& pod);
  bool apply(const Node& node);
  bool apply(const PriorityClass& priority_class);
  bool apply(const DisruptionBudget& budget);
  bool apply(const PodGroup& object);
  bool apply(const Workload& object);
  bool apply(const Namespace& object);
  bool apply(const Session& session);
  template <OwnObject Object>
  bool apply(const Object& object) {
    return std::get<std::map<OwnKey, Object>>(own_)
        .insert_or_assign(own_key(object), object)
        .second;
  }
  /// True when it was there. Removing what is not there changes nothing.
  bool apply(const Removal& removal);
  bool apply(const Change& change);

  /// Many changes at once: derived state is not touched until `finish_bulk`, which computes it from
  /// the columns in O(everything) and gives back spare memory. In between, `order`, the units'
  /// values, node classes and the list of nodes are stale.
  void begin_bulk() { bulk_ = true; }
  void finish_bulk();

  // ---- Finding ------------------------------------------------------------------------------
  std::optional<PodIndex> find_pod(std::string_view namespace_name, std::string_view name) const;
  std::optional<NodeIndex> find_node(std::string_view name) const;  ///< Also a merely named one.
  std::optional<GroupIndex> find_group(std::string_view namespace_name,
                                       std::string_view name) const;
  const PriorityClass* find_priority_class(std::string_view name) const;  ///< Built-in ones too.
  const PriorityClass* default_priority_class() const;

  // ---- Columns ------------------------------------------------------------------------------
  const PodColumns& pods() const { return pods_; }
  const NodeColumns& nodes() const { return nodes_; }
  const IndexedVector<UnitIndex, Unit>& units() const { return units_; }
  const IndexedVector<GroupIndex, Group>& groups() const { return groups_; }
  /// Of its Workload; null: there is none.
  const GroupTemplate* template_of(const Group& group) const;
  /// What its PodGroup says or, where there is none, its Workload's template; null: nobody does.
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
  std::string pod_key(PodIndex pod) const;                              ///< "namespace/name"
  std::size_t pod_count() const { return pod_count_ - kernel_count_; }  ///< No kernels.
  std::size_t node_count() const { return node_count_; }

  // Lists of pods that `apply` keeps, so that a cycle does not walk over all; in no order that
  // means anything.
  /// Not bound and not being deleted; no kernels.
  const std::set<PodIndex>& pending_pods() const { return pending_pods_; }
  /// Bound and being deleted; kernels of sessions that end, too.
  const std::set<PodIndex>& leaving_pods() const { return leaving_pods_; }
  /// Not bound, with a nomination to a node that may only be named; kernels, too.
  const std::set<PodIndex>& nominated_pods() const { return nominated_pods_; }
  /// Pods that repel others (required anti-affinity), bound or not.
  const std::set<PodIndex>& repelling_pods() const { return repelling_pods_; }

  /// Importance for ties inside one node: priority, group over pod, size, age, name.
  bool more_important(PodIndex a, PodIndex b) const;

  // ---- Objects, as they were given; lists are sorted by namespace and name --------------------
  Pod pod(PodIndex index) const;
  Node node(NodeIndex index) const;
  Labels label_objects(LabelSetId id) const;
  Amounts amount_objects(RequestId id) const;
  std::vector<PodIndex> pods_by_name() const;
  const std::vector<NodeIndex>& nodes_by_name() const { return nodes_by_name_; }  ///< Existing.
  std::vector<GroupIndex> groups_by_name() const;
  std::vector<const PriorityClass*> priority_classes() const;
  std::vector<const DisruptionBudget*> budgets() const;
  std::vector<const Workload*> workloads() const;
  std::vector<const Namespace*> namespaces() const;
  /// The objects of one of Makeway's own kinds: `for (const auto& [key, queue] : own<Queue>())`.
  template <OwnObject Object>
  const std::map<OwnKey, Object>& own() const {
    return std::get<std::map<OwnKey, Object>>(own_);
  }

  /// The rows of the kernels of every session, in the order of `own<Session>()` and of its kernels;
  /// none of a session that has ended.
  const std::map<OwnKey, std::vector<KernelRows>>& kernel_rows() const { return kernel_rows_; }

  /// The same cluster without the strings and rows that removed objects left behind.
  Cluster compacted() const;
  ClusterBytes bytes() const;

 private:
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
  bool remove_pod(std::string_view namespace_name, std::string_view name);
  void bind(PodIndex pod, NodeIndex node);
  void unbind(PodIndex pod);
  void nominate(PodIndex pod, NodeIndex node);
  void list_pending(PodIndex pod);
  bool guarded(PodIndex pod) const;  ///< See NodeOrder.
  void enter_order(PodIndex pod);
  void leave_order(PodIndex pod);
  OrderKey order_key(PodIndex pod) const;
  bool before(const OrderKey& a, const OrderKey& b) const;
  std::uint64_t pod_hash(StringId namespace_name, std::string_view name) const;
  RequestId intern_requests(const Amounts& amounts, bool one_pod);
  LabelSetId intern_labels(const Labels& labels);
  ShapeId intern_shape(const PodShape& shape);
  void rebuild_order();

  // cluster_sessions.cpp
  void enter_kernels(const Session& session);
  void leave_kernels(const OwnKey& key);
  bool remove_session(const Removal& removal);
  PodIndex enter_kernel(const Session& session, const Kernel& kernel, bool memory);

  // cluster_nodes.cpp
  NodeIndex node_slot(std::string_view name);
  bool remove_node(std::string_view name);
  void drop_node_if_unused(NodeIndex node);
  void classify(NodeIndex node);
  void classify_all();
  void list_node(NodeIndex node);
  void list_all_nodes();

  // cluster_units.cpp
  struct ResolvedPriority {
    std::int32_t scheduling = 0;
    std::int32_t preemption = 0;
    bool never_preempts = false;
  };
  GroupIndex group_slot(StringId namespace_name, std::string_view name);
  WorkloadIndex workload_slot(StringId namespace_name, std::string_view name);
  void join_unit(PodIndex pod, std::string_view group);
  void leave_unit(PodIndex pod);
  void follow_workload(GroupIndex index);
  void drop_group_if_unused(GroupIndex index);
  void drop_workload_if_unused(WorkloadIndex index);
  bool remove_group(std::string_view namespace_name, std::string_view name);
  bool remove_workload(std::string_view namespace_name, std::string_view name);
  template <OwnObject Object>
  bool remove_own(const Removal& removal) {
    return std::get<std::map<OwnKey, Object>>(own_).erase({removal.namespace_name, removal.name}) >
           0;
  }
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
  std::optional<WorkloadIndex> find_workload(std::string_view namespace_name,
                                             std::string_view name) const;

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
  StringId last_namespace_{0};
  std::vector<StringId> selecting_keys_;  ///< Keys that pods select nodes by; sorted by id.

  PodColumns pods_;
  std::vector<PodIndex> free_pods_;
  HashTable pods_by_key_;
  std::size_t pod_count_ = 0;
  std::set<PodIndex> repelling_pods_;
  std::set<PodIndex> pending_pods_;
  std::set<PodIndex> leaving_pods_;
  std::set<PodIndex> nominated_pods_;

  NodeColumns nodes_;
  std::vector<NodeIndex> free_nodes_;
  HashTable nodes_by_key_;
  std::size_t node_count_ = 0;
  std::vector<NodeIndex> nodes_by_name_;
  NodeOrder order_;

  IndexedVector<UnitIndex, Unit> units_;
  std::vector<UnitIndex> free_units_;
  IndexedVector<GroupIndex, Group> groups_;
  std::vector<GroupIndex> free_groups_;
  HashTable groups_by_key_;
  IndexedVector<WorkloadIndex, WorkloadSlot> workloads_;
  std::vector<WorkloadIndex> free_workloads_;
  HashTable workloads_by_key_;

  // Few objects, looked up by name: ordered maps, so that listing them is deterministic.
  using Key = std::pair<std::string, std::string>;
  std::map<std::string, PriorityClass, std::less<>> priority_classes_;
  std::map<Key, DisruptionBudget> budgets_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
  std::tuple<std::map<OwnKey, Queue>, std::map<OwnKey, ReplicaSchedule>,
             std::map<OwnKey, ResourceGroup>, std::map<OwnKey, Session>,
             std::map<OwnKey, Partition>>
      own_;
  std::map<OwnKey, std::vector<KernelRows>> kernel_rows_;
  std::size_t kernel_count_ = 0;  ///< Rows of kernels; they are in pod_count_.
};

}  // namespace makeway

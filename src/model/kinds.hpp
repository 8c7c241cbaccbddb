// The table of kinds, value side: which objects there are and what all of them have in common.
//
// A new kind is a row here (enumerator, row, type: one place in three lists, and they are checked
// against each other), its struct in objects.hpp or beside it, and a row in each of the two tables
// over these kinds: codec/kinds.cpp (decode, write, fields) and validation/validation.cpp. From the
// rows follow Change, the maps of the store, removal, `compacted`, the order of dumps and the name
// of an object in messages. See docs/decisions/0012-kinds.md.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace makeway {

struct Namespace;
struct PriorityClass;
struct Node;
struct StorageClass;
struct PersistentVolume;
struct PersistentVolumeClaim;
struct CsiNode;
struct ResourceClaim;
struct DisruptionBudget;
struct Workload;
struct PodGroup;
struct Queue;
struct ReplicaSchedule;
struct ResourceGroup;
struct Partition;
struct Session;
struct Pod;

/// In the order of dumps: what others refer to comes first.
enum class ObjectKind : std::uint8_t {
  namespace_object,
  priority_class,
  node,
  storage_class,
  persistent_volume,
  persistent_volume_claim,
  csi_node,
  resource_claim,
  disruption_budget,
  workload,
  pod_group,
  queue,
  replica_schedule,
  resource_group,
  partition,
  session,
  pod,
};

enum class Scope : bool { everywhere, in_namespace };
/// Where the store keeps the objects: many in columns, few in an ordered map.
enum class Kept : bool { in_map, in_columns };

struct KindRow {
  ObjectKind kind;
  std::string_view name;         ///< As `kind` in manifests and in messages.
  std::string_view api_version;  ///< As dumps write it; every version of the group is read.
  Scope scope;
  Kept kept;
};

inline constexpr std::string_view own_api_group = "makeway.dev";
inline constexpr std::string_view own_api_version = "makeway.dev/v1";

inline constexpr std::array kind_rows = {
    KindRow{ObjectKind::namespace_object, "Namespace", "v1", Scope::everywhere, Kept::in_map},
    KindRow{ObjectKind::priority_class, "PriorityClass", "scheduling.k8s.io/v1", Scope::everywhere,
            Kept::in_map},
    KindRow{ObjectKind::node, "Node", "v1", Scope::everywhere, Kept::in_columns},
    KindRow{ObjectKind::storage_class, "StorageClass", "storage.k8s.io/v1", Scope::everywhere,
            Kept::in_map},
    KindRow{ObjectKind::persistent_volume, "PersistentVolume", "v1", Scope::everywhere,
            Kept::in_map},
    KindRow{ObjectKind::persistent_volume_claim, "PersistentVolumeClaim", "v1", Scope::in_namespace,
            Kept::in_map},
    KindRow{ObjectKind::csi_node, "CSINode", "storage.k8s.io/v1", Scope::everywhere, Kept::in_map},
    KindRow{ObjectKind::resource_claim, "ResourceClaim", "resource.k8s.io/v1", Scope::in_namespace,
            Kept::in_map},
    KindRow{ObjectKind::disruption_budget, "PodDisruptionBudget", "policy/v1", Scope::in_namespace,
            Kept::in_map},
    KindRow{ObjectKind::workload, "Workload", "scheduling.k8s.io/v1beta1", Scope::in_namespace,
            Kept::in_columns},
    KindRow{ObjectKind::pod_group, "PodGroup", "scheduling.k8s.io/v1beta1", Scope::in_namespace,
            Kept::in_columns},
    KindRow{ObjectKind::queue, "Queue", own_api_version, Scope::everywhere, Kept::in_map},
    KindRow{ObjectKind::replica_schedule, "ReplicaSchedule", own_api_version, Scope::in_namespace,
            Kept::in_map},
    KindRow{ObjectKind::resource_group, "ResourceGroup", own_api_version, Scope::everywhere,
            Kept::in_map},
    KindRow{ObjectKind::partition, "Partition", own_api_version, Scope::everywhere, Kept::in_map},
    KindRow{ObjectKind::session, "Session", own_api_version, Scope::in_namespace, Kept::in_map},
    KindRow{ObjectKind::pod, "Pod", "v1", Scope::in_namespace, Kept::in_columns},
};

template <class... Objects>
struct KindList {};
using ObjectKinds =
    KindList<Namespace, PriorityClass, Node, StorageClass, PersistentVolume, PersistentVolumeClaim,
             CsiNode, ResourceClaim, DisruptionBudget, Workload, PodGroup, Queue, ReplicaSchedule,
             ResourceGroup, Partition, Session, Pod>;

// ---- Looking up -----------------------------------------------------------------------------

template <class Object>
struct KindTag {
  using Type = Object;
};

template <class Object, class... Objects>
consteval std::size_t position_in(KindList<Objects...> /*all*/) {
  const std::array is_it = {std::is_same_v<Object, Objects>...};
  std::size_t position = 0;
  while (position < is_it.size() && !is_it.at(position)) ++position;
  return position;
}

template <class Object>
concept ClusterObject = position_in<Object>(ObjectKinds{}) < kind_rows.size();

template <ClusterObject Object>
inline constexpr KindRow row_of = kind_rows[position_in<Object>(ObjectKinds{})];

constexpr const KindRow& row_of_kind(ObjectKind kind) {
  return kind_rows.at(static_cast<std::size_t>(kind));
}

constexpr bool is_own(const KindRow& row) { return row.api_version == own_api_version; }

/// An object of makeway.dev/v1: its fields are rows in codec/fields.hpp.
template <class Object>
concept OwnObject = ClusterObject<Object> && is_own(row_of<Object>);

template <class Object>
concept MappedObject = ClusterObject<Object> && row_of<Object>.kept == Kept::in_map;

/// Calls `visit(KindTag<Object>{})` for every kind, in the order of the table.
template <class Visit, class... Objects>
constexpr void each_kind(const Visit& visit, KindList<Objects...> /*all*/) {
  (visit(KindTag<Objects>{}), ...);
}
template <class Visit>
constexpr void each_kind(const Visit& visit) {
  each_kind(visit, ObjectKinds{});
}

consteval bool rows_stand_at_their_kind() {
  for (std::size_t at = 0; at < kind_rows.size(); ++at) {
    if (static_cast<std::size_t>(kind_rows.at(at).kind) != at) return false;
  }
  return true;
}
static_assert(rows_stand_at_their_kind());
static_assert(ClusterObject<Pod> && row_of<Pod>.kind == ObjectKind::pod, "lists differ in length");

// ---- Keys -----------------------------------------------------------------------------------

/// What distinguishes objects of one kind. Ordered by plane, namespace and name, home first.
struct ObjectKey {
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< The plane that it is in; empty: home.
};

/// The same without copies.
struct ObjectKeyView {
  std::string_view namespace_name;
  std::string_view name;
  std::string_view plane;

  friend auto operator<=>(const ObjectKeyView& a, const ObjectKeyView& b) {
    return std::tie(a.plane, a.namespace_name, a.name) <=>
           std::tie(b.plane, b.namespace_name, b.name);
  }
  friend bool operator==(const ObjectKeyView&, const ObjectKeyView&) = default;
};

constexpr ObjectKeyView view_of_key(const ObjectKeyView& key) { return key; }
constexpr ObjectKeyView view_of_key(const ObjectKey& key) {
  return {.namespace_name = key.namespace_name, .name = key.name, .plane = key.plane};
}
inline auto operator<=>(const ObjectKey& a, const ObjectKey& b) {
  return view_of_key(a) <=> view_of_key(b);
}
inline bool operator==(const ObjectKey& a, const ObjectKey& b) {
  return view_of_key(a) == view_of_key(b);
}

/// For maps by ObjectKey in which views are looked up.
struct ObjectKeyLess {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name.
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return view_of_key(a) < view_of_key(b);
  }
};

template <ClusterObject Object>
ObjectKeyView key_of(const Object& object) {
  ObjectKeyView key{.namespace_name = {}, .name = object.name, .plane = object.plane};
  if constexpr (row_of<Object>.scope == Scope::in_namespace) {
    key.namespace_name = object.namespace_name;
  }
  return key;
}

inline ObjectKey owned(const ObjectKeyView& key) {
  return {.namespace_name = std::string(key.namespace_name),
          .name = std::string(key.name),
          .plane = std::string(key.plane)};
}

}  // namespace makeway

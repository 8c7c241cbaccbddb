// The columns of the store. Slots of removed objects are reused; `exists` says which are in use.
//
// Read them freely, keep no reference across an apply. Only Cluster writes them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "base/intern.hpp"
#include "base/time.hpp"
#include "model/ids.hpp"
#include "model/objects.hpp"
#include "model/text_column.hpp"

namespace makeway {

/// Stands for "no time" in a column; an optional would double the width.
inline constexpr Time no_time{std::numeric_limits<std::int64_t>::min()};

struct PodFlags {
  bool exists : 1 = false;
  bool ordered : 1 = false;  ///< Stands in the order of its node.
  bool priority_given : 1 = false;
  bool ready : 1 = false;
  bool mirror : 1 = false;
  bool opted_out : 1 = false;
  bool is_protected : 1 = false;
  bool is_owner : 1 = false;
  bool of_daemon_set : 1 = false;  ///< One is among its owners.
  bool disrupted_by_preemption : 1 = false;
  bool kernel : 1 = false;  ///< No pod of Kubernetes, but a part of a session; see cluster.hpp.
  PreemptionPolicy preemption_policy : 2 = PreemptionPolicy::unset;
  KeptBy kept : 2 = KeptBy::none;
};

struct PodColumns {
  IndexedVector<PodIndex, PodFlags> flags;
  IndexedVector<PodIndex, NodeIndex> node;       ///< None: pending.
  IndexedVector<PodIndex, NodeIndex> nominated;  ///< None: no nomination.
  IndexedVector<PodIndex, UnitIndex> unit;
  IndexedVector<PodIndex, RequestId> requests;  ///< Includes 1 of `pods`.
  IndexedVector<PodIndex, ShapeId> shape;
  IndexedVector<PodIndex, LabelSetId> labels;
  IndexedVector<PodIndex, std::int32_t> priority;  ///< The pod's own; see its unit for what counts.
  IndexedVector<PodIndex, StringId> priority_class;
  IndexedVector<PodIndex, StringId> plane;  ///< Empty: home.
  IndexedVector<PodIndex, StringId> namespace_name;
  IndexedVector<PodIndex, StringId> scheduler;
  IndexedVector<PodIndex, StringId> queue;  ///< As the pod says; see its unit for what counts.
  IndexedVector<PodIndex, OwnersId> owners;
  IndexedVector<PodIndex, NotesId> notes;
  IndexedVector<PodIndex, Time> created;
  IndexedVector<PodIndex, Time> started;
  IndexedVector<PodIndex, Time> deletion;
  IndexedVector<PodIndex, std::int32_t> deletion_grace_seconds;
  IndexedVector<PodIndex, Time> observed;  ///< The newest of its conditions.
  TextColumn name;
  TextColumn uid;

  std::size_t slots() const { return flags.size(); }
  void resize(std::size_t slots);
  void shrink_to_fit();
  std::size_t bytes() const;
};

/// The pods that are there, with or without kernels; in the order of their slots, which means
/// nothing.
class PodRange {
 public:
  enum class Kernels : std::uint8_t { skipped, included };
  PodRange(const PodColumns& pods, Kernels kernels) : pods_(pods), kernels_(kernels) {}

  class Iterator {
   public:
    Iterator(const PodColumns& pods, Kernels kernels, std::uint32_t slot)
        : pods_(&pods), kernels_(kernels), slot_(slot) {
      skip();
    }
    PodIndex operator*() const { return PodIndex{slot_}; }
    Iterator& operator++() {
      ++slot_;
      skip();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.slot_ == b.slot_; }

   private:
    void skip() {
      while (slot_ < pods_->slots() && !listed(pods_->flags[PodIndex{slot_}])) ++slot_;
    }
    bool listed(PodFlags flags) const {
      return flags.exists && (!flags.kernel || kernels_ == Kernels::included);
    }

    const PodColumns* pods_;
    Kernels kernels_;
    std::uint32_t slot_;
  };
  Iterator begin() const { return {pods_, kernels_, 0}; }
  Iterator end() const { return {pods_, kernels_, static_cast<std::uint32_t>(pods_.slots())}; }

 private:
  const PodColumns& pods_;
  Kernels kernels_;
};

struct NodeFlags {
  bool exists : 1 =
      false;              ///< False: only named by pods, the Node object is not (or no more) here.
  bool used : 1 = false;  ///< False: a free slot.
  bool unschedulable : 1 = false;
};

/// Which policies would schedule the node, were they enabled; see regime.hpp.
struct NodeClaims {
  bool sessions : 1 = false;  ///< A ResourceGroup lists or selects it.
  bool replicas : 1 = false;  ///< It carries a plane label, or is of another plane.

  friend bool operator==(const NodeClaims&, const NodeClaims&) = default;
};

struct NodeColumns {
  IndexedVector<NodeIndex, NodeFlags> flags;
  IndexedVector<NodeIndex, StringId> plane;  ///< Part of the key, no label; empty: home.
  IndexedVector<NodeIndex, StringId> name;
  IndexedVector<NodeIndex, LabelSetId> labels;
  IndexedVector<NodeIndex, TaintSetId> taints;
  IndexedVector<NodeIndex, RequestId> allocatable;
  IndexedVector<NodeIndex, NodeClassId> node_class;
  IndexedVector<NodeIndex, NodeClaims> claims;
  IndexedVector<NodeIndex, Time> created;
  IndexedVector<NodeIndex, Time> observed;                    ///< The newest of its conditions.
  IndexedVector<NodeIndex, std::uint32_t> pods;               ///< Bound to it, leaving included.
  IndexedVector<NodeIndex, std::uint32_t> kernels;            ///< The same of rows of kernels.
  IndexedVector<NodeIndex, std::uint32_t> leaving;            ///< Of these, already leaving.
  IndexedVector<NodeIndex, std::vector<PodIndex>> nominated;  ///< Pending pods; no order.
  TextColumn uid;

  std::size_t slots() const { return flags.size(); }
  void resize(std::size_t slots);
  std::size_t bytes() const;
};

enum class UnitKind : std::uint8_t { none, pod, group };

/// One row per unit: what is placed or removed as one. A pod in a group has its group's row.
struct Unit {
  UnitKind kind = UnitKind::none;
  DisruptionMode mode = DisruptionMode::single;
  bool defined = false;  ///< False: pods name a group whose object is not here.
  bool gang = false;
  bool evict_below_minimum = false;  ///< A gang that falls below its minimum leaves whole.
  bool never_preempts = false;
  std::int32_t scheduling_priority = 0;
  std::int32_t preemption_priority = 0;
  std::int32_t minimum = 1;
  std::int32_t size = 0;  ///< Pods of it that are here, pending and bound.
  StringId queue{0};
  PodIndex pod;      ///< Kind pod.
  GroupIndex group;  ///< Of a pod: the one that it names and that is not here.

  friend bool operator==(const Unit&, const Unit&) = default;
};

/// A namespace of a plane.
struct Space {
  StringId plane{0};
  StringId namespace_name{0};

  /// Of home as without planes.
  std::uint64_t number() const {
    return (std::uint64_t{plane.value} << 32U) | namespace_name.value;
  }
  friend bool operator==(const Space&, const Space&) = default;
};

/// A group that has an object, pods that name it, or both. While nothing says what its rules are,
/// bound pods that name it are units of their own, and only the others are members.
struct Group {
  StringId plane{0};
  StringId namespace_name{0};
  StringId name{0};
  UnitIndex unit;
  WorkloadIndex workload;
  std::optional<PodGroup> object;
  std::vector<PodIndex> members;  ///< No order.
  std::vector<PodIndex> strays;   ///< Bound, while the group is not defined; no order.
};

/// A workload that has an object, groups that name it, or both.
struct WorkloadSlot {
  StringId plane{0};
  StringId namespace_name{0};
  StringId name{0};
  bool used = false;
  std::optional<Workload> object;
  std::vector<GroupIndex> groups;  ///< No order.
};

/// Static properties that nodes share. Only the labels that some pod selects nodes by are kept,
/// and never kubernetes.io/hostname, so a thousand equal nodes are one class.
struct NodeClass {
  LabelSetId labels;
  TaintSetId taints;
  bool unschedulable = false;

  friend bool operator==(const NodeClass&, const NodeClass&) = default;
};
std::uint64_t hash_of(const NodeClass& node_class);

struct LabelPair {
  StringId key;
  StringId value;

  friend auto operator<=>(const LabelPair&, const LabelPair&) = default;
};
std::uint64_t hash_of(const LabelPair& pair);

}  // namespace makeway

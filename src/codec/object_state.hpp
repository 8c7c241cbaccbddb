// ObjectState: what a write must know of the object that it is about, and no decision reads.
//
// The version for its guard, the generation that a condition was made for, and the conditions that
// the scheduler itself writes, so that what is there already is not written again and keeps its
// time. The decoders (decode.hpp) read the same text for everything else.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/kinds.hpp"

namespace makeway {

struct SeenCondition {
  std::string type;
  std::string status;  ///< "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::string changed;          ///< lastTransitionTime as it was written.
  std::int64_t generation = 0;  ///< observedGeneration; 0: it has none.

  friend bool operator==(const SeenCondition&, const SeenCondition&) = default;
};

/// Of a Pod, a PodGroup, a PersistentVolumeClaim or an object of a kind of ours.
struct ObjectState {
  ObjectKind kind = ObjectKind::pod;
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string version;  ///< resourceVersion: opaque.
  std::int64_t generation = 0;
  bool leaving = false;        ///< It has a deletionTimestamp.
  std::string node;            ///< Of a pod; empty: pending.
  std::string nominated_node;  ///< Of a pod.
  std::string phase;           ///< Of a pod.
  std::string reason;          ///< Of a pod: why it is in that phase; mostly empty.
  std::string owner_uid;       ///< Of its controller; empty: it has none.
  std::string owner_kind;      ///< The same: "Session".
  std::string scheduler;       ///< Of a pod; empty: "default-scheduler".
  std::string group;           ///< Of a pod; filled in by the caller, which knows its forms.
  /// Those of Kubernetes that a scheduler writes, and those under makeway.dev/; or all.
  std::vector<SeenCondition> conditions;

  /// Null: it has none of that type.
  const SeenCondition* condition(std::string_view type) const;

  friend bool operator==(const ObjectState&, const ObjectState&) = default;
};

/// All of them where the whole list is written back: a custom resource has no merge by type.
enum class KeepConditions : std::uint8_t { of_schedulers, all };

/// Of one object, or of all items of a list; its kind is for the caller to say. What cannot be read
/// is left out: the decoder of the same text reports it.
std::vector<ObjectState> read_object_states(std::string_view padded_text,
                                            KeepConditions keep = KeepConditions::of_schedulers);

/// The node that the message of a condition of ours names: "node n1, plan 0123".
std::string_view noted_node(std::string_view message);
std::string note_of(std::string_view node, std::string_view plan);

}  // namespace makeway

// The table of kinds, text side: for every kind of model/kinds.hpp how it is read and written.
// Private to decode.cpp, dump.cpp and fields.cpp.
//
// A row is the functions of one kind below; `text_kinds` is made of them, and a kind without them
// does not compile. Decoders fill an object that they are given empty and leave its canonical form
// to `normalize` (model/normalize.hpp), which is called for every kind alike.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "codec/decoders.hpp"
#include "codec/fields.hpp"
#include "codec/writer.hpp"
#include "model/cluster.hpp"
#include "model/kinds.hpp"

namespace makeway {

// Kubernetes' kinds: decode_objects.cpp, decode_pod.cpp, dump.cpp.
void decode_object(ObjectCursor cursor, Namespace& object);
void write_object(DocumentWriter& writer, const Namespace& object);

void decode_object(ObjectCursor cursor, PriorityClass& object);
void write_object(DocumentWriter& writer, const PriorityClass& object);

void decode_object(ObjectCursor cursor, Node& node);
void write_object(DocumentWriter& writer, const Node& node);

// decode_volumes.cpp, dump_volumes.cpp.
void decode_object(ObjectCursor cursor, StorageClass& object);
void write_object(DocumentWriter& writer, const StorageClass& object);

void decode_object(ObjectCursor cursor, PersistentVolume& volume);
void write_object(DocumentWriter& writer, const PersistentVolume& volume);

void decode_object(ObjectCursor cursor, PersistentVolumeClaim& claim);
void write_object(DocumentWriter& writer, const PersistentVolumeClaim& claim);

void decode_object(ObjectCursor cursor, CsiNode& object);
void write_object(DocumentWriter& writer, const CsiNode& object);

void decode_object(ObjectCursor cursor, ResourceClaim& claim);
void write_object(DocumentWriter& writer, const ResourceClaim& claim);

void decode_object(ObjectCursor cursor, DisruptionBudget& budget);
void write_object(DocumentWriter& writer, const DisruptionBudget& budget);

void decode_object(ObjectCursor cursor, Workload& workload);
void write_object(DocumentWriter& writer, const Workload& workload);

void decode_object(ObjectCursor cursor, PodGroup& group);
void write_object(DocumentWriter& writer, const PodGroup& group);

/// Overwrites `pod`, whatever it held.
PodState decode_object(ObjectCursor cursor, PodDraft& draft, Pod& pod);
void write_object(DocumentWriter& writer, const Pod& pod);

// Makeway's own: queue_fields.cpp, ...
struct PrinterColumn {
  std::string_view name;
  std::string_view type;
  std::string_view path;
  bool wide = false;     ///< Only with `kubectl get -o wide`.
  bool is_long = false;  ///< It comes last, behind the age.
};

/// What must hold in one object, and the words in which the API server refuses it.
struct CelRule {
  std::string_view at;  ///< The path of the field whose value is `self`; empty: the object.
  std::string_view rule;
  std::string_view message;
};

/// What the kind is besides its functions. Its plural is its name and an s.
struct OwnKind {
  void (*list_fields)(const FieldVisit& visit);
  std::string_view short_name;  ///< For kubectl.
  std::span<const PrinterColumn> columns;
  std::span<const CelRule> rules;
};

void decode_object(ObjectCursor cursor, Queue& queue);
void write_object(DocumentWriter& writer, const Queue& queue);
OwnKind own_kind(KindTag<Queue> kind);

void decode_object(ObjectCursor cursor, ReplicaSchedule& schedule);
void write_object(DocumentWriter& writer, const ReplicaSchedule& schedule);
OwnKind own_kind(KindTag<ReplicaSchedule> kind);

void decode_object(ObjectCursor cursor, ResourceGroup& group);
void write_object(DocumentWriter& writer, const ResourceGroup& group);
OwnKind own_kind(KindTag<ResourceGroup> kind);

void decode_object(ObjectCursor cursor, Partition& partition);
void write_object(DocumentWriter& writer, const Partition& partition);
OwnKind own_kind(KindTag<Partition> kind);

void decode_object(ObjectCursor cursor, Session& session);
void write_object(DocumentWriter& writer, const Session& session);
OwnKind own_kind(KindTag<Session> kind);

struct TextKind {
  KindRow row;
  std::string_view api_group;  ///< Empty: the core of Kubernetes.
  /// Reads one object into `change`, as an object of `plane` where that is not empty.
  PodState (*decode)(ObjectCursor cursor, PodDraft& draft, std::string_view plane, Change& change);
  void (*write_all)(DocumentWriter& writer, const Cluster& cluster);
  OwnKind (*own)();  ///< Null: Kubernetes says what its fields are.
};

/// In the order of ObjectKind.
extern const std::array<TextKind, kind_rows.size()> text_kinds;

}  // namespace makeway

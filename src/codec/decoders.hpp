// What the decoders of single objects share; kinds.hpp names them. Private to decode*.cpp.
//
// A decoder fills an object that it is given empty, and reports what it cannot accept to the
// reader. Fields that scheduling does not read are skipped, unknown fields of Kubernetes kinds too.
#pragma once

#include <charconv>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codec/json_cursor.hpp"
#include "codec/pod_requests.hpp"
#include "model/objects.hpp"

namespace makeway {

struct TextPair {
  std::string_view key;
  std::string_view value;
};

/// What Kubernetes grants a pod that says nothing about it.
inline constexpr std::int32_t default_grace_seconds = 30;

/// What every object's metadata holds for us.
struct Metadata {
  std::string name;
  std::string namespace_name;
  std::string uid;
  std::string plane;  ///< From an annotation: what a dump says; empty: as the input.
  Labels labels;
  std::vector<TextPair> annotations;  ///< Only those that are read here, or all.
  bool all_annotations = false;
  std::vector<OwnerReference> owners;
  std::optional<Time> created;
  std::optional<Time> deletion;
  std::int32_t deletion_grace_seconds = default_grace_seconds;
  bool name_refused = false;  ///< It was there, but no text: one problem is enough.

  /// The value of an annotation, empty when it is missing.
  std::string_view annotation(std::string_view key) const;
  std::string_view label(std::string_view key) const;
  void clear();
};

/// One object under the cursor. `path` is empty for a document, "items[3]" inside a list.
struct ObjectCursor {
  JsonReader& reader;
  JsonObjectCursor& object;
  FieldPath path;
};

// decode_metadata.cpp
void decode_metadata(const JsonField& value, Metadata& metadata);
void decode_labels(const JsonField& value, Labels& labels);
/// Lower-case letters, digits, '-' and '.', at most 253; an empty text, too.
bool is_object_name(std::string_view name);
/// Refuses what cannot be the name of an object; an empty text is no name and passes.
void check_reference(JsonReader& reader, const FieldPath& path, std::string_view name);
inline void check_reference(const JsonField& field, std::string_view name) {
  check_reference(field.reader, field.path, name);
}
/// Refuses objects without a usable name; fills in the default namespace where one belongs.
void finish_metadata(JsonReader& reader, const FieldPath& path, Scope scope, Metadata& metadata);
/// What the annotations of an object at `path` say, and its labels.
struct ObjectNotes {
  JsonReader& reader;
  const FieldPath& path;
  const Metadata& metadata;

  std::string_view text(std::string_view key) const { return metadata.annotation(key); }
  /// "true" or "false" from an annotation or a label of that name; anything else is refused.
  std::optional<bool> mark(std::string_view key) const;
  std::optional<Time> time(std::string_view key) const;
  bool opted_out() const;
  std::optional<std::int64_t> cost() const;
  /// Of the annotation `key`.
  void refuse(std::string_view key, std::string_view value, std::string_view message,
              std::string_view remedy = {}) const;
};
/// The whole text as a number; false: it is none.
template <class Number>
bool parse_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}
/// A field of a condition. Changes, probes and heartbeats have happened: the newest one counts.
void read_condition_time(const JsonField& value, std::optional<Time>& newest);
/// `status.conditions` of which only the times matter.
void decode_condition_times(const JsonField& value, std::optional<Time>& newest);
PreemptionPolicy read_preemption_policy(const JsonField& value);

/// Reads metadata itself and hands every other field to `visit`; returns the finished metadata.
template <ClusterObject Object, class Visit>
Metadata decode_fields(ObjectCursor& cursor, const Visit& visit, Metadata metadata = {}) {
  cursor.reader.each_field(cursor.object, cursor.path, [&](const JsonField& field) {
    if (field.key == "metadata") {
      decode_metadata(field, metadata);
    } else {
      visit(field);
    }
  });
  finish_metadata(cursor.reader, cursor.path, row_of<Object>.scope, metadata);
  return metadata;
}

/// Moves into the object what every kind takes from its metadata.
template <ClusterObject Object>
void take_identity(Metadata& metadata, Object& object) {
  object.plane = std::move(metadata.plane);
  object.name = std::move(metadata.name);
  if constexpr (requires { object.namespace_name; }) {
    object.namespace_name = std::move(metadata.namespace_name);
  }
  if constexpr (requires { object.uid; }) object.uid = std::move(metadata.uid);
  if constexpr (requires { object.created; }) object.created = metadata.created;
}

// decode_resources.cpp
void decode_resource_list(const JsonField& value, ResourceList& list);
void decode_resources(const JsonField& value, ResourceList& requests, ResourceList& limits);
void decode_amounts(const JsonField& value, Amounts& amounts);
/// The same with zeros kept.
void decode_quotas(const JsonField& value, Quotas& quotas);

struct ContainerPort {
  HostPort host;
  std::int32_t container_port = 0;
};
enum class ContainersOf : bool { pod, init };  ///< Of the latter, only sidecars hold host ports.
void decode_containers(const JsonField& value, ContainersOf of,
                       std::vector<ContainerResources>& containers,
                       std::vector<ContainerPort>& ports);
/// Statuses as containers that have only name, allocated and actual resources.
void decode_container_statuses(const JsonField& value, std::vector<ContainerResources>& statuses);

// decode_selector.cpp
void decode_label_selector(const JsonField& value, std::optional<LabelSelector>& selector);
enum class RequirementsOf : bool { pods, nodes };  ///< Only nodes know Gt and Lt.
void decode_requirements(const JsonField& value, RequirementsOf of,
                         std::vector<Requirement>& requirements);
void decode_texts(const JsonField& value, std::vector<std::string>& texts);

// decode_shape.cpp. Keys whose values come from the pod's own labels wait until those are known.
struct AffinityDraft {
  PodAffinityTerm term;
  std::int32_t weight = 0;  ///< Of a preference.
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;
};
struct SpreadDraft {
  SpreadConstraint constraint;
  std::vector<std::string> match_label_keys;
};
struct ShapeDraft {
  std::vector<AffinityDraft> affinity;
  std::vector<AffinityDraft> anti_affinity;
  std::vector<SpreadDraft> spread;
  std::vector<AffinityDraft> preferred_pods;
  std::vector<SpreadDraft> preferred_spread;

  void clear() {
    affinity.clear();
    anti_affinity.clear();
    spread.clear();
    preferred_pods.clear();
    preferred_spread.clear();
  }
};
/// A NodeSelector: `nodeSelectorTerms`, at least one.
void decode_node_selector(const JsonField& value, std::vector<NodeSelectorTerm>& terms);
void decode_affinity(const JsonField& value, PodShape& shape, ShapeDraft& draft);
void decode_tolerations(const JsonField& value, std::vector<Toleration>& tolerations);
void decode_spread(const JsonField& value, ShapeDraft& draft);
/// Turns the drafts into terms, now that the pod's labels are known.
void finish_shape(const ShapeDraft& draft, const Labels& labels, PodShape& shape);
std::optional<TaintEffect> read_effect(const JsonField& value);

// decode_pod.cpp. A pod while it is read: parts that can only be put together at the end. One draft
// serves pod after pod, so that its buffers are used again.
struct PodDraft {
  Metadata metadata;
  ShapeDraft shape;
  PodResources resources;
  std::vector<ContainerResources> statuses;
  std::vector<ContainerPort> ports;
  std::vector<TextPair> claim_statuses;  ///< The claims that were made for the pod, by local name.
  std::string_view phase;
  bool host_network = false;

  void clear();
};
enum class PodState : bool { present, finished };  ///< Finished pods hold nothing any more.

// decode_volumes.cpp
/// Volumes whose place matters. Everything else can be mounted anywhere.
void decode_pod_volumes(const JsonField& value, PodShape& shape);
void decode_resource_claims(const JsonField& value, PodShape& shape);
void decode_claim_statuses(const JsonField& value, std::vector<TextPair>& statuses);
/// Names the claims that were made from templates.
void join_claims(const std::vector<TextPair>& statuses, PodShape& shape);

}  // namespace makeway

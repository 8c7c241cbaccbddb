#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "codec/decoders.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr std::size_t name_length_max = 253;

/// Objects carry long annotations that we never look at; keep the few that we do.
bool is_read_here(std::string_view key) {
  constexpr std::array others = {names::yunikorn_allow_preemption,
                                 names::volcano_queue,
                                 names::mirror_pod,
                                 names::config_source,
                                 names::bind_completed,
                                 names::selected_node,
                                 names::claim_class,
                                 names::default_class};
  return key.starts_with("makeway.dev/") || std::ranges::find(others, key) != others.end();
}

void decode_annotations(const JsonField& value, Metadata& metadata) {
  value.each_field([&](const JsonField& item) {
    std::string_view text;
    if ((metadata.all_annotations || is_read_here(item.key)) && item.read(text)) {
      metadata.annotations.push_back({.key = item.key, .value = text});
    }
  });
}

void decode_owners(const JsonField& value, Metadata& metadata) {
  value.each_item([&](const JsonField& item) {
    OwnerReference owner;
    item.each_field([&](const JsonField& field) {
      if (field.key == "kind") field.read(owner.kind);
      if (field.key == "name") field.read(owner.name);
      if (field.key == "uid") field.read(owner.uid);
      if (field.key == "controller") field.read(owner.controller);
    });
    metadata.owners.push_back(std::move(owner));
  });
}

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.';
}

void check_name(JsonReader& reader, const FieldPath& path, std::string_view name) {
  if (name.empty()) reader.refuse(path, {}, "every object needs a name", "set " + path.text());
  check_reference(reader, path, name);
}

}  // namespace

std::string_view Metadata::annotation(std::string_view key) const {
  const auto found = std::ranges::find(annotations, key, &TextPair::key);
  return found == annotations.end() ? std::string_view{} : found->value;
}

std::string_view Metadata::label(std::string_view key) const {
  return find_label(labels, key).value_or(std::string_view{});
}

void Metadata::clear() {
  name.clear();
  namespace_name.clear();
  uid.clear();
  plane.clear();
  labels.clear();
  annotations.clear();
  owners.clear();
  created.reset();
  deletion.reset();
  deletion_grace_seconds = default_grace_seconds;
  all_annotations = false;
  name_refused = false;
}

void decode_labels(const JsonField& value, Labels& labels) {
  value.each_field([&](const JsonField& item) {
    const std::size_t before = value.reader.problem_count();
    std::string_view text;
    item.read(text);  // Null is the empty text, as in Kubernetes.
    if (value.reader.problem_count() > before) return;
    labels.push_back({.key = std::string(item.key), .value = std::string(text)});
  });
  if (!std::ranges::is_sorted(labels)) std::ranges::sort(labels);
  const auto twice = std::ranges::adjacent_find(labels, {}, &Label::key);
  if (twice == labels.end()) return;
  value.reader.refuse(value.path.at(twice->key), twice->value, "the key appears twice");
  normalize(labels);
}

void decode_metadata(const JsonField& value, Metadata& metadata) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "name") {
      const std::size_t before = value.reader.problem_count();
      field.read(metadata.name);
      metadata.name_refused = value.reader.problem_count() > before;
    } else if (field.key == "namespace") {
      field.read(metadata.namespace_name);
    } else if (field.key == "uid") {
      field.read(metadata.uid);
    } else if (field.key == "labels") {
      decode_labels(field, metadata.labels);
    } else if (field.key == "annotations") {
      decode_annotations(field, metadata);
    } else if (field.key == "ownerReferences") {
      decode_owners(field, metadata);
    } else if (field.key == "creationTimestamp") {
      field.read(metadata.created);
    } else if (field.key == "deletionTimestamp") {
      field.read(metadata.deletion);
    } else if (field.key == "deletionGracePeriodSeconds") {
      field.read(metadata.deletion_grace_seconds);
    }
  });
}

bool is_object_name(std::string_view name) {
  return name.size() <= name_length_max && std::ranges::all_of(name, is_name_byte);
}

void check_reference(JsonReader& reader, const FieldPath& path, std::string_view name) {
  if (is_object_name(name)) return;
  reader.refuse(path, name,
                "expected at most 253 lower-case letters, digits, '-' or '.' (RFC 1123)");
}

void finish_metadata(JsonReader& reader, const FieldPath& path, Scope scope, Metadata& metadata) {
  const FieldPath at = path.at("metadata");
  if (!metadata.name_refused) check_name(reader, at.at("name"), metadata.name);
  if (metadata.uid.size() > name_length_max) {
    reader.refuse(at.at("uid"), metadata.uid, "expected at most 253 bytes");
  }
  metadata.plane = metadata.annotation(names::key_plane);
  if (!metadata.plane.empty()) {
    check_reference(reader, at.at("annotations").at(names::key_plane), metadata.plane);
  }
  if (scope == Scope::everywhere) {
    metadata.namespace_name.clear();
    return;
  }
  if (metadata.namespace_name.empty()) metadata.namespace_name = names::default_namespace;
  check_name(reader, at.at("namespace"), metadata.namespace_name);
}

void ObjectNotes::refuse(std::string_view key, std::string_view value, std::string_view message,
                         std::string_view remedy) const {
  const FieldPath at = path.at("metadata");
  const FieldPath annotations = at.at("annotations");
  reader.refuse(annotations.at(key), value, message, remedy);
}

std::optional<bool> ObjectNotes::mark(std::string_view key) const {
  std::string_view value = text(key);
  const bool from_annotation = !value.empty();
  if (!from_annotation) value = metadata.label(key);
  if (value.empty()) return std::nullopt;
  if (value == "true" || value == "false") return value == "true";
  const FieldPath at = path.at("metadata");
  const FieldPath owner = at.at(from_annotation ? "annotations" : "labels");
  reader.refuse(owner.at(key), value, "expected \"true\" or \"false\"");
  return std::nullopt;
}

bool ObjectNotes::opted_out() const {
  for (const std::string_view key : {names::allow_preemption, names::yunikorn_allow_preemption}) {
    if (const std::optional<bool> allowed = mark(key)) return !*allowed;
  }
  return false;
}

std::optional<Time> ObjectNotes::time(std::string_view key) const {
  const std::string_view value = text(key);
  if (value.empty()) return std::nullopt;
  if (const Result<Time> time = parse_time(value)) return *time;
  refuse(key, value, "expected a time in RFC 3339, such as 2026-01-01T00:00:00Z");
  return std::nullopt;
}

std::optional<std::int64_t> ObjectNotes::cost() const {
  constexpr std::int64_t cost_max = 1'000'000'000'000;  // Some 30,000 years of lost work.
  const std::string_view value = text(names::preemption_cost);
  if (value.empty()) return std::nullopt;
  std::int64_t seconds = -1;
  if (parse_whole(value, seconds) && seconds >= 0 && seconds <= cost_max) return seconds;
  refuse(names::preemption_cost, value,
         fmt::format("expected seconds of lost work per pod, 0 to {}", cost_max));
  return std::nullopt;
}

void read_condition_time(const JsonField& value, std::optional<Time>& newest) {
  if (value.key != "lastTransitionTime" && value.key != "lastProbeTime" &&
      value.key != "lastHeartbeatTime")
    return;
  Time time;
  if (value.read(time) && (!newest || *newest < time)) newest = time;
}

void decode_condition_times(const JsonField& value, std::optional<Time>& newest) {
  value.each_item([&](const JsonField& item) {
    item.each_field([&](const JsonField& field) { read_condition_time(field, newest); });
  });
}

PreemptionPolicy read_preemption_policy(const JsonField& value) {
  std::string_view text;
  if (!value.read(text) || text.empty()) return PreemptionPolicy::unset;
  if (text == "Never") return PreemptionPolicy::never;
  if (text == "PreemptLowerPriority") return PreemptionPolicy::preempt_lower_priority;
  value.refuse(text, "expected PreemptLowerPriority or Never");
  return PreemptionPolicy::unset;
}

}  // namespace makeway

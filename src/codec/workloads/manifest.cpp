#include "codec/workloads/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "codec/decoders.hpp"
#include "codec/source.hpp"
#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

/// Scalars only: what else is wrong is too large for a message.
std::string shown_value(const JsonValue& value) {
  if (value.is_null() || value.as_array() != nullptr || value.as_object() != nullptr) return {};
  if (const std::string* const text = value.as_string()) return shorten(*text);
  return shorten(compact_text(value));
}

/// Reads only that; the rest of the text is skipped.
void read_metadata(JsonReader& reader, std::string_view text, Metadata& metadata) {
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  JsonObjectCursor object;
  const FieldPath root;
  auto error = parser.iterate(text.data(), text.size(), text.size() + text_padding).get(document);
  if (error == simdjson::SUCCESS) error = document.get_object().get(object);
  if (error != simdjson::SUCCESS) return reader.broken(error, root);
  reader.each_field(object, root, [&](const JsonField& field) {
    if (field.key == "metadata") decode_metadata(field, metadata);
  });
}

/// What `kubectl create` would call an object that leaves its name to the API server.
std::string generated_name(std::string_view text) {
  const auto tree = parse_json_value(text);
  if (!tree) return {};
  const std::string_view base = text_at(*tree, {"metadata", "generateName"});
  return base.empty() ? std::string() : with_suffix(base, 0);
}

}  // namespace

void ManifestProblems::add(Problem problem) {
  constexpr std::size_t kept_max = 100;
  if (problems_.size() >= kept_max) return;
  if (problem.object.empty()) problem.object = object_;
  if (problem.origin == Origin{}) problem.origin = origin_;
  if (std::ranges::find(problems_, problem) != problems_.end()) return;
  problems_.push_back(std::move(problem));
}

const JsonValue& ManifestField::value() const {
  static const JsonValue nothing;
  return value_ == nullptr ? nothing : *value_;
}

ManifestField ManifestField::at(std::string_view key) const {
  if (is_present() && value_->as_object() == nullptr) wrong_type("a mapping");
  return {value().find(key), path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key),
          *problems_};
}

std::vector<ManifestField> ManifestField::items() const {
  std::vector<ManifestField> fields;
  if (!is_present()) return fields;
  const JsonValue::Array* const array = value_->as_array();
  if (array == nullptr) {
    wrong_type("a list");
    return fields;
  }
  fields.reserve(array->size());
  for (std::size_t index = 0; index < array->size(); ++index) {
    fields.emplace_back(&(*array)[index], fmt::format("{}[{}]", path_, index), *problems_);
  }
  return fields;
}

std::vector<std::pair<std::string_view, std::string>> ManifestField::texts() const {
  std::vector<std::pair<std::string_view, std::string>> pairs;
  if (!is_present()) return pairs;
  const JsonValue::Object* const members = value_->as_object();
  if (members == nullptr) {
    wrong_type("a mapping");
    return pairs;
  }
  pairs.reserve(members->size());
  for (const JsonMember& each : *members) {
    pairs.emplace_back(
        each.key,
        ManifestField(&each.value, fmt::format("{}.{}", path_, each.key), *problems_).text());
  }
  return pairs;
}

std::int64_t ManifestField::count(std::int64_t fallback, std::int64_t most) const {
  if (!is_present()) return fallback;
  const std::int64_t* const number = value_->as_integer();
  if (number != nullptr && *number >= 0 && *number <= most) return *number;
  if (number == nullptr && value_->as_number() == nullptr) {
    wrong_type("a number");
  } else {
    refuse(fmt::format("expected 0 to {}", most));
  }
  return fallback;
}

std::string ManifestField::text(std::string_view fallback) const {
  if (!is_present()) return std::string(fallback);
  if (const std::string* const text = value_->as_string()) return *text;
  wrong_type("a string");
  return std::string(fallback);
}

bool ManifestField::truth(bool fallback) const {
  if (!is_present()) return fallback;
  if (const bool* const truth = value_->as_boolean()) return *truth;
  wrong_type("true or false");
  return fallback;
}

void ManifestField::refuse(std::string message, std::string remedy) const {
  say(Severity::error, std::move(message), std::move(remedy));
}

void ManifestField::warn(std::string message, std::string remedy) const {
  say(Severity::warning, std::move(message), std::move(remedy));
}

void ManifestField::say(Severity severity, std::string message, std::string remedy) const {
  problems_->add({.severity = severity,
                  .field = path_,
                  .value = shown_value(value()),
                  .message = std::move(message),
                  .remedy = std::move(remedy)});
}

void ManifestField::wrong_type(std::string_view expected) const {
  refuse(fmt::format("expected {}, found {}", expected, value().type_name()));
}

std::string Manifest::object() const {
  return object_text(kind->name, {namespace_name, name, plane});
}

Manifest read_manifest(const WorkloadKind& kind, std::string_view text, const Origin& origin,
                       std::string_view plane, Problems& problems) {
  Manifest manifest{.kind = &kind, .plane = std::string(plane), .origin = origin};
  Problems found;
  JsonReader reader(found);
  Metadata metadata;
  metadata.all_annotations = true;
  read_metadata(reader, text, metadata);
  if (!has_errors(found) && metadata.name.empty()) metadata.name = generated_name(text);
  if (!has_errors(found)) finish_metadata(reader, {}, kind.scope, metadata);
  manifest.name = metadata.name;
  manifest.namespace_name = metadata.namespace_name;
  for (Problem& problem : found) {
    problem.object = manifest.name.empty() ? std::string(kind.name) : shorten(manifest.object());
    problem.origin = origin;
    problems.push_back(std::move(problem));
  }
  manifest.uid = metadata.uid;
  manifest.being_deleted = metadata.deletion.has_value();
  const auto controller = std::ranges::find(metadata.owners, true, &OwnerReference::controller);
  if (controller != metadata.owners.end()) manifest.controller = *controller;
  manifest.template_hash = metadata.label(pod_template_hash);
  const std::string_view revision = metadata.annotation("deployment.kubernetes.io/revision");
  std::from_chars(revision.data(), revision.data() + revision.size(), manifest.revision);
  manifest.text = text;
  return manifest;
}

}  // namespace makeway

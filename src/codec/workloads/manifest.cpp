#include "codec/workloads/manifest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/made_names.hpp"
#include "codec/workloads/workload_kinds.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

constexpr std::size_t name_max = 253;

/// Scalars only: what else is wrong is too large for a message.
std::string told_value(const JsonValue& value) {
  if (value.is_null() || value.as_array() != nullptr || value.as_object() != nullptr) return {};
  if (const std::string* const text = value.as_string()) return shorten(*text);
  return shorten(compact_text(value));
}

bool is_reference(std::string_view name) {
  const auto is_fine = [](char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' ||
           byte == '.';
  };
  return !name.empty() && name.size() <= name_max && std::ranges::all_of(name, is_fine);
}

void read_owners(const Field& owners, Manifest& manifest) {
  for (const Field& owner : owners.items()) {
    if (!owner.at("controller").truth()) continue;
    manifest.controller = {.kind = owner.at("kind").text(),
                           .name = owner.at("name").text(),
                           .uid = owner.at("uid").text(),
                           .controller = true};
  }
}

void check_name_of(const Field& field, std::string_view name) {
  if (is_reference(name)) return;
  field.refuse(name.empty()
                   ? "every object needs a name"
                   : "expected at most 253 lower-case letters, digits, '-' or '.' (RFC 1123)",
               name.empty() ? fmt::format("set {}", field.path()) : std::string());
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

const JsonValue& Field::value() const {
  static const JsonValue nothing;
  return value_ == nullptr ? nothing : *value_;
}

Field Field::at(std::string_view key) const {
  if (is_present() && value_->as_object() == nullptr) wrong_type("a mapping");
  return {value().find(key), path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key),
          *problems_};
}

std::vector<Field> Field::items() const {
  std::vector<Field> fields;
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

std::vector<std::pair<std::string_view, std::string>> Field::texts() const {
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
        each.key, Field(&each.value, fmt::format("{}.{}", path_, each.key), *problems_).text());
  }
  return pairs;
}

std::int64_t Field::count(std::int64_t fallback, std::int64_t most) const {
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

std::string Field::text(std::string_view fallback) const {
  if (!is_present()) return std::string(fallback);
  if (const std::string* const text = value_->as_string()) return *text;
  wrong_type("a string");
  return std::string(fallback);
}

bool Field::truth(bool fallback) const {
  if (!is_present()) return fallback;
  if (const bool* const truth = value_->as_boolean()) return *truth;
  wrong_type("true or false");
  return fallback;
}

void Field::refuse(std::string message, std::string remedy) const {
  say(Severity::error, std::move(message), std::move(remedy));
}

void Field::warn(std::string message, std::string remedy) const {
  say(Severity::warning, std::move(message), std::move(remedy));
}

void Field::say(Severity severity, std::string message, std::string remedy) const {
  problems_->add({.severity = severity,
                  .origin = {},
                  .object = {},
                  .field = path_,
                  .value = told_value(value()),
                  .message = std::move(message),
                  .remedy = std::move(remedy)});
}

void Field::wrong_type(std::string_view expected) const {
  refuse(fmt::format("expected {}, found {}", expected, value().type_name()));
}

std::string Manifest::object() const {
  return object_text(kind->name, {namespace_name, name, plane});
}

Manifest read_manifest(const WorkloadKind& kind, std::string_view text, const Origin& origin,
                       std::string_view plane, Problems& problems) {
  Manifest manifest{.kind = &kind, .plane = std::string(plane), .origin = origin};
  auto tree = parse_json_value(text);
  if (!tree) {
    Problem problem = std::move(tree.error());
    problem.origin = origin;
    problem.object = kind.name;
    problems.push_back(std::move(problem));
    return manifest;
  }
  ManifestProblems found(std::string(kind.name), origin);
  const Field metadata = Field(&*tree, "", found).at("metadata");
  manifest.name = metadata.at("name").text();
  const std::string generated = metadata.at("generateName").text();
  if (manifest.name.empty() && !generated.empty()) manifest.name = with_suffix(generated, 0);
  if (!found.has_errors()) check_name_of(metadata.at("name"), manifest.name);
  if (kind.scope == Scope::in_namespace) {
    manifest.namespace_name = metadata.at("namespace").text(names::default_namespace);
    if (manifest.namespace_name.empty()) manifest.namespace_name = names::default_namespace;
    check_name_of(metadata.at("namespace"), manifest.namespace_name);
  }
  manifest.uid = metadata.at("uid").text();
  manifest.being_deleted = metadata.at("deletionTimestamp").is_present();
  read_owners(metadata.at("ownerReferences"), manifest);
  for (Problem problem : found.problems()) {
    if (!manifest.name.empty()) problem.object = shorten(manifest.object());
    problems.push_back(std::move(problem));
  }
  manifest.text = text;
  return manifest;
}

JsonValue tree_of(std::string_view text) {
  auto tree = parse_json_value(text);
  CHECK(tree.has_value(), "it was read before");
  return std::move(*tree);
}

}  // namespace makeway

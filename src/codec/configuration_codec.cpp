#include "codec/configuration_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <utility>

#include "codec/json_value.hpp"
#include "codec/writer.hpp"
#include "codec/yaml.hpp"
#include "model/knobs.hpp"

namespace makeway {
namespace {

constexpr std::string_view api_version = "makeway.dev/v1";
constexpr std::string_view kind = "Configuration";

constexpr std::array<std::string_view, 4> top_fields = {"apiVersion", "kind", "metadata", "spec"};

/// Ours are `name` and `description`; the rest is what a cluster adds to any object.
constexpr std::array<std::string_view, 14> metadata_fields = {"name",
                                                              "description",
                                                              "namespace",
                                                              "labels",
                                                              "annotations",
                                                              "uid",
                                                              "resourceVersion",
                                                              "generation",
                                                              "generateName",
                                                              "managedFields",
                                                              "creationTimestamp",
                                                              "finalizers",
                                                              "ownerReferences",
                                                              "selfLink"};

/// The value as compact JSON, short enough for a message.
std::string shown(const JsonValue& value) {
  if (const std::string* text = value.as_string()) return shorten(*text);
  std::string json;
  JsonWriter writer(json, JsonStyle::compact);
  write_value(value, writer);
  while (json.ends_with('\n')) json.pop_back();
  return shorten(json);
}

std::optional<std::string> item_text(const JsonValue& value) {
  if (const std::string* text = value.as_string()) return *text;
  // Laws are numbers; YAML reads them as such.
  if (const std::int64_t* number = value.as_integer()) return fmt::format("{}", *number);
  return std::nullopt;
}

/// The value in the knob's type, or nothing when JSON's type already tells that it cannot be.
std::optional<KnobValue> value_from(const Knob& knob, const JsonValue& value) {
  switch (knob.type) {
    case KnobType::boolean:
      if (const bool* flag = value.as_boolean()) return KnobValue(*flag);
      return std::nullopt;
    case KnobType::integer:
      if (const std::int64_t* number = value.as_integer()) return KnobValue(*number);
      return std::nullopt;
    case KnobType::duration: {
      const std::optional<std::string> text = item_text(value);  // 0 needs no unit.
      const Result<Duration> duration = parse_duration(text.value_or(""));
      if (!duration) return std::nullopt;
      return KnobValue(*duration);
    }
    case KnobType::choice:
    case KnobType::text:
      if (const std::string* text = value.as_string()) return KnobValue(*text);
      return std::nullopt;
    case KnobType::choice_list:
    case KnobType::text_list: {
      const JsonValue::Array* array = value.as_array();
      if (array == nullptr) return std::nullopt;
      std::vector<std::string> items;
      for (const JsonValue& element : *array) {
        std::optional<std::string> item = item_text(element);
        if (!item) return std::nullopt;
        items.push_back(std::move(*item));
      }
      return KnobValue(std::move(items));
    }
  }
  return std::nullopt;
}

/// Walks one document and notes everything that is wrong with it.
class Reader {
 public:
  Reader(MissingKnobs missing, Origin origin) : missing_(missing), origin_(std::move(origin)) {}

  ConfigurationReading read(const JsonValue& tree) {
    read_top(tree);
    if (!has_errors(problems_)) {
      for (Problem& problem : validate(document_.configuration)) {
        problem.field = "spec." + problem.field;
        note(std::move(problem));
      }
    }
    ConfigurationReading reading;
    if (!has_errors(problems_)) reading.document = std::move(document_);
    reading.problems = std::move(problems_);
    return reading;
  }

 private:
  void note(Problem problem) {
    problem.origin = origin_;
    problem.object = document_.name.empty() ? std::string(kind)
                                            : fmt::format("{} {}", kind, shorten(document_.name));
    problems_.push_back(std::move(problem));
  }

  void refuse(std::string field, const JsonValue* value, std::string message,
              std::string remedy = {}) {
    note({.origin = {},
          .object = {},
          .field = std::move(field),
          .value = value == nullptr ? std::string{} : shown(*value),
          .message = std::move(message),
          .remedy = std::move(remedy)});
  }

  void unknown(std::string_view parent, const JsonMember& member,
               std::span<const std::string_view> known) {
    const std::string_view nearest = nearest_of(known, member.key);
    refuse(fmt::format("{}{}", parent, shorten(member.key)), &member.value,
           "there is no such field",
           nearest.empty() ? "remove it" : fmt::format("did you mean {}?", nearest));
  }

  void read_top(const JsonValue& tree) {
    const JsonValue::Object* members = tree.as_object();
    if (members == nullptr) {
      refuse({}, &tree, fmt::format("expected an object of kind {}", kind));
      return;
    }
    // The name first, since it stands in every other message.
    if (const JsonValue* metadata = tree.find("metadata")) read_metadata(*metadata);
    expect(tree, "apiVersion", api_version);
    expect(tree, "kind", kind);
    for (const JsonMember& member : *members) {
      if (std::ranges::find(top_fields, member.key) == top_fields.end()) {
        unknown("", member, top_fields);
      }
    }
    if (const JsonValue* spec = tree.find("spec")) read_spec(*spec);
    if (missing_ == MissingKnobs::refuse) refuse_missing();
  }

  void expect(const JsonValue& tree, std::string_view field, std::string_view wanted) {
    const JsonValue* value = tree.find(field);
    const std::string* text = value == nullptr ? nullptr : value->as_string();
    if (text != nullptr && *text == wanted) return;
    refuse(std::string(field), value, fmt::format("expected {}", wanted));
  }

  void read_metadata(const JsonValue& metadata) {
    const JsonValue::Object* members = metadata.as_object();
    if (members == nullptr) {
      refuse("metadata", &metadata, "expected an object with a name");
      return;
    }
    read_text(metadata, "name", document_.name);
    read_text(metadata, "description", document_.description);
    for (const JsonMember& member : *members) {
      if (std::ranges::find(metadata_fields, member.key) == metadata_fields.end()) {
        unknown("metadata.", member, metadata_fields);
      }
    }
  }

  void read_text(const JsonValue& metadata, std::string_view field, std::string& into) {
    const JsonValue* value = metadata.find(field);
    if (value == nullptr) return;
    if (const std::string* text = value->as_string()) {
      into = *text;
    } else {
      refuse(fmt::format("metadata.{}", field), value, "expected a string", "put it in quotes");
    }
  }

  void read_spec(const JsonValue& spec) {
    const JsonValue::Object* sections = spec.as_object();
    if (sections == nullptr) {
      refuse("spec", &spec, "expected an object with sections such as workload");
      return;
    }
    for (const JsonMember& section : *sections) {
      const Knob* shorthand = find_knob(section.key);
      if (const JsonValue::Object* members = section.value.as_object()) {
        read_section(section, *members);
      } else if (shorthand != nullptr && !section.key.contains('.')) {
        read_knob(*shorthand, section.value);
      } else if (is_section(section.key)) {
        refuse(fmt::format("spec.{}", section.key), &section.value,
               fmt::format("expected an object, found {}", section.value.type_name()));
      } else {
        unknown("spec.", section, section_names());
      }
    }
  }

  void read_section(const JsonMember& section, const JsonValue::Object& members) {
    if (!is_section(section.key)) {
      unknown("spec.", section, section_names());
      return;
    }
    for (const JsonMember& member : members) {
      const std::string path = fmt::format("{}.{}", section.key, member.key);
      if (const Knob* knob = find_knob(path)) {
        read_knob(*knob, member.value);
        continue;
      }
      Problem problem = unknown_knob(path, shown(member.value));
      problem.field = "spec." + problem.field;
      note(std::move(problem));
    }
  }

  void read_knob(const Knob& knob, const JsonValue& value) {
    seen_.insert(knob.path);
    const std::optional<KnobValue> parsed = value_from(knob, value);
    const std::string message =
        parsed ? refusal(knob, *parsed)
               : fmt::format("expected {}, found {}", expected_text(knob), value.type_name());
    if (message.empty()) {
      knob.put(document_.configuration, *parsed);
    } else {
      refuse(fmt::format("spec.{}", knob.path), &value, message,
             fmt::format("'makeway config explain {}' says more", knob.path));
    }
  }

  void refuse_missing() {
    for (const Knob& knob : knobs()) {
      if (seen_.contains(knob.path)) continue;
      refuse(fmt::format("spec.{}", knob.path), nullptr, "is missing; a preset states every knob",
             fmt::format("the documented default is {}", knob_text(Configuration{}, knob)));
    }
  }

  static std::span<const std::string_view> section_names() {
    static const std::vector<std::string_view> names = [] {
      std::vector<std::string_view> sections;
      for (const Knob& knob : knobs()) {
        if (sections.empty() || sections.back() != knob.section()) {
          sections.push_back(knob.section());
        }
      }
      return sections;
    }();
    return names;
  }
  static bool is_section(std::string_view name) {
    return std::ranges::find(section_names(), name) != section_names().end();
  }

  MissingKnobs missing_;
  Origin origin_;
  ConfigurationDocument document_;
  Problems problems_;
  std::set<std::string_view> seen_;
};

}  // namespace

ConfigurationReading read_configuration(const JsonValue& tree, MissingKnobs missing,
                                        const Origin& origin) {
  return Reader(missing, origin).read(tree);
}

ConfigurationReading read_configuration_text(std::string_view text, MissingKnobs missing,
                                             const Origin& origin) {
  std::vector<YamlDocument> documents;
  ConfigurationReading refused;
  refused.problems = yaml_to_json(text, origin.source, YamlLimits{}, documents);
  if (has_errors(refused.problems)) return refused;
  if (documents.size() != 1) {
    refused.problems.push_back(
        {.origin = origin,
         .object = {},
         .field = {},
         .value = {},
         .message = fmt::format("expected one {} document, found {}", kind, documents.size()),
         .remedy = {}});
    return refused;
  }
  const auto tree = parse_json_value(documents.front().json);
  if (!tree) {
    refused.problems.push_back(tree.error());
    refused.problems.back().origin = origin;
    return refused;
  }
  return read_configuration(*tree, missing, origin);
}

}  // namespace makeway

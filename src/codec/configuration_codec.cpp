#include "codec/configuration_codec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/check.hpp"
#include "codec/decoders.hpp"
#include "codec/dump_parts.hpp"
#include "codec/json_value.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "codec/yaml.hpp"
#include "codec/yaml_scalar.hpp"
#include "model/compatibility.hpp"
#include "model/knobs.hpp"
#include "model/profiles.hpp"

namespace makeway {

namespace {

constexpr std::string_view api_version = "makeway.dev/v1";
constexpr std::string_view kind = "Configuration";

constexpr std::array<std::string_view, 4> top_fields = {"apiVersion", "kind", "metadata", "spec"};

constexpr std::array<std::string_view, 1> spec_fields = {"profiles"};
constexpr std::array<std::string_view, 2> profile_fields = {"schedulerName", "preset"};

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

}  // namespace

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

namespace {

/// Walks one document and notes everything that is wrong with it.
class Reader {
 public:
  Reader(MissingKnobs missing, Origin origin) : missing_(missing), origin_(std::move(origin)) {}

  ConfigurationReading read(const JsonValue& tree) {
    read_top(tree);
    if (!has_errors(problems_)) {
      warn_of_presets();
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
  /// Values as `--set` has them, by path.
  using KnobTexts = std::map<std::string_view, std::string>;
  /// Where sections stand: in the document, or in one of its profiles.
  struct Place {
    std::string field;                         ///< "spec."
    std::span<const std::string_view> beside;  ///< What stands beside the sections.
    KnobTexts* values;                         ///< Of a profile; null: the document's own.
    std::string_view profile;
  };

  void note(Problem problem) {
    problem.origin = origin_;
    problem.object = document_.name.empty() ? std::string(kind)
                                            : fmt::format("{} {}", kind, shorten(document_.name));
    problems_.push_back(std::move(problem));
  }

  void refuse(std::string field, const JsonValue* value, std::string message,
              std::string remedy = {}) {
    note({.field = std::move(field),
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
    const Place place{.field = "spec.", .beside = spec_fields, .values = nullptr};
    read_sections(*sections, place);
    if (const JsonValue* profiles = spec.find("profiles")) read_profiles(*profiles);
  }

  // ---- Profiles ----

  void read_profiles(const JsonValue& profiles) {
    const JsonValue::Array* items = profiles.as_array();
    if (items == nullptr) {
      refuse("spec.profiles", &profiles,
             fmt::format("expected a list, found {}", profiles.type_name()),
             "write one item for each schedulerName");
      return;
    }
    if (items->size() > profiles_max) {
      refuse("spec.profiles", nullptr,
             fmt::format("there may be {} at most, and these are {}", profiles_max, items->size()),
             "let pods with the same rules share a schedulerName");
      return;
    }
    for (std::size_t at = 0; at < items->size(); ++at) {
      read_profile((*items)[at], fmt::format("spec.profiles[{}]", at));
    }
    std::ranges::stable_sort(document_.configuration.profiles, {}, &Profile::scheduler_name);
  }

  void read_profile(const JsonValue& item, const std::string& field) {
    const JsonValue::Object* members = item.as_object();
    if (members == nullptr) {
      refuse(field, &item, "expected an object with a schedulerName");
      return;
    }
    const JsonValue* const value = item.find("schedulerName");
    const std::string* const name = value == nullptr ? nullptr : value->as_string();
    if (name == nullptr || !is_object_name(*name)) {
      refuse(field + ".schedulerName", value, "expected the schedulerName of pods",
             "write it in small letters, digits, '-' and '.', as pods have it");
      return;
    }
    Place place{.field = fmt::format("spec.profiles.{}.", shorten(*name)),
                .beside = profile_fields,
                .values = nullptr,
                .profile = *name};
    KnobTexts values;
    if (const JsonValue* preset = item.find("preset")) read_preset(*preset, place, values);
    place.values = &values;
    read_sections(*members, place);
    Profile profile{.scheduler_name = *name};
    for (const Knob& knob : knobs()) {
      const auto found = values.find(knob.path);
      if (found == values.end()) continue;
      profile.knobs.push_back({.path = std::string(knob.path), .value = std::move(found->second)});
    }
    document_.configuration.profiles.push_back(std::move(profile));
  }

  /// What the preset says of asks. The cluster is the same for all profiles.
  void read_preset(const JsonValue& value, const Place& place, KnobTexts& values) {
    const std::string* const name = value.as_string();
    const Result<Configuration> preset =
        name == nullptr ? input_error("expected the name of a preset") : load_preset(*name);
    if (!preset) {
      refuse(place.field + "preset", &value, preset.error().message, "see makeway config list");
      return;
    }
    for (const Knob& knob : knobs()) {
      if (knob.scope == KnobScope::ask) values[knob.path] = knob_text(*preset, knob);
    }
    presets_.emplace_back(place.field + "preset", *name);
  }

  /// Said once everything is read: which of the preset's knobs do not count.
  void warn_of_presets() {
    constexpr std::size_t listed_max = 5;
    for (const auto& [field, name] : presets_) {
      const Result<Configuration> preset = load_preset(name);
      std::vector<std::string_view> differing;
      const auto differs = [&](const Knob& each) {
        return each.scope == KnobScope::cluster && preset &&
               each.get(*preset) != each.get(document_.configuration);
      };
      if (std::ranges::any_of(rules(), differs)) differing.push_back(compatibility_path);
      for (const Knob& knob : knobs()) {
        if (differs(knob)) differing.push_back(knob.path);
      }
      if (differing.empty()) continue;
      const std::size_t listed = std::min(differing.size(), listed_max);
      const std::string more = listed == differing.size()
                                   ? std::string{}
                                   : fmt::format(" and {} more", differing.size() - listed);
      differing.resize(listed);
      note({.severity = Severity::warning,
            .field = field,
            .value = name,
            .message = fmt::format("of a preset only the knobs of asks count in a profile; this "
                                   "one has other values than the cluster for {}{}",
                                   fmt::join(differing, ", "), more),
            .remedy = "set those beside the profiles if all should have them"});
    }
  }

  // ---- Sections and knobs ----

  void read_sections(const JsonValue::Object& sections, const Place& place) {
    for (const JsonMember& section : sections) {
      if (std::ranges::find(place.beside, section.key) != place.beside.end()) continue;
      const Knob* const knob = section.key.contains('.') ? nullptr : find_knob(section.key);
      const JsonValue::Object* const members = section.value.as_object();
      if (members != nullptr && is_section(section.key)) {
        read_section(section, *members, place);
      } else if (knob != nullptr) {  // In no section, or the shorthand of one.
        read_knob(*knob, section.value, place);
      } else if (is_section(section.key)) {
        refuse(fmt::format("{}{}", place.field, section.key), &section.value,
               fmt::format("expected an object, found {}", section.value.type_name()));
      } else {
        unknown(place.field, section, names_in(place));
      }
    }
  }

  void read_section(const JsonMember& section, const JsonValue::Object& members,
                    const Place& place) {
    for (const JsonMember& member : members) {
      const std::string path = fmt::format("{}.{}", section.key, member.key);
      if (const Knob* knob = find_knob(path)) {
        read_knob(*knob, member.value, place);
        continue;
      }
      Problem problem = unknown_knob(path, shown(member.value));
      problem.field = place.field + problem.field;
      note(std::move(problem));
    }
  }

  void read_knob(const Knob& knob, const JsonValue& value, const Place& place) {
    const std::optional<KnobValue> parsed = value_from(knob, value);
    const std::string message =
        parsed ? refusal(knob, *parsed)
               : fmt::format("expected {}, found {}", expected_text(knob), value.type_name());
    if (place.values != nullptr && knob.scope == KnobScope::cluster) {
      Problem problem = cluster_knob_problem(place.profile, knob, shown(value));
      problem.field = "spec." + problem.field;
      note(std::move(problem));
    } else if (!message.empty()) {
      refuse(fmt::format("{}{}", place.field, knob.path), &value, message,
             fmt::format("'makeway config explain {}' says more", knob.path));
    } else if (place.values != nullptr) {
      (*place.values)[knob.path] = to_text(*parsed);
    } else {
      knob.put(document_.configuration, *parsed);
    }
    if (place.values == nullptr) seen_.insert(knob.path);
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
        if (!knob.section().empty() && (sections.empty() || sections.back() != knob.section())) {
          sections.push_back(knob.section());
        }
      }
      return sections;
    }();
    return names;
  }
  static std::vector<std::string_view> names_in(const Place& place) {
    const auto sections = section_names();
    std::vector<std::string_view> names(sections.begin(), sections.end());
    names.push_back(compatibility_path);
    names.insert(names.end(), place.beside.begin(), place.beside.end());
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
  std::vector<std::pair<std::string, std::string>> presets_;  ///< Of profiles: field and name.
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
         .message = fmt::format("expected one {} document, found {}", kind, documents.size())});
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

// The writing half of codec/configuration_codec.hpp.

namespace {

constexpr std::size_t comment_columns_max = 94;
constexpr std::size_t flow_items_max = 4;

void write_knob(DocumentWriter& writer, const KnobValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) {
    writer.boolean(*flag);
  } else if (const auto* number = std::get_if<std::int64_t>(&value)) {
    writer.integer(*number);
  } else if (const auto* items = std::get_if<std::vector<std::string>>(&value)) {
    writer.begin_array();
    for (const std::string& item : *items) writer.string(item);
    writer.end_array();
  } else {
    writer.string(to_text(value));
  }
}

/// Unquoted where no reader can take it for something else.
std::string yaml_string(std::string_view text) {
  const bool harmless = !text.empty() &&
                        std::ranges::all_of(text,
                                            [](unsigned char byte) {
                                              return std::isalnum(byte) != 0 || byte == '.' ||
                                                     byte == '-' || byte == '_' || byte == '/';
                                            }) &&
                        text.front() != '-' && text.front() != '.';
  std::string scratch;
  if (harmless && resolve_plain(text, scratch).kind == ScalarKind::string) {
    return std::string(text);
  }
  std::string quoted;
  append_yaml_string(quoted, text);
  return quoted;
}

std::string yaml_list(const std::vector<std::string>& items, std::size_t indent) {
  std::string text;
  if (items.size() > flow_items_max) {
    for (const std::string& item : items) {
      text += fmt::format("\n{:{}}- {}", "", indent, yaml_string(item));
    }
    return text;
  }
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + yaml_string(item);
  return " [" + text + "]";
}

/// `indent`: of the items of a long list.
std::string yaml_value(const KnobValue& value, std::size_t indent) {
  if (const auto* items = std::get_if<std::vector<std::string>>(&value)) {
    return yaml_list(*items, indent);
  }
  if (const auto* text = std::get_if<std::string>(&value)) return " " + yaml_string(*text);
  return " " + to_text(value);
}

/// Of a knob in a document: one in no section is a field of `spec`.
std::size_t indent_of(const Knob& knob) { return knob.section().empty() ? 2 : 4; }

/// The text in lines of `# ...`, broken between words.
std::string comment(std::string_view text, std::size_t indent) {
  std::string lines;
  while (!text.empty()) {
    std::size_t end = text.size();
    if (end > comment_columns_max) {
      const std::size_t blank = text.rfind(' ', comment_columns_max);
      end = blank == std::string_view::npos ? text.find(' ') : blank;
      end = std::min(end, text.size());
    }
    lines += fmt::format("{:{}}# {}\n", "", indent, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// A knob and its value in a document or in one of its profiles.
struct StatedKnob {
  const Knob& knob;
  KnobValue value;
};

std::vector<StatedKnob> stated_in(const Configuration& configuration) {
  std::vector<StatedKnob> stated;
  for (const Knob& knob : knobs()) stated.push_back({knob, knob.get(configuration)});
  return stated;
}

std::vector<StatedKnob> stated_in(const Profile& profile) {
  std::vector<StatedKnob> stated;
  for (const ProfileKnob& each : profile.knobs) {
    const Knob& knob = *find_knob(each.path);
    Result<KnobValue> value = parse_value(knob, each.value);
    CHECK(value.has_value(), "profiles are validated where they are read");
    stated.push_back({knob, *std::move(value)});
  }
  return stated;
}

void write_knobs(DocumentWriter& writer, const std::vector<StatedKnob>& stated) {
  std::string_view section;
  for (const auto& [knob, value] : stated) {
    if (knob.section() != section) {
      if (!section.empty()) writer.end_object();
      section = knob.section();
      writer.key(section);
      writer.begin_object();
    }
    writer.key(knob.name());
    write_knob(writer, value);
  }
  if (!section.empty()) writer.end_object();
}

/// The same without comments: they stand above the knobs of the document.
std::string profiles_yaml(const std::vector<Profile>& profiles) {
  std::string text;
  for (const Profile& profile : profiles) {
    text += fmt::format("    - schedulerName: {}\n", yaml_string(profile.scheduler_name));
    std::string_view section;
    for (const auto& [knob, value] : stated_in(profile)) {
      if (knob.section() != section) {
        section = knob.section();
        text += fmt::format("      {}:\n", section);
      }
      const std::size_t indent = 4 + indent_of(knob);
      text += fmt::format("{:{}}{}:{}\n", "", indent, knob.name(), yaml_value(value, indent + 2));
    }
  }
  return text.empty() ? text : "  profiles:\n" + text;
}

}  // namespace

void write_configuration(DocumentWriter& writer, const ConfigurationDocument& document) {
  writer.begin_object();
  writer.string_field("apiVersion", "makeway.dev/v1");
  writer.string_field("kind", "Configuration");
  write_object(writer, "metadata", [&] {
    text_if(writer, "name", document.name);
    text_if(writer, "description", document.description);
  });
  write_object(writer, "spec", [&] {
    write_knobs(writer, stated_in(document.configuration));
    list_if(writer, "profiles", document.configuration.profiles, [&](const Profile& profile) {
      writer.string_field("schedulerName", profile.scheduler_name);
      write_knobs(writer, stated_in(profile));
    });
  });
  writer.end_object();
}

std::string commented_yaml(const ConfigurationDocument& document) {
  std::string text = "apiVersion: makeway.dev/v1\nkind: Configuration\n";
  if (!document.name.empty() || !document.description.empty()) text += "metadata:\n";
  if (!document.name.empty()) text += fmt::format("  name: {}\n", yaml_string(document.name));
  if (!document.description.empty()) {
    text += fmt::format("  description: {}\n", yaml_string(document.description));
  }
  text += "spec:\n";
  std::string_view section;
  for (const Knob& knob : knobs()) {
    if (knob.section() != section) {
      section = knob.section();
      text += fmt::format("  {}:\n", section);
    }
    const std::size_t indent = indent_of(knob);
    text += comment(knob.documentation, indent);
    text += comment("Value: " + expected_text(knob) + ".", indent);
    text += fmt::format("{:{}}{}:{}\n", "", indent, knob.name(),
                        yaml_value(knob.get(document.configuration), indent + 2));
  }
  return text + profiles_yaml(document.configuration.profiles);
}

}  // namespace makeway

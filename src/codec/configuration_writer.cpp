// The writing half of codec/configuration_codec.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/writer.hpp"
#include "codec/yaml_scalar.hpp"
#include "model/knobs.hpp"

namespace makeway {
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

/// The value of a knob of a profile, which is valid.
KnobValue value_of(const ProfileKnob& each) {
  const Result<KnobValue> value = parse_value(*find_knob(each.path), each.value);
  CHECK(value.has_value(), "profiles are validated where they are read");
  return *value;
}

void write_profiles(DocumentWriter& writer, const std::vector<Profile>& profiles) {
  if (profiles.empty()) return;
  writer.key("profiles");
  writer.begin_array();
  for (const Profile& profile : profiles) {
    writer.begin_object();
    writer.string_field("schedulerName", profile.scheduler_name);
    std::string_view section;
    for (const ProfileKnob& each : profile.knobs) {
      const Knob& knob = *find_knob(each.path);
      if (knob.section() != section) {
        if (!section.empty()) writer.end_object();
        section = knob.section();
        writer.key(section);
        writer.begin_object();
      }
      writer.key(knob.name());
      write_knob(writer, value_of(each));
    }
    if (!section.empty()) writer.end_object();
    writer.end_object();
  }
  writer.end_array();
}

/// The same without comments: they stand above the knobs of the document.
std::string profiles_yaml(const std::vector<Profile>& profiles) {
  std::string text;
  for (const Profile& profile : profiles) {
    text += fmt::format("    - schedulerName: {}\n", yaml_string(profile.scheduler_name));
    std::string_view section;
    for (const ProfileKnob& each : profile.knobs) {
      const Knob& knob = *find_knob(each.path);
      if (knob.section() != section) {
        section = knob.section();
        text += fmt::format("      {}:\n", section);
      }
      const std::size_t indent = 4 + indent_of(knob);
      text += fmt::format("{:{}}{}:{}\n", "", indent, knob.name(),
                          yaml_value(value_of(each), indent + 2));
    }
  }
  return text.empty() ? text : "  profiles:\n" + text;
}

}  // namespace

void write_configuration(DocumentWriter& writer, const ConfigurationDocument& document) {
  writer.begin_object();
  writer.string_field("apiVersion", "makeway.dev/v1");
  writer.string_field("kind", "Configuration");
  writer.key("metadata");
  writer.begin_object();
  if (!document.name.empty()) writer.string_field("name", document.name);
  if (!document.description.empty()) writer.string_field("description", document.description);
  writer.end_object();
  writer.key("spec");
  writer.begin_object();
  std::string_view section;
  for (const Knob& knob : knobs()) {
    if (knob.section() != section) {
      if (!section.empty()) writer.end_object();
      section = knob.section();
      writer.key(section);
      writer.begin_object();
    }
    writer.key(knob.name());
    write_knob(writer, knob.get(document.configuration));
  }
  writer.end_object();
  write_profiles(writer, document.configuration.profiles);
  writer.end_object();
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

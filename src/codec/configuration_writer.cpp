// The writing half of codec/configuration_codec.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/check.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/dump_parts.hpp"
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

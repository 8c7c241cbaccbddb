#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/problem_text.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "codec/fields.hpp"
#include "codec/presets.hpp"
#include "codec/resource_definitions.hpp"
#include "codec/writer.hpp"
#include "model/compatibility.hpp"
#include "model/knobs.hpp"
#include "model/removed_knobs.hpp"

namespace makeway::cli {
namespace {

struct Explained {
  std::string path;  ///< "queue.spec.weight": as it is asked for, lists without brackets.
  Field field;
};

std::string as_asked(std::string_view kind, std::string_view path) {
  std::string text = lower_case(kind);
  text += '.';
  for (const char byte : path) {
    if (byte != '[' && byte != ']') text += byte;
  }
  return text;
}

/// Of all kinds but Configuration, whose knobs `config explain` documents.
const std::vector<Explained>& all_fields() {
  static const std::vector<Explained> fields = [] {
    std::vector<Explained> all;
    for (const std::string_view kind : own_kind_names()) {
      if (kind == "Configuration") continue;
      each_field(kind, [&](const std::string& path, const Field& field) {
        all.push_back({as_asked(kind, path), field});
      });
    }
    return all;
  }();
  return fields;
}

const std::vector<std::string>& all_kinds() {
  static const std::vector<std::string> kinds = [] {
    std::vector<std::string> all;
    for (const std::string_view kind : own_kind_names()) {
      if (kind != "Configuration") all.push_back(lower_case(kind));
    }
    return all;
  }();
  return kinds;
}

std::string says(const Field& field) {
  if (field.only_written) return "written for people";
  if (field.required) return "required";
  return std::string(field.fallback);
}

std::string explanation(const Explained& explained, std::size_t width) {
  std::string text =
      fmt::format("{}\n{}\n", explained.path, wrapped(explained.field.text, 2, width));
  const auto line = [&](std::string_view name, std::string_view value) {
    std::string body = wrapped(value, 12, width);
    body.replace(0, name.size() + 2, fmt::format("  {}", name));
    text += body;
  };
  line("Value:", type_text(explained.field));
  if (!says(explained.field).empty()) {
    line(explained.field.fallback.empty() ? "Note:" : "Default:", says(explained.field));
  }
  return text;
}

/// The fields at and below a path; empty: there are none.
std::string field_table(std::string_view path) {
  Table table({{"FIELD"}, {"DEFAULT"}, {"TAKES"}});
  const std::string below = fmt::format("{}.", path);
  for (const Explained& each : all_fields()) {
    if (!each.path.starts_with(below)) continue;
    table.row({{each.path.substr(below.size())}, {says(each.field)}, {type_text(each.field)}});
  }
  return table.empty() ? std::string{} : table.text(Palette(false));
}

}  // namespace

std::vector<std::string_view> explained_paths() {
  std::vector<std::string_view> paths(all_kinds().begin(), all_kinds().end());
  for (const Explained& each : all_fields()) paths.push_back(each.path);
  return paths;
}

ExitStatus run_explain(const Arguments& arguments, Terminal& terminal) {
  const std::string& word = arguments.operands().front();
  const std::string kind = lower_case(word.substr(0, word.find('.')));
  const std::string path = kind + word.substr(kind.size());
  const std::size_t width = palette_for_out(terminal, "never").text_width();
  std::string text;
  for (const Explained& each : all_fields()) {
    if (each.path == path) text = explanation(each, width);
  }
  const std::string below = field_table(path);
  if (text.empty() && !below.empty()) text = printable(path) + "\n";
  if (!text.empty() && !below.empty()) text += "\n";
  text += below;
  if (!text.empty()) {
    terminal.out.write(text);
    return ExitStatus::done;
  }
  const std::string_view nearest = nearest_of(explained_paths(), path);
  const std::string remedy =
      nearest.empty() ? fmt::format("kinds with fields of ours: {}", fmt::join(all_kinds(), ", "))
                      : fmt::format("did you mean {}?", nearest);
  return usage_error("explain", fmt::format("there is no field '{}'; {}", shorten(word), remedy),
                     terminal);
}

namespace {

const Palette plain(false);

/// The kind of value in a word or two; `config explain` says it in full.
std::string type_text(const Knob& knob) {
  switch (knob.type) {
    case KnobType::boolean: return "true or false";
    case KnobType::integer: return "integer";
    case KnobType::duration: return "duration";
    case KnobType::choice: return fmt::format("{}", fmt::join(knob.choices, " or "));
    case KnobType::choice_list: return "list of choices";
    case KnobType::text_list: return "list of texts";
    case KnobType::text: return "text";
  }
  return {};
}

std::string knob_value_text(const Configuration& configuration, const Knob& knob) {
  std::string text = knob_text(configuration, knob);
  return text.empty() ? std::string("(empty)") : text;
}

std::string knob_table(std::string_view section) {
  const Configuration standard;
  Table table({{"KNOB"}, {"DEFAULT"}, {"TAKES"}});
  for (const Knob& knob : knobs()) {
    if (!section.empty() && knob.section() != section) continue;
    table.row({{std::string(knob.path)},
               {shorten(knob_value_text(standard, knob), 40)},
               {type_text(knob)}});
  }
  return table.empty() ? std::string{} : table.text(plain);
}

/// Knobs that the user may have meant: those that contain the word, else the most similar one.
std::vector<std::string_view> similar_knobs(std::string_view word) {
  constexpr std::size_t shown_max = 8;
  std::vector<std::string_view> paths;
  for (const Knob& knob : knobs()) {
    if (word.empty() || !lower_case(knob.path).contains(lower_case(word))) continue;
    if (paths.size() < shown_max) paths.push_back(knob.path);
  }
  const std::string_view nearest = nearest_path(word);
  if (paths.empty() && !nearest.empty()) paths.push_back(nearest);
  return paths;
}

/// Each bundle with its rules, a line each.
std::string bundle_texts(std::size_t width) {
  std::string text;
  for (const Bundle& bundle : bundles()) {
    text += fmt::format("\n{}: {}\n", choice_name(bundle.compatibility), bundle.summary);
    for (const BundleRule& rule : bundle.rules) {
      std::string body = wrapped(rule.words, 4, width);
      body[2] = '-';
      text += body;
    }
  }
  return text;
}

std::string explanation(const Knob& knob, std::size_t width) {
  std::string text = fmt::format("{}\n{}", knob.path, wrapped(knob.documentation, 2, width));
  const auto line = [&](std::string_view name, std::string_view value) {
    std::string body = wrapped(value, 12, width);
    body.replace(0, name.size() + 2, fmt::format("  {}", name));
    text += body;
  };
  text += "\n";
  line("Value:", expected_text(knob));
  line("Default:", knob_value_text(Configuration{}, knob));
  line("Of:", scope_text(knob));
  line("From:", fmt::format("docs/spec.md, section {}", knob.spec));
  text += "\n";
  Table table({{"PRESET"}, {"VALUE"}});
  for (const std::string_view name : preset_names()) {
    const Result<Configuration> preset = load_preset(name);
    CHECK(preset.has_value(), "presets are checked by tests");
    table.row({{std::string(name)}, {knob_value_text(*preset, knob)}});
  }
  text += table.text(plain);
  return knob.path == compatibility_path ? text + bundle_texts(width) : text;
}

/// Of several knobs in a section, the shorthand of one means the section here.
const Knob* knob_to_explain(std::string_view word) {
  const Knob* const knob = find_knob(word);
  if (knob == nullptr || knob->path == word) return knob;
  return std::ranges::count(knobs(), knob->section(), &Knob::section) == 1 ? knob : nullptr;
}

std::string document_text(const ConfigurationDocument& document, std::string_view format,
                          bool comments) {
  if (format == "yaml" && comments) return commented_yaml(document);
  std::string text;
  if (format == "yaml") {
    YamlWriter writer(text);
    write_configuration(writer, document);
  } else {
    JsonWriter writer(text);
    write_configuration(writer, document);
  }
  return text;
}

}  // namespace

ExitStatus run_config_list(const Arguments& /*arguments*/, Terminal& terminal) {
  Table presets({{"PRESET"}, {"REPRODUCES"}});
  for (const std::string_view name : preset_names()) {
    presets.row({{std::string(name)}, {preset_summary(name)}});
  }
  terminal.out.write(
      fmt::format("Presets: complete configurations ('makeway config show NAME')\n{}\n"
                  "Knobs: what can be set ('makeway config explain KNOB')\n{}",
                  presets.text(plain), knob_table({})));
  return ExitStatus::done;
}

ExitStatus run_config_show(const Arguments& arguments, Terminal& terminal) {
  if (!arguments.operands().empty() && arguments.has("preset")) {
    return usage_error("config show", "name the preset once: PRESET or --preset NAME", terminal);
  }
  const std::string_view preset = arguments.operands().empty()
                                      ? arguments.text("preset")
                                      : std::string_view(arguments.operands().front());
  const std::string_view format = arguments.text("output");
  const bool as_written = !arguments.has("config") && !arguments.has("set") &&
                          !arguments.has("comments") && format == "yaml";
  if (as_written) {
    const Result<std::string_view> text = preset_text(preset.empty() ? default_preset : preset);
    CHECK(text.has_value(), "the parser knows the presets");
    terminal.out.write(*text);
    return ExitStatus::done;
  }
  ChosenConfiguration chosen = choose_configuration(
      {.preset = preset, .file = arguments.given("config"), .overrides = arguments.all("set")});
  if (!chosen.usage.empty()) return usage_error("config show", chosen.usage, terminal);
  print_problems(chosen.problems, terminal);
  if (!chosen.document) return ExitStatus::failed;
  if (arguments.has("set")) {
    // What it was made from is no longer what it is.
    chosen.document->name += "-changed";
    chosen.document->description.clear();
  }
  terminal.out.write(document_text(*chosen.document, format, arguments.has("comments")));
  return ExitStatus::done;
}

ExitStatus run_config_explain(const Arguments& arguments, Terminal& terminal) {
  const std::string& word = arguments.operands().front();
  if (const Knob* const knob = knob_to_explain(word)) {
    terminal.out.write(explanation(*knob, palette_for_out(terminal, "never").text_width()));
    return ExitStatus::done;
  }
  const std::string section = knob_table(word.empty() ? "-" : word);
  if (!section.empty()) {
    terminal.out.write(fmt::format("{}\n", word) + section);
    return ExitStatus::done;
  }
  if (const std::optional<Problem> removed = removed_knob_problem(word, {})) {
    return usage_error("config explain",
                       fmt::format("{} {}; {}", word, removed->message, removed->remedy), terminal);
  }
  const std::vector<std::string_view> similar = similar_knobs(word);
  const std::string remedy = similar.empty()
                                 ? std::string("'makeway config list' names all of them")
                                 : fmt::format("did you mean {}?", fmt::join(similar, ", "));
  return usage_error("config explain",
                     fmt::format("there is no knob '{}'; {}", shorten(word), remedy), terminal);
}

namespace {

std::vector<std::string_view> asked_kinds(const std::vector<std::string>& words,
                                          std::string& unknown) {
  std::vector<std::string_view> all = own_kind_names();
  if (words.empty()) return all;
  std::vector<std::string_view> kinds;
  for (const std::string& word : words) {
    const auto found = std::ranges::find_if(
        all, [&](std::string_view kind) { return lower_case(kind) == lower_case(word); });
    if (found == all.end()) {
      unknown = word;
      return {};
    }
    if (std::ranges::find(kinds, *found) == kinds.end()) kinds.push_back(*found);
  }
  return kinds;
}

}  // namespace

ExitStatus run_crds(const Arguments& arguments, Terminal& terminal) {
  std::string unknown;
  const std::vector<std::string_view> kinds = asked_kinds(arguments.operands(), unknown);
  if (kinds.empty()) {
    const std::vector<std::string_view> all = own_kind_names();
    const std::string_view nearest = nearest_of(all, unknown);
    const std::string remedy = nearest.empty() ? fmt::format("there are {}", fmt::join(all, ", "))
                                               : fmt::format("did you mean {}?", nearest);
    return usage_error("crds",
                       fmt::format("there is no kind '{}' of ours; {}", shorten(unknown), remedy),
                       terminal);
  }
  std::string text;
  YamlWriter writer(text);
  for (const std::string_view kind : kinds) write_definition(writer, kind);
  terminal.out.write(text);
  return ExitStatus::done;
}

}  // namespace makeway::cli

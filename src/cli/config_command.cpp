#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/check.hpp"
#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/palette.hpp"
#include "cli/problem_text.hpp"
#include "cli/table.hpp"
#include "cli/text.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "model/compatibility.hpp"
#include "model/knobs.hpp"
#include "model/removed_knobs.hpp"

namespace makeway::cli {
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

std::string value_text(const Configuration& configuration, const Knob& knob) {
  std::string text = knob_text(configuration, knob);
  return text.empty() ? std::string("(empty)") : text;
}

std::string knob_table(std::string_view section) {
  const Configuration standard;
  Table table({{"KNOB"}, {"DEFAULT"}, {"TAKES"}});
  for (const Knob& knob : knobs()) {
    if (!section.empty() && knob.section() != section) continue;
    table.row(
        {{std::string(knob.path)}, {shorten(value_text(standard, knob), 40)}, {type_text(knob)}});
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
  line("Default:", value_text(Configuration{}, knob));
  line("Of:", scope_text(knob));
  line("From:", fmt::format("docs/spec.md, section {}", knob.spec));
  text += "\n";
  Table table({{"PRESET"}, {"VALUE"}});
  for (const std::string_view name : preset_names()) {
    const Result<Configuration> preset = load_preset(name);
    CHECK(preset.has_value(), "presets are checked by tests");
    table.row({{std::string(name)}, {value_text(*preset, knob)}});
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
  terminal.error.write(problem_lines(chosen.problems, palette_for_error(terminal)));
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

}  // namespace makeway::cli

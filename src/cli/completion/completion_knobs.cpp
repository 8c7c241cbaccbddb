#include "cli/completion/completion_knobs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <span>
#include <string_view>

#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

constexpr std::array<std::string_view, 2> truths = {"true", "false"};

/// Empty: they cannot be listed.
std::span<const std::string_view> values_of(const Knob& knob) {
  return knob.type == KnobType::boolean ? std::span<const std::string_view>(truths) : knob.choices;
}

/// "workload.evictFor", or "budgets|budgets.mode" with its shorthand.
std::string names_of(const Knob& knob, std::string_view between) {
  const bool has_shorthand = find_knob(knob.section()) == &knob;
  return has_shorthand ? fmt::format("{}{}{}", knob.section(), between, knob.path)
                       : std::string(knob.path);
}

/// `line(knob, values)` for each knob whose values can be listed.
template <class Line>
std::string lines(const Line& line) {
  std::string text;
  for (const Knob& knob : knobs()) {
    const std::span<const std::string_view> values = values_of(knob);
    if (!values.empty()) text += line(knob, fmt::format("{}", fmt::join(values, " ")));
  }
  return text;
}

}  // namespace

std::string bash_knob_values() {
  std::string text =
      "\n"
      "_makeway_values() {\n"
      "  local values=\"\" list=\"\" word=\"$2\"\n"
      "  case \"$1\" in\n";
  text += lines([](const Knob& knob, const std::string& values) {
    const std::string_view list = knob.type == KnobType::choice_list ? " list=yes" : "";
    return fmt::format("    {}) values=\"{}\"{} ;;\n", names_of(knob, "|"), values, list);
  });
  return text +
         "  esac\n"
         "  # A list goes on after its last comma.\n"
         "  if [[ -n $list && $word == *,* ]]; then\n"
         "    prefix=\"$prefix${word%,*},\"\n"
         "    word=\"${word##*,}\"\n"
         "  fi\n"
         "  _makeway_words \"$values\" \"$word\"\n"
         "}\n";
}

std::string zsh_knob_values() {
  std::string text =
      "_makeway_set() {\n"
      "  if ! compset -P '*='; then\n"
      "    compadd -S '' -- $_makeway_assignments\n"
      "    return\n"
      "  fi\n"
      "  case ${${IPREFIX%=}##*=} in\n";
  text += lines([](const Knob& knob, const std::string& values) {
    // A list goes on after its last comma.
    const std::string_view list = knob.type == KnobType::choice_list ? "compset -P '*,'; " : "";
    return fmt::format("    ({}) {}compadd -- {} ;;\n", names_of(knob, "|"), list, values);
  });
  return text + "  esac\n}\n";
}

std::string fish_knob_values() {
  std::string text =
      "function __makeway_set\n"
      "  set -l word (commandline -ct | string replace -r -- '^--set=' '')\n"
      "  switch \"$word\"\n"
      "    case '*=*'\n"
      "      set -l knob (string replace -r -- '=.*' '' \"$word\")\n"
      "      switch \"$knob\"\n";
  text += lines([](const Knob& knob, const std::string& values) {
    return fmt::format(
        "        case {}\n"
        "          for value in {}\n"
        "            echo $knob=$value\n"
        "          end\n",
        names_of(knob, " "), values);
  });
  text += "      end\n    case '*'\n      printf '%s\\n'";
  for (const Knob& knob : knobs()) text += fmt::format(" {}=", knob.path);
  return text + "\n  end\nend\n\n";
}

}  // namespace makeway::cli

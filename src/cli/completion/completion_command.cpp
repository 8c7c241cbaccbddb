#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/check.hpp"
#include "cli/commands.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {
namespace {

// The part of the completion scripts behind `--set`: knobs and their values, read off the table of
// knobs. Knobs whose values cannot be listed (integers, durations, texts) are offered without one.

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

/// A function that offers the values of the knob $1 that begin with $2.
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

/// A function for the argument of --set.
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

/// A function that prints what the current word may become.
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

/// The words that stand for the flag on a command line.
std::vector<std::string> words_of(const Flag& flag) {
  std::vector<std::string> words = {fmt::format("--{}", flag.name)};
  if (flag.letter != '\0') words.push_back(fmt::format("-{}", flag.letter));
  return words;
}

const std::vector<std::string_view>& values_of(const Flag& flag) {
  return flag.choices.empty() ? flag.suggestions : flag.choices;
}

/// What is offered after --set.
std::vector<std::string_view> assignment_names() {
  for (const Command& command : commands()) {
    for (const Flag& flag : command.flags) {
      if (flag.name == "set") return flag.suggestions;
    }
  }
  return {};
}

const std::vector<std::string_view>& values_of(const Operand& operand) {
  return operand.choices.empty() ? operand.suggestions : operand.choices;
}

/// First words of command lines, each once, in the order of the table.
std::vector<const Command*> first_words() {
  std::vector<const Command*> first;
  for (const Command& command : commands()) {
    if (!command.name.contains(' ')) first.push_back(&command);
  }
  return first;
}

/// The commands whose second word follows this one, as that word.
std::vector<const Command*> second_words(const Command& parent) {
  std::vector<const Command*> second;
  const std::string prefix = fmt::format("{} ", parent.name);
  for (const Command& command : commands()) {
    if (command.name.starts_with(prefix)) second.push_back(&command);
  }
  return second;
}

std::string_view last_word(const Command& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

std::vector<std::string_view> names_of(const std::vector<const Command*>& list) {
  std::vector<std::string_view> names;
  names.reserve(list.size());
  for (const Command* const command : list) names.push_back(last_word(*command));
  return names;
}

/// The first sentence, without its stop: shells show one line.
std::string short_help(std::string_view help) {
  return std::string(help.substr(0, std::min(help.find(". "), help.size() - 1)));
}

// ---- bash ---------------------------------------------------------------------------------------

/// The words in quotes; the long list that comes again and again has a variable.
std::string bash_list(const std::vector<std::string_view>& values) {
  if (values == assignment_names()) return "\"$_makeway_assignments\"";
  return fmt::format("\"{}\"", fmt::join(values, " "));
}

std::string bash_flag(const Flag& flag) {
  if (flag.value.empty()) return {};
  std::string action = ":";
  if (flag.takes_file()) {
    action = "_makeway_files \"$word\"";
  } else if (!values_of(flag).empty()) {
    action = fmt::format("_makeway_words {} \"$word\"", bash_list(values_of(flag)));
  }
  return fmt::format("        {}) {}; return ;;\n", fmt::join(words_of(flag), "|"), action);
}

std::string bash_command(const Command& command) {
  std::vector<std::string> words;
  std::string values;
  for (const Flag& flag : command.flags) {
    std::ranges::move(words_of(flag), std::back_inserter(words));
    values += bash_flag(flag);
  }
  words.emplace_back("--help");
  std::string text = fmt::format("    \"{}\")\n", command.name);
  if (!values.empty()) text += fmt::format("      case \"$before\" in\n{}      esac\n", values);
  std::vector<std::string_view> operands;
  if (!command.operands.empty()) operands = values_of(command.operands.front());
  return text + fmt::format("      flags=\"{}\"\n      operands=\"{}\" ;;\n", fmt::join(words, " "),
                            fmt::join(operands, " "));
}

constexpr std::string_view bash_head =
    R"(
# $prefix stands before the word: what is not compared and has to stay.
_makeway_words() {
  COMPREPLY=($(compgen -P "$prefix" -W "$1" -- "$2"))
  # What ends with = awaits its value right there.
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}

_makeway_files() {
  local IFS=$'\n'
  COMPREPLY=($(compgen -P "$prefix" -f -- "$1"))
  compopt -o filenames 2>/dev/null
}

_makeway() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="" command="" flags="" operands=""
  local prefix="" equals=$((COMP_CWORD - 1))
  if ((COMP_CWORD > 0)); then before="${COMP_WORDS[COMP_CWORD-1]}"; fi
  COMPREPLY=()
  # bash usually takes --flag=value for three words, and --set knob=value for four.
  if [[ $word == "=" ]]; then
    word="" equals=$COMP_CWORD
  fi
  if ((equals > 1)) && [[ ${COMP_WORDS[equals]} == "=" ]]; then
    before="${COMP_WORDS[equals-1]}"
    if [[ $before != -* ]]; then
      local flag="${COMP_WORDS[equals-2]}"
      if [[ $flag == "=" ]] && ((equals > 2)); then flag="${COMP_WORDS[equals-3]}"; fi
      if [[ $flag == --set ]]; then _makeway_values "$before" "$word"; fi
      if [[ $flag == --plane ]]; then _makeway_files "$word"; fi
      return
    fi
  elif [[ $word == --*=* ]]; then
    before="${word%%=*}" prefix="${word%%=*}=" word="${word#*=}"
  fi
  if [[ $before == --set && $word == *=* ]]; then
    prefix="$prefix${word%%=*}="
    _makeway_values "${word%%=*}" "${word#*=}"
    return
  fi
  if [[ $before == --plane ]]; then
    if [[ $word != *=* ]]; then return; fi
    prefix="$prefix${word%%=*}="
    _makeway_files "${word#*=}"
    return
  fi
)";

}  // namespace

std::string bash_completion() {
  std::string text = "# bash completion of makeway; written by 'makeway completion bash'.\n\n";
  text += fmt::format("_makeway_assignments=\"{}\"\n", fmt::join(assignment_names(), " "));
  text += bash_knob_values();
  text += bash_head;
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then\n"
      "    _makeway_words \"{} --help --version\" \"$word\"\n"
      "    return\n"
      "  fi\n"
      "  command=\"${{COMP_WORDS[1]}}\"\n"
      "  case \"$command\" in\n",
      fmt::join(names_of(first_words()), " "));
  for (const Command* const command : first_words()) {
    if (command->run != nullptr) continue;
    text += fmt::format(
        "    {})\n"
        "      if ((COMP_CWORD == 2)); then\n"
        "        _makeway_words \"{} --help\" \"$word\"\n"
        "        return\n"
        "      fi\n"
        "      command=\"$command ${{COMP_WORDS[2]}}\" ;;\n",
        command->name, fmt::join(names_of(second_words(*command)), " "));
  }
  text += "  esac\n  case \"$command\" in\n";
  for (const Command& command : commands()) {
    if (command.run != nullptr) text += bash_command(command);
  }
  return text +
         "  esac\n"
         "  if [[ $word == -* || -z $operands ]]; then\n"
         "    _makeway_words \"$flags\" \"$word\"\n"
         "  else\n"
         "    _makeway_words \"$operands\" \"$word\"\n"
         "  fi\n"
         "}\n"
         "\n"
         "complete -F _makeway makeway\n";
}

// ---- zsh ----------------------------------------------------------------------------------------

namespace {

/// Inside single quotes and inside the brackets of a specification.
std::string zsh_quoted(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    switch (byte) {
      case '\'': out += "'\\''"; break;
      case '[':
      case ']':
      case ':':
      case '\\':
        out += '\\';
        out += byte;
        break;
      default: out += byte;
    }
  }
  return out;
}

std::string zsh_values(const std::vector<std::string_view>& values) {
  return values.empty() ? std::string(" ") : fmt::format("({})", fmt::join(values, " "));
}

std::string zsh_action(const Flag& flag) {
  // Files come after the name of the plane.
  if (flag.name == "plane") return "{compset -P \"*=\" && _files}";
  if (flag.takes_file()) return "_files";
  return flag.name == "set" ? std::string("_makeway_set") : zsh_values(values_of(flag));
}

std::string zsh_flag(const Flag& flag) {
  std::string value;
  if (!flag.value.empty()) {
    value = fmt::format(":{}:{}", zsh_quoted(flag.value), zsh_action(flag));
  }
  std::string text;
  for (const std::string& word : words_of(flag)) {
    text += fmt::format("        '{}{}[{}]{}' \\\n", flag.repeats ? "*" : "", word,
                        zsh_quoted(short_help(flag.help)), value);
  }
  return text;
}

std::string zsh_arguments(const Command& command) {
  std::string text = "      _arguments \\\n";
  for (const Flag& flag : command.flags) text += zsh_flag(flag);
  for (const Operand& operand : command.operands) {
    text += fmt::format("        '{}:{}:{}' \\\n", operand.repeats ? "*" : "1",
                        zsh_quoted(operand.name), zsh_values(values_of(operand)));
  }
  return text + "        '(- *)--help[print the help of the command]'\n";
}

std::string zsh_names(const std::vector<const Command*>& list) {
  std::string text;
  for (const Command* const command : list) {
    text += fmt::format("    '{}:{}'\n", last_word(*command), zsh_quoted(command->summary));
  }
  return text;
}

/// One function for the words behind a first word.
std::string zsh_function(const Command& command) {
  if (command.run != nullptr) {
    return fmt::format("    {})\n{}      ;;\n", command.name, zsh_arguments(command));
  }
  std::string text = fmt::format(
      "    {})\n"
      "      if ((CURRENT == 2)); then\n"
      "        local -a below=(\n{}        )\n"
      "        _describe command below\n"
      "        return\n"
      "      fi\n"
      "      shift words\n"
      "      ((CURRENT--))\n"
      "      case $words[1] in\n",
      command.name, zsh_names(second_words(command)));
  for (const Command* const second : second_words(command)) {
    text += fmt::format("      {})\n{}      ;;\n", last_word(*second), zsh_arguments(*second));
  }
  return text + "      esac\n      ;;\n";
}

}  // namespace

std::string zsh_completion() {
  std::string text = fmt::format(
      "#compdef makeway\n"
      "# zsh completion of makeway; written by 'makeway completion zsh'.\n"
      "\n"
      "_makeway_assignments=({})\n"
      "\n"
      "{}\n"
      "_makeway() {{\n"
      "  local -a first=(\n{}  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command first\n"
      "    return\n"
      "  fi\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $words[1] in\n",
      fmt::join(assignment_names(), " "), zsh_knob_values(), zsh_names(first_words()));
  for (const Command* const command : first_words()) text += zsh_function(*command);
  return text +
         "  esac\n"
         "}\n"
         "\n"
         "if [[ $funcstack[1] == _makeway ]]; then\n"
         "  _makeway \"$@\"\n"
         "else\n"
         "  compdef _makeway makeway\n"
         "fi\n";
}

// ---- fish ---------------------------------------------------------------------------------------

namespace {

std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char byte : text) {
    if (byte == '\'' || byte == '\\') out += '\\';
    out += byte;
  }
  return out + "'";
}

/// True where the words of this command have been written.
std::string fish_condition(const Command& command) {
  const std::size_t blank = command.name.find(' ');
  std::string text = fmt::format("__fish_seen_subcommand_from {}", command.name.substr(0, blank));
  if (blank != std::string_view::npos) {
    text += fmt::format("; and __fish_seen_subcommand_from {}", command.name.substr(blank + 1));
  }
  return fish_quoted(text);
}

std::string fish_command(const Command& command) {
  const std::string start = fmt::format("complete -c makeway -n {}", fish_condition(command));
  std::string text;
  for (const Flag& flag : command.flags) {
    text += fmt::format("{} -l {}", start, flag.name);
    if (flag.letter != '\0') text += fmt::format(" -s {}", flag.letter);
    if (flag.takes_file()) {
      text += " -r -F";
    } else if (!flag.value.empty()) {
      text += " -x";
    }
    if (flag.name == "set") {
      text += " -a '(__makeway_set)'";
    } else if (!values_of(flag).empty()) {
      text += fmt::format(" -a '{}'", fmt::join(values_of(flag), " "));
    }
    text += fmt::format(" -d {}\n", fish_quoted(short_help(flag.help)));
  }
  for (const Operand& operand : command.operands) {
    if (values_of(operand).empty()) continue;
    text += fmt::format("{} -a '{}'\n", start, fmt::join(values_of(operand), " "));
  }
  return text;
}

}  // namespace

std::string fish_completion() {
  std::string text =
      "# fish completion of makeway; written by 'makeway completion fish'.\n"
      "\n";
  text += fish_knob_values();
  text +=
      "complete -c makeway -f\n"
      "complete -c makeway -n __fish_use_subcommand -l version -d 'Print the version'\n"
      "complete -c makeway -s h -l help -d 'Print the help'\n";
  for (const Command* const command : first_words()) {
    text += fmt::format("complete -c makeway -n __fish_use_subcommand -a {} -d {}\n", command->name,
                        fish_quoted(command->summary));
    const std::vector<const Command*> second = second_words(*command);
    for (const Command* const below : second) {
      text += fmt::format("complete -c makeway -n {} -a {} -d {}\n",
                          fish_quoted(fmt::format("__fish_seen_subcommand_from {}; and not "
                                                  "__fish_seen_subcommand_from {}",
                                                  command->name, fmt::join(names_of(second), " "))),
                          last_word(*below), fish_quoted(below->summary));
    }
  }
  for (const Command& command : commands()) {
    if (command.run != nullptr) text += fish_command(command);
  }
  return text;
}

ExitStatus run_completion(const Arguments& arguments, Terminal& terminal) {
  const std::string& shell = arguments.operands().front();
  if (shell == "bash") {
    terminal.out.write(bash_completion());
  } else if (shell == "zsh") {
    terminal.out.write(zsh_completion());
  } else {
    CHECK(shell == "fish", "the parser knows the shells");
    terminal.out.write(fish_completion());
  }
  return ExitStatus::done;
}

}  // namespace makeway::cli

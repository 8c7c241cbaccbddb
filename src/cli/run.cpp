#include "cli/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <exception>
#include <new>
#include <optional>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/problem.hpp"
#include "cli/help.hpp"
#include "cli/text.hpp"

namespace makeway::cli {
namespace {

constexpr std::size_t word_shown_max = 60;

std::unexpected<Error> usage_error(const Command* command, std::string_view message) {
  return wrong_usage(fmt::format("{}\n{}", message, help_line(command)));
}

std::string flag_text(const Flag& flag) {
  return flag.letter == '\0' ? fmt::format("--{}", flag.name)
                             : fmt::format("-{}/--{}", flag.letter, flag.name);
}

/// A flag of the command that the word is.
const Flag* find_flag(const Command& command, std::string_view word) {
  const auto found = std::ranges::find_if(command.flags, [&](const Flag& flag) {
    return word == fmt::format("--{}", flag.name) ||
           (flag.letter != '\0' && word == fmt::format("-{}", flag.letter));
  });
  return found == command.flags.end() ? nullptr : &*found;
}

/// CLI11 would take `-o` for the file in `-f -o json`, which is never meant.
std::string refuse_lacking_value(const Command& command, std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const Flag* const flag = find_flag(command, words[i]);
    if (flag == nullptr || flag->value.empty()) continue;
    if (i + 1 < words.size() && find_flag(command, words[i + 1]) == nullptr) {
      ++i;
      continue;
    }
    return fmt::format("{} lacks its value; expected {}", flag_text(*flag), flag->value);
  }
  return {};
}

/// What CLI11 made of the words of one command.
struct Words {
  std::map<const Flag*, std::vector<std::string>> flags;
  std::vector<std::string> rest;  ///< What is no flag, in order.
  bool help = false;
};

std::string option_names(const Flag& flag) {
  return flag.letter == '\0' ? fmt::format("--{}", flag.name)
                             : fmt::format("-{},--{}", flag.letter, flag.name);
}

/// Splits words by the flags of the command. CLI11 throws; nothing leaves this function.
Result<Words> split(const Command& command, std::span<const std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const CLI::Option* const help = app.add_flag("-h,--help");
  std::map<const Flag*, CLI::Option*> options;
  for (const Flag& flag : command.flags) {
    options[&flag] = flag.value.empty()
                         ? app.add_flag(option_names(flag))
                         : app.add_option(option_names(flag))->take_all()->allow_extra_args(false);
  }
  if (std::string message = refuse_lacking_value(command, words); !message.empty()) {
    return usage_error(&command, message);
  }
  // From the last word to the first, as CLI11 wants them.
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return usage_error(&command, shorten(error.what(), 200));
  }
  Words result;
  result.help = help->count() > 0;
  result.rest = app.remaining();
  for (const auto& [flag, option] : options) result.flags[flag] = option->results();
  return result;
}

std::string not_a_choice(std::string_view what, std::string_view value,
                         std::span<const std::string_view> choices) {
  return fmt::format("{} '{}': expected one of {}{}", what, shorten(value, word_shown_max),
                     fmt::join(choices, ", "), did_you_mean(choices, value));
}

bool is_choice(std::span<const std::string_view> choices, std::string_view value) {
  return choices.empty() || std::ranges::find(choices, value) != choices.end();
}

/// What is wrong with the values of one flag, or nothing.
std::string refuse_values(const Flag& flag, const std::vector<std::string>& values) {
  if (values.empty() && flag.required) {
    return fmt::format("{} is missing; expected {} {}", flag_text(flag), flag_text(flag),
                       flag.value);
  }
  if (flag.value.empty()) return {};
  if (values.size() > 1 && !flag.repeats) {
    return fmt::format("{} comes {} times; expected one value", flag_text(flag), values.size());
  }
  for (const std::string& value : values) {
    if (!is_choice(flag.choices, value)) {
      return not_a_choice(flag_text(flag), value, flag.choices);
    }
  }
  return {};
}

std::string unknown_flag(const Command& command, std::string_view word) {
  std::vector<std::string> owned;
  owned.reserve(command.flags.size() + 1);
  for (const Flag& flag : command.flags) owned.push_back(fmt::format("--{}", flag.name));
  owned.emplace_back("--help");
  const std::vector<std::string_view> names(owned.begin(), owned.end());
  const std::string_view name = word.substr(0, word.find('='));
  return fmt::format("'{}' is no flag of '{}'{}", shorten(name, word_shown_max), command.name,
                     did_you_mean(names, name));
}

/// "'config explain' lacks its KNOB; expected a path such as workload.evictFor, or a section"
std::string lacking_operand(const Command& command, const Operand& operand) {
  std::string expected = fmt::format("one of {}", fmt::join(operand.choices, ", "));
  if (operand.choices.empty()) {
    // The help is a sentence of its own; here it ends one.
    expected = operand.help.substr(0, operand.help.find_last_not_of('.') + 1);
    if (!expected.empty()) {
      expected.front() =
          static_cast<char>(std::tolower(static_cast<unsigned char>(expected.front())));
    }
  }
  return fmt::format("'{}' lacks its {}; expected {}", command.name, operand.name, expected);
}

/// What is wrong with the words that are no flags, or nothing.
std::string refuse_rest(const Command& command, const std::vector<std::string>& rest) {
  for (const std::string& word : rest) {
    if (word.starts_with('-') && word != "-" && word != "--") return unknown_flag(command, word);
  }
  if (command.operands.empty()) {
    if (rest.empty()) return {};
    const bool reads_files = find_flag(command, "--file") != nullptr;
    return fmt::format("'{}' takes no argument '{}'{}", command.name,
                       shorten(rest.front(), word_shown_max),
                       reads_files ? "; files are named with -f" : "");
  }
  const Operand& operand = command.operands.front();
  if (rest.empty()) {
    return operand.required ? lacking_operand(command, operand) : std::string{};
  }
  if (rest.size() > 1 && !operand.repeats) {
    return fmt::format("'{}' takes one {}, not also '{}'", command.name, operand.name,
                       shorten(rest[1], word_shown_max));
  }
  for (const std::string& word : rest) {
    if (!is_choice(operand.choices, word)) {
      return not_a_choice(operand.name, word, operand.choices);
    }
  }
  return {};
}

Result<Invocation> parse_command(const Command& command, std::span<const std::string> words) {
  Result<Words> split_words = split(command, words);
  if (!split_words) return std::unexpected(split_words.error());
  if (split_words->help) {
    return Invocation{.command = &command, .arguments = Arguments({}), .help = true};
  }
  std::erase(split_words->rest, "--");
  if (std::string message = refuse_rest(command, split_words->rest); !message.empty()) {
    return usage_error(&command, message);
  }
  Arguments::Values values;
  for (const Flag& flag : command.flags) {
    std::vector<std::string>& given = split_words->flags[&flag];
    std::string message = refuse_values(flag, given);
    if (!message.empty()) return usage_error(&command, message);
    if (given.empty() && !flag.standard.empty()) given.emplace_back(flag.standard);
    values.emplace(flag.name, std::move(given));
  }
  values.emplace(Arguments::operand_key, std::move(split_words->rest));
  return Invocation{.command = &command, .arguments = Arguments(std::move(values))};
}

/// The message for a first word that is no command, or for a second one that is no subcommand.
Result<Invocation> unknown_command(const Command* parent, std::string_view word) {
  std::vector<std::string_view> names;
  const std::string prefix = parent == nullptr ? std::string{} : fmt::format("{} ", parent->name);
  for (const std::string_view name : command_names()) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    if (!rest.contains(' ')) names.push_back(rest);
  }
  const bool flag = word.starts_with('-');
  return usage_error(
      parent, fmt::format("there is no {} '{}{}'{}", flag ? "flag" : "command", flag ? "" : prefix,
                          shorten(word, word_shown_max), flag ? "" : did_you_mean(names, word)));
}

bool is_help(std::string_view word) { return word == "--help" || word == "-h"; }

}  // namespace

Result<Invocation> parse(std::span<const std::string> words) {
  if (words.empty() || is_help(words[0])) {
    return Invocation{.command = nullptr, .arguments = Arguments({}), .help = true};
  }
  if (words[0] == "--version") {
    return Invocation{.command = nullptr, .arguments = Arguments({}), .version = true};
  }
  const Command* const first = find_command(words[0]);
  if (first == nullptr || words[0].contains(' ')) return unknown_command(nullptr, words[0]);
  const Command* const deeper =
      words.size() > 1 ? find_command(fmt::format("{} {}", words[0], words[1])) : nullptr;
  if (deeper != nullptr) return parse_command(*deeper, words.subspan(2));
  if (first->run != nullptr) return parse_command(*first, words.subspan(1));
  if (words.size() == 1 || is_help(words[1])) {
    return Invocation{.command = first, .arguments = Arguments({}), .help = true};
  }
  const Command* const second = find_command(fmt::format("{} {}", words[0], words[1]));
  if (second == nullptr) return unknown_command(first, words[1]);
  return parse_command(*second, words.subspan(2));
}

namespace {

/// The last gate: whatever a command writes, no character passes that drives a terminal or misleads
/// its reader, but our own colours.
class PrintableSink final : public TextSink {
 public:
  explicit PrintableSink(TextSink& behind) : behind_(behind) {}

  void write(std::string_view text) override {
    if (has_printable_lines(text)) return behind_.write(text);
    behind_.write(printable_lines(text));
  }
  void flush() override { behind_.flush(); }
  bool is_closed() const override { return behind_.is_closed(); }

 private:
  TextSink& behind_;
};

ExitStatus run_invocation(std::span<const std::string> arguments, Terminal& terminal) {
  const Result<Invocation> invocation = parse(arguments);
  if (!invocation) {
    terminal.error.write(fmt::format("makeway: {}\n", invocation.error().message));
    return ExitStatus::usage;
  }
  if (invocation->version) {
    terminal.out.write(version_line() + "\n");
    return ExitStatus::done;
  }
  if (invocation->help) {
    const Palette palette = palette_for_out(terminal, "never");
    terminal.out.write(invocation->command == nullptr
                           ? program_help(palette)
                           : command_help(*invocation->command, palette));
    return ExitStatus::done;
  }
  return invocation->command->run(invocation->arguments, terminal);
}

}  // namespace

ExitStatus run(std::span<const std::string> arguments, Terminal& terminal) {
  PrintableSink out(terminal.out);
  PrintableSink error(terminal.error);
  Terminal gated{.out = out,
                 .error = error,
                 .out_is_terminal = terminal.out_is_terminal,
                 .error_is_terminal = terminal.error_is_terminal,
                 .colour_refused = terminal.colour_refused,
                 .ascii_only = terminal.ascii_only,
                 .columns = terminal.columns,
                 .kube = terminal.kube,
                 .input = terminal.input,
                 .screen = terminal.screen};
  try {
    // A bug outside of any plan ends the run, not the process half-way; tests hide none.
    std::optional<CheckContainment> contained;
    if (MAKEWAY_CONTAIN != 0) contained.emplace();
    return run_invocation(arguments, gated);
  } catch (const std::bad_alloc&) {
    error.write("makeway: out of memory; give it more, or split the input\n");
    return ExitStatus::failed;
  } catch (const std::exception& failure) {
    error.write(fmt::format("makeway: internal error: {}\n", shorten(failure.what(), 1'000)));
    error.write("This is a bug in Makeway, not in your input. Please report it with the input.\n");
    return ExitStatus::bug;
  }
}

}  // namespace makeway::cli

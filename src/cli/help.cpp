#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/text.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view exit_status_text =
    "Exit status: 0 done, 1 bad input or failure, 2 wrong usage, 5 a bug in Makeway.\n";
constexpr std::string_view detailed_exit_status_text =
    "With plan --detailed-exitcode also 3 victims are needed, 4 an ask has no place.\n";

struct Entry {
  std::string left;
  std::string right;
};

/// Two columns; a left text that is too wide has its line alone.
std::string entries_text(const std::vector<Entry>& entries, std::size_t screen_width) {
  constexpr std::size_t left_max = 28;
  std::size_t width = 0;
  for (const Entry& entry : entries) {
    if (entry.left.size() <= left_max) width = std::max(width, entry.left.size());
  }
  const std::size_t indent = width + 4;
  std::string out;
  for (const Entry& entry : entries) {
    std::string right = wrapped(entry.right, indent, screen_width);
    const bool same_line = entry.left.size() <= width;
    if (same_line) right.replace(0, entry.left.size() + 2, fmt::format("  {}", entry.left));
    out += same_line ? right : fmt::format("  {}\n{}", entry.left, right);
  }
  return out;
}

std::string flag_left(const Flag& flag) {
  const std::string letter =
      flag.letter == '\0' ? std::string("    ") : fmt::format("-{}, ", flag.letter);
  const std::string value = flag.value.empty() ? std::string{} : fmt::format(" {}", flag.value);
  return fmt::format("{}--{}{}", letter, flag.name, value);
}

std::string flag_right(const Flag& flag) {
  std::string text(flag.help);
  if (!flag.choices.empty()) text += fmt::format(" One of {}.", fmt::join(flag.choices, ", "));
  if (!flag.standard.empty()) text += fmt::format(" Default: {}.", flag.standard);
  if (flag.required) text += " Required.";
  return text;
}

/// Stands for a blank where a line must not be broken.
constexpr char kept_blank = '\x1f';

std::string usage_text(const Command& command, std::size_t width) {
  std::string text = fmt::format("makeway {}", command.name);
  if (command.run == nullptr) text += " COMMAND";
  for (const Operand& operand : command.operands) {
    const std::string name = fmt::format("{}{}", operand.name, operand.repeats ? "..." : "");
    text += operand.required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  for (const Flag& flag : command.flags) {
    const std::string name =
        flag.letter == '\0' ? fmt::format("--{}", flag.name) : fmt::format("-{}", flag.letter);
    const std::string value =
        flag.value.empty() ? std::string{} : fmt::format("{}{}", kept_blank, flag.value);
    if (flag.required) text += fmt::format(" {}{}", name, value);
    if (!flag.required || flag.repeats) {
      text += fmt::format(" [{}{}]{}", name, value, flag.repeats ? "..." : "");
    }
  }
  std::string lines = wrapped(text, 2, width);
  std::ranges::replace(lines, kept_blank, ' ');
  return lines;
}

bool is_below(const Command& command, std::string_view parent) {
  return command.name.size() > parent.size() && command.name.starts_with(parent) &&
         command.name[parent.size()] == ' ';
}

std::string examples_text(const Command& command) {
  if (command.examples.empty()) return {};
  std::string text = "\nExamples:\n";
  for (const Example& example : command.examples) {
    text += fmt::format("  # {}\n  {}\n", example.meaning, example.line);
  }
  return text;
}

}  // namespace

std::string program_help(const Palette& palette) {
  std::vector<Entry> entries;
  for (const Command& command : commands()) {
    const bool leads_others = command.run == nullptr;
    if (leads_others) continue;
    entries.push_back({.left = std::string(command.name), .right = std::string(command.summary)});
  }
  return fmt::format(
      "Makeway decides which pods must leave so that something more important can run.\n\nUsage: "
      "makeway COMMAND [flags]\n\nCommands:\n{}\nStart here:\n  makeway plan -f examples/pods "
      "--explain    which pods must leave in an example cluster\n  makeway snapshot -f "
      "examples/pods          an overview of that cluster\n  makeway help plan                     "
      "     what a command does, with examples\n\n{}{}",
      entries_text(entries, palette.text_width()), exit_status_text, detailed_exit_status_text);
}

std::string command_help(const Command& command, const Palette& palette) {
  const std::size_t width = palette.text_width();
  std::string text = wrapped(command.description, 0, width);
  text += fmt::format("\nUsage:\n{}", usage_text(command, width));
  std::vector<Entry> below;
  for (const Command& other : commands()) {
    if (!is_below(other, command.name)) continue;
    below.push_back({.left = std::string(other.name), .right = std::string(other.summary)});
  }
  if (!below.empty()) text += fmt::format("\nCommands:\n{}", entries_text(below, width));
  std::vector<Entry> operands;
  for (const Operand& operand : command.operands) {
    std::string right(operand.help);
    if (!operand.choices.empty()) {
      right += fmt::format(" One of {}.", fmt::join(operand.choices, ", "));
    }
    operands.push_back({.left = std::string(operand.name), .right = std::move(right)});
  }
  if (!operands.empty()) text += fmt::format("\nArguments:\n{}", entries_text(operands, width));
  std::vector<Entry> flags;
  flags.reserve(command.flags.size() + 1);
  for (const Flag& flag : command.flags) {
    flags.push_back({.left = flag_left(flag), .right = flag_right(flag)});
  }
  flags.push_back({.left = "-h, --help", .right = "Print this text."});
  text += fmt::format("\nFlags:\n{}", entries_text(flags, width));
  text += examples_text(command);
  return fmt::format("{}\n{}{}", text, exit_status_text, wrapped(command.exit_status, 0, width));
}

std::string help_line(const Command* command) {
  if (command == nullptr) return "'makeway --help' lists the commands.";
  return fmt::format("'makeway {} --help' says more.", command->name);
}

ExitStatus usage_error(std::string_view command, std::string_view message, Terminal& terminal) {
  terminal.error.write(fmt::format("makeway: {}\n{}\n", message, help_line(find_command(command))));
  return ExitStatus::usage;
}

}  // namespace makeway::cli

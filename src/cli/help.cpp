#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/problem.hpp"
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

ExitStatus run_help(const Arguments& arguments, Terminal& terminal) {
  if (arguments.operands().empty()) {
    terminal.out.write(program_help(palette_for_out(terminal, "never")));
    return ExitStatus::done;
  }
  const std::string name = fmt::format("{}", fmt::join(arguments.operands(), " "));
  const Command* const command = find_command(name);
  if (command == nullptr) {
    return usage_error({},
                       fmt::format("there is no command '{}'{}", shorten(name),
                                   did_you_mean(command_names(), name)),
                       terminal);
  }
  terminal.out.write(command_help(*command, palette_for_out(terminal, "never")));
  return ExitStatus::done;
}

namespace {

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

/// The CMake presets differ in flags, so the flags are what can be printed.
std::string build() {
#ifdef __OPTIMIZE__
  std::string text = "optimised";
#else
  std::string text = "not optimised";
#endif
#ifdef _GLIBCXX_ASSERTIONS
  text += ", with library assertions";
#endif
#ifdef __SANITIZE_ADDRESS__
  text += ", with the address sanitizer";
#endif
#ifdef __SANITIZE_THREAD__
  text += ", with the thread sanitizer";
#endif
  return text;
}

}  // namespace

std::string version_line() { return "makeway " MAKEWAY_VERSION; }

ExitStatus run_version(const Arguments& /*arguments*/, Terminal& terminal) {
  terminal.out.write(fmt::format("{}\n  compiler  {}, C++23\n  build     {}\n", version_line(),
                                 compiler(), build()));
  return ExitStatus::done;
}

namespace {

/// Text as roff reads it: no escapes, no requests, hyphens that can be copied.
std::string escaped(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char byte : text) {
    if (line_start && (byte == '.' || byte == '\'')) out += "\\&";
    line_start = byte == '\n';
    switch (byte) {
      case '\\': out += "\\e"; break;
      case '-': out += "\\-"; break;
      case '~': out += "\\(ti"; break;
      case '^': out += "\\(ha"; break;
      case '`': out += "\\(ga"; break;
      case '\'': out += "\\(aq"; break;
      default: out += byte;
    }
  }
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", escaped(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", escaped(text)); }

/// Blank lines separate paragraphs; lines that begin with a blank are kept as they are.
std::string paragraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      out += ".PP\n";
    } else if (line.starts_with(' ')) {
      out += fmt::format(".nf\n{}\n.fi\n", escaped(line));
    } else {
      out += escaped(line) + "\n";
    }
  }
  return out;
}

std::string flag_entry(const Flag& flag) {
  std::string names = bold(fmt::format("--{}", flag.name));
  if (flag.letter != '\0')
    names = fmt::format("{}, {}", bold(fmt::format("-{}", flag.letter)), names);
  if (!flag.value.empty()) names += fmt::format(" {}", italic(flag.value));
  std::string help(flag.help);
  if (!flag.choices.empty()) help += fmt::format(" One of {}.", fmt::join(flag.choices, ", "));
  if (!flag.standard.empty()) help += fmt::format(" Default: {}.", flag.standard);
  if (flag.required) help += " Required.";
  return fmt::format(".TP\n{}\n{}\n", names, escaped(help));
}

std::string operand_text(const Operand& operand) {
  std::string help(operand.help);
  if (!operand.choices.empty()) {
    help += fmt::format(" One of {}.", fmt::join(operand.choices, ", "));
  }
  return fmt::format(".TP\n{}\n{}\n", italic(operand.name), escaped(help));
}

std::string command_text(const Command& command) {
  std::string heading = fmt::format("makeway {}", command.name);
  for (const Operand& operand : command.operands) {
    heading +=
        operand.required ? fmt::format(" {}", operand.name) : fmt::format(" [{}]", operand.name);
  }
  if (!command.flags.empty()) heading += " [flags]";
  std::string text = fmt::format(".SS {}\n{}", escaped(heading), paragraphs(command.description));
  for (const Operand& operand : command.operands) text += operand_text(operand);
  for (const Flag& flag : command.flags) text += flag_entry(flag);
  return text;
}

std::string examples_text() {
  std::string text;
  for (const Command& command : commands()) {
    for (const Example& example : command.examples) {
      text += fmt::format(".TP\n{}\n.nf\n{}\n.fi\n", escaped(example.meaning), bold(example.line));
    }
  }
  return text;
}

}  // namespace

std::string man_page() {
  std::string text = fmt::format(
      ".TH MAKEWAY 1 \"\" \"{}\" \"Makeway\"\n.SH NAME\nmakeway \\- decides which pods must leave "
      "so that something more important can run\n.SH SYNOPSIS\n{} {} [flags]\n.SH "
      "DESCRIPTION\nReads a cluster from Kubernetes manifests, or from what kubectl printed, and "
      "answers which\npods would have to leave so that a more important one can run, and why.\n.SH "
      "COMMANDS\n",
      escaped(version_line()), bold("makeway"), italic("COMMAND"));
  for (const Command& command : commands()) {
    if (command.run != nullptr) text += command_text(command);
  }
  text +=
      ".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\nbad input or failure\n.TP\n2\nwrong "
      "usage\n.TP\n3\nvictims are needed (only plan \\-\\-detailed\\-exitcode)\n.TP\n4\nan ask is "
      "infeasible, or no placement was found (only plan \\-\\-detailed\\-exitcode)\n.TP\n5\na bug "
      "in "
      "Makeway was detected, whatever else happened\n.SH "
      "ENVIRONMENT\n.TP\nNO_COLOR\nNo colours, unless \\-\\-color always is given.\n.SH EXAMPLES\n";
  return text + examples_text();
}

ExitStatus run_man(const Arguments& /*arguments*/, Terminal& terminal) {
  terminal.out.write(man_page());
  return ExitStatus::done;
}

}  // namespace makeway::cli

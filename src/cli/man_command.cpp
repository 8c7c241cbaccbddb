#include "cli/man_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/version_command.hpp"

namespace makeway::cli {
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

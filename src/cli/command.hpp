// The table of commands: the one description that parsing, help, shell completion and the man page
// are read off. It is written in commands.txt.
//
// A command is data and a function. Its name may have two words ("config show"); the first word
// then stands in the table too, without a function, for its help. Flags take one value each, or
// none; a flag that repeats keeps all of its values in order.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/terminal.hpp"

namespace makeway::cli {

struct Flag {
  std::string_view name;   ///< Without dashes: "file".
  char letter = '\0';      ///< 'f', or none.
  std::string_view value;  ///< What the value is, for the help: "FILE"; empty: takes no value.
  std::string_view help;
  std::vector<std::string_view> choices;  ///< All values that are possible; empty: not a choice.
  std::string_view standard;              ///< The value that counts when the flag is missing.
  std::vector<std::string_view> suggestions;  ///< Values that shells offer; others are possible.
  bool repeats = false;
  bool required = false;

  /// Shells offer the names of files.
  bool takes_file() const { return value.contains("FILE"); }
};

/// What stands after the command without a dash.
struct Operand {
  std::string_view name;  ///< "KNOB"
  std::string_view help;
  std::vector<std::string_view> choices;
  std::vector<std::string_view> suggestions;  ///< Values that shells offer; others are possible.
  bool repeats = false;
  bool required = false;
};

struct Example {
  std::string_view line;
  std::string_view meaning;
};

/// What the user wrote, checked against the table. Asking for a flag that the command does not
/// have is a programmer error.
class Arguments {
 public:
  using Values = std::map<std::string, std::vector<std::string>, std::less<>>;
  explicit Arguments(Values values) : values_(std::move(values)) {}

  bool has(std::string_view name) const;
  /// The value, which may be empty; none: the flag is missing and has no standard value.
  std::optional<std::string_view> given(std::string_view name) const;
  /// The value, or the standard one of the table.
  std::string_view text(std::string_view name) const;
  const std::vector<std::string>& all(std::string_view name) const;
  const std::vector<std::string>& operands() const { return all(operand_key); }

  /// No flag has this name.
  static constexpr std::string_view operand_key = "<operand>";

 private:
  Values values_;  ///< An entry for each flag of the command; standard values are filled in.
};

/// What is wrong with the words of the user.
inline std::unexpected<Error> wrong_usage(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
}

struct Command {
  std::string_view name;
  std::string_view summary;      ///< One line for the list of commands.
  std::string_view description;  ///< Paragraphs for its own help.
  std::vector<Flag> flags;
  std::vector<Operand> operands;  ///< At most one.
  std::vector<Example> examples;
  std::string_view exit_status;  ///< What statuses other than the common ones mean; may be empty.
  /// Null for the first word of several commands.
  ExitStatus (*run)(const Arguments&, Terminal&) = nullptr;
};

/// The file commands.txt, as cmake/embed.cmake compiles it in.
std::string_view command_texts();

/// In the order of the help.
std::span<const Command> commands();

/// By its whole name; null when there is none.
const Command* find_command(std::string_view name);

}  // namespace makeway::cli

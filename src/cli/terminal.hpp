// Terminal: where a command's text goes, and what that place can show.
//
// Commands never touch the process: they write to two sinks and return an exit status, so that
// tests run them in process and read what they wrote. main.cpp connects the real streams.
//
// Rules: what a command was asked for goes to `out`, everything else to `error`; a command that
// fails writes nothing to `out` (only `check` differs: problems are what it was asked for).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "cli/full_screen.hpp"
#include "kube/kubeconfig.hpp"

namespace makeway::cli {

class TextSink {
 public:
  TextSink() = default;
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;
  virtual ~TextSink() = default;

  virtual void write(std::string_view text) = 0;
  /// What was written is seen now, not when a buffer is full.
  virtual void flush() {}
  /// The reader has closed the output, as with `| head`: a long-running command may stop.
  virtual bool is_closed() const { return false; }
};

/// A user who can be asked a question.
class LineInput {
 public:
  LineInput() = default;
  LineInput(const LineInput&) = delete;
  LineInput& operator=(const LineInput&) = delete;
  virtual ~LineInput() = default;

  /// What was typed, without the end of the line; none: nothing within that time. A closed terminal
  /// counts as an empty line.
  virtual std::optional<std::string> line(Duration at_most) = 0;
};

struct Terminal {
  TextSink& out;
  TextSink& error;
  bool out_is_terminal = false;
  bool error_is_terminal = false;
  bool colour_refused = false;   ///< NO_COLOR is set, or TERM is dumb.
  bool ascii_only = false;       ///< The locale is C or POSIX: no drawing characters.
  std::size_t columns = 0;       ///< COLUMNS; 0: not set.
  kube::KubeEnvironment kube;    ///< Where a live cluster may be.
  LineInput* input = nullptr;    ///< Null: standard input is not a terminal.
  FullScreen* screen = nullptr;  ///< Null: standard input or output is no terminal, or a dumb one.
};

/// The exit status of the process.
enum class ExitStatus : std::uint8_t {
  done = 0,
  failed = 1,  ///< Bad input, or the world failed.
  usage = 2,   ///< The command line is wrong.
  // Only with `plan --detailed-exitcode`:
  victims_needed = 3,
  infeasible = 4,  ///< Some ask has no place, or none was found.
  /// A bug of ours: a plan broke a law, or a CHECK failed. What could be planned is shown.
  bug = 5,
  /// Of `run` and `apply`: another process may lead now. A restart begins from scratch.
  lease_lost = 6,
  /// Only of `apply`: some of the plan was not carried out; the output lists it.
  partly_applied = 7,
};

}  // namespace makeway::cli

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
#include <vector>

#include "base/time.hpp"
#include "kube/kubeconfig.hpp"

namespace makeway::cli {

// FullScreen: a terminal whose whole area a command draws, and the keys that are pressed there.
//
// Commands know this interface only, so that tests draw into memory and press keys themselves;
// tty_screen.hpp has the real one.

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;

  friend bool operator==(const ScreenSize&, const ScreenSize&) = default;
};

// Keys that are not letters, as `keys` returns them: control characters that are never typed.
inline constexpr char key_up = '\x01';
inline constexpr char key_down = '\x02';
inline constexpr char key_page_up = '\x03';
inline constexpr char key_page_down = '\x04';

class FullScreen {
 public:
  FullScreen() = default;
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;
  virtual ~FullScreen() = default;

  /// Saves the screen as it was before; false: it cannot be taken.
  virtual bool enter() = 0;
  /// What was there before comes back. Also called when nothing was entered.
  virtual void leave() = 0;
  virtual ScreenSize size() const = 0;
  /// At most as many lines as it has rows, each without a line feed.
  virtual void show(const std::vector<std::string>& lines) = 0;
  /// What was typed, a character a key; empty: nothing, after so long.
  virtual std::string keys(Duration at_most) = 0;
  /// A signal asks for the end, or the terminal was closed.
  virtual bool wants_end() const = 0;
};

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

// Palette: what the place that shows a text can show: colours by meaning, drawing characters, and
// how wide it is. A palette whose colours are off leaves every text as it is.

enum class Tone : std::uint8_t { plain, strong, dim, good, warning, bad };

class Palette {
 public:
  explicit Palette(bool on) : on_(on) {}
  Palette(bool on, const Terminal& terminal)
      : on_(on), ascii_only_(terminal.ascii_only), columns_(terminal.columns) {}

  std::string paint(std::string_view text, Tone tone) const;
  bool ascii_only() const { return ascii_only_; }
  /// Where sentences are broken.
  std::size_t text_width() const;
  /// Where a table that can do with less says less.
  std::size_t table_width() const;

 private:
  bool on_;
  bool ascii_only_ = false;
  std::size_t columns_ = 0;  ///< 0: unknown.
};

/// `choice` is the value of --color: auto looks at the terminal and at NO_COLOR.
Palette palette_for_out(const Terminal& terminal, std::string_view choice);
Palette palette_for_error(const Terminal& terminal);

// InterruptWatch: while it lives, Ctrl-C (and SIGTERM) asks for an orderly end; a second one ends
// the process.

class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  InterruptWatch(InterruptWatch&&) = delete;
  InterruptWatch& operator=(InterruptWatch&&) = delete;
  ~InterruptWatch();

  bool seen() const;

 private:
  void (*interrupt_before_)(int);
  void (*terminate_before_)(int);
};

}  // namespace makeway::cli

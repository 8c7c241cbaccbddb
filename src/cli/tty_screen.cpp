#include "cli/tty_screen.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "base/printable.hpp"

namespace makeway::cli {
namespace {

/// The other screen, without a cursor.
constexpr std::string_view begin_text = "\x1b[?1049h\x1b[?25l\x1b[2J";
constexpr std::string_view end_text = "\x1b[0m\x1b[?25h\x1b[?1049l";
constexpr std::array end_signals = {SIGINT, SIGTERM, SIGHUP};
constexpr std::array crash_signals = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

// What handlers touch: flags, and how the terminal was, which is written before any is installed.
volatile std::sig_atomic_t tty_end_wanted = 0;
volatile std::sig_atomic_t tty_is_ours = 0;
termios tty_before{};

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(STDOUT_FILENO, text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

/// Only calls that a handler may make.
void give_back() {
  if (tty_is_ours == 0) return;
  tty_is_ours = 0;
  static_cast<void>(write_all(end_text));
  static_cast<void>(::tcsetattr(STDIN_FILENO, TCSANOW, &tty_before));
}

void end_by(int signal) {
  give_back();
  static_cast<void>(std::signal(signal, SIG_DFL));
  static_cast<void>(std::raise(signal));  // Delivered when this handler is left.
}

void on_end_signal(int signal) {
  if (tty_end_wanted != 0) return end_by(signal);
  tty_end_wanted = 1;
}

/// The key of an escape sequence, which is removed; none: an unknown one.
std::optional<char> take_sequence(std::string_view& typed) {
  typed.remove_prefix(1);
  if (typed.empty() || (typed.front() != '[' && typed.front() != 'O')) return std::nullopt;
  typed.remove_prefix(1);
  std::size_t end = 0;
  while (end < typed.size() && (typed[end] < '@' || typed[end] > '~')) ++end;
  const std::string_view sequence = typed.substr(0, end + 1);
  typed.remove_prefix(sequence.size());
  if (sequence == "A") return key_up;
  if (sequence == "B") return key_down;
  if (sequence == "5~") return key_page_up;
  if (sequence == "6~") return key_page_down;
  return std::nullopt;
}

}  // namespace

std::string decoded_keys(std::string_view typed) {
  std::string keys;
  while (!typed.empty()) {
    if (typed.front() == '\x1b') {
      if (const auto key = take_sequence(typed)) keys += *key;
      continue;
    }
    if (typed.front() >= ' ' && typed.front() <= '~') keys += typed.front();
    typed.remove_prefix(1);
  }
  return keys;
}

bool TtyScreen::enter() {
  if (::tcgetattr(STDIN_FILENO, &tty_before) != 0) return false;
  termios ours = tty_before;
  // Keys come one by one and are not echoed; those that make signals still do, but for Ctrl-Z.
  ours.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  ours.c_cc[VSUSP] = _POSIX_VDISABLE;
  ours.c_cc[VMIN] = 0;
  ours.c_cc[VTIME] = 0;
  tty_end_wanted = 0;
  tty_is_ours = 1;
  is_entered_ = true;
  for (const int signal : end_signals) static_cast<void>(std::signal(signal, on_end_signal));
  for (const int signal : crash_signals) static_cast<void>(std::signal(signal, end_by));
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &ours) == 0 && write_all(begin_text)) return true;
  leave();
  return false;
}

void TtyScreen::leave() {
  if (!std::exchange(is_entered_, false)) return;
  give_back();
  for (const int signal : end_signals) static_cast<void>(std::signal(signal, SIG_DFL));
  for (const int signal : crash_signals) static_cast<void>(std::signal(signal, SIG_DFL));
}

ScreenSize TtyScreen::size() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {};
  }
  return {.columns = size.ws_col, .rows = size.ws_row};
}

void TtyScreen::show(const std::vector<std::string>& lines) {
  std::string text = "\x1b[H";
  bool is_first = true;
  for (const std::string& line : lines) {
    if (!std::exchange(is_first, false)) text += "\r\n";
    text += printable_lines(line) + "\x1b[K";
  }
  if (!write_all(text + "\x1b[J")) is_gone_ = true;
}

std::string TtyScreen::keys(Duration at_most) {
  pollfd waits{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  if (::poll(&waits, 1, static_cast<int>(at_most.ms)) <= 0) return {};
  std::array<char, 256> typed{};
  const ssize_t got = ::read(STDIN_FILENO, typed.data(), typed.size());
  // Readable, but empty: the terminal was closed.
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) is_gone_ = true;
  return decoded_keys({typed.data(), got > 0 ? static_cast<std::size_t>(got) : 0});
}

bool TtyScreen::wants_end() const { return is_gone_ || tty_end_wanted != 0; }

}  // namespace makeway::cli

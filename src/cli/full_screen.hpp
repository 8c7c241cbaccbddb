// FullScreen: a terminal whose whole area a command draws, and the keys that are pressed there.
//
// Commands know this interface only, so that tests draw into memory and press keys themselves;
// tty_screen.hpp has the real one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/time.hpp"

namespace makeway::cli {

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

}  // namespace makeway::cli

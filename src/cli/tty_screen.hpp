// TtyScreen: the terminal of the process as a FullScreen.
//
// Rules:
//  1. However it ends, the terminal is restored: by `leave`, by the destructor, and by
//     a handler where a signal ends the process (a crash, a second Ctrl-C).
//  2. Ctrl-C, SIGTERM and a closed terminal ask for an orderly end. Ctrl-Z does nothing.
//  3. Lines go through `printable_lines`: text from other users cannot control the terminal.
#pragma once

#include <string_view>

#include "cli/terminal.hpp"

namespace makeway::cli {

class TtyScreen final : public FullScreen {
 public:
  ~TtyScreen() override { TtyScreen::leave(); }

  bool enter() override;
  void leave() override;
  ScreenSize size() const override;
  void show(const std::vector<std::string>& lines) override;
  std::string keys(Duration at_most) override;
  bool wants_end() const override;

 private:
  bool is_entered_ = false;
  bool is_gone_ = false;  ///< Nothing can be written any more.
};

/// Letters as they are, arrows and page keys as terminal.hpp calls them; other sequences of keys
/// are left out.
std::string decoded_keys(std::string_view typed);

}  // namespace makeway::cli

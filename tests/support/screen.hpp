// Screen: what a command wrote, kept as text.
#pragma once

#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace makeway {

class StringSink final : public cli::TextSink {
 public:
  void write(std::string_view text) override { text_ += text; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Screen {
  StringSink out;
  StringSink error;
  cli::Terminal terminal{.out = out, .error = error};
};

}  // namespace makeway

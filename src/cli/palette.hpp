// Palette: colours by meaning. A palette that is off leaves every text as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace makeway::cli {

enum class Tone : std::uint8_t { plain, strong, dim, good, warning, bad };

class Palette {
 public:
  explicit Palette(bool on) : on_(on) {}

  std::string paint(std::string_view text, Tone tone) const;

 private:
  bool on_;
};

/// `choice` is the value of --color: auto looks at the terminal and at NO_COLOR.
Palette palette_for_out(const Terminal& terminal, std::string_view choice);
Palette palette_for_error(const Terminal& terminal);

}  // namespace makeway::cli

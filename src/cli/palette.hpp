// Palette: what the place that shows a text can show: colours by meaning, drawing characters, and
// how wide it is. A palette whose colours are off leaves every text as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cli/terminal.hpp"

namespace makeway::cli {

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

}  // namespace makeway::cli

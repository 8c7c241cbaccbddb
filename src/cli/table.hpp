// Table: rows of cells, aligned by content.
//
//   Table table({{"NAME"}, {"PODS", Align::right}});
//   table.row({{"n1"}, {"12", Tone::bad}});
//   out += table.text(palette);
//
// Texts from objects are made harmless, headings too: they become printable (base/printable.hpp),
// and what is longer than a name may reasonably be is cut. Lines have no blanks at their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"

namespace makeway::cli {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string heading;  ///< May have several lines; they end on the same one.
  Align align = Align::left;
};

struct Cell {
  std::string text;
  Tone tone = Tone::plain;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);

  void row(std::vector<Cell> cells);
  /// A text above the headings, beginning with the column `first`.
  void band(std::size_t first, std::string_view text);
  bool empty() const { return rows_.empty(); }

  /// Every line after two blanks.
  std::string text(const Palette& palette) const;

 private:
  struct Band {
    std::size_t first = 0;
    std::string text;
  };

  std::vector<std::size_t> widths() const;
  std::size_t heading_lines() const;

  std::vector<Column> columns_;
  std::vector<Band> bands_;
  std::vector<std::vector<Cell>> rows_;
};

/// Pairs such as {"8", "16"}, written so that all slashes of a column stand under each other.
/// A pair of empty texts becomes "-".
struct Ratio {
  std::string part;
  std::string whole;
};
std::vector<std::string> aligned_ratios(const std::vector<Ratio>& ratios);

// Queues as people read them: children below their parents, each set in by two blanks.

struct QueueName {
  std::string_view name;
  std::string_view parent;  ///< Empty: none. One that is not there counts as none.
};

struct QueueLine {
  std::size_t position = 0;  ///< In the list that was given.
  std::size_t depth = 0;
};

/// Siblings by name. What hangs in a circle is left out: such queues are refused on load.
std::vector<QueueLine> queue_lines(const std::vector<QueueName>& queues);

/// "    vision" for a name at depth 2.
std::string indented(std::string_view name, std::size_t depth);

}  // namespace makeway::cli

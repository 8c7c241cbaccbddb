// What texts for people are made of: sentences, lists of names, amounts of resources, and tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"

namespace makeway::cli {

// Small text helpers of the command line.

/// Terminal columns that the text takes, one for each code point.
std::size_t columns_of(std::string_view text);

/// The text broken at blanks into lines of at most `width` columns, each after `indent` blanks.
/// Every paragraph (they are separated by newlines) begins on a new line; blank ones stay. Lines
/// that begin with a blank are kept as they are.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);
/// Text from elsewhere, made printable and wrapped.
std::string paragraph(std::string_view text, std::size_t indent, const Palette& palette);

/// "1 pod", "2 pods", "1,234 pods".
std::string counted(std::uint64_t count, std::string_view noun);
std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural);

/// "12,345"
std::string grouped(std::uint64_t count);

/// Of ASCII letters.
std::string lower_case(std::string_view text);

// "did you mean": the end of a message about an unknown word.

/// "; did you mean snapshot?", or nothing when no name is similar.
std::string did_you_mean(std::span<const std::string_view> names, std::string_view word);

/// The names of all commands.
std::vector<std::string_view> command_names();

// Amounts of resources as people read them.

/// cpu in cores ("1.5", "0.25"), bytes as "1.5Gi", everything else as a number.
std::string amount_text(std::string_view resource, std::int64_t amount);

/// Seconds as hours with one decimal: "1.5"; what is not quite nothing is "under 0.1".
std::string hours_text(std::int64_t seconds);

/// How long something has been pending, in its two largest units: "3d4h", "2h10m", "45s".
std::string pending_text(std::int64_t seconds);

/// The resource's name where room is short: "nvidia.com/gpu" becomes "gpu".
std::string_view short_name(std::string_view resource);

/// part / whole in percent, rounded to nearest and at most 999; 0 when whole is 0.
std::int64_t percent_of(std::int64_t part, std::int64_t whole);

/// part / whole in thousandths: at least 1 when there is anything at all, above 1000 exactly
/// when there is more than fits. What asks for something that is not there is as full as can be.
std::int64_t share_permille(std::int64_t part, std::int64_t whole);

/// A bar of `width` columns; something is never shown as nothing, nor almost full as full.
std::string bar(std::int64_t part, std::int64_t whole, std::size_t width, bool ascii_only);

// Table: rows of cells, aligned by content.
//
//   Table table({{"NAME"}, {"PODS", Align::right}});
//   table.row({{"n1"}, {"12", Tone::bad}});
//   out += table.text(palette);
//
// Texts from objects are made harmless, headings too: they become printable (base/printable.hpp),
// and what is longer than a name may reasonably be is cut. Lines have no blanks at their end.

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

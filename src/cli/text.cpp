#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>

#include "base/check.hpp"
#include "base/problem.hpp"
#include "cli/command.hpp"
#include "codec/quantity.hpp"
#include "model/knobs.hpp"
#include "model/resource.hpp"

namespace makeway::cli {
namespace {

/// Appends one paragraph, broken at blanks.
void append_wrapped(std::string& out, std::string_view paragraph, std::size_t indent,
                    std::size_t width) {
  const std::string margin(indent, ' ');
  std::size_t column = 0;
  while (!paragraph.empty()) {
    const std::size_t end = std::min(paragraph.find(' '), paragraph.size());
    const std::string_view word = paragraph.substr(0, end);
    paragraph.remove_prefix(std::min(end + 1, paragraph.size()));
    if (word.empty()) continue;
    const std::size_t size = columns_of(word);
    if (column != 0 && column + 1 + size > width) {
      out += '\n';
      column = 0;
    }
    out += column == 0 ? margin : " ";
    out += word;
    column = column == 0 ? indent + size : column + 1 + size;
  }
  out += '\n';
}

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(' ')) {
      out += fmt::format("{:{}}{}\n", "", indent, line);
    } else {
      append_wrapped(out, line, indent, width);
    }
  }
  return out;
}

std::string grouped(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural) {
  return fmt::format("{} {}", grouped(count), count == 1 ? noun : plural);
}

std::string paragraph(std::string_view text, std::size_t indent, const Palette& palette) {
  return wrapped(printable(text), indent, palette.text_width());
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return counted(count, noun, fmt::format("{}s", noun));
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& byte : result) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
  }
  return result;
}

std::string did_you_mean(std::span<const std::string_view> names, std::string_view word) {
  const std::string_view nearest = nearest_of(names, word);
  return nearest.empty() ? std::string{} : fmt::format("; did you mean {}?", nearest);
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

namespace {

bool counted_in_bytes(std::string_view resource) {
  return resource == memory_name || resource == storage_name || resource.starts_with("hugepages-");
}

/// The fewer cores, the more decimals: below 10 exactly, below 1,000 to a tenth, then whole ones.
std::string cores_text(std::int64_t milli) {
  if (milli >= 1'000'000)
    return grouped(static_cast<std::uint64_t>(milli / 1'000 + (milli % 1'000 >= 500 ? 1 : 0)));
  const std::int64_t shown = milli < 10'000 ? milli : (milli + 50) / 100 * 100;
  std::string text = fmt::format("{}.{:03}", shown / 1'000, shown % 1'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

/// part * scale / whole without leaving int64.
std::int64_t scaled(std::int64_t part, std::int64_t whole, std::int64_t scale) {
  constexpr std::int64_t safe = std::int64_t{1} << 50U;
  if (whole <= 0) return 0;
  while (part > safe || whole > safe) {
    part /= 2;
    whole = std::max<std::int64_t>(whole / 2, 1);
  }
  return (part * scale + whole / 2) / whole;
}

}  // namespace

std::string amount_text(std::string_view resource, std::int64_t amount) {
  CHECK(amount >= 0, "amounts are not negative");
  if (counted_in_thousandths(resource)) return cores_text(amount);
  if (counted_in_bytes(resource)) return human_bytes(amount);
  return grouped(static_cast<std::uint64_t>(amount));
}

std::string hours_text(std::int64_t seconds) {
  constexpr std::int64_t tenth = 360;
  CHECK(seconds >= 0, "lost work is not negative");
  if (seconds > 0 && seconds < tenth / 2) return "under 0.1";
  const std::int64_t tenths = seconds / tenth + (seconds % tenth >= tenth / 2 ? 1 : 0);
  return fmt::format("{}.{}", grouped(static_cast<std::uint64_t>(tenths / 10)), tenths % 10);
}

std::string pending_text(std::int64_t seconds) {
  constexpr std::int64_t minute = 60;
  constexpr std::int64_t hour = 60 * minute;
  constexpr std::int64_t day = 24 * hour;
  const auto two = [&](std::int64_t unit, char name, std::int64_t next, char next_name) {
    const std::int64_t rest = seconds % unit / next;
    std::string text = fmt::format("{}{}", seconds / unit, name);
    if (rest > 0) text += fmt::format("{}{}", rest, next_name);
    return text;
  };
  if (seconds >= day) return two(day, 'd', hour, 'h');
  if (seconds >= hour) return two(hour, 'h', minute, 'm');
  if (seconds >= minute) return two(minute, 'm', 1, 's');
  return fmt::format("{}s", seconds);
}

std::string_view short_name(std::string_view resource) {
  return resource.substr(resource.rfind('/') + 1);
}

std::int64_t percent_of(std::int64_t part, std::int64_t whole) {
  constexpr std::int64_t shown_max = 999;
  return std::min(scaled(part, whole, 100), shown_max);
}

std::int64_t share_permille(std::int64_t part, std::int64_t whole) {
  constexpr std::int64_t shown_max = 9'990;
  if (part <= 0) return 0;
  if (whole <= 0) return shown_max;
  const std::int64_t rounded = std::clamp<std::int64_t>(scaled(part, whole, 1'000), 1, shown_max);
  // Rounding must not hide that a node is full, overfull or not.
  if (part > whole) return std::max<std::int64_t>(rounded, 1'001);
  return part < whole ? std::min<std::int64_t>(rounded, 999) : 1'000;
}

std::string bar(std::int64_t part, std::int64_t whole, std::size_t width, bool ascii_only) {
  const auto cells = static_cast<std::int64_t>(width);
  std::int64_t filled = std::clamp<std::int64_t>(scaled(part, whole, cells), 0, cells);
  if (part > 0 && whole > 0) filled = std::max<std::int64_t>(filled, 1);
  if (part < whole) filled = std::min(filled, cells - 1);
  std::string text;
  for (std::int64_t i = 0; i < cells; ++i) {
    text += ascii_only ? (i < filled ? "#" : ".") : (i < filled ? "█" : "░");
  }
  return text;
}

namespace {

constexpr std::size_t cell_bytes_max = 96;
constexpr std::string_view margin = "  ";
constexpr std::string_view gap = "  ";

std::string padding(std::size_t width, std::string_view text) {
  const std::size_t columns = columns_of(text);
  std::string blanks(width > columns ? width - columns : 0, ' ');
  return blanks;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

void finish_line(std::string& out) {
  while (out.ends_with(' ')) out.pop_back();
  out += '\n';
}

/// Sentences are cut behind a word.
std::string cut(std::string_view text) {
  const std::size_t blank =
      text.size() <= cell_bytes_max ? std::string_view::npos : text.rfind(' ', cell_bytes_max);
  if (blank == std::string_view::npos || blank < cell_bytes_max / 2) {
    return shorten(text, cell_bytes_max);
  }
  return printable(text.substr(0, blank)) + " ...";
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) {
    std::string heading;
    for (const std::string_view line : lines_of(column.heading)) {
      heading += (heading.empty() ? "" : "\n") + shorten(line, cell_bytes_max);
    }
    column.heading = std::move(heading);
  }
}

void Table::row(std::vector<Cell> cells) {
  CHECK(cells.size() == columns_.size(), "a row has as many cells as there are columns");
  for (Cell& cell : cells) cell.text = cut(cell.text);
  rows_.push_back(std::move(cells));
}

void Table::band(std::size_t first, std::string_view text) {
  bands_.push_back({.first = first, .text = shorten(text, cell_bytes_max)});
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  widths.reserve(columns_.size());
  for (const Column& column : columns_) {
    std::size_t width = 0;
    for (const std::string_view line : lines_of(column.heading)) {
      width = std::max(width, columns_of(line));
    }
    widths.push_back(width);
  }
  for (const std::vector<Cell>& cells : rows_) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], columns_of(cells[i].text));
    }
  }
  // A band that is wider than its columns pushes the first of them to the right.
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    const std::size_t end = i + 1 < bands_.size() ? bands_[i + 1].first : columns_.size();
    std::size_t room = 0;
    for (std::size_t at = bands_[i].first; at < end; ++at) room += widths[at] + gap.size();
    const std::size_t needed = columns_of(bands_[i].text) + gap.size();
    if (needed > room && bands_[i].first < end) widths[bands_[i].first] += needed - room;
  }
  return widths;
}

std::size_t Table::heading_lines() const {
  std::size_t lines = 1;
  for (const Column& column : columns_) lines = std::max(lines, lines_of(column.heading).size());
  return lines;
}

std::string Table::text(const Palette& palette) const {
  const std::vector<std::size_t> width = widths();
  std::string out;
  const auto line = [&](const auto& cell_of) {
    out += margin;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Cell cell = cell_of(i);
      const std::string blanks = padding(width[i], cell.text);
      if (i != 0) out += gap;
      if (columns_[i].align == Align::right) out += blanks;
      out += palette.paint(cell.text, cell.tone);
      if (columns_[i].align == Align::left && i + 1 < columns_.size()) out += blanks;
    }
    finish_line(out);
  };
  if (!bands_.empty()) {
    std::string above;
    for (const Band& band : bands_) {
      std::size_t start = margin.size();
      for (std::size_t i = 0; i < band.first; ++i) start += width[i] + gap.size();
      above += std::string(start > columns_of(above) ? start - columns_of(above) : 1, ' ');
      above += band.text;
    }
    out += palette.paint(above, Tone::dim);
    finish_line(out);
  }
  const std::size_t above = heading_lines();
  for (std::size_t number = 0; number < above; ++number) {
    line([&](std::size_t i) {
      const std::vector<std::string_view> lines = lines_of(columns_[i].heading);
      const std::size_t skipped = above - lines.size();
      return Cell{number < skipped ? std::string{} : std::string(lines[number - skipped]),
                  Tone::dim};
    });
  }
  for (const std::vector<Cell>& cells : rows_) {
    line([&](std::size_t i) { return cells[i]; });
  }
  return out;
}

std::vector<std::string> aligned_ratios(const std::vector<Ratio>& ratios) {
  std::size_t part = 0;
  std::size_t whole = 0;
  for (const Ratio& ratio : ratios) {
    part = std::max(part, columns_of(ratio.part));
    whole = std::max(whole, columns_of(ratio.whole));
  }
  std::vector<std::string> texts;
  texts.reserve(ratios.size());
  for (const Ratio& ratio : ratios) {
    const bool nothing = ratio.part.empty() && ratio.whole.empty();
    texts.push_back(nothing ? std::string("-")
                            : fmt::format("{:>{}}/{:<{}}", ratio.part, part, ratio.whole, whole));
  }
  return texts;
}

std::vector<QueueLine> queue_lines(const std::vector<QueueName>& queues) {
  std::map<std::string_view, std::size_t> positions;
  for (std::size_t position = 0; position < queues.size(); ++position) {
    positions.emplace(queues[position].name, position);
  }
  std::map<std::string_view, std::vector<std::size_t>> children;  // Of "": those without a parent.
  for (const auto& [name, position] : positions) {
    const std::string_view parent = queues[position].parent;
    children[positions.contains(parent) ? parent : std::string_view()].push_back(position);
  }
  std::vector<QueueLine> rows;
  std::vector<QueueLine> open;  // A stack: the next row is its last.
  const auto add = [&](std::string_view parent, std::size_t depth) {
    const auto found = children.find(parent);
    if (found == children.end()) return;
    for (const std::size_t position : std::views::reverse(found->second)) {
      open.push_back({.position = position, .depth = depth});
    }
  };
  add({}, 0);
  while (!open.empty()) {
    const QueueLine row = open.back();
    open.pop_back();
    rows.push_back(row);
    add(queues[row.position].name, row.depth + 1);
  }
  return rows;
}

std::string indented(std::string_view name, std::size_t depth) {
  constexpr std::size_t depth_max = 8;  // Beyond, the names matter more than the shape.
  return fmt::format("{:{}}{}", "", 2 * std::min(depth, depth_max), name);
}

}  // namespace makeway::cli

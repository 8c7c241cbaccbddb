#include "cli/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

#include "base/check.hpp"
#include "base/problem.hpp"
#include "cli/text.hpp"

namespace makeway::cli {
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

#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace makeway::cli

#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace makeway {
namespace {

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Sorted. Format characters and what Unicode calls default ignorable; combining marks are letters
/// of real languages and stay.
constexpr std::array<Range, 24> unprintable = {{
    {0x00, 0x1F},         // C0
    {0x7F, 0x9F},         // DEL and C1
    {0xAD, 0xAD},         // soft hyphen
    {0x34F, 0x34F},       // grapheme joiner
    {0x600, 0x605},       // Arabic number signs
    {0x61C, 0x61C},       // Arabic letter mark: direction
    {0x6DD, 0x6DD},       //
    {0x70F, 0x70F},       //
    {0x890, 0x891},       //
    {0x8E2, 0x8E2},       //
    {0x115F, 0x1160},     // Hangul fillers: blanks of no width
    {0x17B4, 0x17B5},     // Khmer vowels that are not seen
    {0x180B, 0x180F},     // Mongolian separators
    {0x200B, 0x200F},     // zero-width, direction
    {0x2028, 0x202E},     // line and paragraph separators, direction
    {0x2060, 0x206F},     // word joiner, isolates, deprecated controls
    {0x3164, 0x3164},     // Hangul filler
    {0xE000, 0xF8FF},     // private use: whatever a font puts there
    {0xFDD0, 0xFDEF},     // non-characters
    {0xFE00, 0xFE0F},     // variation selectors
    {0xFEFF, 0xFEFF},     // byte order mark: zero-width
    {0xFFA0, 0xFFA0},     // Hangul filler of half width
    {0xFFF0, 0xFFFB},     // unassigned, annotations
    {0xE0000, 0x10FFFF},  // tags, variation selectors, private use
}};

/// Beyond the table: two non-characters at the end of every plane, and musical and shorthand
/// controls.
bool is_stray(std::uint32_t code) {
  return (code & 0xFFFEU) == 0xFFFEU || (code >= 0x1BCA0 && code <= 0x1BCA3) ||
         (code >= 0x1D173 && code <= 0x1D17A) || code == 0x110BD || code == 0x110CD ||
         (code >= 0x13430 && code <= 0x1343F);
}

void append_escaped(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", code);
  } else if (code <= 0xFFFF) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  } else {
    fmt::format_to(std::back_inserter(out), "\\U{:08x}", code);
  }
}

/// Appends the first character, escaped where that is needed, and cuts it off.
void take_character(std::string& out, std::string_view& text) {
  const Character character = first_character(text);
  if (character.length == 0) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
    return;
  }
  if (is_unprintable(character.code)) {
    append_escaped(out, character.code);
  } else {
    out += text.substr(0, character.length);
  }
  text.remove_prefix(character.length);
}

bool is_plain(char byte) { return byte >= 0x20 && byte < 0x7F; }

std::size_t plain_prefix(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

/// How many bytes at the start are marks that we write ourselves: a line feed, a tab, a colour.
std::size_t own_mark(std::string_view text) {
  constexpr std::array<std::string_view, 9> marks = {
      "\n", "\t", "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\r\x1b[K"};
  for (const std::string_view mark : marks) {
    if (text.starts_with(mark)) return mark.size();
  }
  return 0;
}

}  // namespace

Character first_character(std::string_view text) {
  const auto byte_at = [&](std::size_t index) -> std::uint32_t {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  const auto follows = [&](std::size_t index) { return (byte_at(index) & 0xC0U) == 0x80U; };
  const std::uint32_t first = byte_at(0);
  if (first < 0x80) return {first, 1};
  if (first >= 0xC2 && first <= 0xDF && follows(1)) {
    return {((first & 0x1FU) << 6U) | (byte_at(1) & 0x3FU), 2};
  }
  if ((first & 0xF0U) == 0xE0U && follows(1) && follows(2)) {
    const std::uint32_t code =
        ((first & 0x0FU) << 12U) | ((byte_at(1) & 0x3FU) << 6U) | (byte_at(2) & 0x3FU);
    if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) return {code, 3};
  }
  if ((first & 0xF8U) == 0xF0U && follows(1) && follows(2) && follows(3)) {
    const std::uint32_t code = ((first & 0x07U) << 18U) | ((byte_at(1) & 0x3FU) << 12U) |
                               ((byte_at(2) & 0x3FU) << 6U) | (byte_at(3) & 0x3FU);
    if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4};
  }
  return {};
}

bool is_unprintable(std::uint32_t code) {
  if (code >= 0x20 && code < 0x7F) return false;
  const auto* const range = std::ranges::lower_bound(unprintable, code, {}, &Range::last);
  return (range != unprintable.end() && code >= range->first) || is_stray(code);
}

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) take_character(result, text);
  }
  return result;
}

std::string shorten(std::string_view text, std::size_t length_max) {
  std::size_t end = std::min(text.size(), length_max);
  // A character has at most three bytes behind its first; more of them are no UTF-8 anyway.
  for (int step = 0; step < 3 && end > 0 && end < text.size() && is_continuation(text[end]); ++step)
    --end;
  std::string result = printable(text.substr(0, end));
  if (end < text.size()) result += "...";
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t keep = plain_prefix(text);
    const std::size_t mark = own_mark(text.substr(keep));
    result += text.substr(0, keep + mark);
    text.remove_prefix(keep + mark);
    if (mark == 0 && !text.empty()) take_character(result, text);
  }
  return result;
}

bool has_printable_lines(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return is_plain(byte) || byte == '\n'; });
}

}  // namespace makeway

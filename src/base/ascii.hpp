// Bytes of ASCII text, whatever the locale says.
#pragma once

#include <cstddef>
#include <string_view>

namespace makeway {

constexpr bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

constexpr char lower_byte(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
}

/// The digits at the start, which are cut off.
constexpr std::string_view take_digits(std::string_view& rest) {
  std::size_t count = 0;
  while (count < rest.size() && is_digit(rest[count])) ++count;
  const std::string_view digits = rest.substr(0, count);
  rest.remove_prefix(count);
  return digits;
}

/// Without blanks and tabs, line feeds and carriage returns at either end.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace makeway

#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace makeway::cli

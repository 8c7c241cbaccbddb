#include "base/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace makeway {

bool has_errors(const Problems& problems) {
  return std::ranges::any_of(
      problems, [](const Problem& problem) { return problem.severity == Severity::error; });
}

std::string to_text(const Problem& problem) {
  std::string text;
  if (!problem.origin.source.empty()) text += printable(problem.origin.source);
  if (problem.origin.document != 0) text += fmt::format(", document {}", problem.origin.document);
  if (problem.origin.line != 0) text += fmt::format(" (line {})", problem.origin.line);
  if (!text.empty()) text += ": ";
  if (!problem.object.empty()) text += printable(problem.object) + ": ";
  if (!problem.field.empty()) text += printable(problem.field);
  if (!problem.value.empty()) {
    text += fmt::format("{}\"{}\"", problem.field.empty() ? "" : " ", printable(problem.value));
  }
  if (!problem.field.empty() || !problem.value.empty()) text += ": ";
  text += printable(problem.message);
  if (!problem.remedy.empty()) text += "; " + printable(problem.remedy);
  return text;
}

namespace {

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 || code == 0x7F) {
      result += fmt::format("\\x{:02x}", code);
    } else {
      result += byte;
    }
  }
  return result;
}

std::string shorten(std::string_view text, std::size_t length_max) {
  std::size_t end = std::min(text.size(), length_max);
  while (end > 0 && end < text.size() && is_continuation(text[end])) --end;
  std::string result = printable(text.substr(0, end));
  if (end < text.size()) result += "...";
  return result;
}

}  // namespace makeway

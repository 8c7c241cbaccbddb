#include "support/screen_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace makeway {
namespace {

/// Each is a text in UTF-8 that must not occur.
const std::vector<std::string>& screen_forbidden() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    for (int code = 0; code < 0x20; ++code) {
      if (code != '\n') all.emplace_back(1, static_cast<char>(code));
    }
    all.emplace_back(1, '\x7F');
    for (int code = 0x80; code < 0xA0; ++code) {
      all.push_back({'\xC2', static_cast<char>(code)});
    }
    const auto three_bytes = [&](std::uint32_t first, std::uint32_t last) {
      for (std::uint32_t code = first; code <= last; ++code) {
        all.push_back({static_cast<char>(0xE0U | (code >> 12U)),
                       static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
                       static_cast<char>(0x80U | (code & 0x3FU))});
      }
    };
    three_bytes(0x200B, 0x200F);
    three_bytes(0x2028, 0x202E);
    three_bytes(0x2060, 0x206F);
    three_bytes(0xFEFF, 0xFEFF);
    all.emplace_back("\xD8\x9C");      // U+061C
    all.emplace_back("\xF3\xA0\x81");  // tags
    return all;
  }();
  return texts;
}

/// By the lengths that first bytes promise.
bool is_screen_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = first < 0x80               ? 1
                               : (first >> 5U) == 0b110   ? 2
                               : (first >> 4U) == 0b1110  ? 3
                               : (first >> 3U) == 0b11110 ? 4
                                                          : 0;
    if (length == 0 || at + length > text.size()) return false;
    for (std::size_t next = 1; next < length; ++next) {
      if ((static_cast<unsigned char>(text[at + next]) & 0xC0U) != 0x80U) return false;
    }
    at += length;
  }
  return true;
}

}  // namespace

std::string screen_complaint(std::string_view printed) {
  if (!is_screen_utf8(printed)) return "not UTF-8";
  for (const std::string& text : screen_forbidden()) {
    if (!printed.contains(text)) continue;
    std::string bytes;
    for (const char byte : text) bytes += fmt::format(" {:02x}", static_cast<unsigned char>(byte));
    return "the bytes" + bytes;
  }
  for (std::size_t at = printed.find(screen_forged); at != std::string_view::npos;
       at = printed.find(screen_forged, at + 1)) {
    const std::size_t before = printed.find_last_not_of(' ', at == 0 ? 0 : at - 1);
    if (at == 0 || before == std::string_view::npos || printed[before] == '\n') {
      return "a line that is not ours";
    }
  }
  return {};
}

}  // namespace makeway

#include "base/base64.hpp"

#include <cstdint>

namespace makeway {
namespace {

constexpr int no_digit = -1;

int digit_of(char byte) {
  if (byte >= 'A' && byte <= 'Z') return byte - 'A';
  if (byte >= 'a' && byte <= 'z') return byte - 'a' + 26;
  if (byte >= '0' && byte <= '9') return byte - '0' + 52;
  if (byte == '+') return 62;
  return byte == '/' ? 63 : no_digit;
}

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string encode_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view part = bytes.substr(at, 3);
    std::uint32_t group = 0;
    for (std::size_t each = 0; each < 3; ++each) {
      const auto byte = each < part.size() ? static_cast<unsigned char>(part[each]) : 0U;
      group = (group << 8U) | byte;
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      const std::uint32_t value = group >> (18 - 6 * digit) & 0x3FU;
      text += digit <= part.size() ? alphabet[value] : '=';
    }
  }
  return text;
}

std::optional<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t digits = 0;
  std::size_t padding = 0;
  for (const char byte : text) {
    if (byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t') continue;
    if (byte == '=') {
      ++padding;
      continue;
    }
    const int digit = digit_of(byte);
    if (digit == no_digit || padding > 0) return std::nullopt;
    group = (group << 6U) | static_cast<std::uint32_t>(digit);
    if (++digits % 4 != 0) continue;
    bytes += static_cast<char>(group >> 16U & 0xFFU);
    bytes += static_cast<char>(group >> 8U & 0xFFU);
    bytes += static_cast<char>(group & 0xFFU);
    group = 0;
  }
  if ((digits + padding) % 4 != 0 || padding > 2) return std::nullopt;
  if (digits % 4 == 1) return std::nullopt;
  if (digits % 4 == 2) bytes += static_cast<char>(group >> 4U & 0xFFU);
  if (digits % 4 == 3) {
    bytes += static_cast<char>(group >> 10U & 0xFFU);
    bytes += static_cast<char>(group >> 2U & 0xFFU);
  }
  return bytes;
}

}  // namespace makeway

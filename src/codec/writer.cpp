#include "codec/writer.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <iterator>

#include "base/check.hpp"

namespace makeway {
namespace {

/// True for the bytes of a JSON string that need no second look.
constexpr std::array<bool, 256> make_safe_bytes() {
  std::array<bool, 256> safe{};
  for (std::size_t byte = 0x20; byte < 0x7F; ++byte) safe[byte] = byte != '"' && byte != '\\';
  return safe;
}
constexpr std::array<bool, 256> safe_bytes = make_safe_bytes();

/// The high bit of a byte is set in the result when that byte of `word` is zero; only the lowest
/// such bit is exact, which is all that "is there any" needs.
constexpr std::uint64_t zero_bytes(std::uint64_t word) {
  return (word - 0x0101010101010101U) & ~word & 0x8080808080808080U;
}

/// How many bytes at the start are safe.
std::size_t safe_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at + 8 <= text.size()) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    const std::uint64_t unsafe = (word & 0x8080808080808080U) |  // not ASCII
                                 ((word - 0x2020202020202020U) & 0x8080808080808080U) |  // < 0x20
                                 zero_bytes(word ^ 0x2222222222222222U) |                // "
                                 zero_bytes(word ^ 0x5C5C5C5C5C5C5C5CU) |  // backslash
                                 zero_bytes(word ^ 0x7F7F7F7F7F7F7F7FU);   // delete
    if (unsafe != 0) break;
    at += 8;
  }
  while (at < text.size() && safe_bytes[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  ///< 0: not UTF-8.
};

/// The first character of a text that starts with a byte of 0x80 or more.
Character decode(std::string_view text) {
  const auto byte_at = [&](std::size_t index) -> std::uint32_t {
    return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
  };
  const auto follows = [&](std::size_t index) { return (byte_at(index) & 0xC0U) == 0x80U; };
  const std::uint32_t first = byte_at(0);
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

/// Control characters, YAML's further line breaks, the byte order mark and non-characters.
bool is_special(std::uint32_t code) {
  return code < 0xA0 || code == 0x2028 || code == 0x2029 || code == 0xFEFF || code == 0xFFFE ||
         code == 0xFFFF;
}

void append_escape(std::string& out, std::uint32_t code) {
  switch (code) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", code); return;
  }
}

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t run = safe_prefix(text);
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const auto first = static_cast<unsigned char>(text.front());
    const Character character = first < 0x80 ? Character{first, 1} : decode(text);
    if (character.length == 0) {
      out += replacement_character;
      text.remove_prefix(1);
      continue;
    }
    if (is_special(character.code)) {
      append_escape(out, character.code);
    } else {
      out += text.substr(0, character.length);
    }
    text.remove_prefix(character.length);
  }
  out += '"';
}

void DocumentWriter::key(std::string_view text) {
  CHECK(!levels_.empty(), "a key outside of an object");
  CHECK(levels_.back().is_object, "a key inside of an array");
  CHECK(!levels_.back().awaits_value, "a key without a value");
  write_key(text);
  ++levels_.back().items;
  levels_.back().awaits_value = true;
}

void DocumentWriter::integer(std::int64_t value) {
  const fmt::format_int text(value);
  scalar({text.data(), text.size()}, false);
}

void DocumentWriter::string_field(std::string_view name, std::string_view value) {
  key(name);
  string(value);
}

void DocumentWriter::integer_field(std::string_view name, std::int64_t value) {
  key(name);
  integer(value);
}

void DocumentWriter::strings_field(std::string_view name, std::span<const std::string> values) {
  key(name);
  begin_array();
  for (const std::string& value : values) string(value);
  end_array();
}

void DocumentWriter::boolean_field(std::string_view name, bool value) {
  key(name);
  boolean(value);
}

void DocumentWriter::begin(bool is_object) {
  expect_value();
  write_begin(is_object);
  count_value();
  levels_.push_back({.is_object = is_object});
}

void DocumentWriter::end(bool is_object) {
  CHECK(!levels_.empty(), "an end without its begin");
  CHECK(levels_.back().is_object == is_object, "an end without its begin");
  CHECK(!levels_.back().awaits_value, "a key without a value");
  write_end();
  levels_.pop_back();
}

void DocumentWriter::scalar(std::string_view text, bool is_string) {
  expect_value();
  write_scalar(text, is_string);
  count_value();
}

void DocumentWriter::expect_value() {
  if (levels_.empty() || !levels_.back().is_object) return;
  CHECK(levels_.back().awaits_value, "a value without a key");
}

void DocumentWriter::count_value() {
  if (levels_.empty()) return;
  if (!levels_.back().is_object) ++levels_.back().items;
  levels_.back().awaits_value = false;
}

}  // namespace makeway

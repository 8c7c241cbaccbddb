#include "codec/writer.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <iterator>

#include "base/check.hpp"
#include "base/printable.hpp"

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

enum class Notation : std::uint8_t { json, yaml };

void append_escape(std::string& out, std::uint32_t code, Notation notation) {
  switch (code) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    default: break;
  }
  if (code <= 0xFFFF) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
  } else if (notation == Notation::yaml) {
    fmt::format_to(std::back_inserter(out), "\\U{:08x}", code);
  } else {
    const std::uint32_t beyond = code - 0x10000;
    fmt::format_to(std::back_inserter(out), "\\u{:04x}\\u{:04x}", 0xD800 + (beyond >> 10U),
                   0xDC00 + (beyond & 0x3FFU));
  }
}

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

void append_quoted(std::string& out, std::string_view text, Notation notation) {
  out += '"';
  while (!text.empty()) {
    const std::size_t run = safe_prefix(text);
    out += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const Character character = first_character(text);
    if (character.length == 0) {
      out += replacement_character;
      text.remove_prefix(1);
      continue;
    }
    const bool quoted = character.code == '"' || character.code == '\\';
    if (quoted || is_unprintable(character.code)) {
      append_escape(out, character.code, notation);
    } else {
      out += text.substr(0, character.length);
    }
    text.remove_prefix(character.length);
  }
  out += '"';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  append_quoted(out, text, Notation::json);
}

void append_yaml_string(std::string& out, std::string_view text) {
  append_quoted(out, text, Notation::yaml);
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

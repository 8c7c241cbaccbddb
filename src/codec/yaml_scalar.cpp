#include "codec/yaml_scalar.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "base/ascii.hpp"

namespace makeway {
namespace {

struct Word {
  std::string_view text;
  ScalarKind kind;
  std::string_view json;
};

constexpr std::array<Word, 32> words = {{
    {"~", ScalarKind::null, "null"},         {"null", ScalarKind::null, "null"},
    {"Null", ScalarKind::null, "null"},      {"NULL", ScalarKind::null, "null"},
    {"true", ScalarKind::boolean, "true"},   {"True", ScalarKind::boolean, "true"},
    {"TRUE", ScalarKind::boolean, "true"},   {"y", ScalarKind::boolean, "true"},
    {"Y", ScalarKind::boolean, "true"},      {"yes", ScalarKind::boolean, "true"},
    {"Yes", ScalarKind::boolean, "true"},    {"YES", ScalarKind::boolean, "true"},
    {"on", ScalarKind::boolean, "true"},     {"On", ScalarKind::boolean, "true"},
    {"ON", ScalarKind::boolean, "true"},     {"false", ScalarKind::boolean, "false"},
    {"False", ScalarKind::boolean, "false"}, {"FALSE", ScalarKind::boolean, "false"},
    {"n", ScalarKind::boolean, "false"},     {"N", ScalarKind::boolean, "false"},
    {"no", ScalarKind::boolean, "false"},    {"No", ScalarKind::boolean, "false"},
    {"NO", ScalarKind::boolean, "false"},    {"off", ScalarKind::boolean, "false"},
    {"Off", ScalarKind::boolean, "false"},   {"OFF", ScalarKind::boolean, "false"},
    {".inf", ScalarKind::not_finite, ""},    {".Inf", ScalarKind::not_finite, ""},
    {".INF", ScalarKind::not_finite, ""},    {".nan", ScalarKind::not_finite, ""},
    {".NaN", ScalarKind::not_finite, ""},    {".NAN", ScalarKind::not_finite, ""},
}};

constexpr std::size_t word_length_max = 5;

std::optional<PlainScalar> resolve_word(std::string_view text) {
  if (text.size() > word_length_max) return std::nullopt;
  for (const Word& word : words) {
    if (word.text == text) {
      return PlainScalar{word.kind, word.json.empty() ? text : word.json};
    }
  }
  return std::nullopt;
}

/// A number cut into its parts; the sign has been taken off already.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  std::int64_t exponent = 0;
};

// More than this in either direction is infinity or zero, whatever the digits say.
constexpr std::int64_t exponent_bound = 1'000'000;

std::optional<std::int64_t> parse_exponent(std::string_view rest) {
  bool negative = false;
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  if (rest.empty() || !std::ranges::all_of(rest, is_digit)) return std::nullopt;
  std::int64_t value = 0;
  for (const char digit : rest) value = std::min(value * 10 + (digit - '0'), exponent_bound);
  return negative ? -value : value;
}

std::optional<Decimal> parse_decimal(std::string_view rest) {
  Decimal decimal;
  decimal.whole = take_digits(rest);
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    decimal.fraction = take_digits(rest);
  }
  if (decimal.whole.empty() && decimal.fraction.empty()) return std::nullopt;
  if (rest.empty()) return decimal;
  if (rest.front() != 'e' && rest.front() != 'E') return std::nullopt;
  const auto exponent = parse_exponent(rest.substr(1));
  if (!exponent) return std::nullopt;
  decimal.exponent = *exponent;
  return decimal;
}

// The numbers a double can hold, in powers of ten: beyond, other readers see text or zero.
constexpr std::int64_t power_max = 308;
constexpr std::int64_t power_min = -307;
// Between these powers a number is written without an exponent.
constexpr std::int64_t power_written_max = 40;
constexpr std::int64_t power_written_min = -6;

/// Writes 0.digits * 10^power; `digits` has no zeros at its ends.
void write_decimal(std::string& digits, std::int64_t power) {
  const auto count = static_cast<std::int64_t>(digits.size());
  if (power > power_written_max || power < power_written_min) {
    if (count > 1) digits.insert(1, ".");
    digits += "e" + std::to_string(power - 1);
  } else if (power >= count) {
    digits.append(static_cast<std::size_t>(power - count), '0');
  } else if (power > 0) {
    digits.insert(static_cast<std::size_t>(power), ".");
  } else {
    digits.insert(0, "0." + std::string(static_cast<std::size_t>(-power), '0'));
  }
}

std::optional<PlainScalar> normalise(const Decimal& decimal, bool negative, std::string& scratch) {
  std::string digits(decimal.whole);
  digits += decimal.fraction;
  const std::size_t leading = std::min(digits.find_first_not_of('0'), digits.size());
  digits.erase(0, leading);
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  const std::int64_t power = static_cast<std::int64_t>(decimal.whole.size()) -
                             static_cast<std::int64_t>(leading) + decimal.exponent;
  if (digits.empty() || power < power_min) return PlainScalar{ScalarKind::integer, "0"};
  if (power > power_max) return std::nullopt;
  const bool whole = power >= static_cast<std::int64_t>(digits.size());
  write_decimal(digits, power);
  scratch = negative ? "-" + digits : digits;
  const bool is_integer = whole && power <= power_written_max;
  return PlainScalar{is_integer ? ScalarKind::integer : ScalarKind::decimal, scratch};
}

int digit_value(char byte) {
  if (is_digit(byte)) return byte - '0';
  if (byte >= 'a' && byte <= 'f') return byte - 'a' + 10;
  if (byte >= 'A' && byte <= 'F') return byte - 'A' + 10;
  return std::numeric_limits<int>::max();
}

/// 0x1F, 0o17, 0b11, 017; nothing when it is no such number or leaves 64 bits.
std::optional<std::uint64_t> parse_based(std::string_view rest) {
  if (rest.size() < 2 || rest.front() != '0') return std::nullopt;
  unsigned base = 8;
  rest.remove_prefix(1);
  switch (rest.front()) {
    case 'x':
    case 'X':
      base = 16;
      rest.remove_prefix(1);
      break;
    case 'o':
    case 'O':
      base = 8;
      rest.remove_prefix(1);
      break;
    case 'b':
    case 'B':
      base = 2;
      rest.remove_prefix(1);
      break;
    default: break;
  }
  if (rest.empty()) return std::nullopt;
  std::uint64_t value = 0;
  for (const char byte : rest) {
    const int digit = digit_value(byte);
    if (digit >= static_cast<int>(base)) return std::nullopt;
    if (__builtin_mul_overflow(value, base, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<std::uint64_t>(digit), &value)) {
      return std::nullopt;
    }
  }
  return value;
}

constexpr std::size_t short_integer_length_max = 18;

bool is_short_integer(std::string_view text) {
  if (text.size() > short_integer_length_max) return false;
  if (text.front() == '0') return text.size() == 1;
  return std::ranges::all_of(text, is_digit);
}

PlainScalar resolve_number(std::string_view text, std::string& scratch) {
  if (is_short_integer(text)) return {ScalarKind::integer, text};
  std::string plain(text);
  if (text.front() != '.') std::erase(plain, '_');
  std::string_view rest = plain;
  const bool negative = rest.front() == '-';
  if (negative || rest.front() == '+') rest.remove_prefix(1);
  if (const auto value = parse_based(rest)) {
    constexpr std::uint64_t negative_max = std::uint64_t{1} << 63U;
    if (!negative || *value <= negative_max) {
      scratch = (negative && *value != 0 ? "-" : "") + std::to_string(*value);
      return {ScalarKind::integer, scratch};
    }
  }
  if (const auto decimal = parse_decimal(rest)) {
    if (const auto number = normalise(*decimal, negative, scratch)) return *number;
  }
  return {ScalarKind::string, text};
}

}  // namespace

PlainScalar resolve_plain(std::string_view text, std::string& scratch) {
  if (text.empty()) return {ScalarKind::null, "null"};
  const char first = text.front();
  if (std::string_view("~nNtTyYoOfF.").contains(first)) {
    if (const auto word = resolve_word(text)) return *word;
  }
  if (is_digit(first) || first == '.') return resolve_number(text, scratch);
  if ((first == '-' || first == '+') && text.size() > 1) {
    const std::string_view unsigned_text = text.substr(1);
    if (unsigned_text == ".inf" || unsigned_text == ".Inf" || unsigned_text == ".INF") {
      return {ScalarKind::not_finite, text};
    }
    return resolve_number(text, scratch);
  }
  return {ScalarKind::string, text};
}

}  // namespace makeway

#include "codec/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "base/ascii.hpp"
#include "base/problem.hpp"

namespace makeway {
namespace {

using Int128 = ExactQuantity::Int128;

constexpr std::int64_t nano_per_one = 1'000'000'000;
constexpr std::int64_t nano_per_milli = 1'000'000;
constexpr Int128 nano_max = Int128{quantity_amount_max} * nano_per_one;

template <class T>
using Parsed = std::expected<T, QuantityRefusal>;

/// A quantity cut into its parts; nothing is computed yet.
struct Parts {
  bool negative = false;
  std::string_view whole;     ///< Digits before the point, without leading zeros.
  std::string_view fraction;  ///< Digits behind the point.
  std::string_view suffix;
};

/// What a suffix multiplies by: 10^exponent * 2^shift.
struct Multiplier {
  std::int64_t exponent = 0;
  unsigned shift = 0;
};

Parsed<Parts> split(std::string_view text) {
  Parts parts;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  parts.whole = take_digits(text);
  bool any_digit = !parts.whole.empty();
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    parts.fraction = take_digits(text);
    any_digit = any_digit || !parts.fraction.empty();
  }
  if (!any_digit) return std::unexpected(QuantityRefusal::malformed);
  while (!parts.whole.empty() && parts.whole.front() == '0') parts.whole.remove_prefix(1);
  parts.suffix = text;
  return parts;
}

// Exponents beyond this are malformed; Kubernetes would silently cut them to 32 bits.
constexpr std::int64_t exponent_max = 2'147'483'647;

Parsed<Multiplier> exponent_of(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text.empty()) return std::unexpected(QuantityRefusal::malformed);
  std::int64_t value = 0;
  for (const char byte : text) {
    if (!is_digit(byte)) return std::unexpected(QuantityRefusal::malformed);
    value = value * 10 + (byte - '0');
    if (value > exponent_max) return std::unexpected(QuantityRefusal::malformed);
  }
  return Multiplier{.exponent = negative ? -value : value};
}

Parsed<Multiplier> multiplier_of(std::string_view suffix) {
  static constexpr std::array<std::pair<std::string_view, Multiplier>, 16> scales = {{
      {"", {}},
      {"m", {.exponent = -3}},
      {"Ki", {.shift = 10}},
      {"Mi", {.shift = 20}},
      {"Gi", {.shift = 30}},
      {"Ti", {.shift = 40}},
      {"Pi", {.shift = 50}},
      {"Ei", {.shift = 60}},
      {"n", {.exponent = -9}},
      {"u", {.exponent = -6}},
      {"k", {.exponent = 3}},
      {"M", {.exponent = 6}},
      {"G", {.exponent = 9}},
      {"T", {.exponent = 12}},
      {"P", {.exponent = 15}},
      {"E", {.exponent = 18}},
  }};
  for (const auto& [name, scale] : scales) {
    if (name == suffix) return scale;
  }
  if (suffix.front() != 'e' && suffix.front() != 'E')
    return std::unexpected(QuantityRefusal::malformed);
  return exponent_of(suffix.substr(1));
}

/// The digits of a number without its point, and where the point stands.
class Digits {
 public:
  Digits(std::string_view whole, std::string_view fraction) : whole_(whole), fraction_(fraction) {
    // Without leading zeros, "many digits before the point" means "too large".
    if (!whole_.empty()) return;
    while (leading_ < fraction_.size() && fraction_[leading_] == '0') ++leading_;
    fraction_.remove_prefix(leading_);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(whole_.size() + fraction_.size()); }

  /// How many digits stand before the point; may be negative or more than there are.
  std::int64_t point() const {
    return static_cast<std::int64_t>(whole_.size()) - static_cast<std::int64_t>(leading_);
  }

  /// Zero where there are no digits.
  int at(std::int64_t position) const {
    if (position < 0 || position >= count()) return 0;
    const auto index = static_cast<std::size_t>(position);
    const char digit = index < whole_.size() ? whole_[index] : fraction_[index - whole_.size()];
    return digit - '0';
  }

 private:
  std::string_view whole_;
  std::string_view fraction_;
  std::size_t leading_ = 0;
};

// Numbers with more whole digits than this are too large under every suffix, and those whose
// first digit stands further behind the point are less than a nano.
constexpr std::int64_t reach = 40;

/// |value| in nano, rounded up.
Parsed<Int128> magnitude_of(const Parts& parts, const Multiplier& scale) {
  const Digits digits(parts.whole, parts.fraction);
  if (digits.count() == 0) return Int128{0};
  const std::int64_t point = digits.point() + scale.exponent;
  if (point > reach) return std::unexpected(QuantityRefusal::too_large);
  if (point < -reach) return Int128{1};

  const Int128 nano_per_unit = Int128{nano_per_one} << scale.shift;
  const Int128 whole_max = nano_max / nano_per_unit;
  Int128 whole = 0;
  for (std::int64_t position = 0; position < point; ++position) {
    whole = whole * 10 + digits.at(position);
    if (whole > whole_max) return std::unexpected(QuantityRefusal::too_large);
  }
  // From the last digit to the first, so that each step divides once and no digit is ever lost:
  // `fraction` stays below nano_per_unit, and a remainder only has to be remembered as such.
  Int128 fraction = 0;
  bool inexact = false;
  for (std::int64_t position = digits.count() - 1; position >= point; --position) {
    const Int128 sum = fraction + digits.at(position) * nano_per_unit;
    inexact = inexact || sum % 10 != 0;
    fraction = sum / 10;
  }
  const Int128 nano = whole * nano_per_unit + fraction + (inexact ? 1 : 0);
  if (nano > nano_max) return std::unexpected(QuantityRefusal::too_large);
  return nano;
}

Parsed<ExactQuantity> parse_slowly(std::string_view text) {
  const Parsed<Parts> parts = split(text);
  if (!parts) return std::unexpected(parts.error());
  const Parsed<Multiplier> scale = multiplier_of(parts->suffix);
  if (!scale) return std::unexpected(scale.error());
  const Parsed<Int128> magnitude = magnitude_of(*parts, *scale);
  if (!magnitude) return std::unexpected(magnitude.error());
  return ExactQuantity::from_nano(parts->negative ? -*magnitude : *magnitude);
}

/// Digits and a frequent suffix: value * 10^-3 when `thousandths`, else value << shift.
struct Simple {
  std::int64_t value = 0;
  unsigned shift = 0;
  bool thousandths = false;
};

constexpr std::size_t simple_digits_max = 15;

std::optional<Simple> parse_simply(std::string_view text) {
  Simple simple;
  std::size_t at = 0;
  while (at < text.size() && is_digit(text[at])) {
    if (at == simple_digits_max) return std::nullopt;
    simple.value = simple.value * 10 + (text[at] - '0');
    ++at;
  }
  if (at == 0) return std::nullopt;
  const std::size_t left = text.size() - at;
  if (left == 0) return simple;
  if (left == 1) {
    simple.thousandths = text[at] == 'm';
    return simple.thousandths ? std::optional(simple) : std::nullopt;
  }
  if (left != 2 || text[at + 1] != 'i') return std::nullopt;
  switch (text[at]) {
    case 'K': simple.shift = 10; return simple;
    case 'M': simple.shift = 20; return simple;
    case 'G': simple.shift = 30; return simple;
    default: return std::nullopt;
  }
}

std::unexpected<Error> refuse(std::string_view text, QuantityRefusal refusal, Scale scale) {
  return input_error(fmt::format("\"{}\" is {}", shorten(text), refusal_text(refusal, scale)));
}

}  // namespace

std::optional<ExactQuantity> checked_add(ExactQuantity a, ExactQuantity b) {
  Int128 sum = 0;
  if (__builtin_add_overflow(a.nano(), b.nano(), &sum)) return std::nullopt;
  return ExactQuantity::from_nano(sum);
}

bool is_representable(ExactQuantity quantity, Scale scale) {
  const Int128 most =
      Int128{quantity_amount_max} * (scale == Scale::milli ? nano_per_milli : nano_per_one);
  return quantity.nano() <= most && quantity.nano() >= -most;
}

std::optional<std::int64_t> rounded_up(ExactQuantity quantity, Scale scale) {
  const std::int64_t nano_per_unit = scale == Scale::milli ? nano_per_milli : nano_per_one;
  Int128 amount = quantity.nano() / nano_per_unit;
  const auto rest = static_cast<std::int64_t>(quantity.nano() % nano_per_unit);
  if (rest > 0) ++amount;
  if (rest < 0) --amount;
  if (amount > quantity_amount_max || amount < -quantity_amount_max) return std::nullopt;
  return static_cast<std::int64_t>(amount);
}

std::string refusal_text(QuantityRefusal refusal, Scale scale) {
  if (refusal == QuantityRefusal::too_large) {
    return fmt::format("too large; the largest amount accepted is {}{}", quantity_amount_max,
                       scale == Scale::milli ? "m" : " (1Ei)");
  }
  return "not a quantity; expected a number and at most one suffix of n u m k M G T P E, Ki Mi Gi "
         "Ti Pi Ei, or an exponent like e3 (500m, 1.5, 2Gi)";
}

std::expected<ExactQuantity, QuantityRefusal> parse_quantity_exact(std::string_view text) {
  if (const auto simple = parse_simply(text)) {
    // At most 10^15 * 2^30 * 10^9: far from the border of 128 bits.
    const Int128 nano = simple->thousandths
                            ? Int128{simple->value} * nano_per_milli
                            : (Int128{simple->value} << simple->shift) * nano_per_one;
    if (nano <= nano_max) return ExactQuantity::from_nano(nano);
  }
  return parse_slowly(text);
}

Result<std::int64_t> parse_quantity(std::string_view text, Scale scale) {
  const Parsed<ExactQuantity> parsed = parse_quantity_exact(text);
  if (!parsed) return refuse(text, parsed.error(), scale);
  const auto amount = rounded_up(*parsed, scale);
  if (!amount) return refuse(text, QuantityRefusal::too_large, scale);
  return *amount;
}

std::string quantity_text(std::int64_t amount, Scale scale) {
  if (scale == Scale::one) return fmt::format("{}", amount);
  if (amount % 1'000 == 0) return fmt::format("{}", amount / 1'000);
  return fmt::format("{}m", amount);
}

std::string human_bytes(std::int64_t bytes) {
  static constexpr std::string_view names = "KMGTPE";
  const bool negative = bytes < 0;
  const std::uint64_t size =
      negative ? ~static_cast<std::uint64_t>(bytes) + 1 : static_cast<std::uint64_t>(bytes);
  const std::string_view sign = negative ? "-" : "";
  if (size < 1'024) return fmt::format("{}{}", sign, size);
  std::size_t power = 1;
  while (power < names.size() && (size >> (10 * (power + 1))) != 0) ++power;
  const std::uint64_t scale = std::uint64_t{1} << (10 * power);
  std::uint64_t tenths = size / scale * 10 + (size % scale * 10 + scale / 2) / scale;
  if (tenths >= 10'240 && power < names.size()) {  // 1023.96Mi reads better as 1Gi.
    tenths = 10;
    ++power;
  }
  std::string text = fmt::format("{}{}", sign, tenths / 10);
  if (tenths % 10 != 0) text += fmt::format(".{}", tenths % 10);
  return text + names[power - 1] + 'i';
}

}  // namespace makeway

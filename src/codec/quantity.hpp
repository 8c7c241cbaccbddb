// Kubernetes quantities ("500m", "1.5Gi", "2e3"), exact to the last digit.
//
// Rules, those of Kubernetes' ParseQuantity and Value/MilliValue:
//  1. sign? digits with at most one point, then n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an
//     exponent e3, E3, e-3. "1E" is exa, "1E3" an exponent. At least one digit: Kubernetes' scanner
//     takes "m" or "+" for zero by accident, here they are refused.
//  2. What is finer than a nano, and what does not divide into the unit asked for, is rounded away
//     from zero: a request for a little gets at least that.
//  3. Above 2^60 of the unit asked for the amount is refused: no machine has it, and sums of a few
//     such amounts would leave int64.
//
// Kubernetes adds exact quantities and rounds the total, so sums are made of ExactQuantity and
// rounded once. Parsing costs O(length), whatever the length; common texts take a short path.
#pragma once

#include <compare>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace makeway {

/// The largest amount of a unit that a quantity may have: 1Ei.
inline constexpr std::int64_t quantity_amount_max = std::int64_t{1} << 60U;

enum class Scale : std::uint8_t {
  one,    ///< Whole units: bytes, pods, devices.
  milli,  ///< Thousandths: cpu.
};

/// An exact amount, in billionths.
class ExactQuantity {
 public:
  // Pedantic warnings know no other way to say it. NOLINTNEXTLINE(modernize-use-using)
  __extension__ typedef __int128 Int128;

  constexpr ExactQuantity() = default;
  static constexpr ExactQuantity from_nano(Int128 nano) {
    ExactQuantity quantity;
    quantity.nano_ = nano;
    return quantity;
  }

  constexpr Int128 nano() const { return nano_; }
  constexpr bool is_negative() const { return nano_ < 0; }
  constexpr bool is_zero() const { return nano_ == 0; }

  friend constexpr auto operator<=>(const ExactQuantity&, const ExactQuantity&) = default;

 private:
  Int128 nano_ = 0;
};

/// Nothing when the sum leaves 128 bits, which takes billions of the largest quantities.
std::optional<ExactQuantity> checked_add(ExactQuantity a, ExactQuantity b);

/// Whether `rounded_up` has an answer, without dividing.
bool is_representable(ExactQuantity quantity, Scale scale);

/// In `scale`, rounded away from zero; nothing beyond quantity_amount_max.
std::optional<std::int64_t> rounded_up(ExactQuantity quantity, Scale scale);

enum class QuantityRefusal : std::uint8_t { malformed, too_large };

/// For people: what is wrong with a text that was refused, as the end of a sentence about it.
std::string refusal_text(QuantityRefusal refusal, Scale scale);

/// Negative amounts are quantities too; a caller that wants none refuses them.
std::expected<ExactQuantity, QuantityRefusal> parse_quantity_exact(std::string_view text);

/// `rounded_up(parse_quantity_exact(text), unit)`, only faster.
Result<std::int64_t> parse_quantity(std::string_view text, Scale scale);

/// The text that parses to this amount again: "1500m" or "2" for milli, plain digits for one.
std::string quantity_text(std::int64_t amount, Scale scale);

/// For people, to one decimal: "512", "1.5Gi".
std::string human_bytes(std::int64_t bytes);

}  // namespace makeway

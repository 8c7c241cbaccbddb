// Amounts of resources as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace makeway::cli {

/// cpu in cores ("1.5", "0.25"), bytes as "1.5Gi", everything else as a number.
std::string amount_text(std::string_view resource, std::int64_t amount);

/// Seconds as hours with one decimal: "1.5"; what is not quite nothing is "under 0.1".
std::string hours_text(std::int64_t seconds);

/// How long something has been pending, in its two largest units: "3d4h", "2h10m", "45s".
std::string pending_text(std::int64_t seconds);

/// The resource's name where room is short: "nvidia.com/gpu" becomes "gpu".
std::string_view short_name(std::string_view resource);

/// part / whole in percent, rounded to nearest and at most 999; 0 when whole is 0.
std::int64_t percent_of(std::int64_t part, std::int64_t whole);

/// part / whole in thousandths: at least 1 when there is anything at all, above 1000 exactly
/// when there is more than fits. What asks for something that is not there is as full as can be.
std::int64_t share_permille(std::int64_t part, std::int64_t whole);

/// A bar of `width` columns; something is never shown as nothing, nor almost full as full.
std::string bar(std::int64_t part, std::int64_t whole, std::size_t width, bool ascii_only);

}  // namespace makeway::cli

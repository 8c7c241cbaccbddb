// Small text helpers of the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.hpp"

namespace makeway::cli {

/// Terminal columns that the text takes, one for each code point.
std::size_t columns_of(std::string_view text);

/// The text broken at blanks into lines of at most `width` columns, each after `indent` blanks.
/// Every paragraph (they are separated by newlines) begins on a new line; blank ones stay. Lines
/// that begin with a blank are kept as they are.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);
/// Text from elsewhere, made printable and wrapped.
std::string paragraph(std::string_view text, std::size_t indent, const Palette& palette);

/// "1 pod", "2 pods", "1,234 pods".
std::string counted(std::uint64_t count, std::string_view noun);
std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural);

/// "12,345"
std::string grouped(std::uint64_t count);

/// Of ASCII letters.
std::string lower_case(std::string_view text);

// "did you mean": the end of a message about an unknown word.

/// "; did you mean snapshot?", or nothing when no name is similar.
std::string did_you_mean(std::span<const std::string_view> names, std::string_view word);

/// The names of all commands.
std::vector<std::string_view> command_names();

// Amounts of resources as people read them.

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

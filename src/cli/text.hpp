// Small text helpers of the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace makeway::cli {

/// Terminal columns that the text takes, one for each code point.
std::size_t columns_of(std::string_view text);

/// The text broken at blanks into lines of at most `width` columns, each after `indent` blanks.
/// Every paragraph (they are separated by newlines) begins on a new line; blank ones stay. Lines
/// that begin with a blank are kept as they are.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width);

/// "1 pod", "2 pods", "1,234 pods".
std::string counted(std::uint64_t count, std::string_view noun);
std::string counted(std::uint64_t count, std::string_view noun, std::string_view plural);

/// "12,345"
std::string grouped(std::uint64_t count);

/// Of ASCII letters.
std::string lower_case(std::string_view text);

}  // namespace makeway::cli

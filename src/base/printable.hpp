// Printable: text from outside, made harmless for terminals and logs.
//
// Names, labels, annotations, file names and arguments are written by others. Raw, they could drive
// the terminal that shows them, forge a line of ours, or look like something else. Everything that
// came from outside goes through `printable` or `shorten` before it is printed; documents (JSON,
// YAML) escape the same characters in their own way (codec/writer.hpp).
//
// Escaped are:
//  1. control characters (C0, DEL and C1): \x1b, \u0085
//  2. what reorders or hides text: marks of direction, zero-width and other invisible characters,
//     tags, U+2028 and U+2029: \u202e, \U000e0041
//  3. bytes that are not UTF-8, and non-characters: \xff, \uffff
// A backslash stays as it is, so making a text printable twice changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace makeway {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  ///< In bytes; 0: not UTF-8.
};

/// The first character of a text that is not empty.
Character first_character(std::string_view text);

/// Whether a terminal must not see it: rules 1 to 3 above.
bool is_unprintable(std::uint32_t code);

std::string printable(std::string_view text);

/// The text cut to `length_max` bytes at a UTF-8 boundary, and printable.
std::string shorten(std::string_view text, std::size_t length_max = 60);

/// Whole lines of ours, as they go to a terminal: `printable`, but line feeds, tabs, our own
/// colours (cli/terminal.hpp) and the mark that erases a line stay. The last gate before a stream:
/// what a command forgot to make printable is caught here.
std::string printable_lines(std::string_view text);
/// Whether `printable_lines` would change nothing. Much cheaper than asking it.
bool has_printable_lines(std::string_view text);

}  // namespace makeway

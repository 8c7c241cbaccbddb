// Problem: one thing that is wrong with the input, told so that a tired operator can mend it.
//
// Law 13: bad input is refused with the object, the field, the value and the remedy. Parsers and
// validators collect Problems instead of stopping at the first one; the edge prints them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace makeway {

enum class Severity : std::uint8_t {
  error,    ///< The input is refused.
  warning,  ///< The input is accepted; it probably does not say what its author meant.
};

/// Where in the input something stands. Empty parts are unknown and are not printed.
struct Origin {
  std::string source;          ///< File name, or "-" for standard input.
  std::uint32_t document = 0;  ///< Counted from 1; 0 when the source was not split into documents.
  std::uint64_t line = 0;      ///< Counted from 1; 0 when unknown.

  friend bool operator==(const Origin&, const Origin&) = default;
};

struct Problem {
  Severity severity = Severity::error;
  Origin origin;
  std::string object;   ///< "Pod default/web-1"; empty when the document has no name yet.
  std::string field;    ///< "spec.containers[0].resources.requests.cpu".
  std::string value;    ///< The offending text, shortened; empty when the field is missing.
  std::string message;  ///< What is wrong, or what was expected.
  std::string remedy;   ///< What to do about it; may be empty when the message says it.

  friend bool operator==(const Problem&, const Problem&) = default;
};

using Problems = std::vector<Problem>;

bool has_errors(const Problems& problems);

/// One line, without a newline:
/// `a.yaml, document 2: Pod default/x: spec.nodeName "": expected ...`.
std::string to_text(const Problem& problem);

/// The text with control bytes escaped: input must not drive the terminal that shows it.
std::string printable(std::string_view text);

/// The text cut to `length_max` bytes at a UTF-8 boundary, with control bytes escaped.
std::string shorten(std::string_view text, std::size_t length_max = 60);

}  // namespace makeway

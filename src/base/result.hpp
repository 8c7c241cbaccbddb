// Result<T>: a value, or the reason there is none.
//
// An error code names the caller's next move, not the place of the failure. Broken invariants do
// not travel here (CHECK), and "cannot be placed" is not an error either: it is part of a plan.
//
//   const Result<std::int64_t> cpu = parse_quantity("250m", Unit::milli);
//   if (!cpu) return std::unexpected(cpu.error());
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace makeway {

enum class ErrorCode : std::uint8_t {
  fix_input,     ///< The input is wrong: show the message to its author; trying again is useless.
  fix_usage,     ///< The command line is wrong: show the message and where the help is.
  retry,         ///< The world failed for now: try again later with the same arguments.
  new_snapshot,  ///< The decision went stale: observe again, decide again.
};

struct Error {
  ErrorCode code = ErrorCode::fix_input;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> input_error(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_input, .message = std::move(message)});
}

/// What the user who sees an error of this code should do, as a short sentence.
std::string_view next_move(ErrorCode code);

}  // namespace makeway

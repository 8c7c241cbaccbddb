// What must never reach a terminal (SPEC law 13, docs/security.md), decided independently of
// base/printable.hpp.
//
//   text += screen_payload;                       // somewhere in an object
//   EXPECT_EQ(screen_complaint(printed), "");     // whatever a command printed
#pragma once

#include <string>
#include <string_view>

namespace makeway {

/// One of each class: a colour and a cleared screen (C0 and C1), the bell, DEL, zero-width, marks
/// of direction, separators, a tag, the byte order mark, and a line that is not ours.
inline constexpr std::string_view screen_payload =
    "\x1b[31m\xC2\x9B"
    "2J\x07\x7F\xE2\x80\x8B\xE2\x80\xAE\xE2\x80\xA8\xE2\x81\xA6\xF3\xA0\x81\x81\xEF\xBB\xBF\r\n"
    "@@forged\n@@forged";
/// What the line that is not ours begins with.
inline constexpr std::string_view screen_forged = "@@forged";

/// Empty: nothing in it drives a terminal, hides or reorders text, or begins a line of its own.
std::string screen_complaint(std::string_view printed);

}  // namespace makeway

// CHECK: programmer errors stop the process, in release builds too.
//
// Rule: a CHECK guards an invariant of ours. Bad input never reaches one; it becomes a `Problem`
// or an `Error`. The message names the place and the broken condition, and an optional text
// says what the reader should know.
#pragma once

#include <string_view>

namespace makeway {

struct CheckSite {
  std::string_view condition;
  std::string_view file;
  int line = 0;
};

/// Prints the broken invariant to standard error and aborts.
[[noreturn]] void check_failed(const CheckSite& site, std::string_view note = {});

}  // namespace makeway

// The only macro of the code base: it must see the text of the condition and its place.
#define CHECK(truth, ...)                                                                        \
  do {                                                                                           \
    if (!(truth)) [[unlikely]] {                                                                 \
      ::makeway::check_failed(                                                                   \
          {.condition = #truth, .file = __FILE__, .line = __LINE__} __VA_OPT__(, ) __VA_ARGS__); \
    }                                                                                            \
  } while (false)

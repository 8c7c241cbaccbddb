// CHECK: programmer errors stop the process, in release builds too, unless they are contained.
//
// Rule: a CHECK guards an invariant of ours. Bad input never reaches one; it becomes a `Problem`
// or an `Error`. The message names the place and the broken condition, and an optional text
// says what the reader should know.
//
// Containment (law 14): while a `CheckContainment` lives, a failed CHECK of its thread throws
// `CheckFailed` instead. Its owner catches that, and discards everything that was being computed:
// after a broken invariant nothing of it can be trusted. Without one the process stops at once, so
// that tests hide no bug.
#pragma once

#include <exception>
#include <string>
#include <string_view>

namespace makeway {

struct CheckSite {
  std::string_view condition;
  std::string_view file;
  int line = 0;
};

/// The only exception of the core layers.
class CheckFailed : public std::exception {
 public:
  explicit CheckFailed(std::string text) : text_(std::move(text)) {}

  /// "src/engine/scratch.cpp:12: CHECK(x) failed: the note"
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class CheckContainment {
 public:
  CheckContainment();
  CheckContainment(const CheckContainment&) = delete;
  CheckContainment& operator=(const CheckContainment&) = delete;
  ~CheckContainment();
};

/// Throws CheckFailed where that is contained; else prints it to standard error and aborts.
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

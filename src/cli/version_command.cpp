#include "cli/version_command.hpp"

#include <fmt/format.h>

namespace makeway::cli {
namespace {

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

/// The CMake presets differ in flags, so the flags are what can be printed.
std::string build() {
#ifdef __OPTIMIZE__
  std::string text = "optimised";
#else
  std::string text = "not optimised";
#endif
#ifdef _GLIBCXX_ASSERTIONS
  text += ", with library assertions";
#endif
#ifdef __SANITIZE_ADDRESS__
  text += ", with the address sanitizer";
#endif
#ifdef __SANITIZE_THREAD__
  text += ", with the thread sanitizer";
#endif
  return text;
}

}  // namespace

std::string version_line() { return "makeway " MAKEWAY_VERSION; }

ExitStatus run_version(const Arguments& /*arguments*/, Terminal& terminal) {
  terminal.out.write(fmt::format("{}\n  compiler  {}, C++23\n  build     {}\n", version_line(),
                                 compiler(), build()));
  return ExitStatus::done;
}

}  // namespace makeway::cli

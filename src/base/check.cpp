#include "base/check.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace makeway {
namespace {

thread_local int contained = 0;  ///< How many CheckContainments this thread is inside of.

}  // namespace

CheckContainment::CheckContainment() { ++contained; }

CheckContainment::~CheckContainment() { --contained; }

void check_failed(const CheckSite& site, std::string_view note) {
  std::string text = fmt::format("{}:{}: CHECK({}) failed{}{}", site.file, site.line,
                                 site.condition, note.empty() ? "" : ": ", note);
  if (contained > 0) throw CheckFailed(std::move(text));
  fmt::print(stderr, "makeway: internal error at {}\n", text);
  std::fputs("This is a bug in makeway, not in your input. Please report it with the input.\n",
             stderr);
  std::abort();
}

}  // namespace makeway

#include "base/check.hpp"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

namespace makeway {

void check_failed(const CheckSite& site, std::string_view note) {
  fmt::print(stderr, "makeway: internal error at {}:{}: CHECK({}) failed{}{}\n", site.file,
             site.line, site.condition, note.empty() ? "" : ": ", note);
  std::fputs("This is a bug in makeway, not in your input. Please report it with the input.\n",
             stderr);
  std::abort();
}

}  // namespace makeway

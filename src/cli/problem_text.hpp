// Problems of the input, printed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/problem.hpp"
#include "cli/palette.hpp"

namespace makeway::cli {

/// One line each: "error: a.yaml: Pod default/x: ...".
std::string problem_lines(const Problems& problems, const Palette& palette);

struct ProblemCounts {
  std::uint64_t errors = 0;
  std::uint64_t warnings = 0;
};
ProblemCounts count_problems(const Problems& problems);

}  // namespace makeway::cli

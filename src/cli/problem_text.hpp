// Problems of the input, printed.
#pragma once

#include <string>
#include <vector>

#include "base/problem.hpp"
#include "cli/palette.hpp"

namespace makeway::cli {

/// Errors first, otherwise in the order in which they were found.
std::vector<const Problem*> errors_first(const Problems& problems);

/// One line each, errors first: "error: a.yaml: Pod default/x: ..."; then how many more there are.
std::string problem_lines(const Problems& problems, const Palette& palette);

}  // namespace makeway::cli

#include "cli/problem_text.hpp"

#include <fmt/format.h>

namespace makeway::cli {

std::string problem_lines(const Problems& problems, const Palette& palette) {
  std::string out;
  for (const Problem& problem : problems) {
    const bool is_error = problem.severity == Severity::error;
    out += fmt::format(
        "{} {}\n",
        is_error ? palette.paint("error:", Tone::bad) : palette.paint("warning:", Tone::warning),
        to_text(problem));
  }
  return out;
}

ProblemCounts count_problems(const Problems& problems) {
  ProblemCounts counts;
  for (const Problem& problem : problems) {
    ++(problem.severity == Severity::error ? counts.errors : counts.warnings);
  }
  return counts;
}

}  // namespace makeway::cli

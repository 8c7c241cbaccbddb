#include "cli/problem_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text.hpp"

namespace makeway::cli {

std::vector<const Problem*> errors_first(const Problems& problems) {
  std::vector<const Problem*> sorted;
  sorted.reserve(problems.size());
  for (const Problem& problem : problems) sorted.push_back(&problem);
  std::ranges::stable_sort(sorted, {}, [](const Problem* problem) { return problem->severity; });
  return sorted;
}

std::string problem_lines(const Problems& problems, const Palette& palette) {
  std::string out;
  for (const Problem* const problem : errors_first(problems)) {
    const bool is_error = problem->severity == Severity::error;
    out += fmt::format(
        "{} {}\n",
        is_error ? palette.paint("error:", Tone::bad) : palette.paint("warning:", Tone::warning),
        to_text(*problem));
  }
  const auto more = [&](Severity severity, std::string_view noun) {
    const std::uint64_t count = problems.left_out(severity);
    if (count > 0) out += fmt::format("... and {}\n", counted(count, noun));
  };
  more(Severity::error, "more error");
  more(Severity::warning, "more warning");
  return out;
}

}  // namespace makeway::cli

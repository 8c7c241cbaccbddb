#include "base/problem.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace makeway {

namespace {

// Longer than any object, field or sentence of an honest input; a guard for memory.
constexpr std::size_t name_kept_max = 1'000;
constexpr std::size_t text_kept_max = 4'000;
// Shown on a screen.
constexpr std::size_t source_shown_max = 400;
constexpr std::size_t name_shown_max = 200;
constexpr std::size_t value_shown_max = 100;
constexpr std::size_t text_shown_max = 1'000;

void cut(std::string& text, std::size_t length_max) {
  if (text.size() > length_max) text = shorten(text, length_max);
}

}  // namespace

void Problems::push_back(Problem problem) {
  Tally& tally = of(problem.severity);
  ++tally.found;
  if (is_full(problem.severity)) return;
  ++tally.kept;
  cut(problem.object, name_kept_max);
  cut(problem.field, name_kept_max);
  cut(problem.value, name_kept_max);
  cut(problem.message, text_kept_max);
  cut(problem.remedy, text_kept_max);
  kept_.push_back(std::move(problem));
}

void Problems::append(Problems more) {
  const std::uint64_t errors = more.left_out(Severity::error);
  const std::uint64_t warnings = more.left_out(Severity::warning);
  for (Problem& problem : more) push_back(std::move(problem));
  errors_.found += errors;
  warnings_.found += warnings;
}

void Problems::make_warnings() {
  const std::uint64_t more = left_out();
  std::vector<Problem> problems = std::move(kept_);
  *this = {};
  for (Problem& problem : problems) {
    problem.severity = Severity::warning;
    push_back(std::move(problem));
  }
  warnings_.found += more;
}

std::string to_text(const Problem& problem) {
  std::string text;
  if (!problem.origin.source.empty()) text += shorten(problem.origin.source, source_shown_max);
  if (problem.origin.document != 0) text += fmt::format(", document {}", problem.origin.document);
  if (problem.origin.line != 0) text += fmt::format(" (line {})", problem.origin.line);
  if (!text.empty()) text += ": ";
  if (!problem.object.empty()) text += shorten(problem.object, name_shown_max) + ": ";
  if (!problem.field.empty()) text += shorten(problem.field, name_shown_max);
  if (!problem.value.empty()) {
    text += fmt::format("{}\"{}\"", problem.field.empty() ? "" : " ",
                        shorten(problem.value, value_shown_max));
  }
  if (!problem.field.empty() || !problem.value.empty()) text += ": ";
  text += shorten(problem.message, text_shown_max);
  if (!problem.remedy.empty()) text += "; " + shorten(problem.remedy, text_shown_max);
  return text;
}

}  // namespace makeway

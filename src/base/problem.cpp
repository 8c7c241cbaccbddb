#include "base/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
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

/// What stands for names and numbers: a run of digits, something quoted, "namespace/name".
void append_masked(std::string_view text, std::string& out) {
  constexpr std::size_t read_max = 400;
  text = text.substr(0, read_max);
  const auto is_digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  std::size_t word = out.size();  // Where the word began.
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte == '"' || byte == '\'') {
      at = std::min(text.find(byte, at + 1), text.size());
      out += '*';
    } else if (is_digit(byte)) {
      if (out.empty() || out.back() != '#') out += '#';
    } else if (byte == '/') {
      out.resize(word);
      out += '*';
      while (at + 1 < text.size() && text[at + 1] != ' ') ++at;
    } else {
      out += byte;
      if (byte == ' ') word = out.size();
    }
  }
}

void cut(std::string& text, std::size_t length_max) {
  if (text.size() > length_max) text = shorten(text, length_max);
}

}  // namespace

std::string cause_of(const Problem& problem) {
  std::string cause = problem.severity == Severity::error ? "error " : "warning ";
  append_masked(problem.field, cause);
  cause += ": ";
  append_masked(problem.message, cause);
  return cause;
}

Problems::Tally* Problems::tally_of(const std::string& cause) {
  const auto found = causes_.find(cause);
  if (found != causes_.end()) return &found->second;
  return causes_.size() < causes_max ? &causes_[cause] : nullptr;
}

void Problems::forget(const std::string& cause) {
  const auto found = causes_.find(cause);
  if (found == causes_.end()) return;
  --found->second.found;
  --found->second.kept;
}

std::uint64_t Problems::count_of_cause(const std::string& cause) const {
  const auto found = causes_.find(cause);
  return found == causes_.end() ? 0 : found->second.found;
}

void Problems::push_back(Problem problem) {
  Tally& tally = of(problem.severity);
  Tally* const alike = tally_of(cause_of(problem));
  ++tally.found;
  if (alike != nullptr) ++alike->found;
  const bool is_rare = alike != nullptr && alike->kept < cause_kept_max;
  if (is_full(problem.severity) && !is_rare) return;
  ++tally.kept;
  if (alike != nullptr) ++alike->kept;
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
  for (const auto& [cause, theirs] : more.causes_) {
    Tally* const ours = tally_of(cause);
    if (ours != nullptr) ours->found += theirs.found - theirs.kept;
  }
}

void Problems::drop_errors() {
  std::erase_if(kept_, [](const Problem& each) { return each.severity == Severity::error; });
  std::erase_if(causes_, [](const auto& each) { return each.first.starts_with("error "); });
  errors_ = {};
}

void Problems::make_warnings() {
  const std::uint64_t more = left_out();
  std::vector<Problem> problems = std::move(kept_);
  const std::map<std::string, Tally> causes = std::move(causes_);
  *this = {};
  for (Problem& problem : problems) {
    const auto before = causes.find(cause_of(problem));
    problem.severity = Severity::warning;
    const std::string cause = cause_of(problem);
    push_back(std::move(problem));
    // Those that were not kept are counted with the first that was.
    Tally* const alike = tally_of(cause);
    if (before == causes.end() || alike == nullptr || alike->kept != 1) continue;
    alike->found += before->second.found - before->second.kept;
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

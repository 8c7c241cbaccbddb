#include "tidy/lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace makeway::tidy {
namespace {

bool has_limited_lines(std::string_view path) {
  return is_cpp(path) || path.ends_with(".cmake") || path.ends_with("CMakeLists.txt") ||
         path.ends_with(".sh") || path.ends_with(".awk") || path.ends_with("Makefile") ||
         path == ".ci/run";
}

/// Code points, not bytes: a byte that continues a UTF-8 character takes no column.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(
      line, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

bool is_space(char byte) { return std::isspace(static_cast<unsigned char>(byte)) != 0; }

bool contains_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_identifier_character(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !is_identifier_character(text[end]))) return true;
  }
  return false;
}

/// The text without what stands in parentheses: default arguments assign nothing here.
std::string outside_parentheses(std::string_view head) {
  std::string result;
  int depth = 0;
  for (const char byte : head) {
    if (byte == '(') ++depth;
    if (depth == 0) result += byte;
    if (byte == ')' && depth > 0) --depth;
  }
  return result;
}

enum class Scope : std::uint8_t { open, function, other };

/// What a brace opens, judged by the text since the last statement.
Scope scope_of(std::string_view head) {
  const std::string outside = outside_parentheses(head);
  if (contains_word(outside, "namespace")) return Scope::open;
  const bool callable = head.contains('(');
  constexpr std::array openers = {std::string_view("class"), std::string_view("struct"),
                                  std::string_view("union"), std::string_view("enum"),
                                  std::string_view("extern")};
  const bool opens = std::ranges::any_of(
      openers, [&](std::string_view opener) { return contains_word(outside, opener); });
  if (!callable) return opens ? Scope::open : Scope::other;
  const bool assigns =
      outside.contains('=') && !outside.contains("operator") && !contains_word(outside, "template");
  const bool lambda = outside.contains(']');
  return assigns && !lambda ? Scope::other : Scope::function;
}

/// Follows braces through `code_only` text.
class FunctionFinder {
 public:
  explicit FunctionFinder(std::string_view code) : code_(code) {}

  std::vector<FunctionExtent> run() {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      const char byte = code_[at_];
      if (byte == '(') ++parentheses_;
      if (byte == ')' && parentheses_ > 0) --parentheses_;
      if (byte == '{') open();
      if (byte == '}') close();
      if (byte == ';' && parentheses_ == 0 && looking()) head_begin_ = at_ + 1;
    }
    return std::move(found_);
  }

 private:
  /// True while nothing but namespaces and classes is open.
  bool looking() const { return scopes_.empty() || scopes_.back() == Scope::open; }

  void open() {
    if (!looking() || parentheses_ > 0) {  // In parentheses: an argument, not a body.
      scopes_.push_back(Scope::other);
      return;
    }
    skip_label();
    const std::string_view head = code_.substr(head_begin_, at_ - head_begin_);
    scopes_.push_back(scope_of(head));
    if (scopes_.back() == Scope::function) function_begin_ = head_begin_;
    if (scopes_.back() == Scope::open) head_begin_ = at_ + 1;
  }

  void close() {
    if (scopes_.empty()) return;
    const Scope closed = scopes_.back();
    scopes_.pop_back();
    if (!looking() || parentheses_ > 0) return;
    // `a_{1}` in an initialiser list, or `= {...}`: the statement goes on behind the brace.
    const std::size_t next = code_.find_first_not_of(" \t\n", at_ + 1);
    const bool goes_on =
        next != std::string_view::npos && (code_[next] == ',' || code_[next] == '{');
    if (closed != Scope::open && goes_on) return;
    if (closed == Scope::function) remember();
    head_begin_ = at_ + 1;
  }

  /// Moves the head behind blanks and `public:`.
  void skip_label() {
    constexpr std::array labels = {std::string_view("public:"), std::string_view("private:"),
                                   std::string_view("protected:")};
    bool moved = true;
    while (moved) {
      moved = false;
      while (head_begin_ < at_ && is_space(code_[head_begin_])) ++head_begin_;
      for (const std::string_view label : labels) {
        if (!code_.substr(head_begin_).starts_with(label)) continue;
        head_begin_ += label.size();
        moved = true;
      }
    }
  }

  void remember() {
    std::string head(
        code_.substr(function_begin_, code_.find('{', function_begin_) - function_begin_));
    std::ranges::replace(head, '\n', ' ');
    while (!head.empty() && is_space(head.back())) head.pop_back();
    found_.push_back({.head = std::move(head),
                      .first_line = line_at(code_, function_begin_),
                      .last_line = line_at(code_, at_)});
  }

  std::string_view code_;
  std::size_t at_ = 0;
  std::size_t head_begin_ = 0;
  std::size_t function_begin_ = 0;
  int parentheses_ = 0;
  std::vector<Scope> scopes_;
  std::vector<FunctionExtent> found_;
};

}  // namespace

Findings check_lines(const SourceFile& file) {
  Findings findings;
  if (!has_limited_lines(file.path)) return findings;
  const auto report = [&](std::size_t line, std::string message) {
    findings.push_back({.path = file.path, .line = line, .message = std::move(message)});
  };
  const bool tabs_allowed = file.path.ends_with("Makefile");
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    if (columns(line) > line_columns_max) {
      report(number, fmt::format("{} columns; the limit is {}", columns(line), line_columns_max));
    }
    if (line.contains('\t') && !tabs_allowed) report(number, "a tab; use blanks");
    if (!line.empty() && is_space(line.back())) report(number, "a blank at the end of the line");
  }
  if (number > file_lines_max) {
    report(0, fmt::format("{} lines; the limit is {}: split it", number, file_lines_max));
  }
  return findings;
}

std::vector<FunctionExtent> functions_of(std::string_view cpp) {
  const std::string code = code_only(cpp);
  return FunctionFinder(code).run();
}

Findings check_functions(const SourceFile& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  for (const FunctionExtent& function : functions_of(file.text)) {
    const std::size_t lines = function.last_line - function.first_line + 1;
    if (lines <= function_lines_max) continue;
    findings.push_back({.path = file.path,
                        .line = function.first_line,
                        .message = fmt::format("{} lines in '{}'; the limit is {}", lines,
                                               function.head, function_lines_max)});
  }
  return findings;
}

}  // namespace makeway::tidy

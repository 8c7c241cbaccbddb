#include "tidy/tokens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

namespace makeway::tidy {
namespace {

enum class Where : std::uint8_t { core, policies, source, everywhere };

struct Token {
  std::string_view text;
  Where where = Where::core;
  std::string_view instead;
};

constexpr std::string_view use_clock = "time is an argument (base/time.hpp)";
constexpr std::string_view use_prng = "a seeded Prng (base/prng.hpp)";
constexpr std::string_view use_value = "return a value; the edges print";
constexpr std::string_view use_one_thread = "core layers are single-threaded";
constexpr std::string_view use_integers = "int64_t in named units";
constexpr std::string_view use_reason = "a Reason (model/reason.hpp), which plan_writer.cpp writes";

constexpr std::array tokens = {
    Token{"system_clock", Where::core, use_clock},
    Token{"steady_clock", Where::core, use_clock},
    Token{"high_resolution_clock", Where::core, use_clock},
    Token{"clock_gettime", Where::core, use_clock},
    Token{"gettimeofday", Where::core, use_clock},
    Token{"localtime", Where::core, use_clock},
    Token{"std::time", Where::core, use_clock},
    Token{"rand(", Where::source, use_prng},
    Token{"srand", Where::source, use_prng},
    Token{"random_device", Where::source, use_prng},
    Token{"mt19937", Where::source, use_prng},
    Token{"mt19937_64", Where::source, use_prng},
    Token{"default_random_engine", Where::source, use_prng},
    Token{"uniform_int_distribution", Where::source, "Prng::below or between"},
    Token{"std::shuffle", Where::source, "Prng::shuffle: the same on every machine"},
    Token{"std::cout", Where::core, use_value},
    Token{"std::cerr", Where::core, use_value},
    Token{"std::clog", Where::core, use_value},
    Token{"printf", Where::core, use_value},
    Token{"fprintf", Where::core, use_value},
    Token{"puts", Where::core, use_value},
    Token{"fputs", Where::core, use_value},
    Token{"fmt::print", Where::core, use_value},
    Token{"getenv", Where::core, "configuration is an argument"},
    Token{"std::thread", Where::core, use_one_thread},
    Token{"std::jthread", Where::core, use_one_thread},
    Token{"std::async", Where::core, use_one_thread},
    Token{"std::mutex", Where::core, use_one_thread},
    Token{"thread_local", Where::core, use_one_thread},
    Token{"float", Where::core, use_integers},
    Token{"double", Where::core, use_integers},
    Token{"fmt::format", Where::policies, use_reason},
    Token{"fmt::join", Where::policies, use_reason},
    Token{"std::exit", Where::core, "a Result; only main ends the process"},
    Token{"std::abort", Where::core, "CHECK"},
    Token{"assert(", Where::source, "CHECK"},
    Token{"using namespace", Where::everywhere, "the full name, or a using-declaration"},
    Token{"shared_ptr", Where::source, "a value or unique_ptr; else an exception with a sentence"},
};

bool is_core(std::string_view path) {
  constexpr std::array core = {std::string_view("base"), std::string_view("model"),
                               std::string_view("codec"), std::string_view("engine"),
                               std::string_view("policies")};
  return std::ranges::find(core, layer_of(path)) != core.end();
}

/// The one place that makes the sentences of a plan.
constexpr std::string_view plan_writer = "src/policies/shared/plan_writer.cpp";

bool applies(const Token& token, std::string_view path) {
  switch (token.where) {
    case Where::policies:
      return layer_of(path) == "policies" && !is_companion(path) && path != plan_writer;
    case Where::core: return is_core(path) && !is_companion(path);
    case Where::source: return path.starts_with("src/") && !is_companion(path);
    case Where::everywhere: return true;
  }
  return true;
}

/// The whole word: not the middle of a longer name, and no member of something else.
bool stands_alone(std::string_view code, std::size_t at, std::string_view word) {
  const std::size_t end = at + word.size();
  if (is_identifier_character(word.back()) && end < code.size() &&
      is_identifier_character(code[end])) {
    return false;
  }
  if (at == 0) return true;
  const char before = code[at - 1];
  const bool member = before == '.' || (before == '>' && at > 1 && code[at - 2] == '-');
  return !is_identifier_character(before) && !member;
}

void check_macros(const SourceFile& file, Findings& findings) {
  const std::string text = without_comments(file.text);
  std::size_t number = 0;
  for (const std::string_view line : lines_of(text)) {
    ++number;
    if (!line.starts_with("#define ") || line.starts_with("#define CHECK(")) continue;
    findings.push_back({.path = file.path,
                        .line = number,
                        .message = "the only macro is CHECK; write a function or a constant"});
  }
}

}  // namespace

Findings check_tokens(const SourceFile& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  const std::string code = code_only(file.text);
  for (const Token& token : tokens) {
    if (!applies(token, file.path)) continue;
    for (std::size_t at = code.find(token.text); at != std::string::npos;
         at = code.find(token.text, at + 1)) {
      if (!stands_alone(code, at, token.text)) continue;
      findings.push_back(
          {.path = file.path,
           .line = line_at(code, at),
           .message = fmt::format("'{}' here; instead: {}", token.text, token.instead)});
    }
  }
  check_macros(file, findings);
  return findings;
}

Findings check_leftovers(const SourceFile& file) {
  // In pieces, so that this file does not find itself.
  constexpr std::array words = {std::string_view("TO"
                                                 "DO"),
                                std::string_view("FIX"
                                                 "ME"),
                                std::string_view("XX"
                                                 "X")};
  Findings findings;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    for (const std::string_view word : words) {
      const std::size_t at = line.find(word);
      if (at == std::string_view::npos || !stands_alone(line, at, word)) continue;
      const std::string_view rest = line.substr(at + word.size());
      if (rest.starts_with("(#") && rest.size() > 2 && std::isdigit(rest[2]) != 0) continue;
      findings.push_back({.path = file.path,
                          .line = number,
                          .message = fmt::format("{0} without an issue; write {0}(#12)", word)});
    }
  }
  return findings;
}

}  // namespace makeway::tidy

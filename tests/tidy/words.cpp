#include "tidy/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace makeway::tidy {
namespace {

constexpr std::array finished_layers = {
    std::string_view("base"),    std::string_view("cli"),      std::string_view("codec"),
    std::string_view("control"), std::string_view("engine"),   std::string_view("journal"),
    std::string_view("judge"),   std::string_view("kube"),     std::string_view("model"),
    std::string_view("page"),    std::string_view("policies"), std::string_view("server"),
    std::string_view("sim")};

constexpr std::array vague_words = {std::string_view("somebody"), std::string_view("nobody"),
                                    std::string_view("everybody"), std::string_view("anybody"),
                                    std::string_view("whoever")};

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char byte) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  });
  return result;
}

bool has_prose(std::string_view path) { return is_cpp(path) || path.ends_with(".md"); }

}  // namespace

Findings check_words(const SourceFile& file) {
  Findings findings;
  const bool finished =
      std::ranges::find(finished_layers, layer_of(file.path)) != finished_layers.end();
  if (!finished || !has_prose(file.path)) return findings;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    const std::string lower = lower_case(line);
    for (const std::string_view word : vague_words) {
      if (!lower.contains(word)) continue;
      findings.push_back({.path = file.path,
                          .line = number,
                          .message = fmt::format("'{}' here; STYLE rule 25: name the noun (a pod, "
                                                 "an ask, a node, a queue, a caller, a user)",
                                                 word)});
    }
  }
  return findings;
}

}  // namespace makeway::tidy

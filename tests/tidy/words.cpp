#include "tidy/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ranges>
#include <span>
#include <vector>

namespace makeway::tidy {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::array deciding_layers = {std::string_view("engine"), std::string_view("judge"),
                                        std::string_view("policies")};
constexpr std::array other_layers = {std::string_view("base"),    std::string_view("cli"),
                                     std::string_view("codec"),   std::string_view("control"),
                                     std::string_view("journal"), std::string_view("kube"),
                                     std::string_view("model"),   std::string_view("page"),
                                     std::string_view("server"),  std::string_view("sim")};

constexpr std::array vague_words = {std::string_view("somebody"), std::string_view("nobody"),
                                    std::string_view("everybody"), std::string_view("anybody"),
                                    std::string_view("whoever")};
constexpr std::array further_words = {
    std::string_view("whom"),       std::string_view("someone"),    std::string_view("everyone"),
    std::string_view("anyone"),     std::string_view("told"),       std::string_view("haste"),
    std::string_view("gives back"), std::string_view("given back"), std::string_view("wished"),
    std::string_view("no news")};

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char byte) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(byte)));
  });
  return result;
}

bool has_prose(std::string_view path) { return is_cpp(path) || path.ends_with(".md"); }

/// A page of docs itself, not of a folder in it; STYLE.md quotes what it refuses.
bool is_page(std::string_view path) {
  return path == "README.md" || (folder_of(path) == "docs" && path != "docs/STYLE.md");
}

/// tests/tidy names the words.
bool is_test(std::string_view path) {
  return path.starts_with("tests/") && !path.starts_with("tests/tidy/");
}

bool is_in(std::string_view layer, std::span<const std::string_view> layers) {
  return std::ranges::find(layers, layer) != layers.end();
}

/// Which words are checked there.
std::vector<Words> words_for(std::string_view path) {
  const std::string_view layer = layer_of(path);
  if (!has_prose(path)) return {};
  if (is_in(layer, deciding_layers)) return {vague_words};
  const bool all = is_in(layer, other_layers) || is_test(path) || is_page(path);
  return all ? std::vector<Words>{vague_words, further_words} : std::vector<Words>{};
}

}  // namespace

Findings check_words(const SourceFile& file) {
  Findings findings;
  const std::vector<Words> checked = words_for(file.path);
  if (checked.empty()) return findings;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    const std::string lower = lower_case(line);
    for (const std::string_view word : checked | std::views::join) {
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

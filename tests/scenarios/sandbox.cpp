#include "scenarios/sandbox.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/check.hpp"
#include "cli/run.hpp"
#include "scenarios/folded_json.hpp"
#include "support/screen.hpp"

namespace makeway {
namespace {

RunResult run_makeway(const std::vector<std::string>& words) {
  Screen screen;
  const cli::ExitStatus status = cli::run(words, screen.terminal);
  return {
      .out = screen.out.text(), .error = screen.error.text(), .status = static_cast<int>(status)};
}

RunResult same(const std::vector<std::string>& files) {
  if (files.size() == 2 && std::filesystem::exists(files[0]) && std::filesystem::exists(files[1]) &&
      read_text(files[0]) == read_text(files[1])) {
    return {};
  }
  return {.error = "the files differ\n", .status = 1};
}

/// "| show [PATH...]" at the end of a command: what it printed is JSON, which is shown folded.
void show_json(std::span<const std::string> words, RunResult& result) {
  if (words.empty() || words.front() != "show") {
    result.error += "only show may stand behind |\n";
    return;
  }
  const Result<std::string> shown = folded_json(result.out, words.subspan(1));
  if (!shown) result.error += shown.error().message + "\n";
  result.out = shown.value_or("");
}

std::filesystem::path new_folder() {
  std::string pattern = std::filesystem::temp_directory_path() / "makeway-scenario-XXXXXX";
  CHECK(mkdtemp(pattern.data()) != nullptr, "cannot make a temporary folder");
  return pattern;
}

}  // namespace

Sandbox::Sandbox() : before_(std::filesystem::current_path()), folder_(new_folder()) {
  std::filesystem::current_path(folder_);
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  std::filesystem::current_path(before_, ignored);
  std::filesystem::remove_all(folder_, ignored);
}

void Sandbox::write(std::string_view name, std::string_view text) const {
  const std::filesystem::path path = folder_ / name;
  std::filesystem::create_directories(path.parent_path());
  write_text(path, text);
}

RunResult Sandbox::run(std::string_view line) const {
  std::vector<std::string> words = split_words(line);
  if (words.empty()) return {.error = "no command\n", .status = 127};
  const std::string program = words.front();
  words.erase(words.begin());
  if (program == "same") return same(words);
  if (program != "makeway") return {.error = "unknown program " + program + "\n", .status = 127};
  std::string target;
  if (words.size() >= 2 && words[words.size() - 2] == ">") {
    target = words.back();
    words.resize(words.size() - 2);
  }
  const auto bar = std::ranges::find(words, "|");
  const std::vector<std::string> filter(bar == words.end() ? bar : bar + 1, words.end());
  const bool is_filtered = bar != words.end();
  words.erase(bar, words.end());
  RunResult result = run_makeway(words);
  if (is_filtered) show_json(filter, result);
  if (!target.empty()) {
    write(target, result.out);
    result.out.clear();
  }
  return result;
}

std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::vector<std::string> split_words(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  char quote = '\0';
  for (const char byte : line) {
    if (quote != '\0') {
      if (byte == quote) {
        quote = '\0';
      } else {
        words.back() += byte;
      }
    } else if (byte == ' ') {
      inside = false;
    } else {
      if (!inside) words.emplace_back();
      inside = true;
      if (byte == '\'' || byte == '"') {
        quote = byte;
      } else {
        words.back() += byte;
      }
    }
  }
  return words;
}

std::filesystem::path repository_root() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (const char* given = std::getenv("MAKEWAY_SOURCE_DIR")) return given;
  std::filesystem::path folder = std::filesystem::current_path();
  while (!exists(folder / "CMakePresets.json") && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

bool rewriting() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* const given = std::getenv("MAKEWAY_REWRITE");
  return given != nullptr && std::string_view(given) == "1";
}

std::vector<std::string> lines_in(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace makeway

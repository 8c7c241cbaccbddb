#include "tidy/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "tidy/layering.hpp"

namespace makeway::tidy {
namespace {

bool is_program(const SourceFile& file) {
  return is_cpp(file.path) && file.path.starts_with("src/") && !is_companion(file.path);
}

/// "src/codec/yaml" for yaml.hpp, yaml.cpp, yaml_test.cpp and yaml_fuzz.cpp.
std::string_view unit_of(std::string_view path) {
  for (const std::string_view ending : {"_test.cpp", "_fuzz.cpp", "_benchmark.cpp"}) {
    if (path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  }
  return path.substr(0, path.rfind('.'));
}

std::size_t slashes(std::string_view path) {
  return static_cast<std::size_t>(std::ranges::count(path, '/'));
}

/// The patterns of CMakeLists.txt, cmake/layers.cmake and tests/CMakeLists.txt, in words.
bool is_compiled(std::string_view path) {
  const std::string_view layer = layer_of(path);
  if (!layer.empty()) {
    const std::vector<std::string_view> known = layers();
    const bool is_layer = std::ranges::find(known, layer) != known.end();
    const bool too_deep = path.ends_with("_fuzz.cpp") && slashes(path) > 2;
    return is_layer && !too_deep && !path.ends_with("_benchmark.cpp");
  }
  constexpr std::array folders = {
      std::string_view("tests/support"),    std::string_view("tests/properties"),
      std::string_view("tests/scenarios"),  std::string_view("tests/peers"),
      std::string_view("tests/live"),       std::string_view("tests/peer_cases"),
      std::string_view("tests/mixed_soak"), std::string_view("tests/hostile_documents"),
      std::string_view("tests/tidy"),       std::string_view("tests/compile_fail"),
      std::string_view("tests/replay"),     std::string_view("bench"),
      std::string_view("bench/support"),    std::string_view("tests/short_notation")};
  return std::ranges::find(folders, folder_of(path)) != folders.end();
}

bool has_paragraph(std::string_view markdown) {
  constexpr std::size_t words_min = 8;
  std::size_t words = 0;
  for (const std::string_view line : lines_of(markdown)) {
    if (line.starts_with('#')) continue;
    if (line.find_first_not_of(" \t") == std::string_view::npos) words = 0;
    std::istringstream stream{std::string(line)};
    for (std::string word; stream >> word;) ++words;
    if (words >= words_min) return true;
  }
  return false;
}

Finding whole_file(std::string_view path, std::string message) {
  return {.path = std::string(path), .line = 0, .message = std::move(message)};
}

}  // namespace

Findings check_dead_headers(const Tree& tree) {
  std::set<std::string, std::less<>> used;  // Paths as they stand in an #include.
  for (const SourceFile& file : tree) {
    if (!is_program(file)) continue;
    const std::string text = without_comments(file.text);
    for (const std::string_view line : lines_of(text)) {
      if (!line.starts_with("#include \"")) continue;
      const std::string_view name = line.substr(10, line.find('"', 10) - 10);
      const std::string header = fmt::format("src/{}", name);
      if (unit_of(header) != unit_of(file.path)) used.insert(header);
    }
  }
  Findings findings;
  for (const SourceFile& file : tree) {
    if (!is_program(file) || !file.path.ends_with(".hpp") || used.contains(file.path)) continue;
    findings.push_back(whole_file(file.path, "dead: only its own .cpp and tests include it"));
  }
  return findings;
}

Findings check_dead_sources(const Tree& tree) {
  Findings findings;
  for (const SourceFile& file : tree) {
    if (!file.path.ends_with(".cpp") || is_compiled(file.path)) continue;
    findings.push_back(whole_file(file.path, "dead: no pattern of the build matches it"));
  }
  return findings;
}

Findings check_dead_data(const Tree& tree) {
  std::set<std::string, std::less<>> fuzzers;
  std::set<std::string, std::less<>> corpora;
  std::set<std::string, std::less<>> data_folders;
  std::set<std::string, std::less<>> source_folders;
  std::string readers;
  for (const SourceFile& file : tree) {
    const std::string_view path = file.path;
    if (path.ends_with("_fuzz.cpp")) fuzzers.emplace(stem_of(path));
    if (is_cpp(path) || path.ends_with(".sh") || path == "Makefile") readers += file.text;
    if (is_cpp(path)) source_folders.emplace(folder_of(path));
    if (path.starts_with("tests/corpus/") && slashes(path) >= 3) {
      const std::string_view below = path.substr(13);
      corpora.emplace(below.substr(0, below.find('/')));
    } else if (path.starts_with("tests/") && slashes(path) >= 2) {
      data_folders.emplace(folder_of(path));
    }
  }
  Findings findings;
  for (const std::string& fuzzer : fuzzers) {
    if (corpora.contains(fuzzer)) continue;
    findings.push_back(whole_file("tests/corpus/" + fuzzer, "missing: its fuzzer has no corpus"));
  }
  for (const std::string& corpus : corpora) {
    if (fuzzers.contains(corpus)) continue;
    findings.push_back(whole_file("tests/corpus/" + corpus, "dead: no fuzzer of that name"));
  }
  for (const std::string& folder : data_folders) {
    const std::string_view name = std::string_view(folder).substr(folder.rfind('/') + 1);
    if (source_folders.contains(folder) || readers.contains(name)) continue;
    findings.push_back(whole_file(folder, "dead: no test or tool names this folder"));
  }
  return findings;
}

Findings check_readmes(const Tree& tree) {
  std::set<std::string, std::less<>> wanting;
  for (const SourceFile& file : tree) {
    const std::string_view path = file.path;
    const bool ours =
        path.starts_with("src/") || path.starts_with("tests/") || path.starts_with("bench/");
    if (ours && is_cpp(path)) wanting.emplace(folder_of(path));
  }
  for (const SourceFile& file : tree) {
    if (file.path.ends_with("/README.md") && has_paragraph(file.text)) {
      wanting.erase(std::string(folder_of(file.path)));
    }
  }
  Findings findings;
  for (const std::string& folder : wanting) {
    findings.push_back(whole_file(folder, "needs a README.md with a paragraph"));
  }
  return findings;
}

Findings check_machine_paths(const SourceFile& file) {
  // In pieces, so that this file does not find itself.
  constexpr std::array needles = {std::string_view("/"
                                                   "work/"),
                                  std::string_view("/"
                                                   "root/"),
                                  std::string_view("/"
                                                   "home/")};
  Findings findings;
  std::size_t number = 0;
  for (const std::string_view line : lines_of(file.text)) {
    ++number;
    for (const std::string_view needle : needles) {
      const std::size_t at = line.find(needle);
      if (at == std::string_view::npos) continue;
      // "a/work/b" is a relative path.
      if (at > 0 && (is_identifier_character(line[at - 1]) || line[at - 1] == '.')) continue;
      findings.push_back({.path = file.path,
                          .line = number,
                          .message = "an absolute path of one machine; make it relative"});
    }
  }
  return findings;
}

}  // namespace makeway::tidy

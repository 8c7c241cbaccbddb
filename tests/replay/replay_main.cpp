// Runs a fuzzer's entry point over its stored corpus, without libFuzzer.
//
//   corpus_replay yaml_fuzz tests/corpus/yaml_fuzz
//
// So every input that ever broke something is tried again by `make test`, with any compiler. A
// corpus that is missing or empty is a failure: a replay of nothing proves nothing.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "replay/fuzzers.hpp"

namespace {

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

void replay(const makeway::test::Fuzzer& fuzzer, const std::string& bytes) {
  const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
  static_cast<void>(fuzzer.run(data.data(), data.size()));
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 3) {
    fmt::print(stderr, "usage: corpus_replay FUZZER CORPUS_FOLDER\n");
    return 2;
  }
  const auto fuzzers = makeway::test::all_fuzzers();
  const auto fuzzer = std::ranges::find(fuzzers, arguments[1], &makeway::test::Fuzzer::name);
  if (fuzzer == fuzzers.end()) {
    fmt::print(stderr, "there is no fuzzer {}\n", arguments[1]);
    return 2;
  }
  const std::vector<std::filesystem::path> files = files_below(arguments[2]);
  if (files.empty()) {
    fmt::print(stderr, "no inputs in {}: store at least one\n", arguments[2]);
    return 1;
  }
  replay(*fuzzer, {});
  for (const std::filesystem::path& file : files) {
    fmt::print("{}\n", file.filename().string());
    static_cast<void>(std::fflush(stdout));  // The last name printed is the one that crashed.
    std::ifstream stream(file, std::ios::binary);
    replay(*fuzzer, {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()});
  }
  fmt::print("[  PASSED  ] {} inputs replayed.\n", files.size());
  return 0;
}

// All rules over the whole repository.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tidy/exceptions.hpp"
#include "tidy/files.hpp"
#include "tidy/layering.hpp"
#include "tidy/lengths.hpp"
#include "tidy/seeds.hpp"
#include "tidy/tokens.hpp"
#include "tidy/words.hpp"

namespace makeway::tidy {
namespace {

/// ctest sets it; a program started by hand searches the parent folders.
std::filesystem::path repository_root() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (const char* given = std::getenv("MAKEWAY_SOURCE_DIR")) return given;
  std::filesystem::path folder = std::filesystem::current_path();
  while (!exists(folder / "CMakePresets.json") && folder.has_relative_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

void append(Findings& findings, Findings more) {
  findings.insert(findings.end(), more.begin(), more.end());
}

/// Foreign or recorded text, kept byte by byte.
bool is_data(const SourceFile& file) {
  return file.path.starts_with("tests/corpus/") || file.path == "LICENSE";
}

Findings check_tree(const Tree& tree) {
  Findings findings;
  for (const SourceFile& file : tree) {
    if (is_data(file)) continue;
    append(findings, check_includes(file));
    append(findings, check_tokens(file));
    append(findings, check_leftovers(file));
    append(findings, check_words(file));
    append(findings, check_lines(file));
    append(findings, check_functions(file));
    append(findings, check_machine_paths(file));
  }
  append(findings, check_reach(tree));
  append(findings, check_dead_headers(tree));
  append(findings, check_dead_sources(tree));
  append(findings, check_dead_data(tree));
  append(findings, check_readmes(tree));
  append(findings, check_seeds(tree));
  return findings;
}

TEST(Repository, ObeysEveryRule) {
  const Tree tree = read_tree(repository_root());
  ASSERT_GT(tree.size(), 20U) << "this is not the repository: " << repository_root();
  const Findings findings = apply_exceptions(check_tree(tree), exceptions());
  std::string list;
  for (const Finding& finding : findings) list += to_text(finding) + "\n";
  EXPECT_TRUE(findings.empty()) << findings.size() << " findings:\n" << list;
}

TEST(Repository, LookedAtRealFunctions) {
  // A parser that lost its way would find nothing and be content.
  std::size_t functions = 0;
  for (const SourceFile& file : read_tree(repository_root())) {
    if (is_cpp(file.path)) functions += functions_of(file.text).size();
  }
  EXPECT_GT(functions, 100U);
}

}  // namespace
}  // namespace makeway::tidy

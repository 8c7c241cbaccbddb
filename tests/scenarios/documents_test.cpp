// What the documents show is what the program prints: every "$ makeway" line in a console block.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios/sandbox.hpp"
#include "support/shell.hpp"

namespace makeway {
namespace {

constexpr std::string_view prompt = "$ makeway ";

std::vector<std::filesystem::path> documents() {
  std::vector<std::filesystem::path> paths = {repository_root() / "README.md"};
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(repository_root() / "docs")) {
    if (entry.path().extension() == ".md") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

/// The document with the output of our commands as it is today.
std::string refreshed(const std::string& text, const Sandbox& sandbox) {
  std::string result;
  std::string file_name;  ///< Of the input file whose block we are in.
  std::string file_text;
  bool console = false;
  bool skipping = false;  ///< Inside the output of a command of ours.
  for (const std::string& line : lines_in(text)) {
    const bool fence = line.starts_with("```");
    if (fence && !file_name.empty()) {
      sandbox.write(file_name, file_text);
      file_name.clear();
    } else if (line.starts_with("```yaml ")) {
      file_name = line.substr(8);
      file_text.clear();
    } else if (!file_name.empty()) {
      file_text += line + "\n";
    }
    if (fence || line.starts_with("$ ")) skipping = false;
    if (!skipping) result += line + "\n";
    if (console && line.starts_with(prompt)) {
      const RunResult ran = sandbox.run(std::string_view(line).substr(2));
      result += ran.out + ran.error;
      skipping = true;
    }
    if (fence) console = line == "```console";
  }
  return result;
}

TEST(Documents, ShowWhatTheProgramPrints) {
  for (const std::filesystem::path& path : documents()) {
    if (!exists(path)) continue;
    SCOPED_TRACE(path.filename());
    const std::string text = read_text(path);
    std::string fresh;
    {
      const Sandbox sandbox;
      std::filesystem::create_directory_symlink(repository_root() / "examples",
                                                sandbox.folder() / "examples");
      if (text.contains("tools/night-dump.sh > night.yaml")) {
        const ShellResult made = run_shell(
            fmt::format("'{}' > '{}'", (repository_root() / "tools/night-dump.sh").string(),
                        (sandbox.folder() / "night.yaml").string()));
        ASSERT_EQ(made.status, 0) << made.out;
      }
      fresh = refreshed(text, sandbox);
    }
    if (rewriting()) {
      write_text(path, fresh);
    } else {
      EXPECT_EQ(text, fresh) << "MAKEWAY_REWRITE=1 writes the new output into the document";
    }
  }
}

}  // namespace
}  // namespace makeway

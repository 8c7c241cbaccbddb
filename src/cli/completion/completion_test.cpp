// Completion scripts and the manual page. bash and groff are asked where they are installed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "support/shell.hpp"

namespace makeway::cli {
namespace {

bool installed(const std::string& program) {
  return run_shell(fmt::format("command -v {} > /dev/null 2>&1", program)).status == 0;
}

/// A folder with what the scripts are, and files to offer.
class Shells : public testing::Test {
 protected:
  Shells() {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "cluster.yaml") << "";
    std::ofstream(folder / "with blank.yaml") << "";
    std::ofstream(folder / "makeway.bash") << bash_completion();
    std::ofstream(folder / "makeway.zsh") << zsh_completion();
    std::ofstream(folder / "makeway.fish") << fish_completion();
    std::ofstream(folder / "makeway.1") << man_page();
  }
  ~Shells() override { std::filesystem::remove_all(folder); }

  std::string in_folder(std::string_view command) const {
    return fmt::format("cd '{}' && {}", folder.string(), command);
  }

  /// What bash offers for the last of the words; lines.
  std::string offered(const std::vector<std::string>& words) const {
    std::string list;
    for (const std::string& word : words) list += fmt::format(" '{}'", word);
    std::ofstream(folder / "ask.bash")
        << "source ./makeway.bash\nCOMP_WORDS=(makeway" << list << ")\n"
        << "COMP_CWORD=" << words.size() << "\n_makeway\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    const ShellResult result = run_shell(in_folder("bash ask.bash 2>&1"));
    EXPECT_EQ(result.status, 0) << result.out;
    return result.out;
  }

  std::filesystem::path folder = std::filesystem::temp_directory_path() / "makeway-shells-test";
};

TEST_F(Shells, BashOffersWhatTheTableHas) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  EXPECT_EQ(offered({"pl"}), "plan\n");
  EXPECT_EQ(offered({"config", ""}), "list\nshow\nexplain\n--help\n");
  EXPECT_EQ(offered({"plan", "--ver"}), "--verify\n");
  EXPECT_EQ(offered({"plan", "-o", ""}), "text\njson\nyaml\nhtml\n");
  EXPECT_EQ(offered({"plan", "--output", "=", "y"}), "yaml\n");
  EXPECT_EQ(offered({"plan", "--output", "="}), "text\njson\nyaml\nhtml\n");
  EXPECT_EQ(offered({"plan", "--preset", "kub"}), "kube-1.37\nkube-arbitrator\n");
  EXPECT_EQ(offered({"plan", "--set", "workload.evict"}), "workload.evictFor=\n");
  EXPECT_EQ(offered({"nonsense", "x"}), "\n");
  EXPECT_EQ(offered({"config", "show", "mak"}), "makeway\n");
  EXPECT_EQ(offered({"config", "explain", "workload.evict"}), "workload.evictFor\n");
  EXPECT_EQ(offered({"completion", ""}), "bash\nzsh\nfish\n");
  EXPECT_EQ(offered({"help", "sn"}), "snapshot\n");
}

TEST_F(Shells, BashOffersTheValuesOfAKnob) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  // As bash splits the words: at every =.
  EXPECT_EQ(offered({"plan", "--set", "workload.evictFor", "="}), "each\nminimum\nall\n");
  EXPECT_EQ(offered({"plan", "--set", "workload.evictFor", "=", "a"}), "all\n");
  EXPECT_EQ(offered({"plan", "--set", "=", "workload.evict"}), "workload.evictFor=\n");
  EXPECT_EQ(offered({"plan", "--set", "=", "workload.evictFor", "=", "m"}), "minimum\n");
  EXPECT_EQ(offered({"plan", "--set", "budgets", "=", "s"}), "strict\n");
  EXPECT_EQ(offered({"config", "show", "--set", "workload.scoreKeys", "=", "victims,lost"}),
            "victims,lost-work\n");
  EXPECT_EQ(offered({"plan", "--set", "protection.preemptOtherSchedulers", "="}), "true\nfalse\n");
  // Never flags, whatever the knob takes and whatever the word is.
  EXPECT_EQ(offered({"plan", "--set", "engine.alternativesMax", "="}), "\n");
  EXPECT_EQ(offered({"plan", "--set", "engine.alternativesMax", "=", "-"}), "\n");
  EXPECT_EQ(offered({"plan", "-f", "folder", "=", ""}), "\n");
  // Where = is not among COMP_WORDBREAKS.
  EXPECT_EQ(offered({"plan", "--set", "workload.evictFor=a"}), "workload.evictFor=all\n");
  EXPECT_EQ(offered({"plan", "--set=workload.evictFor=a"}), "--set=workload.evictFor=all\n");
  EXPECT_EQ(offered({"plan", "--output=y"}), "--output=yaml\n");
}

TEST_F(Shells, BashOffersFiles) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  EXPECT_EQ(offered({"plan", "-f", "clus"}), "cluster.yaml\n");
  EXPECT_EQ(offered({"plan", "--batch", "with"}), "with blank.yaml\n");
  EXPECT_EQ(offered({"config", "show", "--config", "clus"}), "cluster.yaml\n");
  // The file of a plane stands behind its name, whether bash splits there or not.
  EXPECT_EQ(offered({"plan", "--plane", "east", "=", "clus"}), "cluster.yaml\n");
  EXPECT_EQ(offered({"check", "--plane", "=", "east", "=", "clus"}), "cluster.yaml\n");
  EXPECT_EQ(offered({"plan", "--plane", "east=clus"}), "east=cluster.yaml\n");
  EXPECT_EQ(offered({"plan", "--plane=east=clus"}), "--plane=east=cluster.yaml\n");
  EXPECT_EQ(offered({"plan", "--plane", "eas"}), "\n");
}

TEST_F(Shells, BashHasEveryFlagOfEveryCommand) {
  if (!installed("bash")) GTEST_SKIP() << "bash is not installed";
  for (const Command& command : commands()) {
    if (command.run == nullptr) continue;
    std::vector<std::string> words;
    const std::size_t blank = command.name.find(' ');
    words.emplace_back(command.name.substr(0, blank));
    if (blank != std::string_view::npos) words.emplace_back(command.name.substr(blank + 1));
    words.emplace_back("--");
    const std::string flags = "\n" + offered(words);
    for (const Flag& flag : command.flags) {
      EXPECT_TRUE(flags.contains(fmt::format("\n--{}\n", flag.name))) << command.name;
    }
    EXPECT_TRUE(flags.contains("\n--help\n")) << command.name;
  }
}

TEST_F(Shells, ReadTheirScripts) {
  for (const char* name : {"zsh", "fish"}) {
    if (!installed(name)) {
      fmt::print("{} is not installed: its script is not read by it\n", name);
      continue;
    }
    const ShellResult result =
        run_shell(in_folder(fmt::format("{} -n makeway.{} 2>&1", name, name)));
    EXPECT_EQ(result.status, 0) << result.out;
  }
}

TEST(Completion, NamesEveryCommandAndFlag) {
  for (const std::string& script : {zsh_completion(), fish_completion()}) {
    for (const Command& command : commands()) {
      const std::string_view last = command.name.substr(command.name.rfind(' ') + 1);
      EXPECT_TRUE(script.contains(last)) << last;
      for (const Flag& flag : command.flags) EXPECT_TRUE(script.contains(flag.name)) << flag.name;
    }
  }
}

TEST_F(Shells, TheManualPageIsGoodRoff) {
  if (!installed("groff")) GTEST_SKIP() << "groff is not installed";
  const ShellResult warnings =
      run_shell(in_folder("groff -man -Tutf8 -ww makeway.1 2>&1 > makeway.text"));
  EXPECT_EQ(warnings.status, 0);
  EXPECT_EQ(warnings.out, "");
}

TEST(ManualPage, HasEveryCommandFlagAndExample) {
  const std::string page = man_page();
  for (const Command& command : commands()) {
    if (command.run == nullptr) continue;
    EXPECT_TRUE(page.contains(fmt::format(".SS makeway {}", command.name))) << command.name;
    for (const Flag& flag : command.flags) {
      std::string name(flag.name);
      for (std::size_t at = 0; (at = name.find('-', at)) != std::string::npos; at += 2) {
        name.insert(at, "\\");
      }
      EXPECT_TRUE(page.contains(fmt::format("\\-\\-{}", name))) << flag.name;
    }
  }
  EXPECT_TRUE(page.starts_with(".TH MAKEWAY 1 "));
  // A line that begins with a dot is a request: only those that we write.
  for (std::size_t at = page.find("\n."); at != std::string::npos; at = page.find("\n.", at + 1)) {
    const std::string_view request = std::string_view(page).substr(at + 1, 3);
    const std::array known = {".SH", ".SS", ".TP", ".PP", ".nf", ".fi"};
    EXPECT_NE(std::ranges::find(known, request), known.end()) << request;
  }
}

}  // namespace
}  // namespace makeway::cli

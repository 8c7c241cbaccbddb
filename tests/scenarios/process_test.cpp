// The real process, for what only a process has: standard input, pipes, a full disk, signals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "scenarios/sandbox.hpp"
#include "support/shell.hpp"
#include "support/vector_file.hpp"

namespace makeway {
namespace {

/// Output and exit status of a bash script in which $makeway is the program.
RunResult shell(const std::string& script) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  const char* const binary = std::getenv("MAKEWAY_BINARY");
  if (binary == nullptr) return {.error = "MAKEWAY_BINARY is not set", .status = -1};
  const std::string command = fmt::format("makeway='{}'; {}", binary, script);
  ShellResult ran = run_shell(fmt::format("bash -c \"{}\"", command));
  return {.out = std::move(ran.out), .error = {}, .status = ran.status};
}

class Process : public testing::Test {
 protected:
  void SetUp() override {
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    if (std::getenv("MAKEWAY_BINARY") == nullptr) GTEST_SKIP() << "run me through ctest";
  }
};

TEST_F(Process, ReadsStandardInput) {
  const RunResult result = shell(
      "printf '%s\\n' 'apiVersion: v1' 'kind: Node' 'metadata: {name: n1}' | "
      "\\$makeway snapshot -f - -o json");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out.contains("\"name\": \"n1\"")) << result.out;
}

TEST_F(Process, PlansABatchOfStandardInput) {
  const RunResult result = shell(
      "printf '%s\\n' 'apiVersion: v1' 'kind: Node' 'metadata: {name: n1}' | "
      "\\$makeway snapshot -f - -o json | tr -d '\\n' | gzip | \\$makeway plan --batch -");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out.starts_with("{\"id\":1,\"apiVersion\":")) << result.out;
}

/// Section 1: worlds in which queues, pinned pods, gangs, sessions and replicas meet. Each of them
/// once ended in a crash, a failed check or an unlawful plan; the file is named after its preset.
TEST_F(Process, PlansWorldsInWhichAllPoliciesMeet) {
  constexpr std::array presets = {"makeway", "kube-1.37", "mcm-v1", "yunikorn"};
  for (const std::string preset : presets) {
    const std::string file =
        fmt::format("{}/tests/vectors/together/{}.jsonl.gz", source_folder(), preset);
    const RunResult result =
        shell(fmt::format("\\$makeway plan --batch '{}' --preset {} 2>&1", file, preset));
    EXPECT_EQ(result.status, 0) << result.out;
    EXPECT_TRUE(result.out.starts_with("{\"id\":")) << result.out;
    EXPECT_FALSE(result.out.contains("\"leftOut\"")) << result.out;
  }
}

TEST_F(Process, LinesStayWholeWhereBothStreamsMeet) {
  // Enough lines for several buffers; the last words go to standard error.
  const RunResult result = shell(
      "for i in {1..400}; do printf '%s\\n' '{}'; done | \\$makeway plan --batch - 2>&1 | "
      "grep -vc '^{.*}\\$'");
  EXPECT_EQ(result.out, "1\n");
}

TEST_F(Process, AClosedPipeIsNoFailure) {
  const RunResult result = shell(
      "set -o pipefail; "
      "for i in 1 2 3 4 5; do \\$makeway config list 2>&1 | head -c 1 > /dev/null || exit 9; done");
  EXPECT_EQ(result.status, 0);
}

TEST_F(Process, AFullDiskIsAFailure) {
  const RunResult result = shell("\\$makeway config list 2>&1 > /dev/full");
  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(result.out.starts_with("makeway: cannot write the output: ")) << result.out;
}

TEST_F(Process, ExitStatusReachesTheShell) {
  EXPECT_EQ(shell("\\$makeway version > /dev/null").status, 0);
  EXPECT_EQ(shell("\\$makeway snapshot -f there-is-no-such-file 2> /dev/null").status, 1);
  EXPECT_EQ(shell("\\$makeway snapsot 2> /dev/null").status, 2);
}

TEST_F(Process, PlainTextWithoutATerminal) {
  const RunResult result = shell("\\$makeway snapshot -f no-such-file 2>&1");
  EXPECT_FALSE(result.out.contains('\x1b')) << result.out;
}

}  // namespace
}  // namespace makeway

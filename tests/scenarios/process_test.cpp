// The real process, for what only a process has: standard input, pipes, a full disk, signals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
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

/// Issue 20, point 6: an endless batch ends with its reader, quietly.
TEST_F(Process, ABatchEndsWithItsReader) {
  const RunResult result = shell(
      "set -o pipefail; { yes '{}' 2> /dev/null || true; } | \\$makeway plan --batch - 2>&1 | "
      "head -n 2 | tail -n 1; echo \\${PIPESTATUS[1]}");
  EXPECT_EQ(result.status, 0);
  EXPECT_TRUE(result.out.starts_with("{\"id\":2,\"error\":")) << result.out;
  EXPECT_TRUE(result.out.ends_with("\n0\n")) << result.out;
}

/// Issue 20, point 6: a pipe can be read once, and the batch needs its configuration for every
/// case.
TEST_F(Process, AConfigurationMayBeAPipe) {
  const std::string batch = "<(printf '%s\\n' '{\\\"kind\\\":\\\"List\\\",\\\"items\\\":[]}')";
  const RunResult substituted =
      shell("\\$makeway plan --batch " + batch + " --config <(\\$makeway config show kube-1.37)");
  EXPECT_EQ(substituted.status, 0) << substituted.out;
  EXPECT_TRUE(substituted.out.contains("\"preset\":\"kube-1.37\"")) << substituted.out;
  const RunResult piped =
      shell("\\$makeway config show kube-1.37 | \\$makeway plan --batch " + batch + " --config -");
  EXPECT_EQ(piped.status, 0) << piped.out;
  EXPECT_EQ(piped.out, substituted.out);
}

/// Issue 20, point 4: neither a bug nor bad input.
TEST_F(Process, OutOfMemoryIsReportedAsSuch) {
  const std::string limited = "ulimit -v 400000; ";
  if (shell(limited + "\\$makeway version > /dev/null 2>&1").status != 0) {
    GTEST_SKIP() << "a sanitizer needs more address space";
  }
  const RunResult result =
      shell(limited + "head -c 500000000 /dev/zero | \\$makeway snapshot -f - 2>&1");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "makeway: out of memory; give it more, or split the input\n");
}

/// Issue 20, point 6: what the environment says about the place where the text is read.
TEST_F(Process, HonoursColumns) {
  const RunResult result = shell(
      "COLUMNS=60 \\$makeway config explain workload.evictFor | head -n 4 | awk 'length > 60'; "
      "COLUMNS=60 \\$makeway config explain workload.evictFor | wc -L");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out.find_first_not_of("0123456789\n"), std::string::npos) << result.out;
  EXPECT_LE(std::stoi(result.out), 60);
}

TEST_F(Process, DrawsInAsciiWhereTheLocaleAsksForIt) {
  const std::string snapshot =
      fmt::format("\\$makeway snapshot -f '{}/examples/tour'", source_folder());
  const auto is_ascii = [](char byte) { return static_cast<unsigned char>(byte) < 0x80; };
  for (const std::string locale :
       {"LC_ALL=C", "LC_ALL= LC_CTYPE=POSIX", "LC_ALL= LC_CTYPE= LANG=C"}) {
    const RunResult result = shell(fmt::format("{} {}", locale, snapshot));
    EXPECT_EQ(result.status, 0);
    EXPECT_TRUE(std::ranges::all_of(result.out, is_ascii)) << locale << result.out;
    EXPECT_TRUE(result.out.contains("38%  #########..............."));
  }
  EXPECT_FALSE(std::ranges::all_of(shell("LC_ALL=C.UTF-8 " + snapshot).out, is_ascii));
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

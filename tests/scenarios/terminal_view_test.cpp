// The terminal view on a real terminal: tmux is the window, keys and sizes are its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

#include "scenarios/sandbox.hpp"
#include "support/shell.hpp"
#include "support/temporary_folder.hpp"

namespace makeway {
namespace {

class TerminalView : public testing::Test {
 protected:
  void SetUp() override {
    if (run_shell("command -v tmux").status != 0) {
      GTEST_SKIP()
          << "tmux is not installed, and only it can press keys here; `apt-get install tmux`";
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread starts
    const char* const told = std::getenv("MAKEWAY_BINARY");
    binary = told != nullptr ? told : (repository_root() / "build" / "makeway").string();
    ASSERT_TRUE(std::filesystem::exists(binary)) << binary;
  }
  void TearDown() override { tmux("kill-server"); }

  ShellResult tmux(std::string_view words) const {
    const char* const test = testing::UnitTest::GetInstance()->current_test_info()->name();
    return run_shell(
        fmt::format("TMUX= tmux -L makeway-{}-{} -f /dev/null {} 2>&1", test, getpid(), words));
  }
  /// A shell in which the command runs, so that what comes after it can be seen. Keys that make
  /// signals are for the command only.
  void begin(std::string_view flags) {
    const ShellResult begun =
        tmux(fmt::format("new-session -d -x 80 -y 24 \"env HOME=/nowhere PS1=after: sh -c 'trap "
                         "\\\"\\\" INT QUIT; ulimit -c 0; {} run {}; echo "
                         "status=\\$?; stty -a; exec cat'\"",
                         binary, flags));
    ASSERT_EQ(begun.status, 0) << begun.out;
  }
  void press(std::string_view keys) const {
    const ShellResult pressed = tmux(fmt::format("send-keys {}", keys));
    ASSERT_EQ(pressed.status, 0) << pressed.out;
  }
  std::string window() const { return tmux("capture-pane -p").out; }
  /// The window once it shows that; else what it shows after 20 s.
  std::string await(std::string_view text) const {
    std::string shown;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < deadline) {
      shown = window();
      if (shown.contains(text)) return shown;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return shown;
  }
  /// The terminal is as it was: what is typed is echoed, line by line, and there is a cursor.
  void expect_given_back(std::string_view status) const {
    const std::string shown = await(" iexten ");
    EXPECT_TRUE(shown.contains(fmt::format("status={}", status))) << shown;
    EXPECT_FALSE(shown.contains("-icanon")) << shown;
    EXPECT_FALSE(shown.contains("-echo ")) << shown;
    EXPECT_EQ(tmux("display-message -p '#{cursor_flag} #{alternate_on}'").out, "1 0\n");
  }

  std::string binary;
};

TEST_F(TerminalView, KeysResizeAndEnd) {
  const TemporaryFolder folder;
  const std::string journal = folder.file("view.journal");
  begin("--embedded --journal " + journal);
  const std::string first = await("NODES");
  EXPECT_TRUE(first.contains("embedded cluster, not Kubernetes")) << first;
  EXPECT_TRUE(first.contains("preset makeway | 8 nodes, generated, seed 1")) << first;
  EXPECT_TRUE(first.contains("node-00007")) << first;
  EXPECT_TRUE(first.contains("q quit")) << first;
  press("Space");
  EXPECT_TRUE(await("PAUSED").contains("PAUSED"));
  press("Space +");
  EXPECT_TRUE(await(" x120").contains(" x120"));
  press("p");
  EXPECT_TRUE(await("preset backend-ai |").contains("preset backend-ai |")) << window();
  press("?");
  EXPECT_TRUE(await("end, with a summary").contains("end, with a summary"));
  press("?");
  // No wider than the window, whatever its size; nothing is left of what was there.
  ASSERT_EQ(tmux("resize-window -x 60 -y 20").status, 0);
  EXPECT_TRUE(await("NODES 1-6 of 8").contains("NODES 1-6 of 8")) << window();
  press("Down Down");
  EXPECT_TRUE(await("NODES 3-8 of 8").contains("NODES 3-8 of 8")) << window();
  ASSERT_EQ(tmux("resize-window -x 30 -y 8").status, 0);
  EXPECT_TRUE(await("needs 40x14").contains("needs 40x14")) << window();
  ASSERT_EQ(tmux("resize-window -x 80 -y 24").status, 0);
  EXPECT_TRUE(await("NODES\n").contains("NODES\n")) << window();
  press("q");
  EXPECT_TRUE(await("status=").contains("Summary: ")) << window();
  expect_given_back("0");
  // Both presets are in the journal, each decided again by its own rules.
  const ShellResult replayed = run_shell(fmt::format("{} replay {} 2>&1", binary, journal));
  EXPECT_EQ(replayed.status, 0) << replayed.out;
  const ShellResult listed = run_shell(fmt::format("{} journal list {} 2>&1", binary, journal));
  EXPECT_TRUE(listed.out.contains("makeway, configuration ")) << listed.out;
  EXPECT_TRUE(listed.out.contains("backend-ai, configuration ")) << listed.out;
}

TEST_F(TerminalView, SignalsGiveTheTerminalBack) {
  begin("--embedded");
  ASSERT_TRUE(await("NODES").contains("NODES")) << window();
  press("C-z");  // Does nothing.
  press("C-c");
  EXPECT_TRUE(await("status=").contains("Summary: ")) << window();
  expect_given_back("0");
}

TEST_F(TerminalView, ACrashGivesTheTerminalBack) {
  begin("--embedded");
  ASSERT_TRUE(await("NODES").contains("NODES")) << window();
  press("-H 1c");  // Ctrl-\ is SIGQUIT: as any signal that ends the process.
  expect_given_back("131");
}

TEST_F(TerminalView, NoColour) {
  begin("--embedded --color never");
  ASSERT_TRUE(await("NODES").contains("NODES")) << window();
  EXPECT_FALSE(tmux("capture-pane -p -e").out.contains("\x1b[3"));
  press("q");
  expect_given_back("0");
}

}  // namespace
}  // namespace makeway

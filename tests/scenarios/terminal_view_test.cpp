// The terminal view on a real terminal: tmux is the window, keys and sizes are its own.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

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
    const char* const given = std::getenv("MAKEWAY_BINARY");
    binary = given != nullptr ? given : (repository_root() / "build" / "makeway").string();
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
    const std::string script = folder.file("view.sh");
    std::ofstream(script) << fmt::format(
        "trap '' INT QUIT\nulimit -c 0\n"
        "sh -c 'echo $$ >{0}; exec {1} run {2}'\n"
        "echo status=$?\nstty -a\nexec cat\n",
        folder.file("pid"), binary, flags);
    const ShellResult begun = tmux(
        fmt::format("new-session -d -x 80 -y 24 'env HOME=/nowhere PS1=after: sh {}'", script));
    ASSERT_EQ(begun.status, 0) << begun.out;
  }
  void press(std::string_view keys) const {
    const ShellResult pressed = tmux(fmt::format("send-keys {}", keys));
    ASSERT_EQ(pressed.status, 0) << pressed.out;
  }
  void resize(std::size_t columns, std::size_t rows) const {
    const ShellResult done = tmux(fmt::format("resize-window -x {} -y {}", columns, rows));
    ASSERT_EQ(done.status, 0) << done.out;
  }
  std::string window() const { return tmux("capture-pane -p").out; }
  /// The window once it shows that; else what it shows in the end.
  std::string await(std::string_view text) const {
    std::string shown;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (std::chrono::steady_clock::now() < deadline) {
      shown = window();
      if (shown.contains(text)) return shown;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return shown;
  }
  /// The frame fills the window, from its first line to the keys in its last. It has as many lines
  /// as the window has rows, so one that was wrapped would push the first one out.
  void expect_frame(std::size_t rows) const {
    const auto is_drawn = [&](const std::vector<std::string>& lines) {
      return lines.size() == rows && lines.front().starts_with("embedded cluster") &&
             lines.back().starts_with("space pause");
    };
    std::vector<std::string> lines;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    do {  // Until it has seen the new size: before, tmux shows a part of the frame of the old one.
      lines.clear();
      std::istringstream shown(window());
      for (std::string line; std::getline(shown, line);) lines.push_back(line);
      if (is_drawn(lines)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } while (std::chrono::steady_clock::now() < deadline);
    ASSERT_EQ(lines.size(), rows) << window();
    EXPECT_TRUE(lines.front().starts_with("embedded cluster, not Kubernetes")) << window();
    EXPECT_TRUE(lines.back().starts_with("space pause | + - speed")) << window();
    for (const std::string_view heading : {"NODES", "WAITING, ", "PREEMPTIONS, newest first"}) {
      EXPECT_EQ(std::ranges::count_if(
                    lines, [&](const std::string& line) { return line.starts_with(heading); }),
                1)
          << heading << "\n"
          << window();
    }
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
  TemporaryFolder folder;
};

TEST_F(TerminalView, KeysResizeAndEnd) {
  const std::string journal = folder.file("view.journal");
  begin("--embedded --journal " + journal);
  const std::string first = await("q quit");  // Of the last line: the frame is whole.
  EXPECT_TRUE(first.contains("embedded cluster, not Kubernetes")) << first;
  EXPECT_TRUE(first.contains("preset makeway | 8 nodes, generated, seed 1")) << first;
  EXPECT_TRUE(first.contains("node-00007")) << first;
  EXPECT_TRUE(first.contains("NODES")) << first;
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
  resize(60, 20);
  EXPECT_TRUE(await("NODES 1-6 of 8").contains("NODES 1-6 of 8")) << window();
  press("Down Down");
  EXPECT_TRUE(await("NODES 3-8 of 8").contains("NODES 3-8 of 8")) << window();
  resize(30, 8);
  EXPECT_TRUE(await("needs 40x14").contains("needs 40x14")) << window();
  resize(80, 24);
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

/// The last two are the smallest that is drawn, and one that is not.
TEST_F(TerminalView, NothingWrapsWhateverTheSize) {
  begin("--embedded");
  ASSERT_TRUE(await("NODES").contains("NODES")) << window();
  expect_frame(24);
  for (const auto& [columns, rows] :
       {std::pair<std::size_t, std::size_t>{200, 50}, {80, 24}, {113, 15}, {40, 14}}) {
    resize(columns, rows);
    expect_frame(rows);
  }
  resize(40, 10);
  EXPECT_TRUE(await("needs 40x14").starts_with("needs 40x14; q quits")) << window();
  resize(80, 24);
  expect_frame(24);
  press("q");
  expect_given_back("0");
}

/// Letters that take two columns and unknown sequences are no keys; a name of another user sends
/// nothing to the terminal.
TEST_F(TerminalView, HostileTextAndKeysDoNothing) {
  std::ifstream preset(repository_root() / "src/codec/presets/makeway.yaml");
  std::string rules{std::istreambuf_iterator<char>(preset), {}};
  const std::string_view name = "  name: makeway\n";
  ASSERT_TRUE(rules.contains(name));
  rules.replace(rules.find(name), name.size(), "  name: \"\\u4e2d\\u202e\\e[2J\"\n");
  std::ofstream(folder.file("hostile.yaml")) << rules;
  begin("--embedded --color never --config " + folder.file("hostile.yaml"));
  const std::string first = await("NODES");
  EXPECT_TRUE(first.contains("preset \\u4e2d\\u202e\\x1b[2J | 8 nodes")) << first;
  press("-l '\xe4\xb8\xad\xc3\xa4'");
  press("-H 1b 5b 39 39 7e 1b 5b 32 30 30 7e 01 04 7f");
  press("Space");
  EXPECT_TRUE(await("PAUSED").contains("PAUSED")) << window();
  expect_frame(24);
  press("q");
  expect_given_back("0");
}

TEST_F(TerminalView, ATerminationRestoresTheTerminal) {
  begin("--embedded");
  ASSERT_TRUE(await("NODES").contains("NODES")) << window();
  const ShellResult sent = run_shell(fmt::format("kill -TERM $(cat {})", folder.file("pid")));
  ASSERT_EQ(sent.status, 0) << sent.out;
  EXPECT_TRUE(await("status=").contains("Summary: ")) << window();
  expect_given_back("0");
}

TEST_F(TerminalView, SignalsRestoreTheTerminal) {
  begin("--embedded");
  ASSERT_TRUE(await("NODES").contains("NODES")) << window();
  press("C-z");  // Does nothing.
  press("C-c");
  EXPECT_TRUE(await("status=").contains("Summary: ")) << window();
  expect_given_back("0");
}

TEST_F(TerminalView, ACrashRestoresTheTerminal) {
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

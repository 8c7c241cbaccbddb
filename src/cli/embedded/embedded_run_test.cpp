// The whole run on a clock and a screen of the test's: nothing here waits.
#include "cli/embedded/embedded_run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/plan/plan_maker.hpp"
#include "codec/presets.hpp"
#include "support/screen.hpp"

namespace makeway::cli {
namespace {

/// Draws into memory. Time passes only while the run waits for a key.
class FakeScreen final : public FullScreen {
 public:
  struct Press {
    Time when;
    std::string keys;
    ScreenSize size;  ///< From then on.
  };
  FakeScreen(Time& now, std::vector<Press> script) : now_(now), script_(std::move(script)) {}

  bool enter() override {
    is_entered = true;
    return true;
  }
  void leave() override { is_entered = false; }
  ScreenSize size() const override { return size_; }
  void show(const std::vector<std::string>& lines) override {
    std::string frame;
    for (const std::string& line : lines) frame += line + "\n";
    frames.emplace_back(now_, std::move(frame));
  }
  std::string keys(Duration at_most) override {
    now_ = now_ + at_most;
    std::string typed;
    while (next_ < script_.size() && script_[next_].when <= now_) {
      typed += script_[next_].keys;
      size_ = script_[next_].size;
      ++next_;
    }
    return typed;
  }
  bool wants_end() const override { return false; }

  /// The last frame until then.
  std::string at(Time when) const {
    std::string last;
    for (const auto& [shown, frame] : frames) {
      if (shown <= when) last = frame;
    }
    return last;
  }

  bool is_entered = false;
  std::vector<std::pair<Time, std::string>> frames;

 private:
  Time& now_;
  std::vector<Press> script_;
  ScreenSize size_;
  std::size_t next_ = 0;
};

struct EmbeddedScene {
  makeway::Screen text;
  Time now{1'000'000};
  EmbeddedOptions options{.load = *embedded_load("")};

  ExitStatus run(FullScreen* screen) {
    text.terminal.screen = screen;
    return run_embedded_cluster(
        {.options = options,
         .document = {.name = "makeway", .configuration = *load_preset("makeway")},
         .tools = real_tools(),
         .clock = {.now = [this] { return now; },
                   .sleep = [this](Duration time) { now = now + time; }}},
        text.terminal);
  }
};

/// How long decisions took is the only thing that differs.
std::string without_decide_times(const std::string& text) {
  const std::size_t at = text.find("A decision took");
  return at == std::string::npos ? text : text.substr(0, at);
}

std::size_t count_in(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(EmbeddedRun, PlainLinesEndByThemselves) {
  EmbeddedScene scene;
  const Time before = scene.now;
  EXPECT_EQ(scene.run(nullptr), ExitStatus::done);
  const std::string& out = scene.text.out.text();
  EXPECT_TRUE(
      out.starts_with("Embedded cluster: 8 nodes, generated, seed 1, inside this process; "
                      "no Kubernetes cluster is read or changed.\n"))
      << out;
  // 20 s of ours, at 60 times the speed; a line every five of them, and one at the start.
  EXPECT_GE(scene.now - before, Duration{19'900});
  EXPECT_LE(scene.now - before, Duration{21'000});
  EXPECT_EQ(count_in(out, " in use, "), 4U + 1U) << out;
  EXPECT_TRUE(out.contains("Summary: 20m of the cluster's time under makeway: ")) << out;
  EXPECT_GT(count_in(out, " leaves node-"), 0U) << out;
  EXPECT_TRUE(out.contains(": lower priority (")) << out;
  EXPECT_EQ(scene.text.error.text(), "");
}

TEST(EmbeddedRun, TheSameSeedGivesTheSameLinesWhateverTheMachineDoes) {
  EmbeddedScene first;
  first.options.ends_after = Duration{5'000};
  first.run(nullptr);
  EmbeddedScene second;
  second.options.ends_after = Duration{5'000};
  second.text.terminal.screen = nullptr;
  // A clock that advances by 3 ms at every look.
  const EmbeddedClock slow{.now = [&] { return second.now = second.now + Duration{3}; },
                           .sleep = [&](Duration time) { second.now = second.now + time; }};
  run_embedded_cluster({.options = second.options,
                        .document = {.name = "makeway", .configuration = *load_preset("makeway")},
                        .tools = real_tools(),
                        .clock = slow},
                       second.text.terminal);
  EXPECT_EQ(without_decide_times(first.text.out.text()),
            without_decide_times(second.text.out.text()));
  EmbeddedScene other;
  other.options.ends_after = Duration{5'000};
  other.options.seed = 2;
  other.run(nullptr);
  EXPECT_NE(without_decide_times(first.text.out.text()),
            without_decide_times(other.text.out.text()));
}

TEST(EmbeddedRun, JsonHasALineAnEvent) {
  EmbeddedScene scene;
  scene.options.ends_after = Duration{5'000};
  scene.options.json = true;
  FakeScreen screen(scene.now, {});  // It is not used.
  EXPECT_EQ(scene.run(&screen), ExitStatus::done);
  const std::string& out = scene.text.out.text();
  EXPECT_TRUE(screen.frames.empty());
  EXPECT_TRUE(out.starts_with(R"({"time":"2026-01-01T00:00:00Z","level":"info","event":"start",)"
                              R"("cluster":"embedded",)"))
      << out;
  EXPECT_TRUE(out.contains(R"("event":"figures","resource":"nvidia.com/gpu",)")) << out;
  EXPECT_TRUE(out.contains(R"("event":"summary","passed":"5m",)")) << out;
  // Numbers are numbers.
  EXPECT_TRUE(out.contains(R"("preset":"makeway","speed":60})")) << out;
  for (const std::string_view key :
       {"priority", "inUsePercent", "podsRunning", "podsWaiting", "podsStarted", "preemptions",
        "waitP50Ms", "waitP90Ms", "decideP50Us", "decideP99Us"}) {
    EXPECT_TRUE(out.contains(fmt::format(R"("{}":)", key))) << key << out;
    EXPECT_FALSE(out.contains(fmt::format(R"("{}":")", key))) << key << out;
  }
}

TEST(EmbeddedRun, KeysPauseSpeedUpAndQuit) {
  EmbeddedScene scene;
  const auto at = [&](std::int64_t ms) { return Time{1'000'000 + ms}; };
  FakeScreen screen(scene.now, {{at(1'000), " ", {}},
                                {at(5'000), " ", {}},
                                {at(6'000), "+", {}},
                                {at(7'000), "--", {}},
                                {at(8'000), "?", {}},
                                {at(9'000), "q", {}}});
  EXPECT_EQ(scene.run(&screen), ExitStatus::done);
  EXPECT_FALSE(screen.is_entered);
  ASSERT_FALSE(screen.frames.empty());
  // Four seconds without a change.
  EXPECT_TRUE(screen.at(at(1'200)).contains("PAUSED"));
  EXPECT_EQ(screen.at(at(1'200)), screen.at(at(4'900)));
  EXPECT_TRUE(screen.at(at(5'900)).contains(" x60\n")) << screen.at(at(5'900));
  EXPECT_TRUE(screen.at(at(6'900)).contains(" x120\n")) << screen.at(at(6'900));
  EXPECT_TRUE(screen.at(at(7'900)).contains(" x30\n")) << screen.at(at(7'900));
  EXPECT_TRUE(screen.at(at(8'900)).contains("end, with a summary")) << screen.at(at(8'900));
  EXPECT_LE(scene.now, at(9'200));
  // The summary is what stays when the screen is gone; the lines of plain runs are not printed.
  const std::string& out = scene.text.out.text();
  EXPECT_TRUE(out.contains("Summary: ")) << out;
  EXPECT_EQ(count_in(out, " leaves node-"), 0U) << out;
}

TEST(EmbeddedRun, AnotherPresetGoesOnWithTheSameCluster) {
  EmbeddedScene scene;
  const auto at = [&](std::int64_t ms) { return Time{1'000'000 + ms}; };
  FakeScreen screen(scene.now, {{at(1'000), "p", {}}, {at(3'000), " p", {}}, {at(5'000), "q", {}}});
  EXPECT_EQ(scene.run(&screen), ExitStatus::done);
  const std::vector<std::string_view> presets = preset_names();
  EXPECT_TRUE(screen.at(at(900)).contains("preset makeway |"));
  const std::string second = screen.at(at(2'900));
  EXPECT_TRUE(second.contains(fmt::format("preset {} |", presets.at(1)))) << second;
  EXPECT_TRUE(second.contains("8 nodes")) << second;
  EXPECT_FALSE(second.contains(" 0 % of gpu in use")) << second;
  // Also while the clock stands.
  const std::string third = screen.at(at(4'900));
  EXPECT_TRUE(third.contains(fmt::format("preset {} |", presets.at(2)))) << third;
  EXPECT_TRUE(third.contains("PAUSED")) << third;
}

TEST(EmbeddedRun, FollowsTheSizeOfTheWindowAndScrolls) {
  EmbeddedScene scene;
  scene.options.load = *embedded_load("nodes=40,pods=4000");
  const auto at = [&](std::int64_t ms) { return Time{1'000'000 + ms}; };
  const ScreenSize wide{.columns = 120, .rows = 40};
  const std::string down(3, key_down);
  FakeScreen screen(scene.now, {{at(1'000), "", wide},
                                {at(2'000), down, {}},
                                {at(3'000), std::string(1, key_page_down), {}},
                                {at(4'000), "q", {}}});
  EXPECT_EQ(scene.run(&screen), ExitStatus::done);
  const std::string small = screen.at(at(900));
  EXPECT_EQ(std::ranges::count(small, '\n'), 24);
  EXPECT_TRUE(small.contains("NODES 1-8 of 40")) << small;
  const std::string large = screen.at(at(1'900));
  EXPECT_EQ(std::ranges::count(large, '\n'), 40);
  EXPECT_TRUE(large.contains("NODES 1-16 of 40")) << large;
  EXPECT_TRUE(screen.at(at(2'900)).contains("NODES 4-11 of 40")) << screen.at(at(2'900));
  EXPECT_TRUE(screen.at(at(3'900)).contains("NODES 12-19 of 40")) << screen.at(at(3'900));
}

TEST(EmbeddedRun, ForEndsAScreenToo) {
  EmbeddedScene scene;
  scene.options.ends_after = Duration{2'000};
  FakeScreen screen(scene.now, {});
  EXPECT_EQ(scene.run(&screen), ExitStatus::done);
  EXPECT_LE(scene.now, Time{1'002'200});
  EXPECT_FALSE(screen.is_entered);
}

}  // namespace
}  // namespace makeway::cli

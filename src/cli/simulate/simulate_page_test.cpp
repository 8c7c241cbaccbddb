#include "cli/simulate/simulate_page.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/run.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"
#include "support/screen.hpp"

namespace makeway::cli {
namespace {

/// In a folder of its own.
class SimulatePage : public testing::Test {
 protected:
  SimulatePage() {
    std::string pattern = std::filesystem::temp_directory_path() / "makeway-report-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::filesystem::current_path(folder_);
  }
  ~SimulatePage() override {
    std::filesystem::current_path("/");
    std::filesystem::remove_all(folder_);
  }

  static ExitStatus run(const std::vector<std::string>& words, Screen& screen) {
    return cli::run(words, screen.terminal);
  }
  static void write(const std::string& name, std::string_view text) {
    std::ofstream(name, std::ios::binary) << text;
  }
  static std::string read(const std::string& name) {
    std::ifstream file(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  /// The JSON of a page, as a browser would read it.
  static JsonValue data_of(const std::string& html) {
    const std::string begin = "id=\"data\">";
    const std::size_t from = html.find(begin) + begin.size();
    const auto value = parse_json_value(html.substr(from, html.find("</script>", from) - from));
    EXPECT_TRUE(value.has_value());
    return value ? *value : JsonValue{};
  }
  /// Without its line end.
  static std::string text_of(const JsonValue& value) {
    std::string text;
    JsonWriter writer(text, JsonStyle::compact);
    write_value(value, writer);
    return text.substr(0, text.size() - 1);
  }

 private:
  std::filesystem::path folder_;
};

// low runs from 0 s on the only cpu; high comes at 100 s with a higher priority. low is evicted,
// has lost 100 s of work, and is gone at 130 s, when high starts after 30 s; it runs until
// 190 s. low's new pod is made at 131 s and gets its place at 190 s, after 59 s.
constexpr std::string_view two_jobs =
    R"(kind,name,arrival_s,run_s,priority,cpu_milli,memory_mib,leave_s
node,n1,,,,1000,1024,
job,low,0,600,0,1000,,30
job,high,100,60,100,1000,,30
)";

TEST_F(SimulatePage, ReportsWhatHappened) {
  write("load.csv", two_jobs);
  Screen screen;
  ASSERT_EQ(run({"simulate", "--trace", "csv:load.csv", "--report", "out.html"}, screen),
            ExitStatus::done)
      << screen.error.text();
  const JsonValue data = data_of(read("out.html"));
  const JsonValue* const runs = data.find("runs");
  ASSERT_NE(runs, nullptr);
  ASSERT_EQ(runs->as_array()->size(), 1U);
  const JsonValue& run = runs->as_array()->front();
  EXPECT_EQ(text_of(*run.find("matrix")), R"({"askers":["100"],"victims":["0"],"counts":[[1]]})");
  const JsonValue* const waits = run.find("waits");
  ASSERT_EQ(waits->as_array()->size(), 2U);
  // 30 s: between 10 s and a minute; 0 s: under a second.
  EXPECT_EQ(text_of((*waits->as_array())[0]),
            R"({"priority":"100","runs":[0,0,1,0,0,0,0,0,0,0],"never":0,"p50":"30s","p90":"30s",)"
            R"("p99":"30s","max":"30s"})");
  EXPECT_EQ(text_of((*waits->as_array())[1]),
            R"({"priority":"0","runs":[1,0,0,0,0,0,0,0,0,0],"never":0,"p50":"0s","p90":"0s",)"
            R"("p99":"0s","max":"0s"})");
  const JsonValue& disruptive = run.find("mostDisruptive")->as_array()->front();
  EXPECT_EQ(text_of(*disruptive.find("second")), "100");
  EXPECT_EQ(text_of(*disruptive.find("victims")), "1");
  EXPECT_EQ(text_of(*disruptive.find("podSeconds")), "100");
  const JsonValue* const slowest = run.find("slowest");
  ASSERT_EQ(slowest->as_array()->size(), 2U);
  EXPECT_EQ(text_of(*(*slowest->as_array())[0].find("waited")), "59");
  EXPECT_EQ(text_of(*(*slowest->as_array())[1].find("waited")), "30");
  EXPECT_EQ(text_of(*run.find("nodes")->find("rows")), R"(["n1"])");
  const std::string used = text_of(*run.find("nodes")->find("used"));
  EXPECT_TRUE(used.starts_with("[[1000,1000,1000")) << used;
}

TEST_F(SimulatePage, ChangesNothingElseAndIsTheSameEveryTime) {
  const std::vector<std::string> words = {
      "simulate", "--generate", "nodes=5,pods=200,load=200,gangs=20,queues=3",
      "--preset", "makeway",    "--preset",
      "kube-1.37"};
  Screen without;
  ASSERT_EQ(run(words, without), ExitStatus::done);
  for (const std::string name : {"first.html", "second.html"}) {
    std::vector<std::string> more = words;
    more.insert(more.end(), {"--report", name});
    Screen with;
    ASSERT_EQ(run(more, with), ExitStatus::done);
    EXPECT_EQ(with.out.text(), without.out.text());
  }
  EXPECT_EQ(read("first.html"), read("second.html"));
}

// Loaders refuse names like this; the name of a file is the user's own.
TEST_F(SimulatePage, HostileNamesStayData) {
  const std::string name = "<script>window.hostile=1<!--&.csv";
  write(name, two_jobs);
  Screen screen;
  ASSERT_EQ(run({"simulate", "--trace", "csv:" + name, "--report", "out.html"}, screen),
            ExitStatus::done);
  const std::string html = read("out.html");
  EXPECT_FALSE(html.contains("<script>window.hostile"));
  EXPECT_TRUE(html.contains("csv:\\u003cscript\\u003ewindow.hostile=1\\u003c!--\\u0026.csv"));
}

TEST_F(SimulatePage, SaysBeforeItBeginsThatItCannotBeWritten) {
  write("load.csv", two_jobs);
  Screen screen;
  EXPECT_EQ(run({"simulate", "--trace", "csv:load.csv", "--report", "missing/out.html"}, screen),
            ExitStatus::failed);
  EXPECT_EQ(screen.out.text(), "");
  EXPECT_EQ(screen.error.text(),
            "error: --report missing/out.html: No such file or directory; give a path that can be "
            "written\n");
}

TEST_F(SimulatePage, WantsAFile) {
  write("load.csv", two_jobs);
  Screen screen;
  EXPECT_EQ(run({"simulate", "--trace", "csv:load.csv", "--report", ""}, screen),
            ExitStatus::usage);
}

TEST(WaitBands, DivideByBoundsAndPutManyPrioritiesTogether) {
  SimMetrics metrics;
  const auto add = [&](std::int32_t priority, std::optional<std::int64_t> waited_ms) {
    RunRecord run{.priority = priority, .arrival = Time{0}};
    if (waited_ms) run.first_start = Time{*waited_ms};
    metrics.runs.push_back(run);
  };
  add(3, 999);
  add(3, 1'000);
  add(3, 604'800'000);
  add(3, std::nullopt);
  std::vector<WaitRow> rows = wait_rows(metrics);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].priority, "3");
  EXPECT_EQ(rows[0].runs[0], 1);
  EXPECT_EQ(rows[0].runs[1], 1);
  EXPECT_EQ(rows[0].runs[9], 1);
  EXPECT_EQ(rows[0].never, 1);
  for (std::int32_t priority = 0; priority < 40; ++priority) add(priority, 0);
  rows = wait_rows(metrics);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].priority, "30 to 39");
  EXPECT_EQ(rows[3].priority, "0 to 9");
}

}  // namespace
}  // namespace makeway::cli

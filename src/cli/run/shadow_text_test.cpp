// What a shadow run prints.
#include <gtest/gtest.h>

#include "cli/run/shadow_run.hpp"

namespace makeway::cli {
namespace {

ShadowResult gang() {
  ShadowResult result;
  result.ask = {.kind = AskKind::pod_group, .namespace_name = "ml", .name = "train"};
  result.priority = 100;
  result.seen = Time{1'767'225'600'000};
  result.outcome = Outcome::preempts;
  result.plan = "0123456789abcdef";
  result.ours.nodes = {"n1", "n1", "n2"};
  for (const char* const name : {"a", "b", "c", "d"}) {
    result.theirs.victims.push_back(
        {.namespace_name = "ml", .name = name, .node = "n3", .priority = 7, .run_seconds = 3'600});
  }
  result.theirs.nodes = {"n3", "n3", "n3"};
  result.wait = Duration{75'000};
  result.verdict = compare(result.ours, result.theirs);
  return result;
}

TEST(ShadowText, TellsBothSides) {
  EXPECT_EQ(shadow_line(gang(), Palette(false)),
            "fewer victims    PodGroup ml/train: theirs: n3 (3 pods), 4 victims (ml/a, ml/b, ml/c, "
            "...; priority up to 7; ran 4h), bound after 1m15s; ours: n1 (2 pods), n2 (1 pod)\n");
  ShadowResult waits = gang();
  waits.theirs = {};
  waits.wait.reset();
  waits.verdict = compare(waits.ours, waits.theirs);
  EXPECT_EQ(
      shadow_line(waits, Palette(false)),
      "only ours        PodGroup ml/train: theirs: no place; ours: n1 (2 pods), n2 (1 pod)\n");
}

TEST(ShadowText, HostileNamesAreEscaped) {
  const std::string override_mark = {'\xe2', '\x80', '\xae'};  // U+202E
  ShadowResult result = gang();
  result.ask.name = "t\x1b[2J\nforged";
  result.theirs.nodes = {"n\x1b[31m"};
  result.theirs.victims[0].name = "v" + override_mark;
  const std::string line = shadow_line(result, Palette(false));
  EXPECT_FALSE(line.contains('\x1b')) << line;
  EXPECT_FALSE(line.contains(override_mark)) << line;
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  const std::string json = shadow_json_line(result);
  EXPECT_FALSE(json.contains('\x1b')) << json;
  EXPECT_FALSE(json.contains(override_mark)) << json;
  EXPECT_EQ(json.find('\n'), json.size() - 1) << json;
}

TEST(ShadowText, TheSummaryCountsWhatWasNotCompared) {
  ShadowSummary summary{.scheduler = "default-scheduler",
                        .preset = "makeway",
                        .ran = Duration{600'000},
                        .open = 2,
                        .totals = {},
                        .statistics = {}};
  summary.totals.add(gang());
  summary.statistics.gone = 3;
  EXPECT_EQ(shadow_summary_text(summary, Palette(false)),
            "\n1 ask of default-scheduler compared in 10m, by makeway.\n"
            "\n"
            "  OURS           ASKS\n"
            "  fewer victims     1\n"
            "\n"
            "  WHERE BOTH FOUND A PLACE  THEIRS  OURS\n"
            "  victims                        4     0\n"
            "  sum of their priorities       28     0\n"
            "  time they had run             4h    0s\n"
            "\n"
            "  NOT COMPARED                 ASKS\n"
            "  still open                      2\n"
            "  gone before they were bound     3\n");
  const std::string json = shadow_summary_json(summary);
  EXPECT_TRUE(json.contains(R"("notCompared":{"open":2,"gone":3,"late":0,)")) << json;
}

}  // namespace
}  // namespace makeway::cli

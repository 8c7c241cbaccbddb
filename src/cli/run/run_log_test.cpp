// Lines of the log of a run.
#include <gtest/gtest.h>

#include "cli/run/decision_log.hpp"

namespace makeway::cli {
namespace {

constexpr Time log_time{1'767'225'600'000};

TEST(RunLog, PairsAndJsonSayTheSame) {
  const std::vector<LogField> fields = {
      {"ask", "Pod shop/web"}, {"node", "n1"}, {"domain", ""}, {"reason", "say \"no\""}};
  EXPECT_EQ(log_line(false, log_time, LogLevel::info, "decided", fields),
            "time=2026-01-01T00:00:00Z level=info event=decided ask=\"Pod shop/web\" node=n1 "
            "reason=\"say \\\"no\\\"\"\n");
  EXPECT_EQ(log_line(true, log_time, LogLevel::warning, "decided", fields),
            "{\"time\":\"2026-01-01T00:00:00Z\",\"level\":\"warning\",\"event\":\"decided\","
            "\"ask\":\"Pod shop/web\",\"node\":\"n1\",\"reason\":\"say \\\"no\\\"\"}\n");
}

TEST(RunLog, NumbersAreNumbers) {
  const std::vector<LogField> fields = {{"pods", 3}, {"left", -1}, {"code", "7"}};
  EXPECT_EQ(log_line(false, log_time, LogLevel::info, "seen", fields),
            "time=2026-01-01T00:00:00Z level=info event=seen pods=3 left=-1 code=7\n");
  EXPECT_EQ(log_line(true, log_time, LogLevel::info, "seen", fields),
            "{\"time\":\"2026-01-01T00:00:00Z\",\"level\":\"info\",\"event\":\"seen\","
            "\"pods\":3,\"left\":-1,\"code\":\"7\"}\n");
}

TEST(RunLog, HostileTextsStayOnTheirLine) {
  for (const bool json : {false, true}) {
    const std::string line =
        log_line(json, log_time, LogLevel::info, "e", {{"name", "a\n\x1b[2Jtime=forged"}});
    EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
    EXPECT_FALSE(line.contains('\x1b')) << line;
  }
}

}  // namespace
}  // namespace makeway::cli

// Planes at the beginning of a run.
#include "cli/run/plane_runs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/live_server.hpp"
#include "support/silent_listener.hpp"

namespace makeway::cli {
namespace {

class HeardSink final : public TextSink {
 public:
  void write(std::string_view text) override { heard += text; }

  std::string heard;
};

std::vector<PlaneParts> one_plane(std::unique_ptr<kube::Connection> connection) {
  std::vector<PlaneParts> parts;
  parts.push_back({.name = "east", .connection = std::move(connection)});
  return parts;
}

/// Before, a run stood still for as long as connecting may take, times the number of such planes.
TEST(PlaneRuns, NoRunWaitsForAPlaneThatDoesNotAnswer) {
  LiveServer live;
  const SilentListener silent;
  kube::KubeTarget target = live.target();
  target.cluster.server = silent.url();
  HeardSink sink;
  RunLog log(sink, false, [] { return Time{}; });
  const auto begun = std::chrono::steady_clock::now();
  PlaneRuns planes(one_plane(live.connect(target)), {}, log);
  EXPECT_TRUE(planes.may_begin(true));
  EXPECT_TRUE(planes.begin());
  planes.log_states();
  planes.end();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
  EXPECT_NE(sink.heard.find("event=plane-not-seen plane=east"), std::string::npos) << sink.heard;
  EXPECT_NE(sink.heard.find("no answer within 3s"), std::string::npos) << sink.heard;
}

/// Before, the time of each plane that began to answer was added to that of the others, and pauses
/// between attempts were waited for.
TEST(PlaneRuns, SlowPlanesAreWaitedForTogetherAndAskedOnce) {
  constexpr int plane_count = 4;
  const Duration whole{3'000};
  std::vector<std::unique_ptr<LiveServer>> servers;
  std::vector<PlaneParts> parts;
  for (int number = 0; number < plane_count; ++number) {
    servers.push_back(std::make_unique<LiveServer>());
    const bool is_overloaded = number == 0;
    servers.back()->server.fail(
        {.kind = is_overloaded ? ServerFault::Kind::status : ServerFault::Kind::drip,
         .path_prefix =
             is_overloaded ? "/" : "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
         .times = 9,
         .status = 503,
         .delay_ms = 20});
    parts.push_back({.name = fmt::format("p{}", number), .connection = servers.back()->connect()});
  }
  HeardSink sink;
  RunLog log(sink, false, [] { return Time{}; });
  PlaneRuns planes(std::move(parts), {}, log, {.heard = Duration{2'500}, .whole = whole});
  const Time begun = kube::monotonic_now();
  EXPECT_TRUE(planes.may_begin(true)) << sink.heard;
  EXPECT_LT(kube::monotonic_now(), begun + Duration{3 * whole.ms}) << "three drip";
  EXPECT_EQ(servers.front()->server.requests().size(), 1U);
  for (int number = 0; number < plane_count; ++number) {
    const std::string expected = fmt::format("event=plane-not-seen plane=p{}", number);
    EXPECT_NE(sink.heard.find(expected), std::string::npos) << sink.heard;
  }
  EXPECT_NE(sink.heard.find("no answer within 3s"), std::string::npos) << sink.heard;
}

TEST(PlaneRuns, WhereARightIsMissingARunDoesNotBegin) {
  LiveServer live;
  HeardSink sink;
  RunLog log(sink, false, [] { return Time{}; });
  PlaneRuns able(one_plane(live.connect()), {}, log);
  EXPECT_TRUE(able.may_begin(true)) << sink.heard;
  live.server.fail({.kind = ServerFault::Kind::status,
                    .path_prefix = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                    .status = 201,
                    .body = R"({"kind":"SelfSubjectAccessReview","status":{"allowed":false}})"});
  PlaneRuns unable(one_plane(live.connect()), {}, log);
  EXPECT_FALSE(unable.may_begin(true));
  EXPECT_NE(sink.heard.find("event=right-missing plane=east"), std::string::npos) << sink.heard;
}

}  // namespace
}  // namespace makeway::cli

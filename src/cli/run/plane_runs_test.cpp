// Planes at the beginning of a run.
#include "cli/run/plane_runs.hpp"

#include <gtest/gtest.h>

#include <chrono>

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
TEST(PlaneRuns, NobodyWaitsForAPlaneThatDoesNotAnswer) {
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
  planes.tell();
  planes.end();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
  EXPECT_NE(sink.heard.find("event=plane-not-seen plane=east"), std::string::npos) << sink.heard;
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

// Several live clusters instead of files, as commands that change nothing read them: `plan`,
// `snapshot` and `simulate` with --kubeconfig and --plane. That a run decides the same is shown in
// tests/live.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "scenarios/sandbox.hpp"
#include "support/fake_plane.hpp"

namespace makeway {
namespace {

/// reco wants a GPU and there is none: web has the three of east, job the one of west. What the
/// schedule of web commits is out of date.
class LivePlanesCommand : public testing::Test {
 protected:
  LivePlanesCommand() {
    home.serve("makeway.dev/v1", "replicaschedules", "ReplicaSchedule");
    home.put(FakePlane::namespace_text());
    put("reco", R"("priority":100,"unmet":1,"planes":[{"name":"east"},{"name":"west","score":5}])");
    put("web", R"("priority":10,"unmet":0,"planes":[{"name":"east","committed":1}])");
    put("job", R"("priority":10,"unmet":0,"planes":[{"name":"west","committed":1}])");
    for (const auto& [name, replicas] : {std::pair("web", 3), std::pair("reco", 0)}) {
      east.deploy(name, replicas);
    }
    for (const auto& [name, replicas] : {std::pair("job", 1), std::pair("reco", 0)}) {
      west.deploy(name, replicas);
    }
    east.step();
    west.step();
    name_server("home", home.url(), "c");
    name_server("east", east.live.server.url(), "e");
    name_server("west", west.live.server.url(), "w");
  }

  void put(std::string_view name, std::string_view spec) {
    home.put(fmt::format(
        R"({{"apiVersion":"makeway.dev/v1","kind":"ReplicaSchedule","metadata":{{"name":"{0}",)"
        R"("namespace":"a","uid":"uid-of-{0}"}},"spec":{{{1},"resources":)"
        R"({{"nvidia.com/gpu":"1"}},"selector":{{"app":"{0}"}}}}}})",
        name, spec));
  }
  void name_server(const std::string& file, const std::string& url, std::string_view context) {
    sandbox.write(file, fmt::format("current-context: {1}\n"
                                    "contexts: [{{name: {1}, context: {{cluster: a, user: u}}}}]\n"
                                    "clusters: [{{name: a, cluster: {{server: '{0}'}}}}]\n"
                                    "users: [{{name: u, user: {{token: t}}}}]\n",
                                    url, context));
  }

  static constexpr std::string_view planes =
      "--kubeconfig home --plane east=east --plane west=west:w --now 2026-11-17T05:00:00Z";
  Sandbox sandbox;
  FakeApiserver home;
  FakePlane east{{"e1", "e2", "e3"}};
  FakePlane west{{"w1"}};
};

TEST_F(LivePlanesCommand, WhatIsCommittedIsWhatTheDeploymentsSay) {
  const RunResult plan = sandbox.run(fmt::format("makeway plan {}", planes));
  ASSERT_EQ(plan.status, 0) << plan.error;
  EXPECT_EQ(plan.error, "");
  EXPECT_TRUE(plan.out.contains("ReplicaSchedule a/reco")) << plan.out;
  EXPECT_TRUE(plan.out.contains("scale-down 3 -> 2")) << plan.out;
  for (const FakePlane* const plane : {&east, &west}) {
    for (const std::string& request : plane->live.server.requests()) {
      EXPECT_TRUE(request.starts_with("GET ")) << request;
    }
  }
}

TEST_F(LivePlanesCommand, ADumpOfAllOfThemIsTheSameCluster) {
  const RunResult dumped = sandbox.run(fmt::format(
      "makeway snapshot --kubeconfig home --plane east=east --plane west=west -o yaml"));
  ASSERT_EQ(dumped.status, 0) << dumped.error;
  sandbox.write("all.yaml", dumped.out);
  const std::string file = "-f all.yaml --now 2026-11-17T05:00:00Z";
  const RunResult plan =
      sandbox.run(fmt::format("makeway plan --explain --trust files {}", planes));
  ASSERT_EQ(plan.status, 0) << plan.error;
  EXPECT_EQ(plan.out, sandbox.run(fmt::format("makeway plan --explain {}", file)).out);
  const RunResult simulated = sandbox.run(fmt::format("makeway simulate {}", planes));
  ASSERT_EQ(simulated.status, 0) << simulated.error;
  EXPECT_EQ(simulated.out, sandbox.run(fmt::format("makeway simulate {}", file)).out);
}

TEST_F(LivePlanesCommand, OneThatCannotBeReadIsReportedAndTheOthersGoOn) {
  west.live.server.forbid("pods");
  put("more", R"("priority":100,"unmet":1,"planes":[{"name":"east"}])");
  east.deploy("more", 0);
  const RunResult plan = sandbox.run(fmt::format("makeway plan {}", planes));
  EXPECT_EQ(plan.status, 0) << plan.error;
  EXPECT_TRUE(plan.error.contains("plane west was not seen: ")) << plan.error;
  EXPECT_TRUE(
      plan.error.contains("warning: ReplicaSchedule a/reco: nothing is decided about it: "
                          "plane west was not seen yet\n"))
      << plan.error;
  EXPECT_TRUE(plan.out.contains("a/more")) << plan.out;
  EXPECT_FALSE(plan.out.contains("a/reco")) << plan.out;
}

TEST_F(LivePlanesCommand, WrongUsageIsReported) {
  const auto expect = [&](int status, std::string_view line, std::string_view text) {
    const RunResult result = sandbox.run(line);
    EXPECT_EQ(result.status, status) << line;
    EXPECT_TRUE(result.error.contains(text)) << result.error;
  };
  expect(2, "makeway plan --kubeconfig home --plane east",
         "--plane 'east': expected NAME=KUBECONFIG[:CONTEXT]");
  expect(2, "makeway plan --kubeconfig home --plane a=east --plane a=west",
         "--plane 'a=west': plane a is given twice");
  expect(2, "makeway snapshot --kubeconfig home --plane a=east --watch-for 1s",
         "for a cluster that is read once");
  sandbox.write("dump.yaml", "apiVersion: v1\nkind: List\nitems: []\n");
  expect(1, "makeway plan --kubeconfig home --plane east=dump.yaml", "expected a kubeconfig file");
  expect(1, "makeway plan --kubeconfig home --plane east=none", "none");
  expect(1, "makeway plan --kubeconfig home --plane a=east --plane b=east",
         "this is the server of plane a, too: everything there would count twice");
  expect(1, "makeway run --dry-run --kubeconfig home --plane a=east --plane b=east",
         "this is the server of plane a, too");
  expect(0, "makeway plan --kubeconfig home --plane a=home", "this is the home cluster, too");
}

}  // namespace
}  // namespace makeway

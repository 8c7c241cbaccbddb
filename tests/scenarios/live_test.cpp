// A live cluster instead of a file: the same plan, nothing written, every failure reported.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "scenarios/sandbox.hpp"
#include "support/fake_apiserver.hpp"
#include "support/vector_file.hpp"

namespace makeway {
namespace {

/// The example cluster on a server, and a kubeconfig file that names it.
class Live : public testing::Test {
 protected:
  void fill(const std::string& example) {
    const RunResult dumped = sandbox.run(
        fmt::format("makeway snapshot -f '{}/examples/{}' -o json", source_folder(), example));
    ASSERT_EQ(dumped.status, 0) << dumped.error;
    server.serve("scheduling.k8s.io/v1beta1", "podgroups", "PodGroup");
    server.serve("scheduling.k8s.io/v1beta1", "workloads", "Workload");
    server.serve("makeway.dev/v1", "queues", "Queue");
    server.put_all(dumped.out);
    sandbox.write("dump.json", server.dump());
    name_server(server.url());
  }
  void name_server(const std::string& url) const {
    sandbox.write("kubeconfig",
                  fmt::format("current-context: c\n"
                              "contexts: [{{name: c, context: {{cluster: a, user: u}}}}]\n"
                              "clusters: [{{name: a, cluster: {{server: '{}'}}}}]\n"
                              "users: [{{name: u, user: {{token: t}}}}]\n",
                              url));
  }

  Sandbox sandbox;
  FakeApiserver server;
};

class LiveExample : public Live, public testing::WithParamInterface<std::string_view> {};

/// Issue 22: the plan from the live cluster equals the plan from a dump of it, byte for byte.
TEST_P(LiveExample, GivesTheSamePlanAsADump) {
  fill(std::string(GetParam()));
  for (const std::string flags : {"-o json", "-o text --explain", "-o yaml --trust files"}) {
    const RunResult live = sandbox.run("makeway plan --kubeconfig kubeconfig " + flags);
    const std::string trust = flags.contains("--trust") ? "" : " --trust live";
    const RunResult file = sandbox.run(fmt::format("makeway plan -f dump.json {}{}", flags, trust));
    ASSERT_EQ(live.status, 0) << live.error;
    EXPECT_EQ(live.out, file.out);
    EXPECT_FALSE(live.out.empty());
  }
  const RunResult live = sandbox.run("makeway snapshot --kubeconfig kubeconfig -o json");
  EXPECT_EQ(live.out, sandbox.run("makeway snapshot -f dump.json -o json").out);
  for (const std::string& request : server.requests()) {
    EXPECT_TRUE(request.starts_with("GET ")) << request;
  }
}
INSTANTIATE_TEST_SUITE_P(Examples, LiveExample,
                         testing::Values("pods", "tour", "queue/hierarchy.yaml",
                                         "queue/gang-all.yaml", "workload/gang-minimum.yaml",
                                         "workload/case-4-group-groups.yaml"));

constexpr std::string_view urgent = R"(
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: never-seen}
value: 900000
---
apiVersion: v1
kind: Pod
metadata: {name: what-if, namespace: default}
spec:
  priorityClassName: never-seen
  containers: [{name: a, resources: {requests: {cpu: "1"}}}]
)";

TEST_F(Live, FilesAreAddedToIt) {
  fill("pods");
  sandbox.write("new.yaml", urgent);
  const RunResult live =
      sandbox.run("makeway plan --kubeconfig kubeconfig -f new.yaml --ask what-if -o json");
  ASSERT_EQ(live.status, 0) << live.error;
  EXPECT_TRUE(live.out.contains("\"name\": \"what-if\"")) << live.out;
  const RunResult file =
      sandbox.run("makeway plan -f dump.json -f new.yaml --ask what-if -o json --trust live");
  EXPECT_EQ(live.out, file.out);
}

TEST_F(Live, WhatTheClusterHasAlready) {
  fill("pods");
  server.put(R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass",)"
             R"("metadata":{"name":"never-seen"},"value":7})");
  server.put(
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"what-if","namespace":"default"},)"
      R"("spec":{"priorityClassName":"never-seen","containers":[]}})");
  sandbox.write("new.yaml", urgent);
  const RunResult live =
      sandbox.run("makeway plan --kubeconfig kubeconfig -f new.yaml --ask what-if -o json");
  ASSERT_EQ(live.status, 0) << live.error;
  EXPECT_TRUE(live.error.contains("Pod default/what-if: the cluster has it already")) << live.error;
  EXPECT_TRUE(live.error.contains("PriorityClass never-seen: it replaces that of the cluster"))
      << live.error;
  EXPECT_TRUE(live.out.contains("\"priority\": 900000")) << live.out;
}

TEST_F(Live, WatchesTellTheSameAsAReading) {
  fill("pods");
  const std::string common = "makeway snapshot --kubeconfig kubeconfig -o json";
  const RunResult watched = sandbox.run(common + " --watch-for 1s");
  ASSERT_EQ(watched.status, 0) << watched.error;
  EXPECT_EQ(watched.out, sandbox.run(common).out);
  EXPECT_TRUE(std::ranges::any_of(
      server.requests(), [](const std::string& request) { return request.contains("watch=1"); }));
}

TEST_F(Live, OnlyALiveClusterCanBeWatched) {
  fill("pods");
  const RunResult file = sandbox.run("makeway snapshot -f dump.json --watch-for 1s");
  EXPECT_EQ(file.status, 2);
  EXPECT_TRUE(file.error.contains("--watch-for '1s': files cannot be watched")) << file.error;
  const RunResult both =
      sandbox.run("makeway snapshot --kubeconfig kubeconfig -f dump.json --watch-for 1s");
  EXPECT_EQ(both.status, 2);
  EXPECT_TRUE(both.error.contains("for a cluster that is read once")) << both.error;
  const RunResult never = sandbox.run("makeway snapshot --kubeconfig kubeconfig --watch-for soon");
  EXPECT_EQ(never.status, 2);
  EXPECT_TRUE(never.error.contains("--watch-for 'soon': ")) << never.error;
}

TEST_F(Live, AllMissingRightsAreReportedTogether) {
  fill("pods");
  server.forbid("pods");
  server.forbid("poddisruptionbudgets");
  const RunResult live = sandbox.run("makeway plan --kubeconfig kubeconfig");
  EXPECT_EQ(live.status, 1);
  EXPECT_EQ(live.out, "");
  EXPECT_TRUE(
      live.error.contains("{apiGroups: [\"\"], resources: [pods], verbs: [get, list, watch]}"))
      << live.error;
  EXPECT_TRUE(live.error.contains("{apiGroups: [\"policy\"], resources: [poddisruptionbudgets], "))
      << live.error;
  const RunResult going = sandbox.run("makeway plan --kubeconfig kubeconfig --keep-going");
  EXPECT_EQ(going.status, 1);  // Nothing can be said without pods.
}

TEST_F(Live, KeepGoingLeavesOutWhatMayNotBeRead) {
  fill("pods");
  server.forbid("csinodes");
  EXPECT_EQ(sandbox.run("makeway plan --kubeconfig kubeconfig").status, 1);
  const RunResult going = sandbox.run("makeway plan --kubeconfig kubeconfig --keep-going");
  EXPECT_EQ(going.status, 0) << going.error;
  EXPECT_TRUE(going.error.contains("read without csinodes")) << going.error;
}

TEST_F(Live, KeepGoingReadsWhatNeedNotBeDiscovered) {
  fill("pods");
  const auto forbid = [&] {
    server.fail({.kind = ServerFault::Kind::status, .path_prefix = "/apis", .status = 403});
  };
  forbid();
  const RunResult live = sandbox.run("makeway plan --kubeconfig kubeconfig");
  EXPECT_EQ(live.status, 1);
  EXPECT_TRUE(live.error.contains("{nonResourceURLs: [/api, /api/*, /apis, /apis/*]"))
      << live.error;
  forbid();
  const RunResult going = sandbox.run("makeway plan --kubeconfig kubeconfig --keep-going");
  EXPECT_EQ(going.status, 0) << going.error;
  EXPECT_TRUE(going.error.contains("read without kinds that not every cluster has")) << going.error;
}

TEST_F(Live, OtherCommandsReadItToo) {
  fill("pods");
  const RunResult check = sandbox.run("makeway check --kubeconfig kubeconfig");
  EXPECT_EQ(check.status, 0) << check.out;
  EXPECT_TRUE(check.out.contains("live: pods: Pod research/llm-16: requests")) << check.out;
  EXPECT_TRUE(check.out.contains("0 errors, 1 warning in 25 objects\n")) << check.out;
  EXPECT_TRUE(check.out.contains("\npods of scheduler default-scheduler (15): ")) << check.out;
  const RunResult risk = sandbox.run("makeway risk research/render-1 --kubeconfig kubeconfig");
  EXPECT_EQ(risk.status, 0) << risk.error;
  EXPECT_EQ(risk.out, sandbox.run("makeway risk research/render-1 -f dump.json --trust live").out);
}

TEST_F(Live, AServerThatIsNotThereIsReported) {
  {
    const FakeApiserver gone;
    name_server(gone.url());
  }
  const RunResult live = sandbox.run("makeway plan --kubeconfig kubeconfig");
  EXPECT_EQ(live.status, 1);
  EXPECT_TRUE(live.error.contains("connection refused")) << live.error;
  EXPECT_TRUE(live.error.contains("is the API server running")) << live.error;
}

TEST_F(Live, WrongUsageIsReported) {
  const auto usage = [&](std::string_view line, std::string_view expected) {
    const RunResult result = sandbox.run(line);
    EXPECT_EQ(result.status, 2) << line;
    EXPECT_TRUE(result.error.contains(expected)) << result.error;
  };
  usage("makeway plan --batch a --live", "--live is not for a --batch");
  usage("makeway plan --kubeconfig ''", "--kubeconfig '': it is empty");
  usage("makeway plan", "nothing to plan");
  usage("makeway snapshot", "there is no cluster");
  EXPECT_EQ(sandbox.run("makeway plan --kubeconfig there-is-none").status, 1);
  EXPECT_EQ(sandbox.run("makeway plan --live").status, 1);
}

}  // namespace
}  // namespace makeway

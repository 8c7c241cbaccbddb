// makeway run --shadow: beside a scheduler that the test plays, on a fake API server.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <string>
#include <thread>

#include "kube/watched_objects.hpp"
#include "scenarios/sandbox.hpp"
#include "support/live_server.hpp"

namespace makeway {
namespace {

struct PodText {
  std::string_view name;
  int cpus = 1;
  int priority = 0;
  std::string_view node;
  std::string_view nominated;
  bool leaves = false;
  bool opts_out = false;  ///< Its annotation forbids eviction.
};

std::string pod_json(const PodText& pod) {
  const std::string_view condition =
      pod.leaves ? R"({"type":"DisruptionTarget","status":"True","reason":"PreemptionByScheduler"})"
                 : "";
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"shop",)"
      R"("uid":"uid-{0}","creationTimestamp":"2026-11-17T02:00:00Z"{1}{8}}},)"
      R"("spec":{{"schedulerName":"default-scheduler","priority":{2},"nodeName":"{3}",)"
      R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{4}"}}}}}}]}},)"
      R"("status":{{"phase":"{5}","nominatedNodeName":"{6}","startTime":)"
      R"("2026-11-17T03:00:00Z","conditions":[{7}]}}}})",
      pod.name,
      pod.leaves ? R"(,"deletionTimestamp":"2026-11-17T05:00:01Z","deletionGracePeriodSeconds":1)"
                 : "",
      pod.priority, pod.node, pod.cpus, pod.node.empty() ? "Pending" : "Running", pod.nominated,
      condition, pod.opts_out ? R"(,"annotations":{"makeway.dev/allow-preemption":"false"})" : "");
}

std::string node_json(std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","uid":"u"}},"status":)"
      R"({{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
      name);
}

/// n1 has one small victim, n2 two dearer ones, n3 is empty.
class Shadow : public testing::Test {
 protected:
  Shadow() {
    for (const std::string_view name : {"n1", "n2", "n3"}) live.server.put(node_json(name));
    live.server.put(pod_json({.name = "low", .cpus = 4, .priority = 10, .node = "n1"}));
    live.server.put(pod_json({.name = "mid-1", .cpus = 2, .priority = 20, .node = "n2"}));
    live.server.put(pod_json({.name = "mid-2", .cpus = 2, .priority = 20, .node = "n2"}));
    sandbox.write("kubeconfig",
                  fmt::format("current-context: c\n"
                              "contexts: [{{name: c, context: {{cluster: a, user: u}}}}]\n"
                              "clusters: [{{name: a, cluster: {{server: '{}'}}}}]\n"
                              "users: [{{name: u, user: {{token: t}}}}]\n",
                              live.server.url()));
  }

  /// The command, on a thread of its own.
  void begin(std::string flags) {
    result = std::async(std::launch::async, [this, flags = std::move(flags)] {
      return sandbox.run(
          "makeway run --shadow default-scheduler --kubeconfig kubeconfig --journal run.journal "
          "--for 10m " +
          flags);
    });
  }
  /// Until so many cycles are in the journal: each is written when it has been decided.
  bool await_cycles(std::ptrdiff_t count) const {
    return await([&] {
      const std::vector<std::string> lines =
          lines_in(sandbox.run("makeway journal list run.journal").out);
      const auto found = std::ranges::count_if(
          lines, [](const std::string& line) { return line.contains("  cycle "); });
      return found >= count;
    });
  }
  template <class Done>
  static bool await(const Done& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (std::chrono::steady_clock::now() < deadline) {
      if (done()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  /// kube-scheduler as it might act: `plain` where there is room, `urgent` where it costs two.
  void play() {
    live.server.put(pod_json({.name = "plain", .priority = 5'000}));
    ASSERT_TRUE(await_cycles(1));
    live.server.put(pod_json({.name = "plain", .priority = 5'000, .node = "n3"}));
    live.server.put(pod_json({.name = "urgent", .cpus = 4, .priority = 1'000}));
    ASSERT_TRUE(await_cycles(2));
    for (const std::string_view name : {"mid-1", "mid-2"}) {
      live.server.put(
          pod_json({.name = name, .cpus = 2, .priority = 20, .node = "n2", .leaves = true}));
    }
    live.server.put(pod_json({.name = "urgent", .cpus = 4, .priority = 1'000, .nominated = "n2"}));
  }
  void finish() {
    live.server.remove("Pod", "shop", "mid-1");
    live.server.remove("Pod", "shop", "mid-2");
    live.server.put(pod_json({.name = "urgent", .cpus = 4, .priority = 1'000, .node = "n2"}));
  }

  Sandbox sandbox;
  LiveServer live;
  std::future<RunResult> result;  ///< Last: it ends before the server does.
};

TEST_F(Shadow, TellsWhereItWouldHaveDiffered) {
  begin("--count 2");
  play();
  finish();
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_TRUE(ran.out.starts_with("same             Pod shop/plain: n3, bound after ")) << ran.out;
  EXPECT_TRUE(
      ran.out.contains("fewer victims    Pod shop/urgent: theirs: n2, 2 victims "
                       "(shop/mid-1, shop/mid-2; priority up to 20; ran 4h), bound "
                       "after "))
      << ran.out;
  EXPECT_TRUE(ran.out.contains("; ours: n1, 1 victim (shop/low; priority 10; ran 2h)\n"))
      << ran.out;
  EXPECT_TRUE(ran.out.contains("2 asks of default-scheduler compared in ")) << ran.out;
  EXPECT_TRUE(ran.error.contains("watching default-scheduler on 3 nodes with ")) << ran.error;
  for (const std::string& request : live.server.requests()) {
    EXPECT_TRUE(request.starts_with("GET ")) << request;
  }
  // The journal is one like every other.
  const RunResult again = sandbox.run("makeway replay run.journal");
  EXPECT_EQ(again.status, 0) << again.out << again.error;
  EXPECT_TRUE(again.out.contains("2 cycles")) << again.out;
  EXPECT_EQ(sandbox.run("makeway why --journal run.journal shop/urgent").status, 0);
}

/// SPEC section 10: it decides as `run` would, and there a mark is only a request.
class ShadowTrust : public Shadow, public testing::WithParamInterface<bool> {};

TEST_P(ShadowTrust, AMarkProtectsWhereItsNamespaceIsTrusted) {
  live.server.put(
      fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"shop","labels":)"
                  R"({{"makeway.dev/trusted":"{}"}}}}}})",
                  GetParam()));
  live.server.put(
      pod_json({.name = "low", .cpus = 4, .priority = 10, .node = "n1", .opts_out = true}));
  live.server.put(pod_json({.name = "plain", .priority = 5'000, .node = "n3"}));
  live.server.put(pod_json({.name = "urgent", .cpus = 4, .priority = 1'000}));
  begin("--count 1");
  ASSERT_TRUE(await_cycles(1));
  finish();
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 0) << ran.error;
  const std::string_view ours = GetParam() ? "; ours: n2, 2 victims (shop/mid-1, shop/mid-2;"
                                           : "; ours: n1, 1 victim (shop/low;";
  EXPECT_TRUE(ran.out.contains(ours)) << ran.out;
  EXPECT_TRUE(ran.out.contains(", by makeway-live.")) << ran.out;
}
INSTANTIATE_TEST_SUITE_P(Namespaces, ShadowTrust, testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "trusted" : "ordinary");
});

TEST_F(Shadow, AsJsonLines) {
  begin("--count 2 -o json");
  play();
  finish();
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 0) << ran.error;
  const std::vector<std::string> lines = lines_in(ran.out);
  ASSERT_EQ(lines.size(), 3U) << ran.out;
  EXPECT_TRUE(lines[0].contains(R"("verdict":"same")")) << lines[0];
  EXPECT_TRUE(lines[1].contains(R"("verdict":"fewer-victims","theirs":{"bound":true,)"))
      << lines[1];
  EXPECT_TRUE(lines[1].contains(R"("victimCount":2,"highestPriority":20,"prioritySum":40,)"))
      << lines[1];
  EXPECT_TRUE(lines[1].contains(R"("ours":{"outcome":"preempts","plan":")")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with(R"({"summary":{"scheduler":"default-scheduler",)")) << lines[2];
  EXPECT_TRUE(lines[2].contains(R"("fewer-victims":1)")) << lines[2];
}

/// Law 13: a bad object stops no ask, and its name sends nothing to the terminal.
TEST_F(Shadow, HostileNamesDoNoHarm) {
  begin("--count 1");
  live.server.put(pod_json({.name = "evil\\u001b[2J"}));
  live.server.put(pod_json({.name = "good"}));
  ASSERT_TRUE(await_cycles(1));
  live.server.put(pod_json({.name = "good", .node = "evil\\u001b[31m\\u202e"}));
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_FALSE((ran.out + ran.error).contains('\x1b')) << ran.out;
  const std::string turns_around = {'\xe2', '\x80', '\xae'};  // U+202E
  EXPECT_FALSE((ran.out + ran.error).contains(turns_around)) << ran.out;
}

TEST_F(Shadow, MissingRightsAreReportedTogether) {
  live.server.forbid("pods");
  live.server.forbid("nodes");
  const RunResult ran =
      sandbox.run("makeway run --shadow default-scheduler --kubeconfig kubeconfig --for 60s");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(
      ran.error.contains("{apiGroups: [\"\"], resources: [pods], verbs: [get, list, watch]}"))
      << ran.error;
  EXPECT_TRUE(ran.error.contains("resources: [nodes]")) << ran.error;
}

TEST_F(Shadow, WrongUsageIsReported) {
  const auto usage = [&](std::string_view flags, std::string_view expected) {
    const RunResult ran = sandbox.run(fmt::format("makeway run {}", flags));
    EXPECT_EQ(ran.status, 2) << flags;
    EXPECT_TRUE(ran.error.contains(expected)) << ran.error;
  };
  usage("--shadow ''", "--shadow '': expected the NAME");
  usage("--shadow a --for x", "--for 'x'");
  usage("--shadow a --for 0", "--for 0");
  usage("--shadow a --count 0", "--count '0'");
  usage("--shadow a --journal-size 1Gi", "--journal-size is for --journal FILE");
  usage("--shadow a --kubeconfig ''", "--kubeconfig '': it is empty");
  EXPECT_EQ(sandbox.run("makeway run --shadow a --kubeconfig there-is-none").status, 1);
}

}  // namespace
}  // namespace makeway

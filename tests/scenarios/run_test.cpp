// makeway run: the scheduler itself, as a command, on a fake API server.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "scenarios/sandbox.hpp"
#include "support/live_server.hpp"

namespace makeway {
namespace {

struct RunPod {
  std::string_view name;
  int cpus = 1;
  int priority = 0;
  std::string_view node;
  std::string_view scheduler = "makeway";
};

std::string run_pod_json(const RunPod& pod) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"shop",)"
      R"("uid":"uid-{0}","generation":1,"creationTimestamp":"2026-11-17T02:00:00Z"}},)"
      R"("spec":{{"schedulerName":"{1}","priority":{2},"nodeName":"{3}","containers":)"
      R"([{{"name":"c","resources":{{"requests":{{"cpu":"{4}"}}}}}}]}},"status":)"
      R"({{"phase":"{5}"}}}})",
      pod.name, pod.scheduler, pod.priority, pod.node, pod.cpus,
      pod.node.empty() ? "Pending" : "Running");
}

std::string run_node_json(std::string_view name) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","uid":"u"}},"status":)"
      R"({{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
      name);
}

class RunCommand : public testing::Test {
 protected:
  RunCommand() {
    live.server.set_kubelet(true, true);
    live.server.put(run_node_json("n1"));
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
      return sandbox.run("makeway run --kubeconfig kubeconfig --for 10m " + flags);
    });
  }
  RunResult end() {
    EXPECT_EQ(std::raise(SIGTERM), 0);
    return result.get();
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
  bool await_deed(std::string_view what, std::string_view object) const {
    return await([&] {
      const std::vector<FakeDeed> deeds = live.server.deeds();
      return std::ranges::any_of(
          deeds, [&](const FakeDeed& deed) { return deed.what == what && deed.object == object; });
    });
  }
  std::string lease() const { return live.server.object("Lease", "kube-system", "makeway"); }

  Sandbox sandbox;
  LiveServer live;
  std::future<RunResult> result;  ///< Last: it ends before the server does.
};

TEST_F(RunCommand, BindsPreemptsAndReleasesTheLease) {
  live.server.put(run_pod_json({.name = "low", .cpus = 4, .priority = 10, .node = "n1"}));
  live.server.put(run_pod_json({.name = "urgent", .cpus = 4, .priority = 1'000}));
  live.server.put(run_pod_json({.name = "theirs", .scheduler = "default-scheduler"}));
  live.server.allow_writes();
  begin("--journal run.journal");
  ASSERT_TRUE(await_deed("bind", "shop/urgent")) << end().error;
  EXPECT_TRUE(lease().contains(R"("holderIdentity":")"));
  const RunResult ran = end();
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(ran.error.contains("event=lead ")) << ran.error;
  EXPECT_TRUE(
      ran.error.contains("ask=\"Pod shop/urgent\" priority=1000 outcome=preempts node=n1 "
                         "victims=1"))
      << ran.error;
  EXPECT_TRUE(ran.error.contains("event=victim plan=")) << ran.error;
  EXPECT_TRUE(
      ran.error.contains("pod=shop/low unit=\"Pod shop/low\" node=n1 priority=10 "
                         "for=\"Pod shop/urgent\" cause=\"lower priority (10 < 1000)\""))
      << ran.error;
  EXPECT_TRUE(ran.error.contains("event=end\n")) << ran.error;
  // The lease is released: the next process need not wait.
  EXPECT_TRUE(lease().contains(R"("holderIdentity":"")")) << lease();
  EXPECT_FALSE(live.server.object("Pod", "shop", "theirs").contains("n1"));
  const RunResult again = sandbox.run("makeway replay run.journal");
  EXPECT_EQ(again.status, 0) << again.out << again.error;
  const RunResult why = sandbox.run("makeway why --journal run.journal shop/low");
  EXPECT_TRUE(why.out.contains("shop/urgent")) << why.out << why.error;
}

/// SPEC section 8: profiles of the configuration are served by their own rules; the journal has
/// them, so that a replay decides the same.
TEST_F(RunCommand, ProfilesHaveTheirOwnRulesAlsoInTheJournal) {
  sandbox.write("rules.yaml",
                "apiVersion: makeway.dev/v1\n"
                "kind: Configuration\n"
                "metadata: {name: ours}\n"
                "spec:\n"
                "  profiles:\n"
                "  - schedulerName: batch\n"
                "    compatibility: mcm-v1\n");
  for (const std::string_view number : {"1", "2"}) {
    const std::string name = fmt::format("n{}", number);
    std::string node = run_node_json(name);
    node.replace(node.find(R"("uid")"), 0, fmt::format(R"("labels":{{"for":"{}"}},)", number));
    live.server.put(node);
    // Equal but for their names: a is more important than b and c.
    const auto fill = [&](std::string_view pod, int cpus) {
      const std::string full = fmt::format("{}-{}", pod, number);
      live.server.put(run_pod_json({.name = full, .cpus = cpus, .priority = 10, .node = name}));
    };
    fill("a-large", 2);
    fill("b-small", 1);
    fill("c-small", 1);
    const std::string ask = fmt::format("ask-{}", number);
    std::string pod = run_pod_json({.name = ask,
                                    .cpus = 2,
                                    .priority = 1'000,
                                    .scheduler = number == "1" ? "makeway" : "batch"});
    pod.replace(pod.find(R"("schedulerName")"), 0,
                fmt::format(R"("nodeSelector":{{"for":"{}"}},)", number));
    live.server.put(pod);
  }
  live.server.allow_writes();
  begin("--config rules.yaml --journal run.journal");
  ASSERT_TRUE(await_deed("bind", "shop/ask-1")) << end().error;
  ASSERT_TRUE(await_deed("bind", "shop/ask-2")) << end().error;
  const RunResult ran = end();
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_TRUE(ran.error.contains("schedulerNames=makeway,batch")) << ran.error;
  EXPECT_TRUE(
      ran.error.contains("ask=\"Pod shop/ask-1\" priority=1000 outcome=preempts node=n1 victims=1"))
      << ran.error;
  EXPECT_TRUE(
      ran.error.contains("ask=\"Pod shop/ask-2\" priority=1000 profile=batch outcome=preempts "
                         "node=n2 victims=2"))
      << ran.error;
  std::set<std::string> gone;
  for (const FakeDeed& deed : live.server.deeds()) {
    if (deed.what == "delete") gone.insert(deed.object);
  }
  EXPECT_EQ(gone, (std::set<std::string>{"shop/a-large-1", "shop/b-small-2", "shop/c-small-2"}));
  const RunResult again = sandbox.run("makeway replay run.journal");
  EXPECT_EQ(again.status, 0) << again.out << again.error;
}

TEST_F(RunCommand, ADryRunWritesNothingAndTellsOnStandardOutput) {
  live.server.put(run_pod_json({.name = "low", .cpus = 4, .priority = 10, .node = "n1"}));
  live.server.put(run_pod_json({.name = "urgent", .cpus = 4, .priority = 1'000}));
  live.server.allow_writes();
  begin("--dry-run --journal run.journal -o json");
  ASSERT_TRUE(await(
      [&] { return sandbox.run("makeway journal list run.journal").out.contains("  cycle "); }));
  const RunResult ran = end();
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_TRUE(ran.out.contains(R"("event":"decided","plan":")")) << ran.out;
  EXPECT_TRUE(ran.out.contains(R"("pod":"shop/low","unit":"Pod shop/low","node":"n1")")) << ran.out;
  EXPECT_TRUE(live.server.writes().empty());
}

TEST_F(RunCommand, ALostLeaseHasAStatusOfItsOwn) {
  live.server.allow_writes();
  begin("");
  ASSERT_TRUE(await([&] { return lease().contains(R"("holderIdentity":")"); }));
  live.server.put(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"makeway",)"
      R"("namespace":"kube-system"},"spec":{"holderIdentity":"another",)"
      R"("leaseDurationSeconds":15}})");
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 6) << ran.error;
  EXPECT_TRUE(ran.error.contains("event=lease-lost holder=another ")) << ran.error;
}

TEST_F(RunCommand, AStandbyWritesNothing) {
  live.server.put(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"makeway",)"
      R"("namespace":"kube-system"},"spec":{"holderIdentity":"another",)"
      R"("leaseDurationSeconds":600}})");
  live.server.put(run_pod_json({.name = "p"}));
  live.server.allow_writes();
  begin("");
  ASSERT_TRUE(await([&] {
    const std::vector<std::string> requests = live.server.requests();
    return std::ranges::any_of(requests, [](const std::string& line) {
      return line.starts_with("GET /api/v1/pods?") && line.contains("watch=");
    });
  })) << end().error;
  const RunResult ran = end();
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_TRUE(ran.error.contains("event=standby holder=another\n")) << ran.error;
  EXPECT_TRUE(live.server.deeds().empty());
}

TEST_F(RunCommand, MissingRightsToReadAreReported) {
  live.server.forbid("pods");
  live.server.allow_writes();
  begin("");
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.error.contains("event=not-seen ")) << ran.error;
  EXPECT_TRUE(ran.error.contains("resources: [pods], verbs: [get, list, watch]")) << ran.error;
}

/// No server listens at port 1. The context behind the file is that of the plane.
TEST_F(RunCommand, APlaneThatCannotBeReachedStopsNothingElse) {
  sandbox.write("planes",
                "contexts: [{name: e, context: {cluster: a, user: u}}]\n"
                "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n"
                "users: [{name: u, user: {}}]\n");
  live.server.serve("makeway.dev/v1", "replicaschedules", "ReplicaSchedule");
  live.server.put(run_pod_json({.name = "p"}));
  live.server.allow_writes();
  begin("--plane east=planes:e");
  ASSERT_TRUE(await([&] { return live.server.object("Pod", "shop", "p").contains("n1"); }))
      << end().error;
  const RunResult ran = end();
  EXPECT_EQ(ran.status, 0) << ran.error;
  EXPECT_TRUE(ran.error.contains("event=plane plane=east server=http://127.0.0.1:1\n"))
      << ran.error;
  EXPECT_TRUE(ran.error.contains("event=plane-not-seen plane=east ")) << ran.error;
}

TEST_F(RunCommand, ARightThatIsMissingInAPlaneIsReported) {
  LiveServer plane;
  plane.server.fail({.kind = ServerFault::Kind::status,
                     .path_prefix = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                     .status = 201,
                     .body = R"({"kind":"SelfSubjectAccessReview","status":{"allowed":false}})"});
  sandbox.write("planes", fmt::format("current-context: e\n"
                                      "contexts: [{{name: e, context: {{cluster: a, user: u}}}}]\n"
                                      "clusters: [{{name: a, cluster: {{server: '{}'}}}}]\n"
                                      "users: [{{name: u, user: {{}}}}]\n",
                                      plane.server.url()));
  live.server.allow_writes();
  const RunResult ran =
      sandbox.run("makeway run --kubeconfig kubeconfig --for 60s --plane east=planes");
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(
      ran.error.contains("event=right-missing plane=east verb=get "
                         "resource=deployments/scale "))
      << ran.error;
  EXPECT_TRUE(live.server.deeds().empty());
}

TEST_F(RunCommand, AnImpossibleListenerIsReported) {
  const RunResult ran = sandbox.run(fmt::format(
      "makeway run --kubeconfig kubeconfig --for 60s --listen 127.0.0.1:{}", live.server.port()));
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.error.contains("event=no-listener ")) << ran.error;
}

TEST_F(RunCommand, WrongUsageIsReported) {
  const auto usage = [&](std::string_view flags, std::string_view expected) {
    const RunResult ran = sandbox.run(fmt::format("makeway run {}", flags));
    EXPECT_EQ(ran.status, 2) << flags;
    EXPECT_TRUE(ran.error.contains(expected)) << ran.error;
  };
  usage("--count 3", "--count is for --shadow NAME");
  usage("--shadow a --dry-run", "--dry-run is for the scheduler itself, without --shadow");
  usage("--shadow a --listen :1", "--listen is for the scheduler itself");
  usage("--lease makeway", "--lease 'makeway': expected NAMESPACE/NAME");
  usage("--scheduler-name ''", "--scheduler-name ''");
  usage("--listen localhost:1", "--listen 'localhost:1': expected ADDRESS:PORT");
  usage("--plane east", "--plane 'east': expected NAME=KUBECONFIG[:CONTEXT]");
  usage("--plane a=k --plane a=k", "--plane 'a=k': plane a is given twice");
  usage("--shadow a --plane a=k", "--plane is for the scheduler itself, without --shadow");
}

/// SPEC section 1: a live run keeps laws 1, 2, 3, 5 and 8.
TEST_F(RunCommand, PresetsThatWaiveTooMuchAreRefused) {
  const auto refused = [&](std::string_view preset, std::string_view law) {
    const RunResult ran =
        sandbox.run(fmt::format("makeway run --kubeconfig kubeconfig --preset {}", preset));
    EXPECT_EQ(ran.status, 1) << preset;
    EXPECT_TRUE(ran.error.contains(fmt::format("law {} is waived", law))) << ran.error;
  };
  refused("yunikorn-design", "2");
  refused("kube-arbitrator", "1-claims");
}

}  // namespace
}  // namespace makeway

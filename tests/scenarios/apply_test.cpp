// makeway apply: a reviewed plan, carried out on a fake API server.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "cli/run.hpp"
#include "scenarios/sandbox.hpp"
#include "support/live_server.hpp"
#include "support/screen.hpp"

namespace makeway {
namespace {

struct ApplyPod {
  std::string_view name;
  int cpus = 4;
  int priority = 0;
  std::string_view node;
  std::string_view uid;  ///< Empty: "uid-NAME".
  std::string_view group;
  std::string_view scheduler = "makeway";
  std::string_view metadata;
};

std::string apply_pod_json(const ApplyPod& pod) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"shop",{7})"
      R"("labels":{{"app":"{0}"}},"uid":"{1}","generation":1,)"
      R"("creationTimestamp":"2026-11-17T02:00:00Z"}},"spec":{{"schedulerName":"{8}",{6})"
      R"("priority":{2},"nodeName":"{3}","containers":[{{"name":"c","resources":{{"requests":)"
      R"({{"cpu":"{4}"}}}}}}]}},"status":{{"phase":"{5}"}}}})",
      pod.name, pod.uid.empty() ? fmt::format("uid-{}", pod.name) : std::string(pod.uid),
      pod.priority, pod.node, pod.cpus, pod.node.empty() ? "Pending" : "Running",
      pod.group.empty() ? std::string{}
                        : fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}},)", pod.group),
      pod.metadata, pod.scheduler);
}

/// Types one line, once.
class TypedLine final : public cli::LineInput {
 public:
  explicit TypedLine(std::string line) : line_(std::move(line)) {}
  std::optional<std::string> line(Duration /*at_most*/) override { return line_; }

 private:
  std::string line_;
};

class ApplyCommand : public testing::Test {
 protected:
  ApplyCommand() {
    live.server.set_kubelet(true, true);
    live.server.serve("scheduling.k8s.io/v1beta1", "podgroups", "PodGroup");
    for (const std::string_view node : {"n1", "n2"}) put_node(node);
    sandbox.write("kubeconfig",
                  fmt::format("current-context: c\n"
                              "contexts: [{{name: c, context: {{cluster: a, user: u}}}}]\n"
                              "clusters: [{{name: a, cluster: {{server: '{}'}}}}]\n"
                              "users: [{{name: u, user: {{token: t}}}}]\n",
                              live.server.url()));
    live.server.allow_writes();
  }

  void put_node(std::string_view name) {
    live.server.put(fmt::format(
        R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}","uid":"u"}},"status":)"
        R"({{"allocatable":{{"cpu":"4","memory":"8Gi","pods":"110"}}}}}})",
        name));
  }
  void put(const ApplyPod& pod) { live.server.put(apply_pod_json(pod)); }
  /// Both nodes are full of pods of low priority, and two urgent ones ask.
  void fill() {
    put({.name = "low-1", .priority = 10, .node = "n1"});
    put({.name = "low-2", .priority = 20, .node = "n2"});
    put({.name = "first", .priority = 1'000});
    put({.name = "second", .priority = 900});
  }
  void plan(std::string_view flags = {}) {
    const RunResult made =
        sandbox.run(fmt::format("makeway plan --kubeconfig kubeconfig -o json {}", flags));
    ASSERT_EQ(made.status, 0) << made.error;
    sandbox.write("plan.json", made.out);
  }
  RunResult apply(std::string_view flags = "--yes") const {
    return sandbox.run(fmt::format("makeway apply plan.json --kubeconfig kubeconfig {}", flags));
  }
  /// Without events and conditions.
  std::vector<std::string> deeds() const {
    std::vector<std::string> texts;
    for (const FakeDeed& deed : live.server.deeds()) {
      if (deed.what.starts_with("event") || deed.what == "patch") continue;
      texts.push_back(fmt::format("{} {}", deed.what, deed.object));
    }
    return texts;
  }
  std::size_t count(std::string_view deed) const {
    const std::vector<std::string> all = deeds();
    return static_cast<std::size_t>(std::ranges::count(all, deed));
  }
  std::string lease() const { return live.server.object("Lease", "kube-system", "makeway"); }

  Sandbox sandbox;
  LiveServer live;
};

TEST_F(ApplyCommand, EvictsBindsAndReleasesTheLease) {
  fill();
  plan();
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_EQ(ran.error, "");
  EXPECT_TRUE(ran.out.starts_with("Plan ")) << ran.out;
  EXPECT_FALSE(ran.out.contains("Since then")) << ran.out;
  EXPECT_TRUE(
      ran.out.contains("~ Pod shop/first: evict 1 pod, then bind to n1\n"
                       "  - shop/low-1 on n1: lower priority (10 < 1000)\n"))
      << ran.out;
  EXPECT_TRUE(ran.out.contains("Applying 2 evictions, 2 binds.\n")) << ran.out;
  EXPECT_TRUE(ran.out.contains("= Pod shop/first: done, bound to n1\n")) << ran.out;
  EXPECT_TRUE(ran.out.ends_with("Applied 2 of 2 asks.\n")) << ran.out;
  for (const std::string_view deed :
       {"nominate shop/first", "mark shop/low-1", "delete shop/low-1", "bind shop/first",
        "nominate shop/second", "delete shop/low-2", "bind shop/second"}) {
    EXPECT_EQ(count(deed), 1U) << deed;
  }
  EXPECT_TRUE(lease().contains(R"("holderIdentity":"")")) << lease();
}

/// An ask that was nominated, with its victims evicted, is not done yet.
TEST_F(ApplyCommand, NothingIsBoundBeforeTheVictimIsGone) {
  live.server.set_kubelet(true, false);
  fill();
  plan();
  auto result = std::async(std::launch::async, [this] { return apply("--yes --only shop/first"); });
  ASSERT_TRUE(live.server.await([](const FakeObjects&, const std::vector<FakeDeed>& all) {
    return std::ranges::any_of(all, [](const FakeDeed& deed) { return deed.what == "delete"; });
  }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(count("bind shop/first"), 0U);
  EXPECT_EQ(live.server.let_go(), 1U);
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_EQ(deeds(), (std::vector<std::string>{"nominate shop/first", "mark shop/low-1",
                                               "delete shop/low-1", "bind shop/first"}));
}

TEST_F(ApplyCommand, AnotherPodOfTheVictimsNameSurvives) {
  fill();
  plan();
  live.server.remove("Pod", "shop", "low-1");
  put({.name = "low-1", .priority = 10, .node = "n1", .uid = "another"});
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 7) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains(
      "  victim shop/low-1 was replaced by another pod of the same name, which stays\n"))
      << ran.out;
  EXPECT_TRUE(ran.out.contains("! Pod shop/first: not applied: does not fit")) << ran.out;
  EXPECT_TRUE(ran.out.ends_with("Applied 1 of 2 asks.\n")) << ran.out;
  EXPECT_EQ(count("delete shop/low-1"), 0U);
  EXPECT_EQ(count("nominate shop/first"), 0U);
  EXPECT_EQ(count("bind shop/second"), 1U);
}

TEST_F(ApplyCommand, AVictimThatIsGoneIsNotMissed) {
  fill();
  plan();
  live.server.remove("Pod", "shop", "low-1");
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("  victim shop/low-1 is gone\n")) << ran.out;
  EXPECT_TRUE(ran.out.contains("+ Pod shop/first: bind to n1\n")) << ran.out;
  EXPECT_EQ(count("delete shop/low-1"), 0U);
  EXPECT_EQ(count("bind shop/first"), 1U);
}

TEST_F(ApplyCommand, AnAskThatIsGoneOrRunsElsewhereFallsOut) {
  fill();
  put({.name = "third", .cpus = 0});
  plan();
  live.server.remove("Pod", "shop", "first");
  put({.name = "third", .cpus = 0, .node = "n2"});
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 7) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("! Pod shop/first: not applied: pod shop/first is gone\n"))
      << ran.out;
  EXPECT_EQ(count("delete shop/low-1"), 0U);
  EXPECT_EQ(count("bind shop/second"), 1U);
}

TEST_F(ApplyCommand, AChangedVictimIsReported) {
  fill();
  plan();
  put({.name = "low-1", .priority = 10, .node = "n1", .metadata = R"("finalizers":["a/b"],)"});
  const RunResult ran = apply("--dry-run");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("  victim shop/low-1 has changed (version ")) << ran.out;
}

TEST_F(ApplyCommand, WhatIsRunningAlreadyIsDone) {
  fill();
  plan();
  ASSERT_EQ(apply().status, 0);
  const std::size_t written = live.server.writes().size();
  const RunResult again = apply();
  EXPECT_EQ(again.status, 0) << again.out << again.error;
  EXPECT_TRUE(again.out.contains("= Pod shop/first: runs on n1 already\n")) << again.out;
  EXPECT_TRUE(again.out.ends_with("Nothing to apply.\n")) << again.out;
  const std::vector<FakeApiserver::SeenWrite> writes = live.server.writes();
  for (std::size_t at = written; at < writes.size(); ++at) {
    const std::string& line = writes[at].line;
    EXPECT_TRUE(line.contains("leases") || line.contains("accessreviews")) << line;
  }
}

/// The delay of a live run is not for a reviewed plan: what was shown is what happens.
TEST_F(ApplyCommand, APinnedPodEvictsAtOnce) {
  live.server.put(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{)"
                  R"("makeway.dev/trusted":"true"}}})");
  live.server.put(
      R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent","namespace":"shop",)"
      R"("uid":"uid-ds"}})");
  put({.name = "low-1", .priority = 10, .node = "n1"});
  put({.name = "agent-1",
       .priority = 10,
       .metadata = R"("annotations":{"makeway.dev/required-node":"n1"},"ownerReferences":[{)"
                   R"("apiVersion":"apps/v1","kind":"DaemonSet","name":"agent","uid":"uid-ds",)"
                   R"("controller":true}],)"});
  plan();
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("Applying 1 eviction, 1 bind.\n")) << ran.out;
  EXPECT_FALSE(ran.out.contains("stays")) << ran.out;
  EXPECT_EQ(count("delete shop/low-1"), 1U);
  EXPECT_EQ(count("bind shop/agent-1"), 1U);
}

TEST_F(ApplyCommand, ADryRunWritesNothing) {
  fill();
  plan();
  const RunResult ran = apply("--dry-run");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.ends_with("Would apply 2 evictions, 2 binds.\n")) << ran.out;
  EXPECT_TRUE(live.server.writes().empty());
}

TEST_F(ApplyCommand, OnlyWhatIsNamed) {
  fill();
  plan();
  const RunResult ran = apply("--yes --only pod/shop/second");
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("1 ask left out by --only.\n")) << ran.out;
  EXPECT_EQ(deeds(), (std::vector<std::string>{"nominate shop/second", "mark shop/low-2",
                                               "delete shop/low-2", "bind shop/second"}));
  const RunResult unknown = apply("--yes --only shop/secont");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(unknown.error.contains(
      "--only 'shop/secont': the plan has no such ask; did you mean shop/second?"))
      << unknown.error;
}

TEST_F(ApplyCommand, TheHolderOfTheLeaseIsReported) {
  fill();
  const std::string rules = "--set live.leaseDuration=3s";
  plan(rules);
  live.server.put(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"makeway",)"
      R"("namespace":"kube-system"},"spec":{"holderIdentity":"the-scheduler",)"
      R"("leaseDurationSeconds":600}})");
  const RunResult ran = apply("--yes " + rules);
  EXPECT_EQ(ran.status, 1) << ran.out << ran.error;
  EXPECT_TRUE(
      ran.error.contains("Lease kube-system/makeway is held by the-scheduler, which "
                         "schedules this cluster now; stop it first"))
      << ran.error;
  EXPECT_TRUE(live.server.deeds().empty());
}

TEST_F(ApplyCommand, APauseOnTheLeaseIsRespected) {
  fill();
  plan();
  live.server.put(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"makeway",)"
      R"("namespace":"kube-system","annotations":{"makeway.dev/pause":"evictions"}},)"
      R"("spec":{"holderIdentity":""}})");
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 1) << ran.out << ran.error;
  EXPECT_TRUE(ran.error.contains("annotate lease makeway makeway.dev/pause-")) << ran.error;
  EXPECT_TRUE(live.server.deeds().empty());
}

/// The plan evicts within the budget; by the time it is applied another client has used it up.
TEST_F(ApplyCommand, ABudgetThatIsUsedUpSparesItsVictim) {
  const auto put_budget = [this](int allowed) {
    live.server.put(fmt::format(
        R"({{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{{"name":"b",)"
        R"("namespace":"shop","generation":1}},"spec":{{"maxUnavailable":1,"selector":)"
        R"({{"matchLabels":{{"app":"low-1"}}}}}},"status":{{"observedGeneration":1,)"
        R"("disruptionsAllowed":{},"currentHealthy":1,"desiredHealthy":0,"expectedPods":1}}}})",
        allowed));
  };
  fill();
  put_budget(1);
  const std::string rules = "--set budgets.mode=strict";
  plan(rules);
  put_budget(0);
  const RunResult ran = apply("--yes " + rules);
  EXPECT_EQ(ran.status, 7) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("! Pod shop/first: not applied: ")) << ran.out;
  EXPECT_EQ(count("evict shop/low-1"), 0U);
  EXPECT_EQ(count("evict shop/low-2"), 1U);
  EXPECT_EQ(count("bind shop/second"), 1U);
}

/// The server refuses what the plan may do: the ask is given up, and its nomination taken back.
TEST_F(ApplyCommand, WhatTheServerKeepsRefusingIsGivenUp) {
  live.server.allow_writes([](std::int64_t, const std::string& line) {
    const bool is_victim = line.starts_with("DELETE ") && line.contains("/pods/low-1");
    return is_victim
               ? std::optional(WriteFault{.kind = WriteFault::Kind::status_before, .status = 403})
               : std::nullopt;
  });
  fill();
  plan();
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 7) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("! Pod shop/first: given up: the cluster has refused it 3 times"))
      << ran.out;
  EXPECT_TRUE(ran.out.contains("already evicted for it: shop/low-1")) << ran.out;
  EXPECT_EQ(count("bind shop/second"), 1U);
  const std::string pod = live.server.object("Pod", "shop", "first");
  EXPECT_FALSE(pod.contains(R"("nominatedNodeName":"n1")")) << pod;
}

TEST_F(ApplyCommand, PodsOfOthersAreNeitherPlacedNorEvicted) {
  put({.name = "low-1", .priority = 10, .node = "n1", .scheduler = "default-scheduler"});
  put({.name = "low-2", .priority = 20, .node = "n2"});
  put({.name = "first", .priority = 1'000});
  put({.name = "second", .priority = 900, .scheduler = "default-scheduler"});
  plan();
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 7) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("! Pod shop/first: not applied: does not fit")) << ran.out;
  EXPECT_TRUE(
      ran.out.contains("! Pod shop/second: not applied: pod shop/second is placed by "
                       "another scheduler (default-scheduler)"))
      << ran.out;
  EXPECT_TRUE(deeds().empty());
}

TEST_F(ApplyCommand, AGangIsCarriedOutWhole) {
  live.server.put(
      R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",)"
      R"("namespace":"shop","uid":"uid-g"},"spec":{"priority":1000,"schedulingPolicy":{"gang":)"
      R"({"minCount":2}}}})");
  put({.name = "low-1", .priority = 10, .node = "n1"});
  put({.name = "low-2", .priority = 20, .node = "n2"});
  put({.name = "m-0", .priority = 1'000, .group = "g"});
  put({.name = "m-1", .priority = 1'000, .group = "g"});
  plan();
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 0) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("~ PodGroup shop/g: evict 2 pods, then bind to n1, n2\n"))
      << ran.out;
  for (const std::string_view deed :
       {"delete shop/low-1", "delete shop/low-2", "bind shop/m-0", "bind shop/m-1"}) {
    EXPECT_EQ(count(deed), 1U) << deed;
  }
}

TEST_F(ApplyCommand, CtrlCEndsItInOrderAndTheSameCommandGoesOn) {
  live.server.set_kubelet(true, false);
  fill();
  plan();
  auto result = std::async(std::launch::async, [this] { return apply("--yes --only shop/first"); });
  ASSERT_TRUE(live.server.await([](const FakeObjects&, const std::vector<FakeDeed>& all) {
    return std::ranges::any_of(all, [](const FakeDeed& deed) { return deed.what == "delete"; });
  }));
  EXPECT_EQ(std::raise(SIGTERM), 0);
  const RunResult ran = result.get();
  EXPECT_EQ(ran.status, 7) << ran.out << ran.error;
  EXPECT_TRUE(ran.out.contains("! Pod shop/first: not finished: ")) << ran.out;
  EXPECT_TRUE(ran.out.contains("already evicted for it: shop/low-1\n")) << ran.out;
  EXPECT_TRUE(lease().contains(R"("holderIdentity":"")")) << lease();
  live.server.set_kubelet(true, true);
  EXPECT_EQ(live.server.let_go(), 1U);
  const RunResult again = apply("--yes --only shop/first");
  EXPECT_EQ(again.status, 0) << again.out << again.error;
  EXPECT_EQ(count("delete shop/low-1"), 1U);
  EXPECT_EQ(count("bind shop/first"), 1U);
}

TEST_F(ApplyCommand, TheUserIsAsked) {
  fill();
  plan();
  const auto answer = [](std::string line) {
    TypedLine typed(std::move(line));
    Screen screen;
    screen.terminal.input = &typed;
    const std::vector<std::string> words = {"apply", "plan.json", "--kubeconfig", "kubeconfig"};
    const cli::ExitStatus status = cli::run(words, screen.terminal);
    EXPECT_TRUE(screen.out.text().contains("Apply 2 evictions, 2 binds? [y/N] "))
        << screen.out.text() << screen.error.text();
    return status;
  };
  EXPECT_EQ(answer(""), cli::ExitStatus::failed);
  EXPECT_EQ(answer("no"), cli::ExitStatus::failed);
  EXPECT_TRUE(live.server.deeds().empty());
  EXPECT_EQ(answer(" Y "), cli::ExitStatus::done);
  EXPECT_EQ(count("bind shop/first"), 1U);
}

TEST_F(ApplyCommand, WrongUsageIsReported) {
  fill();
  plan();
  const auto usage = [&](std::string_view flags, std::string_view expected) {
    const RunResult ran = apply(flags);
    EXPECT_EQ(ran.status, 2) << flags << ran.error;
    EXPECT_TRUE(ran.error.contains(expected)) << ran.error;
  };
  usage("", "standard input is not a terminal, so the plan cannot be confirmed; give --yes");
  usage("--yes --lease makeway", "--lease 'makeway': expected NAMESPACE/NAME");
  usage("--yes --scheduler-name ''", "--scheduler-name ''");
  usage("--yes --context ''", "--context '': it is empty");
}

TEST_F(ApplyCommand, WhatIsNoPlanOfThisClusterIsRefused) {
  fill();
  plan();
  const std::string good = read_text(sandbox.folder() / "plan.json");
  const auto refuse = [&](const std::string& text, std::string_view expected,
                          std::string_view flags = "--yes") {
    sandbox.write("plan.json", text);
    const RunResult ran = apply(flags);
    EXPECT_EQ(ran.status, 1) << ran.out << ran.error;
    EXPECT_TRUE(ran.error.contains(expected)) << expected << "\n" << ran.out << ran.error;
  };
  refuse("", "plan.json: it is empty; make one with `makeway plan");
  refuse("{]", "plan.json");
  refuse(live.server.dump(), R"(kind "v1 List": this is no plan; expected makeway.dev/v1 Plan)");
  refuse(R"({"apiVersion":"makeway.dev/v1","kind":"Plan"})", "id: it is missing");
  refuse(good, "the plan was made by other rules than these; it calls them makeway-live",
         "--yes --preset kube-1.37");
  // Every uid is another one, as in a snapshot with hidden names.
  std::string hidden = good;
  for (std::size_t at = hidden.find("uid-"); at != std::string::npos; at = hidden.find("uid-")) {
    hidden.replace(at, 4, "n00");
  }
  refuse(hidden, "none of the 4 pods that the plan names is in this cluster");
  live.server.fail({.kind = ServerFault::Kind::status,
                    .path_prefix = "/api/v1/namespaces/kube-system",
                    .status = 200,
                    .body = R"({"kind":"Namespace","metadata":{"uid":"here"}})"});
  std::string elsewhere = good;
  elsewhere.insert(elsewhere.find(R"("preset")"), R"("cluster": "there", )");
  refuse(elsewhere, R"(cluster "there": this plan is of another cluster)");
  EXPECT_TRUE(live.server.deeds().empty());
}

TEST_F(ApplyCommand, KindsThatItCannotServeAreRefused) {
  fill();
  plan();
  live.server.serve("makeway.dev/v1", "queues", "Queue");
  EXPECT_EQ(apply("--dry-run").status, 0);  // They are only defined.
  live.server.put(R"({"apiVersion":"makeway.dev/v1","kind":"Queue","metadata":{"name":"team"}})");
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.error.contains("this cluster has objects of makeway.dev (Queue team)"))
      << ran.error;
  EXPECT_TRUE(live.server.deeds().empty());
}

TEST_F(ApplyCommand, ItHasNoPlanes) {
  fill();
  plan();
  live.server.serve("makeway.dev/v1", "replicaschedules", "ReplicaSchedule");
  live.server.put(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a","labels":)"
                  R"({"makeway.dev/trusted":"true"}}})");
  live.server.put(
      R"({"apiVersion":"makeway.dev/v1","kind":"ReplicaSchedule","metadata":{"name":"web",)"
      R"("namespace":"a"},"spec":{"priority":1,"resources":{"cpu":"1"},)"
      R"("planes":[{"name":"east"}]}})");
  const RunResult ran = apply();
  EXPECT_EQ(ran.status, 1);
  EXPECT_TRUE(ran.error.contains("has objects of makeway.dev (ReplicaSchedule a/web)"))
      << ran.error;
  EXPECT_TRUE(live.server.deeds().empty());
}

}  // namespace
}  // namespace makeway

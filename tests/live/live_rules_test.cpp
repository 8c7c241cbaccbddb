// The rules that only a live run has (SPEC sections 8 and 10), each over the whole scheduler.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>

#include "support/live_stack.hpp"

namespace makeway {
namespace {

using RuleFault = WriteFault::Kind;

class LiveRules : public LiveLoop {
 protected:
  void put_agent();
  /// So many steps in which nothing may happen.
  static void idle(LiveStack& stack, int steps = 5) {
    for (int step = 0; step < steps; ++step) stack.loop().step();
  }
  void put_namespace(bool is_trusted) {
    live.server.put(
        fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"a","labels":{{)"
                    R"("makeway.dev/trusted":"{}"}}}}}})",
                    is_trusted));
  }
  void put_budget(std::string_view name, int allowed) {
    live.server.put(fmt::format(
        R"({{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{{"name":"{}",)"
        R"("namespace":"a","uid":"uid-{}"}},"spec":{{"selector":{{"matchLabels":)"
        R"({{"app":"web"}}}}}},"status":{{"disruptionsAllowed":{},"observedGeneration":0}}}})",
        name, name, allowed));
  }
  /// n1 is full of `low`, and `urgent` wants all of it.
  void put_full_node(LivePodText low = {}) {
    live.server.put(live_node("n1", 4));
    low.name = "low";
    low.cpus = 4;
    low.node = "n1";
    put(low);
    put({.name = "urgent", .cpus = 4, .priority = 1'000});
  }
  /// A field of one of its conditions; empty: there is no such condition.
  std::string condition_of(std::string_view pod, std::string_view type,
                           std::string_view field) const {
    const JsonValue tree = fake::parsed(live.server.object("Pod", "a", pod));
    const JsonValue* const conditions = fake::value_at(tree, "status.conditions");
    if (conditions == nullptr) return {};
    for (const JsonValue& each : *conditions->as_array()) {
      if (fake::text_at(each, "type") == type) return fake::text_at(each, field);
    }
    return {};
  }
  std::string message_of(std::string_view pod) const {
    return condition_of(pod, "PodScheduled", "message");
  }
};

constexpr std::string_view pinned_to_n1 =
    R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
    R"({"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In",)"
    R"("values":["n1"]}]}]}}},)";
constexpr std::string_view of_daemon_set =
    R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"agent",)"
    R"("uid":"uid-ds","controller":true}],)";
constexpr std::string_view daemon_set_text =
    R"({"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"agent",)"
    R"("namespace":"a","uid":"uid-ds"},"spec":{"selector":{},"template":{"spec":{}}}})";

/// Of equal priority with `low`: only a privileged pod takes its room.
void LiveRules::put_agent() {
  put({.name = "agent-1",
       .cpus = 4,
       .priority = 10,
       .metadata = std::string(of_daemon_set),
       .spec = std::string(pinned_to_n1)});
}

constexpr std::string_view web_label = R"("labels":{"app":"web"},)";
constexpr std::string_view stays_mark =
    R"("annotations":{"makeway.dev/allow-preemption":"false"},)";

// ---- Protection ---------------------------------------------------------------------------------

// SPEC section 1: pods of other schedulers are never victims unless `preemptOtherSchedulers`.
TEST_F(LiveRules, PodsOfOtherSchedulersAreNoVictims) {
  put_full_node({.scheduler = "default-scheduler"});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return !message_of("urgent").empty(); }));
  idle(*stack);
  EXPECT_TRUE(deleted().empty());
  EXPECT_EQ(count("nominate"), 0U);
  expect_lawful(*stack);
}

TEST_F(LiveRules, PodsOfOtherSchedulersAreVictimsWhereTheKnobSaysSo) {
  configuration.protection.preempt_other_schedulers = true;
  put_full_node({.scheduler = "default-scheduler"});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
  expect_lawful(*stack);
}

// SPEC section 8, evict strict: a pod under two budgets is no victim.
TEST_F(LiveRules, UnderStrictBudgetsAPodUnderTwoOfThemIsNoVictim) {
  configuration.budgets.mode = BudgetMode::strict;
  put_full_node({.metadata = std::string(web_label)});
  put_budget("one", 1);
  put_budget("two", 1);
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return !message_of("urgent").empty(); }));
  idle(*stack);
  EXPECT_TRUE(deleted().empty());
  live.server.remove("PodDisruptionBudget", "a", "two");
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
  expect_lawful(*stack);
}

// SPEC section 8, evict strict: budgets are counted for a whole group before the first call.
TEST_F(LiveRules, UnderStrictBudgetsAGroupGoesWholeOrNotAtAll) {
  configuration.budgets.mode = BudgetMode::strict;
  live.server.put(live_node("n1", 4));
  live.server.put(
      R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",)"
      R"("namespace":"a","uid":"uid-g"},"spec":{"priority":0,"disruptionMode":{"all":{}},)"
      R"("schedulingPolicy":{"gang":{"minCount":2}}}})");
  for (const std::string name : {"m-0", "m-1"}) {
    put({.name = name, .cpus = 2, .node = "n1", .group = "g", .metadata = std::string(web_label)});
  }
  put({.name = "urgent", .cpus = 4, .priority = 1'000});
  put_budget("web", 1);
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return !message_of("urgent").empty(); }));
  idle(*stack);
  EXPECT_EQ(count("evict"), 0U);
  EXPECT_EQ(count("mark"), 0U);
  put_budget("web", 2);
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), (std::set<std::string>{"a/m-0", "a/m-1"}));
  EXPECT_EQ(count("delete"), 0U);
  expect_lawful(*stack);
}

// ---- Trust --------------------------------------------------------------------------------------

// SPEC section 10: allow-preemption protects in trusted namespaces.
TEST_F(LiveRules, AMarkProtectsOnlyWhereItsNamespaceIsTrusted) {
  put_namespace(true);
  put_full_node({.metadata = std::string(stays_mark)});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return !message_of("urgent").empty(); }));
  idle(*stack);
  EXPECT_TRUE(deleted().empty());
  EXPECT_EQ(stack->view().not_honoured(TrustMark::protection), 0U);
  put_namespace(false);
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
  EXPECT_GE(stack->view().not_honoured(TrustMark::protection), 1U);
  // An event reports the mark, once.
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  EXPECT_EQ(count("event MarkNotHonoured"), 1U);
  for (const FakeDeed& deed : live.server.deeds()) {
    if (deed.what != "event MarkNotHonoured") continue;
    EXPECT_EQ(deed.object, "a/low");
    EXPECT_EQ(deed.detail,
              "metadata.annotations[makeway.dev/allow-preemption] 'false' is not honoured: it "
              "protects in trusted namespaces only");
  }
  expect_lawful(*stack);
}

// SPEC section 10: a pod may not say of itself that it must not be evicted.
TEST_F(LiveRules, NoPodKeepsItselfByAnAnnotationOfDumps) {
  put_full_node({.metadata = R"("annotations":{"makeway.dev/kept-by":"other-scheduler"},)"});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
}

// SPEC section 10: a group asks with the lowest priority of group and pods.
TEST_F(LiveRules, AGroupDoesNotRaiseThePriorityOfItsPods) {
  live.server.put(
      R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",)"
      R"("namespace":"a","uid":"uid-g"},"spec":{"priority":1000,"schedulingPolicy":{"gang":)"
      R"({"minCount":1}}}})");
  live.server.put(live_node("n1", 4));
  put({.name = "low", .cpus = 4, .priority = 10, .node = "n1"});
  put({.name = "m-0", .cpus = 4, .priority = 10, .group = "g"});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([&] { return stack->loop().statistics().cycles > 0; }));
  idle(*stack);
  EXPECT_TRUE(deleted().empty());
  EXPECT_GE(stack->view().not_honoured(TrustMark::group_priority), 1U);
}

// SPEC section 10: the privileges of pinned pods need an existing DaemonSet of a trusted namespace.
TEST_F(LiveRules, APinnedPodIsPrivilegedWhileItsDaemonSetExists) {
  put_namespace(true);
  configuration.required_node.preemption_start_delay = {};
  live.server.put(live_node("n1", 4));
  put({.name = "low", .cpus = 4, .priority = 10, .node = "n1"});
  put_agent();
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([&] { return stack->loop().statistics().cycles > 0; }));
  idle(*stack);
  EXPECT_TRUE(deleted().empty());
  live.server.put(std::string(daemon_set_text));
  EXPECT_TRUE(stack->run_until(all_run({"agent-1"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
  expect_lawful(*stack);
}

// SPEC section 8, reserve: its time is read back from the condition, also by the next process, and
// our own memory is no mark of a tenant.
TEST_F(LiveRules, AReservationKeepsItsAge) {
  put_namespace(true);
  live.server.put(std::string(daemon_set_text));
  configuration.required_node.preemption_start_delay = Duration{3'000};
  live.server.put(live_node("n1", 4));
  put({.name = "low", .cpus = 4, .priority = 10, .node = "n1"});
  put_agent();
  live.server.allow_writes();
  const auto since = [this] {
    return condition_of("agent-1", "makeway.dev/Reserved", "lastTransitionTime");
  };
  auto stack = start();
  EXPECT_TRUE(stack->run_until([&] { return !since().empty(); }));
  const std::string began = since();
  // Long enough for another second to be written, were it begun anew.
  const auto killed_at = std::chrono::steady_clock::now() + std::chrono::milliseconds(1'100);
  EXPECT_TRUE(stack->run_until([&] { return std::chrono::steady_clock::now() > killed_at; }));
  stack.reset();
  stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"agent-1"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(since(), began);
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
  EXPECT_EQ(stack->view().not_honoured(TrustMark::note), 0U);
  expect_lawful(*stack);
}

// ---- Nodes and volumes --------------------------------------------------------------------------

// SPEC section 8, kubelet refusals: that node is closed to that owner for a while.
TEST_F(LiveRules, ANodeWhoseKubeletRefusedAPodIsClosedToItsOwner) {
  const std::string owned =
      R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web",)"
      R"("uid":"uid-rs","controller":true}],)";
  live.server.put(live_node("n1", 4));
  live.server.put(live_node("n2", 4));
  put({.name = "w-1", .cpus = 1, .metadata = owned});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"w-1"})));
  ASSERT_EQ(node_of("w-1"), "n1");
  idle(*stack);
  std::string failed = live_pod({.name = "w-1", .cpus = 1, .node = "n1", .metadata = owned});
  failed.replace(failed.find(R"("Running")"), 9, R"("Failed","reason":"OutOfcpu")");
  live.server.put(failed);
  EXPECT_TRUE(stack->run_until([&] { return stack->view().kubelet_refusals() == 1; }));
  put({.name = "w-2", .cpus = 1, .metadata = owned});
  put({.name = "other", .cpus = 1});
  EXPECT_TRUE(stack->run_until(all_run({"w-2", "other"})));
  EXPECT_EQ(node_of("w-2"), "n2");
  expect_lawful(*stack);
}

// SPEC section 8, provision a volume: the claim gets the node, the room is held until it is bound,
// and then the pod is.
TEST_F(LiveRules, APodIsBoundWhenItsVolumeWasMade) {
  live.server.put(live_node("n1", 4));
  live.server.put(
      R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"fast"},)"
      R"("provisioner":"disks.example.com","volumeBindingMode":"WaitForFirstConsumer"})");
  const auto claim = [](std::string_view more_metadata, std::string_view more_spec) {
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{{"name":"data",)"
        R"("namespace":"a",{}"uid":"uid-data"}},"spec":{{{}"storageClassName":"fast",)"
        R"("accessModes":["ReadWriteOnce"]}}}})",
        more_metadata, more_spec);
  };
  live.server.put(claim("", ""));
  put({.name = "db",
       .cpus = 4,
       .spec = R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}],)"});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return count("select node") == 1; }));
  put({.name = "later", .cpus = 4});
  idle(*stack, 10);
  EXPECT_EQ(count("bind"), 0U);
  EXPECT_EQ(count("select node"), 1U);
  EXPECT_NE(live.server.object("Pod", "a", "db").find(R"("nominatedNodeName":"n1")"),
            std::string::npos);
  EXPECT_EQ(message_of("db"), "it waits until a volume for data is made on n1");
  // Claims and volumes are two watches. That the news of the volume comes late costs no pod its
  // room.
  live.server.put(claim(R"("annotations":{"volume.kubernetes.io/selected-node":"n1",)"
                        R"("pv.kubernetes.io/bind-completed":"yes"},)",
                        R"("volumeName":"pv-1",)"));
  idle(*stack, 10);
  EXPECT_EQ(node_of("later"), "");
  EXPECT_EQ(node_of("db"), "") << "where the volume can be used is not known yet";
  live.server.put(
      R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv-1"},"spec":{)"
      R"("storageClassName":"fast","claimRef":{"namespace":"a","name":"data","uid":"uid-data"}},)"
      R"("status":{"phase":"Bound"}})");
  EXPECT_TRUE(stack->run_until(all_run({"db"})));
  EXPECT_EQ(node_of("later"), "");
  expect_lawful(*stack);
}

// ---- Brakes and gangs ---------------------------------------------------------------------------

// SPEC section 8, Brakes: the same ask evicting again within `evictAgainWindow` backs off, alarms.
TEST_F(LiveRules, AnAskThatLosesItsRoomDoesNotEvictAgainAtOnce) {
  configuration.live.evict_again_window = Duration{6'000};
  live.server.put(live_node("n1", 4));
  live.server.put(live_node("n2", 4));
  put({.name = "low-1", .cpus = 4, .priority = 0, .node = "n1"});
  put({.name = "low-2", .cpus = 4, .priority = 10, .node = "n2"});
  put({.name = "urgent", .cpus = 4, .priority = 1'000});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return count("delete") == 1; }));
  // A pod of another scheduler takes the room the moment that it is free.
  put({.name = "thief", .cpus = 4, .node = "n1", .scheduler = "default-scheduler"});
  live.server.let_go();
  EXPECT_TRUE(stack->run_until([&] { return stack->actuator().brake_alarms() == 1; }));
  EXPECT_EQ(count("delete"), 1U);
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), (std::set<std::string>{"a/low-1", "a/low-2"}));
  EXPECT_EQ(stack->actuator().brake_alarms(), 1U);
}

// SPEC section 8, Brakes: a crash loop evicts no pod; a process that stays up evicts a moment
// later.
TEST_F(LiveRules, AProcessThatHasJustStartedEvictsNoPod) {
  put_full_node();
  live.server.allow_writes();
  for (int lives = 0; lives < 3; ++lives) {
    LiveStack crashing(live, configuration, tools, Duration{60'000});
    EXPECT_TRUE(crashing.run_until([&] { return crashing.loop().statistics().cycles > 0; }));
    idle(crashing);
    EXPECT_TRUE(deleted().empty());
    EXPECT_EQ(count("nominate"), 0U);
  }
  LiveStack stack(live, configuration, tools, Duration{1'500});
  EXPECT_TRUE(stack.run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
}

// Evictions that a strict budget refused are none: the ask is not held back when it allows them.
TEST_F(LiveRules, RefusedEvictionsDoNotUseUpABrake) {
  configuration.budgets.mode = BudgetMode::strict;
  const std::string owned =
      R"("labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",)"
      R"("name":"web","uid":"uid-rs","controller":true}],)";
  put_full_node({.metadata = owned});
  put_budget("web", 1);
  std::atomic<bool> refuses = true;
  live.server.allow_writes([&](std::int64_t, const std::string& line) {
    const bool evicts = line.find("/eviction") != std::string::npos;
    return evicts && refuses
               ? std::optional(WriteFault{.kind = RuleFault::status_before, .status = 403})
               : std::nullopt;
  });
  const auto stack = start();
  // More often than the same owner may be made to yield in ten minutes.
  EXPECT_TRUE(stack->run_until([&] { return stack->actuator().statistics().refused >= 5; }));
  refuses = false;
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(stack->actuator().brake_alarms(), 0U);
}

// SPEC section 8, Gangs: with `gangRollback: delete` half a gang does not keep its room.
TEST_F(LiveRules, HalfAGangIsDeletedWhereTheKnobSaysSo) {
  for (const GangRollback rule : {GangRollback::none, GangRollback::erase}) {
    SCOPED_TRACE(choice_name(rule));
    LiveServer fresh;
    fresh.server.serve("scheduling.k8s.io/v1beta1", "podgroups", "PodGroup");
    fresh.server.set_kubelet(true, true);
    fresh.server.put(live_node("n1", 4));
    fresh.server.put(
        R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",)"
        R"("namespace":"a","uid":"uid-g"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}})");
    fresh.server.put(live_pod({.name = "m-0", .cpus = 1, .group = "g"}));
    fresh.server.put(live_pod({.name = "m-1", .cpus = 1, .group = "g"}));
    fresh.server.allow_writes([](std::int64_t, const std::string& line) {
      const bool fails = line.find("/pods/m-1/binding") != std::string::npos;
      return fails ? std::optional(WriteFault{.kind = RuleFault::status_before, .status = 500})
                   : std::nullopt;
    });
    configuration.live.gang_bind_timeout = Duration{300};
    configuration.live.gang_rollback = rule;
    LiveStack stack(fresh, configuration, tools);
    const auto was_deleted = [&] {
      const auto deeds = fresh.server.deeds();
      return std::ranges::count(deeds, "delete", &FakeDeed::what) > 0;
    };
    if (rule == GangRollback::erase) {
      EXPECT_TRUE(stack.run_until(was_deleted));
      EXPECT_EQ(stack.loop().statistics().rollbacks, 1U);
    } else {
      for (int step = 0; step < 15; ++step) stack.loop().step();
      EXPECT_FALSE(was_deleted());
    }
    EXPECT_TRUE(stack.loop().refused().empty());
  }
}

}  // namespace
}  // namespace makeway

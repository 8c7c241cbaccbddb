// Plans with queues (SPEC section 3): for each rule a good one that passes and a broken one that is
// caught. Numbers are written by hand, from docs/decisions/0008-queues.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "judge/check_plan.hpp"
#include "judge/naive_queues.hpp"
#include "model/names.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

Queue queue(std::string name, std::int64_t weight, std::int64_t allocated) {
  return {.name = std::move(name), .weight = weight, .allocated = {{"cpu", allocated}}};
}

Pod in_queue(Pod object, const std::string& name) {
  object.labels.push_back({.key = std::string(names::queue), .value = name});
  std::ranges::sort(object.labels);
  return object;
}

PlanQueueShare cpu(std::int64_t deserved, std::int64_t before, std::int64_t allocated,
                   std::int64_t used, std::int64_t preempting = 0) {
  return {.resource = "cpu",
          .deserved = deserved,
          .allocated_before = before,
          .allocated = allocated,
          .used = used,
          .demand = used,
          .preempting = preempting};
}

struct QueueScene : Scene {
  template <class... Objects>
  explicit QueueScene(const Objects&... objects) : Scene(objects...) {
    configuration.queue.division = Division::by_weight;
  }

  void table(const std::string& name, std::int64_t weight, PlanQueueShare share) {
    plan.queues.push_back({.name = name, .weight = weight, .shares = {std::move(share)}});
  }

  void moves(const std::string& from, const std::string& to, std::int64_t amount, bool at_once) {
    plan.queue_moves.push_back(
        {.resource = "cpu", .from = from, .to = to, .amount = amount, .at_once = at_once});
  }

  PlanAsk& queue_asks(const std::string& name, Outcome outcome,
                      std::initializer_list<const char*> victims = {}) {
    PlanAsk entry{.kind = AskKind::queue, .name = name, .outcome = outcome};
    for (const char* const each : victims) {
      entry.victims.push_back(victim(each, ""));
      entry.victims.back().cause_for = "Queue " + name;
      entry.victims.back().cause_key = "priority: 1 against 2";
      plan.actions.push_back({.type = ActionType::evict,
                              .namespace_name = "default",
                              .name = each,
                              .uid = entry.victims.back().uid,
                              .node = entry.victims.back().node,
                              .ask = parse_ref("Queue " + name)});
    }
    plan.asks.push_back(std::move(entry));
    return plan.asks.back();
  }

  PlanQueueShare& share(std::size_t at) { return plan.queues[at].shares.front(); }
};

/// The seed's second example in thousandths of a core: a third queue comes, both others must give.
QueueScene third_queue() {
  QueueScene scene(
      node("n1", 9000), queue("q1", 2, 3000), queue("q2", 4, 6000), queue("q3", 3, 0),
      in_queue(pod("a2", "n1", 2, 2000), "q1"), in_queue(pod("a3", "n1", 1, 1000), "q1"),
      in_queue(pod("b1", "n1", 3, 2000), "q2"), in_queue(pod("b2", "n1", 2, 2000), "q2"),
      in_queue(pod("b3", "n1", 1, 1000), "q2"));
  scene.table("q1", 2, cpu(2000, 3000, 2000, 3000));
  scene.table("q2", 4, cpu(4000, 6000, 4000, 5000));
  scene.table("q3", 3, cpu(3000, 0, 1000, 0, 2000));
  scene.moves("q2", "", 1000, true);
  scene.moves("", "q3", 1000, true);
  scene.moves("q1", "q3", 1000, false);
  scene.moves("q2", "q3", 1000, false);
  scene.queue_asks("q3", Outcome::preempts, {"a3", "b3"});
  return scene;
}

/// Two queues come, and each takes 1 of the 3 cores that the first one has.
QueueScene two_claims() {
  QueueScene scene(node("n1", 3000), queue("q1", 1, 3000), queue("q2", 1, 0), queue("q3", 1, 0),
                   in_queue(pod("a1", "n1", 1, 1000), "q1"),
                   in_queue(pod("a2", "n1", 2, 1000), "q1"),
                   in_queue(pod("a3", "n1", 3, 1000), "q1"));
  scene.table("q1", 1, cpu(1000, 3000, 1000, 3000));
  scene.table("q2", 1, cpu(1000, 0, 0, 0, 1000));
  scene.table("q3", 1, cpu(1000, 0, 0, 0, 1000));
  scene.moves("q1", "q2", 1000, false);
  scene.moves("q1", "q3", 1000, false);
  return scene;
}

TEST(NaiveDivision, ByHand) {
  const auto divide = [](std::int64_t total, const std::vector<NaiveClaimant>& claimants) {
    std::vector<std::int64_t> amounts;
    for (const NaivePortion& each : naive_division(total, claimants))
      amounts.push_back(each.amount);
    return amounts;
  };
  using Amounts = std::vector<std::int64_t>;
  constexpr std::int64_t no_cap = NaiveClaimant::no_cap;
  EXPECT_EQ(divide(9, {{.weight = 2}, {.weight = 4}, {.weight = 3}}), (Amounts{2, 4, 3}));
  // 10 x 1/3 each: 3 1/3; the first by name has the one that is left.
  EXPECT_EQ(divide(10, {{}, {}, {}}), (Amounts{4, 3, 3}));
  // 10 x 1/6, 2/6, 3/6: 1 4/6, 3 2/6, 5: the largest fraction first.
  EXPECT_EQ(divide(10, {{.weight = 1}, {.weight = 2}, {.weight = 3}}), (Amounts{2, 3, 5}));
  EXPECT_EQ(divide(12, {{.cap = 2}, {.cap = 8}, {.cap = 8}}), (Amounts{2, 5, 5}));
  EXPECT_EQ(divide(12, {{.cap = 2}, {.cap = 3}, {.cap = 4}}), (Amounts{2, 3, 4}));
  EXPECT_EQ(divide(12, {{.floor = 9}, {}, {}}), (Amounts{9, 2, 1}));
  EXPECT_EQ(divide(12, {{.floor = 9, .cap = 9}, {.cap = 1}, {}}), (Amounts{9, 1, 2}));
  // Floors that do not fit: 10 x 9/18, 6/18, 3/18 = 5, 3 1/3, 1 2/3.
  EXPECT_EQ(divide(10, {{.floor = 9}, {.floor = 6}, {.floor = 3}}), (Amounts{5, 3, 2}));
  EXPECT_EQ(divide(0, {{}, {}}), (Amounts{0, 0}));
  EXPECT_EQ(divide(5, {}), Amounts{});
  EXPECT_EQ(divide(5, {{.cap = 0}, {.cap = 0}}), (Amounts{0, 0}));
  EXPECT_EQ(divide(INT64_MAX, {{.weight = 1'000'000}, {.weight = 1'000'000, .cap = no_cap}}),
            (Amounts{INT64_MAX / 2 + 1, INT64_MAX / 2}));
  EXPECT_EQ(naive_division(10, {{}, {}, {}})[0].down, 3);
  EXPECT_EQ(naive_division(9, {{}, {}, {}})[0].down, 3);
}

TEST(CheckPlanQueues, TheSeedsTables) {
  const QueueScene scene = third_queue();
  EXPECT_EQ(scene.laws(), Laws{});
  for (const LawBreach& breach : scene.breaches()) ADD_FAILURE() << breach.text;
}

TEST(CheckPlanQueues, VictimsAreReportedForTheClaimThatTheyServe) {
  QueueScene scene = two_claims();
  scene.queue_asks("q2", Outcome::preempts, {"a1"});
  scene.queue_asks("q3", Outcome::preempts, {"a2"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan.asks.back().victims.back().cause_key = "only candidate";  // a3 may leave, too.
  EXPECT_EQ(scene.laws(), Laws{9});

  QueueScene first_takes_all = two_claims();
  first_takes_all.queue_asks("q2", Outcome::preempts, {"a1", "a2"});
  first_takes_all.queue_asks("q3", Outcome::waits, {});
  EXPECT_EQ(first_takes_all.laws(), Laws{9});
}

TEST(CheckPlanQueues, QueuesThatAreNotReadAreNotReported) {  // law 9
  QueueScene scene = third_queue();
  scene.configuration.queue.enabled = false;
  EXPECT_EQ(scene.laws(), (Laws{3, 9}));
}

TEST(CheckPlanQueues, TheTableIsTrue) {  // law 9
  for (std::int64_t PlanQueueShare::* const field :
       {&PlanQueueShare::deserved, &PlanQueueShare::allocated_before, &PlanQueueShare::used,
        &PlanQueueShare::leaving, &PlanQueueShare::demand}) {
    QueueScene scene = third_queue();
    scene.share(0).*field += 1;
    const std::vector<LawBreach> breaches = scene.breaches();
    EXPECT_TRUE(std::ranges::any_of(
        breaches, [](const LawBreach& each) { return each.law == 9 && each.ask == "Queue q1"; }));
  }
  QueueScene scene = third_queue();
  scene.plan.queues[1].weight = 5;
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.queues.pop_back();
  EXPECT_EQ(scene.breaches().back().text, "the plan does not list the queues that there are");
}

TEST(CheckPlanQueues, NothingIsCountedTwice) {  // law 8
  QueueScene scene = third_queue();
  scene.share(2).allocated += 1000;
  EXPECT_EQ(scene.laws(), (Laws{3, 8, 9}));
}

TEST(CheckPlanQueues, UnusedRoomMovesFirst) {  // law 1
  QueueScene scene = third_queue();
  scene.share(2).allocated = 0;
  scene.plan.queue_moves.erase(scene.plan.queue_moves.begin() + 1);
  EXPECT_EQ(scene.laws(), (Laws{1, 3}));
}

TEST(CheckPlanQueues, MovesAreReportedAsTheyAre) {  // law 9
  QueueScene scene = third_queue();
  scene.plan.queue_moves[2].amount = 999;
  EXPECT_EQ(scene.laws(), Laws{9});
  scene = third_queue();
  scene.plan.queue_moves.push_back({.resource = "cpu", .from = "q1", .to = "q3", .amount = 0});
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanQueues, NoPodLeavesInVain) {  // law 4
  QueueScene scene = third_queue();
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.queue_asks("q3", Outcome::preempts, {"b2", "a3", "b3"});
  EXPECT_EQ(scene.laws(), (Laws{4, 9}));  // Nor is it q3 that b2 leaves for.
  // A larger one instead of the one that is enough: not best, but irreducible.
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.queue_asks("q3", Outcome::preempts, {"b2", "a3"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.engine.laws_waived = {WaivedLaw::law_4};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanQueues, AQueueThatMustLoseLoses) {  // law 3
  QueueScene scene = third_queue();
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.queue_asks("q3", Outcome::preempts, {"a3"});
  EXPECT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().text, "it must lose 1000 cpu, and loses 0");
}

TEST(CheckPlanQueues, OutcomesSayWhatHappens) {  // law 3
  for (const Outcome outcome : {Outcome::fits, Outcome::waits, Outcome::infeasible}) {
    QueueScene scene = third_queue();
    scene.plan.asks.front().outcome = outcome;
    EXPECT_EQ(scene.laws(), Laws{3});
  }
}

TEST(CheckPlanQueues, AQueueThatClaimsAsks) {  // law 9
  QueueScene scene = third_queue();
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  EXPECT_EQ(scene.laws(), (Laws{3, 9}));
  scene.queue_asks("q1", Outcome::fits);
  const std::vector<LawBreach> breaches = scene.breaches();
  EXPECT_TRUE(std::ranges::any_of(breaches, [](const LawBreach& each) {
    return each.law == 9 && each.text == "it asks, and claims nothing";
  }));
  scene.queue_asks("nowhere", Outcome::fits);
  EXPECT_EQ(scene.breaches().front().text, "there is no such pending unit");
}

TEST(CheckPlanQueues, QueuesAskFirst) {  // law 9
  QueueScene scene = third_queue();
  scene.cluster.apply(in_queue(pod("c1", "", 0, 1), "q3"));
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.share(2).demand = 1;
  scene.ask("c1", Outcome::infeasible);
  scene.queue_asks("q3", Outcome::preempts, {"a3", "b3"});
  EXPECT_EQ(scene.laws(), (Laws{9, 10}));
}

TEST(CheckPlanQueues, PrioritiesDoNotMatterBetweenQueues) {  // law 2
  QueueScene scene = third_queue();
  scene.cluster.apply(in_queue(pod("a3", "n1", 1'000'000, 1000), "q1"));
  scene.plan.asks[0].victims[0].priority = 1'000'000;
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan.asks[0].priority = 7;
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanQueues, ProtectedPodsStay) {  // law 2
  QueueScene scene = third_queue();
  Pod object = in_queue(pod("a3", "n1", 1, 1000), "q1");
  object.opted_out = true;
  scene.cluster.apply(object);
  EXPECT_EQ(scene.laws(), (Laws{2}));
}

TEST(CheckPlanQueues, AProtectedPodIsNoVictim) {  // law 3
  QueueScene scene = third_queue();
  for (const char* const name : {"a2", "a3"}) {
    Pod object = scene.cluster.pod(*scene.cluster.find_pod("default", name));
    object.opted_out = true;
    scene.cluster.apply(object);
  }
  EXPECT_EQ(scene.laws(), (Laws{2, 3, 4, 9}));
  // q1 gives nothing: q3 gets what q2 can give.
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.plan.queue_moves.erase(scene.plan.queue_moves.begin() + 2);
  scene.share(0).allocated = 3000;
  scene.share(2).preempting = 1000;
  scene.queue_asks("q3", Outcome::preempts, {"b3"});
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanQueues, GroupsLeaveWhole) {  // laws 4 and 5
  QueueScene scene = third_queue();
  PodGroup object = group("g", DisruptionMode::all);
  object.queue = "q2";
  scene.cluster.apply(object);
  for (const char* const name : {"b2", "b3"}) {
    scene.cluster.apply(in_group(scene.cluster.pod(*scene.cluster.find_pod("default", name)), "g"));
  }
  scene.plan.asks[0].victims[1].priority = scene.priority_of("b3");
  EXPECT_EQ(scene.laws(), Laws{5});
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.queue_asks("q3", Outcome::preempts, {"b2", "a3", "b3"});
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanQueues, ACauseIsAReceiver) {  // law 9
  QueueScene scene = third_queue();
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.queue_asks("q1", Outcome::preempts, {"a3"});
  scene.queue_asks("q3", Outcome::preempts, {"b3"});
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.asks[0].victims[0].cause_rule.clear();
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanQueues, ActionsMatch) {  // law 9
  QueueScene scene = third_queue();
  scene.plan.actions.pop_back();
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanQueues, StrictBudgetsHold) {  // law 2
  QueueScene scene = third_queue();
  scene.configuration.budgets.mode = BudgetMode::strict;
  scene.cluster.apply(DisruptionBudget{
      .namespace_name = "default",
      .name = "b",
      .selector =
          LabelSelector{
              .requirements = {{.key = "app", .operation = Operator::in, .values = {"a3", "b3"}}}},
      .disruptions_allowed = 1});
  EXPECT_EQ(scene.laws(), Laws{2});
}

// ---- A queue that is over its allocation --------------------------------------------------------

/// The seed's first example.
QueueScene overused(std::int64_t leaving_cpu = 0) {
  QueueScene scene(
      node("n1", 10'000), queue("q1", 1, 3000), queue("q2", 2, 6000),
      in_queue(pod("a1", "n1", 1, 2000), "q1"), in_queue(pod("a2", "n1", 2, 2000), "q1"),
      in_queue(pod("a3", "n1", 3, 1000), "q1"), in_queue(pod("b1", "n1", 1, 5000), "q2"));
  scene.cluster.apply(node("n1", 9000));
  scene.table("q1", 1, cpu(3000, 3000, 3000, 5000));
  scene.table("q2", 2, cpu(6000, 6000, 6000, 5000));
  scene.share(0).leaving = leaving_cpu;
  return scene;
}

TEST(CheckPlanQueues, PreprocessingIsItsOwnCause) {  // laws 3 and 9
  QueueScene scene = overused();
  scene.queue_asks("q1", Outcome::preempts, {"a1"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.queue_asks("q2", Outcome::preempts, {"a1"});
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanQueues, NoPodLeavesTwice) {  // law 6
  QueueScene scene = overused(2000);
  scene.cluster.apply(leaving(in_queue(pod("a1", "n1", 1, 2000), "q1")));
  EXPECT_EQ(scene.laws(), Laws{});
  scene.queue_asks("q1", Outcome::preempts, {"a1"});
  EXPECT_EQ(scene.laws(), (Laws{6, 9}));
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  scene.queue_asks("q1", Outcome::preempts, {"a2"});
  EXPECT_EQ(scene.laws(), (Laws{4, 9}));
}

TEST(CheckPlanQueues, OthersAreNotTouched) {  // law 4
  QueueScene scene = overused();
  scene.queue_asks("q1", Outcome::preempts, {"a1", "b1"});
  EXPECT_EQ(scene.laws(), (Laws{4, 9}));
}

// ---- Pods and groups of a queue -----------------------------------------------------------------

/// Node with room; queue q1 may use 1000, and uses 600.
template <class... Objects>
QueueScene small_queue(const Objects&... objects) {
  QueueScene scene(node("n1", 5000), node("n2", 5000), queue("q1", 1, 1000), queue("q2", 9, 9000),
                   in_queue(pod("low", "n1", 1, 600), "q1"), objects...);
  scene.table("q1", 1, cpu(1000, 1000, 1000, 600));
  scene.table("q2", 9, cpu(9000, 9000, 9000, 0));
  scene.share(0).demand += 500;
  return scene;
}

TEST(CheckPlanQueues, AnAskFitsIntoItsQueue) {  // law 3
  QueueScene scene = small_queue(in_queue(pod("ask", "", 5, 400), "q1"));
  scene.share(0).demand = 1000;
  scene.ask("ask", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(in_queue(pod("ask", "", 5, 401), "q1"));
  scene.share(0).demand = 1001;
  EXPECT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().text, "queue q1 has no room for it now");
}

TEST(CheckPlanQueues, WhatIsPromisedIsUsed) {  // laws 3 and 8
  QueueScene scene =
      small_queue(in_queue(pod("ask", "", 5, 250), "q1"), in_queue(pod("ask2", "", 4, 250), "q1"));
  scene.ask("ask", Outcome::fits, "n1");
  scene.ask("ask2", Outcome::fits, "n2");
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanQueues, VictimsForTheQueuesRoomRunAnywhere) {  // laws 1, 4
  QueueScene scene = small_queue(in_queue(pod("ask", "", 5, 500), "q1"));
  scene.ask("ask", Outcome::preempts, "n2", {"low"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.queue.preempt_within_queue = false;
  EXPECT_EQ(scene.laws(), Laws{2});
  scene.configuration.queue.enabled = false;
  scene.plan.queues.clear();
  EXPECT_EQ(scene.laws(), (Laws{1, 4}));
}

TEST(CheckPlanQueues, VictimsAreOfTheSameQueue) {  // law 2
  QueueScene scene = small_queue(in_queue(pod("ask", "", 5, 400), "q1"),
                                 in_queue(pod("big1", "n1", 1, 4400), "q2"),
                                 in_queue(pod("big2", "n2", 1, 4900), "q2"));
  scene.share(0).demand = 1000;
  scene.share(1).used = 9300;
  scene.share(1).demand = 9300;
  scene.share(1).allocated_before = 9000;
  scene.queue_asks("q2", Outcome::preempts, {"big1"});
  scene.ask("ask", Outcome::waits, "n1");
  scene.plan.asks.back().waits_for.push_back(
      {.namespace_name = "default", .name = "big1", .node = "n1"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan.asks.pop_back();
  scene.plan.actions.pop_back();
  scene.ask("ask", Outcome::preempts, "n2", {"big2"});
  EXPECT_EQ(scene.laws(), (Laws{2, 6}));
}

TEST(CheckPlanQueues, InfeasibleIsProvenForTheQueue) {  // law 10
  QueueScene scene = small_queue(in_queue(pod("ask", "", 5, 500), "q1"));
  scene.ask("ask", Outcome::infeasible);
  EXPECT_EQ(scene.laws(), Laws{10});
  scene.configuration.queue.preempt_within_queue = false;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanQueues, ReceiversWaitForWhatComes) {  // laws 3 and 6
  // Every pod that must leave q1 is leaving; what they hold is promised to q2.
  QueueScene scene(node("n1", 1000), queue("q1", 1, 500), queue("q2", 1, 0),
                   leaving(in_queue(pod("gone", "n1", 1, 500), "q1")),
                   in_queue(pod("stays", "n1", 1, 500), "q1"),
                   in_queue(pod("ask", "", 1, 500), "q2"));
  Queue receiver = queue("q2", 1, 0);
  receiver.preempting = {{"cpu", 500}};
  scene.cluster.apply(receiver);
  scene.table("q1", 1, cpu(500, 500, 500, 1000));
  scene.table("q2", 1, cpu(500, 0, 0, 0, 500));
  scene.share(0).leaving = 500;
  scene.share(1).demand = 500;
  scene.moves("", "q2", 500, false);
  scene.queue_asks("q2", Outcome::waits);
  scene.ask("ask", Outcome::waits, "n1");
  scene.plan.asks.back().waits_for.push_back(
      {.namespace_name = "default", .name = "gone", .node = "n1"});
  EXPECT_EQ(scene.laws(), Laws{});
  for (const LawBreach& breach : scene.breaches()) ADD_FAILURE() << breach.text;
}

TEST(CheckPlanQueues, NominationsHoldRoomInTheirQueue) {  // laws 3 and 7
  QueueScene scene = small_queue(nominated(in_queue(pod("first", "", 5, 400), "q1"), "n1"),
                                 in_queue(pod("ask", "", 5, 100), "q1"));
  scene.ask("ask", Outcome::fits, "n2");
  EXPECT_EQ(scene.laws(), Laws{3});
  EXPECT_EQ(scene.breaches().front().text,
            "queue q1 has no room for it once all leaving pods are gone");
  scene.cluster.apply(in_queue(pod("ask", "", 6, 100), "q1"));  // Strictly higher.
  scene.plan.asks[0].priority = 6;
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanQueues, PinnedPodsAreInNoQueue) {  // law 3
  Pod agent = in_queue(pod("agent", "", 9, 450), "q1");
  agent.notes.required_node = "n1";
  QueueScene scene = small_queue(agent, in_queue(pod("ask", "", 5, 50), "q1"));
  scene.share(0).demand = 650;
  scene.ask("agent", Outcome::fits, "n1");
  scene.ask("ask", Outcome::fits, "n2");
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanQueues, TheNextStatusIsReported) {  // law 9
  QueueScene scene = third_queue();
  fill_losses(scene.cluster, scene.configuration, scene.plan);
  const auto laws = [&] {
    std::vector<int> broken;
    for (const LawBreach& breach : scene.breaches_as_is()) broken.push_back(breach.law);
    return broken;
  };
  EXPECT_EQ(laws(), (Laws{9, 9, 9}));  // None of them.
  fill_queue_status(scene.cluster, scene.plan);
  EXPECT_EQ(laws(), Laws{});
  scene.plan.queue_status.back().preempting.back().amount = 0;
  EXPECT_EQ(laws(), Laws{9});
}

/// A node of 4000 of which a pod outside holds 1000; q1 may use 2000 of the rest, and uses it.
template <class... Objects>
QueueScene with_outside(const Objects&... objects) {
  QueueScene scene(node("n1", 4000), queue("q1", 1, 2000), pod("outside", "n1", 1, 1000),
                   in_queue(pod("low", "n1", 1, 2000), "q1"), objects...);
  scene.configuration.queue.division = Division::max_min;
  scene.table("q1", 1, cpu(2000, 2000, 2000, 2000));
  return scene;
}

TEST(CheckPlanQueues, PodsOutsideUseWhatNoQueueIsPromised) {  // law 3
  QueueScene scene = with_outside(pod("ask", "", 5, 1000));
  scene.ask("ask", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
  // By weight the queue deserves all of the 3000 that are left.
  scene.configuration.queue.division = Division::by_weight;
  scene.share(0) = cpu(3000, 2000, 3000, 2000);
  scene.moves("", "q1", 1000, true);
  scene.plan.asks.insert(scene.plan.asks.begin(),
                         PlanAsk{.kind = AskKind::queue, .name = "q1", .outcome = Outcome::fits});
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanQueues, PodsOutsideTakeOnlyPodsOutside) {  // law 2
  QueueScene scene = with_outside(pod("ask", "", 5, 2000));
  scene.ask("ask", Outcome::preempts, "n1", {"outside"});
  EXPECT_EQ(scene.laws(), Laws{});
  QueueScene wrong = with_outside(pod("ask", "", 5, 2000));
  wrong.ask("ask", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(wrong.laws(), (Laws{2, 3}));
}

TEST(CheckPlanQueues, PromisesWithoutPodsAreCut) {  // laws 3 and 9
  // 6000 are left of 10,000. Each deserves 3000. Given back: a 6000 to 4000, b 4000 to 3000; that
  // is still 7000, and only b has unused room: cut to 2000. So b claims 1000, and a gives it.
  QueueScene scene(node("n1", 6000), queue("a", 1, 6000), queue("b", 1, 4000),
                   in_queue(pod("a1", "n1", 2, 2000), "a"), in_queue(pod("a2", "n1", 1, 2000), "a"),
                   in_queue(pod("b1", "n1", 1, 2000), "b"));
  scene.table("a", 1, cpu(3000, 6000, 3000, 4000));
  scene.table("b", 1, cpu(3000, 4000, 2000, 2000, 1000));
  scene.moves("a", "", 2000, true);
  scene.moves("b", "", 2000, true);
  scene.moves("a", "b", 1000, false);
  scene.queue_asks("b", Outcome::preempts, {"a2"});
  EXPECT_EQ(scene.laws(), Laws{});
  for (const LawBreach& breach : scene.breaches()) ADD_FAILURE() << breach.text;
  scene.plan.asks.clear();
  scene.plan.actions.clear();
  EXPECT_EQ(scene.laws(), (Laws{3, 9}));
}

}  // namespace
}  // namespace makeway::scene

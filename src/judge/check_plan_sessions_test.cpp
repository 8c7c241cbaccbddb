// Plans for sessions (SPEC section 6): for each rule a good one that passes and a broken one that
// is caught.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <utility>

#include "judge/check_plan.hpp"
#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

ResourceGroup resource_group(std::vector<std::string> nodes = {"n1", "n2"}) {
  return {.name = "g", .uid = {}, .nodes = std::move(nodes)};
}

Partition partition(std::string name, std::int32_t tier, PartitionMode mode) {
  return {.name = std::move(name),
          .uid = {},
          .resource_group = "g",
          .nodes = {},
          .tier = tier,
          .preemptible = true,
          .mode = mode};
}

/// Kernels a, b, ... of so much cpu each, on these nodes; an empty name: no place.
Session session(const std::string& name, std::int32_t priority, std::int64_t cpu,
                std::initializer_list<const char*> nodes = {""}) {
  Session result{.namespace_name = "default", .name = name, .uid = "uid-" + name};
  result.created = Time{1000};
  result.resource_group = "g";
  result.priority = priority;
  for (const char* const node : nodes) {
    const char letter = static_cast<char>('a' + result.kernels.size());
    result.kernels.push_back(
        {.name = std::string(1, letter), .requests = {{"cpu", cpu}}, .node = node});
  }
  if (result.kernels.front().node.empty()) return result;
  result.status.phase = SessionPhase::running;
  result.status.started = Time{1000};
  return result;
}

Session in(Session object, std::string partition_name) {
  object.partition = std::move(partition_name);
  return object;
}

Session created(Session object, Time time) {
  object.created = time;
  return object;
}

Session started(Session object, Time time) {
  object.status.started = time;
  return object;
}

/// A plan for sessions as an honest planner would write it.
struct SessionScene : Scene {
  using Scene::Scene;

  const Session& object(const std::string& name) const {
    return cluster.own<Session>().at({"default", name});
  }
  const Partition* partition_of(const Session& of) const {
    const auto& all = cluster.own<Partition>();
    const auto found = all.find({std::string(), of.partition});
    return found == all.end() ? nullptr : &found->second;
  }
  std::int32_t tier_of(const Session& of) const {
    return partition_of(of) == nullptr ? 0 : partition_of(of)->tier;
  }

  PlanVictim victim_of(const Session& leaver, const std::string& ask_name,
                       const std::set<std::string>& nodes) const {
    const std::int64_t seconds = (now - leaver.status.started.value_or(now)).ms / 1000;
    return {.namespace_name = "default",
            .name = leaver.name,
            .uid = leaver.uid,
            .node = fmt::format("{}", fmt::join(nodes, ",")),
            .unit = "Session default/" + leaver.name,
            .priority = *leaver.priority,
            .reason = "lower priority",
            .cause_for = "Session default/" + ask_name,
            .cause_rule = "session: sessions of lower priority",
            .cause_alternative = "no other session may leave",
            .cause_key = "no choice",
            .cost = {.pod_seconds = seconds * std::ssize(leaver.kernels)}};
  }

  void add_victim(PlanAsk& entry, const std::string& name, SessionFate fate) {
    const Session& leaver = object(name);
    std::set<std::string> nodes;
    for (const Kernel& kernel : leaver.kernels) nodes.insert(kernel.node);
    PlanSessionVictim then{.namespace_name = "default", .name = name};
    then.tier = tier_of(leaver);
    then.nodes.assign(nodes.begin(), nodes.end());
    then.fate = fate;
    then.ends_at = now;
    if (partition_of(leaver) != nullptr) then.ends_at = now + partition_of(leaver)->grace_time;
    if (fate == SessionFate::requeues) then.resume_after = then.ends_at + Duration{30'000};
    then.preemptions = leaver.status.preemptions + 1;
    entry.victims.push_back(victim_of(leaver, entry.name, nodes));
    if (fate == SessionFate::suspends) entry.victims.back().cost = {};
    entry.cost = sum(entry.cost, entry.victims.back().cost);
    plan.cost = sum(plan.cost, entry.victims.back().cost);
    const ActionType type = fate == SessionFate::requeues   ? ActionType::requeue
                            : fate == SessionFate::suspends ? ActionType::suspend
                                                            : ActionType::evict;
    plan.actions.push_back({.type = type,
                            .namespace_name = "default",
                            .name = name,
                            .uid = leaver.uid,
                            .node = entry.victims.back().node,
                            .ask = ref_of(entry),
                            .since = {}});
    if (then.ends_at > now) plan.actions.back().until = then.ends_at;
    entry.session->victims.push_back(std::move(then));
  }

  /// Victims most important first; what becomes of them is the same for all.
  PlanAsk& asks(const std::string& name, Outcome outcome,
                std::initializer_list<const char*> nodes = {},
                std::initializer_list<const char*> victims = {},
                SessionFate fate = SessionFate::ends) {
    const Session& asker = object(name);
    PlanAsk entry{.kind = AskKind::session, .namespace_name = "default", .name = name};
    entry.outcome = outcome;
    entry.priority = *asker.priority;
    entry.session = PlanSession{.resource_group = "g", .partition = asker.partition};
    entry.session->tier = tier_of(asker);
    entry.session->runs_on = asker.status.phase == SessionPhase::suspended;
    std::size_t at = 0;
    for (const char* const node : nodes) {
      const std::string kernel = name + "/" + asker.kernels[at++].name;
      entry.placements.push_back({.namespace_name = "default", .name = kernel, .node = node});
      if (entry.session->runs_on) continue;
      plan.actions.push_back(
          {.type = outcome == Outcome::fits ? ActionType::bind : ActionType::nominate,
           .namespace_name = "default",
           .name = kernel,
           .uid = asker.uid,
           .node = node,
           .ask = {},
           .since = {}});
    }
    entry.session->candidates = std::ssize(victims);
    entry.session->may_preempt = entry.session->candidates > 0;
    for (const char* const each : victims) add_victim(entry, each, fate);
    plan.asks.push_back(std::move(entry));
    return plan.asks.back();
  }

  Laws laws() const {
    Laws broken;
    for (const LawBreach& breach : breaches_as_is()) broken.push_back(breach.law);
    broken.erase(std::ranges::unique(broken).begin(), broken.end());
    return broken;
  }
  std::string first() const {
    return breaches_as_is().empty() ? "" : breaches_as_is().front().text;
  }
};

/// Two nodes of 1000 in group g.
template <class... Objects>
SessionScene two_nodes(const Objects&... objects) {
  return SessionScene(node("n1", 1000), node("n2", 1000), resource_group(), objects...);
}

// ---- Turns --------------------------------------------------------------------------------------

TEST(CheckPlanSessions, TurnsGoByPriorityThenAge) {  // law 2
  SessionScene good = two_nodes(session("high", 20, 600), session("low", 10, 600));
  good.asks("high", Outcome::fits, {"n1"});
  good.asks("low", Outcome::fits, {"n2"});
  EXPECT_EQ(good.laws(), Laws{});
  SessionScene bad = two_nodes(session("high", 20, 600), session("low", 10, 600));
  bad.asks("low", Outcome::fits, {"n2"});
  bad.asks("high", Outcome::fits, {"n1"});
  EXPECT_EQ(bad.laws(), Laws{2});
  EXPECT_EQ(bad.first(), "its turn is before that of Session default/low");
  SessionScene age = two_nodes(created(session("a", 10, 600), Time{3000}), session("b", 10, 600));
  age.asks("a", Outcome::fits, {"n1"});
  age.asks("b", Outcome::fits, {"n2"});
  EXPECT_EQ(age.laws(), Laws{2});
}

TEST(CheckPlanSessions, ATierComesBeforeAPriority) {  // law 2
  SessionScene scene = two_nodes(
      partition("lo", 1, PartitionMode::cancel), partition("hi", 2, PartitionMode::cancel),
      in(session("high", 1, 600), "hi"), in(session("low", 9, 600), "lo"));
  scene.asks("high", Outcome::fits, {"n1"});
  scene.asks("low", Outcome::fits, {"n2"});
  EXPECT_EQ(scene.laws(), Laws{});
  std::swap(scene.plan.asks[0], scene.plan.asks[1]);
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanSessions, ASessionOffTheQueueDoesNotAsk) {  // law 3
  Session back = session("back", 10, 600);
  back.status.phase = SessionPhase::preempted;
  back.status.fate = SessionFate::requeues;
  back.status.resume_after = now;
  SessionScene scene = two_nodes(back);
  scene.asks("back", Outcome::fits, {"n1"});
  EXPECT_EQ(scene.laws(), Laws{});
  back.status.resume_after = now + Duration{1};
  scene.cluster.apply(back);
  EXPECT_EQ(scene.laws(), Laws{3});
  back.status.resume_after = now;
  back.status.fate = SessionFate::on_request;
  scene.cluster.apply(back);
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanSessions, OnlyTheFirstThatDoesNotFitPreempts) {  // law 2
  SessionScene scene = two_nodes(session("one", 20, 1000), session("two", 10, 1000),
                                 session("x", 1, 1000, {"n1"}), session("y", 2, 1000, {"n2"}));
  scene.asks("one", Outcome::preempts, {"n1"}, {"x"}).session->candidates = 2;
  scene.asks("two", Outcome::preempts, {"n2"}, {"y"});
  EXPECT_EQ(scene.laws(), Laws{2});
  EXPECT_EQ(scene.first(),
            "it may not preempt: Session default/one comes before it and does not fit");
}

TEST(CheckPlanSessions, TheHeadOnlyIsASetting) {  // law 2
  SessionScene scene = two_nodes(session("big", 20, 5000), session("two", 10, 1000),
                                 session("x", 1, 1000, {"n1"}), session("y", 6, 1000, {"n2"}));
  scene.asks("big", Outcome::infeasible);
  scene.asks("two", Outcome::preempts, {"n1"}, {"x"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.session.preemptors = Preemptors::head_only;
  EXPECT_EQ(scene.laws(), Laws{2});
}

TEST(CheckPlanSessions, NoSessionIsPassedOverThatPreemptionCanHelp) {  // law 10
  SessionScene scene = two_nodes(session("one", 20, 1000), session("two", 10, 1000),
                                 session("x", 1, 1000, {"n1"}), session("y", 6, 1000, {"n2"}));
  scene.asks("one", Outcome::not_found);
  scene.asks("two", Outcome::preempts, {"n1"}, {"x"});
  EXPECT_EQ(scene.laws(), Laws{10});
  EXPECT_EQ(scene.first(), "it is called not-found, and preemption can help it");
  scene.plan.asks[0].bounds_reached = {"engine.placementStepsMax"};
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Which sessions may be preempted-------------------------------------------------------------

/// The ask of priority 10 takes the whole of n1 from the victim.
template <class... Objects>
SessionScene takes(const Session& victim, const Objects&... objects) {
  SessionScene scene(node("n1", 1000), resource_group({"n1"}), session("ask", 10, 1000), victim,
                     objects...);
  scene.asks("ask", Outcome::preempts, {"n1"}, {victim.name.c_str()});
  return scene;
}

TEST(CheckPlanSessions, VictimsHaveALowerAndAPreemptiblePriority) {  // law 2
  EXPECT_EQ(takes(session("x", 5, 1000, {"n1"})).laws(), Laws{});
  SessionScene above = takes(session("x", 6, 1000, {"n1"}));
  EXPECT_EQ(above.first(), "victim default/x may not be preempted: its priority is above 5");
  above.configuration.session.preemptible_priority = 6;
  EXPECT_EQ(above.laws(), Laws{});
  ResourceGroup own = resource_group({"n1"});
  own.preemptible_priority = 3;
  above.cluster.apply(own);
  EXPECT_EQ(above.laws()[0], 2);
  SessionScene equal = takes(session("x", 10, 1000, {"n1"}));
  equal.configuration.session.preemptible_priority = 50;
  EXPECT_EQ(equal.first(), "victim default/x may not be preempted: its priority is not lower");
}

TEST(CheckPlanSessions, VictimsRunAndAreNotLeaving) {
  Session leaves = session("x", 1, 1000, {"n1"});
  leaves.status.ends_at = now + Duration{5000};
  SessionScene scene = takes(leaves);
  EXPECT_EQ(scene.laws(), (Laws{4, 6, 9}));  // It also frees nothing, and is no candidate.
  Session pending = session("y", 1, 1000);
  EXPECT_EQ(takes(pending, session("z", 6, 1000, {"n1"})).laws(), (Laws{2, 3, 9}));
  Session other = session("x", 1, 1000, {"n1"});
  other.resource_group = "h";
  EXPECT_EQ(takes(other).first(),
            "victim default/x may not be preempted: it runs in another resource group");
}

TEST(CheckPlanSessions, ManyPreemptionsProtect) {  // law 2
  Session often = session("x", 1, 1000, {"n1"});
  often.status.preemptions = 3;
  SessionScene scene = takes(often);
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.session.max_preemptions = 4;
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.session.max_preemptions = 3;
  EXPECT_EQ(scene.laws()[0], 2);
}

TEST(CheckPlanSessions, ProtectionHoldsForSessionsToo) {  // law 2
  SessionScene scene = takes(session("x", 1, 1000, {"n1"}));
  scene.configuration.protection.minimum_runtime = Duration{999'000};
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.protection.minimum_runtime = Duration{999'001};
  EXPECT_EQ(scene.laws()[0], 2);
  scene.configuration.protection.minimum_runtime = {};
  scene.configuration.protection.namespaces = {"default"};
  EXPECT_EQ(scene.laws()[0], 2);
}

TEST(CheckPlanSessions, PodsAreUsage) {  // law 3
  SessionScene scene(node("n1", 1000), resource_group({"n1"}), session("ask", 10, 1000),
                     session("x", 1, 500, {"n1"}), pod("web", "n1", 0, 500));
  PlanAsk& entry = scene.asks("ask", Outcome::preempts, {"n1"}, {"x"});
  EXPECT_EQ(scene.laws(), Laws{3});  // The pod stays.
  entry.victims[0].name = "web";
  entry.session->victims[0].name = "web";
  EXPECT_EQ(scene.laws()[0], 3);
  EXPECT_EQ(scene.first(), "victim default/web is no session");
}

TEST(CheckPlanSessions, PartitionsCompareTiers) {  // law 2
  const auto scene_for = [](std::int32_t tier, std::optional<bool> preemptible) {
    Session victim = in(session("x", 50, 1000, {"n1"}), "lo");
    victim.preemptible = preemptible;
    SessionScene scene(
        node("n1", 1000), resource_group({"n1"}), partition("lo", tier, PartitionMode::cancel),
        partition("hi", 2, PartitionMode::cancel), in(session("ask", 10, 1000), "hi"), victim);
    scene.asks("ask", Outcome::preempts, {"n1"}, {"x"});
    return scene;
  };
  EXPECT_EQ(scene_for(1, {}).laws(), Laws{});
  EXPECT_EQ(scene_for(2, {}).first(),
            "victim default/x may not be preempted: its tier is not lower");
  EXPECT_EQ(scene_for(1, false).first(),
            "victim default/x may not be preempted: it is not preemptible");
}

TEST(CheckPlanSessions, TheExemptTimeIsKept) {  // law 2
  Partition exempt = partition("lo", 1, PartitionMode::cancel);
  exempt.exempt_time = Duration{60'000};
  SessionScene scene(node("n1", 1000), resource_group({"n1"}), exempt,
                     partition("hi", 2, PartitionMode::cancel), in(session("ask", 10, 1000), "hi"),
                     started(in(session("x", 1, 1000, {"n1"}), "lo"), Time{now.ms - 60'000}));
  scene.asks("ask", Outcome::preempts, {"n1"}, {"x"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(started(in(session("x", 1, 1000, {"n1"}), "lo"), Time{now.ms - 59'999}));
  EXPECT_EQ(scene.laws()[0], 2);
  EXPECT_EQ(scene.first(),
            "victim default/x may not be preempted: its exempt time of 1m is not over");
}

TEST(CheckPlanSessions, NoSessionIsTwoAsksVictim) {  // law 8
  SessionScene scene = two_nodes(session("one", 20, 400), session("two", 10, 400),
                                 session("x", 1, 1000, {"n1", "n2"}));
  scene.asks("one", Outcome::preempts, {"n1"}, {"x"});
  scene.asks("two", Outcome::preempts, {"n2"}, {"x"});
  const Laws laws = scene.laws();
  EXPECT_NE(std::ranges::find(laws, 8), laws.end());
}

// ---- Places and victims -------------------------------------------------------------------------

TEST(CheckPlanSessions, AllKernelsHaveAPlaceOrNone) {  // law 3
  SessionScene scene = two_nodes(session("ask", 10, 600, {"", ""}));
  scene.asks("ask", Outcome::fits, {"n1", "n2"});
  EXPECT_EQ(scene.laws(), Laws{});
  SessionScene half = two_nodes(session("ask", 10, 600, {"", ""}));
  half.asks("ask", Outcome::fits, {"n1"});
  EXPECT_EQ(half.laws(), Laws{3});
  SessionScene same = two_nodes(session("ask", 10, 600, {"", ""}));
  same.asks("ask", Outcome::fits, {"n1", "n1"});
  EXPECT_EQ(same.laws(), Laws{3});
}

TEST(CheckPlanSessions, KernelsStayInTheirGroupAndPartition) {  // law 3
  SessionScene outside(node("n1", 1000), node("n2", 1000), resource_group({"n1"}),
                       session("ask", 10, 600));
  outside.asks("ask", Outcome::fits, {"n2"});
  EXPECT_EQ(outside.first(), "kernel ask/a may not run on node n2");
  Partition part = partition("lo", 1, PartitionMode::cancel);
  part.nodes = {"n1"};
  SessionScene scene = two_nodes(part, in(session("ask", 10, 600), "lo"));
  scene.asks("ask", Outcome::fits, {"n2"});
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanSessions, NothingIsEvictedForASessionThatFits) {  // laws 1 and 6
  SessionScene fits = two_nodes(session("ask", 10, 1000), session("x", 1, 1000, {"n1"}));
  fits.asks("ask", Outcome::preempts, {"n1"}, {"x"});
  EXPECT_EQ(fits.laws(), Laws{1});
  Session leaves = session("y", 1, 1000, {"n2"});
  leaves.status.ends_at = now;
  SessionScene waits = two_nodes(session("ask", 10, 1000), session("x", 1, 1000, {"n1"}), leaves);
  waits.asks("ask", Outcome::preempts, {"n1"}, {"x"});
  EXPECT_EQ(waits.laws(), Laws{6});
  leaves.status.ends_at = Time{now.ms - 60'000};
  waits.cluster.apply(leaves);  // It should have left long ago.
  EXPECT_EQ(waits.laws(), Laws{});
}

TEST(CheckPlanSessions, EveryVictimIsNeeded) {  // law 4
  SessionScene scene = two_nodes(session("ask", 10, 700), session("x", 1, 200, {"n1"}),
                                 session("y", 2, 800, {"n1"}), session("z", 6, 900, {"n2"}));
  scene.asks("ask", Outcome::preempts, {"n1"}, {"y", "x"});
  EXPECT_EQ(scene.laws(), Laws{4});
  EXPECT_EQ(scene.first(), "victim default/x need not leave: its kernels fit beside it");
  scene.configuration.engine.laws_waived = {WaivedLaw::law_4};
  EXPECT_EQ(scene.laws(), Laws{});
}

TEST(CheckPlanSessions, TheOrderDecides) {  // law 9
  SessionScene scene = two_nodes(session("ask", 10, 1000), session("x", 1, 1000, {"n1"}),
                                 session("y", 2, 1000, {"n2"}));
  scene.asks("ask", Outcome::preempts, {"n2"}, {"y"}).session->candidates = 2;
  EXPECT_EQ(scene.laws(), Laws{9});
  EXPECT_EQ(scene.first(),
            "victim default/y is no choice of the order: those before it are enough");
  SessionScene age = two_nodes(session("ask", 10, 1000), session("x", 1, 1000, {"n1"}),
                               started(session("y", 1, 1000, {"n2"}), Time{2000}));
  age.asks("ask", Outcome::preempts, {"n2"}, {"y"}).session->candidates = 2;
  EXPECT_EQ(age.laws(), Laws{9});
  age.configuration.session.preemption_order = PreemptionOrder::newest;
  EXPECT_EQ(age.laws(), Laws{});
}

TEST(CheckPlanSessions, WithoutPuttingBackAllBeforeLeave) {  // law 9
  SessionScene scene = two_nodes(session("ask", 10, 1000), session("x", 1, 500, {"n1"}),
                                 session("w", 6, 500, {"n1"}), session("y", 2, 1000, {"n2"}));
  scene.asks("ask", Outcome::preempts, {"n2"}, {"y"}).session->candidates = 2;
  EXPECT_EQ(scene.laws(), Laws{});
  scene.configuration.session.put_back = PutBack::none;
  EXPECT_EQ(scene.laws(), Laws{9});
  EXPECT_EQ(scene.first(),
            "Session default/x stays, and leaves before victim default/y by the order");
}

TEST(CheckPlanSessions, HeldRoomIsNotAvailableToOthers) {  // law 3
  SessionScene scene = two_nodes(session("one", 20, 1000), session("two", 10, 300),
                                 session("x", 1, 400, {"n1"}), session("y", 6, 1000, {"n2"}));
  scene.asks("one", Outcome::preempts, {"n1"}, {"x"});
  scene.asks("two", Outcome::fits, {"n1"});  // There is room for it now.
  EXPECT_EQ(scene.laws(), Laws{3});
}

TEST(CheckPlanSessions, NominationsHold) {  // law 7
  Session young = created(session("young", 10, 1000), Time{5000});
  young.kernels[0].nominated_node = "n1";
  SessionScene scene = two_nodes(session("old", 10, 500), young, session("y", 6, 1000, {"n2"}));
  scene.asks("old", Outcome::fits, {"n1"});
  EXPECT_EQ(scene.laws(), Laws{7});
  EXPECT_EQ(scene.first(), "it takes room that is nominated to Session default/young");
  young.priority = 9;
  scene.cluster.apply(young);
  EXPECT_EQ(scene.laws(), Laws{});
}

/// young is nominated to n1, which is full: no longer valid. What x frees beyond the need of first
/// goes to old, which comes before young.
TEST(CheckPlanSessions, ANominationWithoutRoomIsNotValid) {  // law 7
  Session young = created(session("young", 10, 400), Time{5000});
  young.kernels[0].nominated_node = "n1";
  SessionScene scene =
      two_nodes(session("first", 10, 600), created(session("old", 10, 400), Time{2000}), young,
                session("x", 1, 1000, {"n1"}), session("y", 6, 1000, {"n2"}));
  scene.asks("first", Outcome::preempts, {"n1"}, {"x"});
  scene.asks("old", Outcome::waits, {"n1"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.cluster.apply(session("x", 1, 600, {"n1"}));  // young has room before x leaves.
  EXPECT_EQ(scene.laws(), Laws{7});
}

TEST(CheckPlanSessions, NoRoomIsProven) {  // law 10
  SessionScene scene = two_nodes(session("ask", 10, 600, {"", ""}), session("x", 1, 500, {"n1"}));
  scene.asks("ask", Outcome::infeasible);
  EXPECT_EQ(scene.first(), "it is called infeasible, and preemption can help it");
  scene.cluster.apply(session("x", 1, 300, {"n1"}));
  EXPECT_EQ(scene.first(), "it is called infeasible, and there is room for it");
  scene.cluster.apply(session("x", 6, 500, {"n1"}));
  EXPECT_EQ(scene.laws(), Laws{});
}

// ---- Suspension ---------------------------------------------------------------------------------

Session with_memory(Session object, std::int64_t memory) {
  for (Kernel& kernel : object.kernels) kernel.requests.push_back({"memory", memory});
  return object;
}

Node with_memory(Node object, std::int64_t memory) {
  object.allocatable.insert(object.allocatable.begin() + 1, {"memory", memory});
  return object;
}

TEST(CheckPlanSessions, ASuspendedSessionKeepsItsMemory) {  // law 3
  const auto scene_for = [](std::int64_t memory) {
    SessionScene scene(with_memory(node("n1", 1000), 1000), resource_group({"n1"}),
                       partition("lo", 1, PartitionMode::suspend),
                       partition("hi", 2, PartitionMode::cancel),
                       with_memory(in(session("ask", 10, 1000), "hi"), memory),
                       with_memory(in(session("x", 1, 1000, {"n1"}), "lo"), 600));
    scene.asks("ask", Outcome::preempts, {"n1"}, {"x"}, SessionFate::suspends);
    return scene;
  };
  EXPECT_EQ(scene_for(400).laws(), Laws{});
  EXPECT_EQ(scene_for(401).laws(), Laws{3});
}

TEST(CheckPlanSessions, ASuspendedSessionResumesOnItsNode) {
  Session asleep = in(session("ask", 10, 600, {"n1"}), "lo");
  asleep.status.phase = SessionPhase::suspended;
  const Partition part = partition("lo", 1, PartitionMode::suspend);
  SessionScene scene = two_nodes(part, asleep);
  scene.asks("ask", Outcome::fits, {"n1"});
  EXPECT_EQ(scene.laws(), Laws{9});  // The plan does not say how it is resumed.
  scene.plan.actions.push_back(
      {.type = ActionType::resume, .namespace_name = "default", .name = "ask", .uid = "uid-ask"});
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan.asks[0].placements[0].node = "n2";
  EXPECT_EQ(scene.laws(), Laws{3});
  SessionScene idle = two_nodes(part, asleep);
  idle.asks("ask", Outcome::not_found);
  EXPECT_EQ(idle.laws(), Laws{10});
}

// ---- What the plan says -------------------------------------------------------------------------

TEST(CheckPlanSessions, FatesFollowTheObjects) {  // law 9
  const auto fate_is = [](const Session& victim, SessionFate fate) {
    SessionScene scene(node("n1", 1000), resource_group({"n1"}), session("ask", 10, 1000), victim);
    scene.asks("ask", Outcome::preempts, {"n1"}, {"x"}, fate);
    return scene.laws().empty();
  };
  Session victim = session("x", 1, 1000, {"n1"});
  EXPECT_TRUE(fate_is(victim, SessionFate::ends));
  EXPECT_FALSE(fate_is(victim, SessionFate::requeues));
  victim.checkpointing = true;
  EXPECT_TRUE(fate_is(victim, SessionFate::requeues));
  victim.type = SessionType::inference;
  EXPECT_TRUE(fate_is(victim, SessionFate::ends));
  victim.requeue = true;
  EXPECT_TRUE(fate_is(victim, SessionFate::requeues));
  victim.autoscaler = true;
  EXPECT_TRUE(fate_is(victim, SessionFate::to_autoscaler));
  victim.type = SessionType::interactive;
  EXPECT_TRUE(fate_is(victim, SessionFate::on_request));
}

TEST(CheckPlanSessions, TheBackOffDoubles) {  // law 9
  const auto backoff_is = [](std::int64_t preemptions, std::int64_t seconds) {
    Session victim = session("x", 1, 1000, {"n1"});
    victim.requeue = true;
    victim.status.preemptions = preemptions;
    SessionScene scene(node("n1", 1000), resource_group({"n1"}), session("ask", 10, 1000), victim);
    PlanAsk& entry = scene.asks("ask", Outcome::preempts, {"n1"}, {"x"}, SessionFate::requeues);
    entry.session->victims[0].resume_after = now + Duration{1000 * seconds};
    return scene.laws().empty();
  };
  EXPECT_TRUE(backoff_is(0, 30));
  EXPECT_TRUE(backoff_is(1, 60));
  EXPECT_TRUE(backoff_is(4, 480));
  EXPECT_TRUE(backoff_is(5, 900));
  EXPECT_TRUE(backoff_is(1'000'000, 900));
  EXPECT_FALSE(backoff_is(1, 30));
}

TEST(CheckPlanSessions, TheGraceTimeIsReported) {  // law 9
  Partition gentle = partition("lo", 1, PartitionMode::requeue);
  gentle.grace_time = Duration{20'000};
  SessionScene scene(node("n1", 1000), resource_group({"n1"}), gentle,
                     partition("hi", 2, PartitionMode::cancel), in(session("ask", 10, 1000), "hi"),
                     in(session("x", 1, 1000, {"n1"}), "lo"));
  PlanAsk& entry = scene.asks("ask", Outcome::preempts, {"n1"}, {"x"}, SessionFate::requeues);
  EXPECT_EQ(scene.laws(), Laws{});
  scene.plan.actions.back().until.reset();
  EXPECT_EQ(scene.laws(), Laws{9});
  entry.session->victims[0].ends_at = now;
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanSessions, ASessionLeavesWhole) {  // law 5
  SessionScene scene = two_nodes(session("ask", 10, 700), session("x", 1, 1000, {"n1", "n2"}));
  PlanAsk& entry = scene.asks("ask", Outcome::preempts, {"n1"}, {"x"});
  EXPECT_EQ(scene.laws(), Laws{});
  entry.session->victims[0].nodes = {"n1"};
  EXPECT_EQ(scene.laws(), Laws{5});
}

TEST(CheckPlanSessions, EveryVictimHasItsCause) {  // law 9
  const auto broken = [](void (*change)(PlanVictim&)) {
    SessionScene scene = takes(session("x", 1, 1000, {"n1"}));
    change(scene.plan.asks[0].victims[0]);
    return scene.laws();
  };
  EXPECT_EQ(broken([](PlanVictim& victim) { victim.reason.clear(); }), Laws{9});
  EXPECT_EQ(broken([](PlanVictim& victim) { victim.cause_for = "Session default/y"; }), Laws{9});
  EXPECT_EQ(broken([](PlanVictim& victim) { victim.cause_rule.clear(); }), Laws{9});
  EXPECT_EQ(broken([](PlanVictim& victim) { victim.cause_alternative.clear(); }), Laws{9});
  EXPECT_EQ(broken([](PlanVictim& victim) { victim.cause_key.clear(); }), Laws{9});
  EXPECT_EQ(broken([](PlanVictim& victim) { victim.cost.pod_seconds += 1; }), Laws{9});
  EXPECT_EQ(broken([](PlanVictim& victim) { victim.priority = 2; }), Laws{9});
}

TEST(CheckPlanSessions, ActionsAgree) {  // law 9
  SessionScene scene = takes(session("x", 1, 1000, {"n1"}));
  scene.plan.actions.back().type = ActionType::requeue;
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.actions.clear();
  EXPECT_EQ(scene.laws(), Laws{9});
  Session over = session("x", 1, 1000, {"n1"});
  over.status.ends_at = now;
  over.status.fate = SessionFate::requeues;
  over.status.preempted_by = "Session default/ask";
  SessionScene ends(node("n1", 1000), resource_group({"n1"}), over);
  EXPECT_EQ(ends.laws(), Laws{9});  // Its grace time is over, and the plan does not end it.
  ends.plan.actions.push_back({.type = ActionType::requeue,
                               .namespace_name = "default",
                               .name = "x",
                               .uid = "uid-x",
                               .node = {},
                               .ask = parse_ref("Session default/ask"),
                               .since = {}});
  EXPECT_EQ(ends.laws(), Laws{});
}

}  // namespace
}  // namespace makeway::scene

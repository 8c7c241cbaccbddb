// A plan that a user has approved, on a cluster that has changed. The engine is a table here.
#include "control/approved_plan.hpp"

#include <gtest/gtest.h>

namespace makeway {
namespace {

constexpr Time applied_at{1'000'000'000};

AskName approved_pod(std::string name) {
  return {.kind = AskKind::pod, .namespace_name = "a", .name = std::move(name)};
}

class ApprovedPlanTest : public testing::Test {
 protected:
  ApprovedPlanTest() {
    cluster.apply(Node{.name = "n1"});
    cluster.apply(Node{.name = "n2"});
    for (const char* const name : {"x", "y"}) put(name);
    put("low", "n1");
    asks = {ask_for("x", "n1"), ask_for("y", "n2")};
    asks[0].victims = {{"a", "low", "uid-low", "n1"}};
  }

  void put(const std::string& name, std::string node = {}) {
    Pod pod{.namespace_name = "a", .name = name, .uid = "uid-" + name, .node = std::move(node)};
    pod.scheduler = "makeway";
    cluster.apply(pod);
  }
  static ApprovedAsk ask_for(const std::string& name, std::string node) {
    return {.name = approved_pod(name), .places = {{"a", name, "uid-" + name, std::move(node)}}};
  }
  /// Gives each ask the place of the request, except those in `without_place`.
  Decision decide(const PlanRequest& request) {
    requests.push_back(request);
    Plan plan;
    for (const AskName& name : request.asks) {
      PlanAsk& ask = plan.asks.emplace_back();
      ask.namespace_name = name.namespace_name;
      ask.name = name.name;
      if (without_place.contains(name.name)) {
        ask.reason = "short of cpu by 1";
        continue;
      }
      ask.outcome = evicts.contains(name.name) ? Outcome::preempts : Outcome::fits;
      for (const PodPlacement& place : request.placements) {
        if (place.name == name.name) ask.placements.push_back(place);
      }
      if (ask.outcome != Outcome::preempts) continue;
      ask.victims.push_back(
          {.namespace_name = "a", .name = evicts[name.name], .uid = "uid-" + evicts[name.name]});
      plan.actions.push_back({.type = ActionType::evict,
                              .namespace_name = "a",
                              .name = evicts[name.name],
                              .ask = ref_of(name)});
    }
    return {.plan = std::move(plan)};
  }
  DecideFunction function() {
    return [this](const Cluster&, const Configuration&, const PlanRequest& request) {
      return decide(request);
    };
  }
  ApprovedAnswer answer() {
    return decide_approved(cluster, {}, {.now = applied_at}, asks, {0, 1}, function());
  }

  Cluster cluster;
  std::vector<ApprovedAsk> asks;
  std::set<std::string> without_place;
  std::map<std::string, std::string> evicts;  ///< The victim of each ask.
  std::vector<PlanRequest> requests;
};

TEST_F(ApprovedPlanTest, PlacesAreGivenAsApproved) {
  const ApprovedAnswer got = answer();
  EXPECT_TRUE(got.dropped.empty());
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].asks, (std::vector<AskName>{approved_pod("x"), approved_pod("y")}));
  EXPECT_EQ(requests[0].placements,
            (std::vector<PodPlacement>{{"a", "x", "n1", ""}, {"a", "y", "n2", ""}}));
}

TEST_F(ApprovedPlanTest, AnAskWithoutAPlaceIsDroppedAndTheOthersAreDecided) {
  without_place = {"x"};
  const ApprovedAnswer got = answer();
  EXPECT_EQ(got.dropped, (std::map<std::size_t, std::string>{
                             {0, "short of cpu by 1 (places and victims as planned)"}}));
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].asks, (std::vector<AskName>{approved_pod("y")}));
  ASSERT_TRUE(got.decision.plan);
  EXPECT_EQ(got.decision.plan->asks.size(), 1U);
}

TEST_F(ApprovedPlanTest, OnlyTheVictimsOfThePlanLeave) {
  evicts = {{"x", "low"}, {"y", "other"}};
  const ApprovedAnswer got = answer();
  EXPECT_EQ(got.dropped, (std::map<std::size_t, std::string>{
                             {1, "it would evict a/other, which is no victim of the plan"}}));
}

TEST_F(ApprovedPlanTest, WhatIsStaleIsNotEvenDecided) {
  const auto why = [this] { return why_stale(cluster, {}, asks[0]); };
  EXPECT_EQ(why(), "");
  put("x", "n1");
  EXPECT_EQ(why(), "");  // It is done.
  put("x", "n2");
  EXPECT_EQ(why(), "pod a/x runs on n2 already, not on n1");
  Pod pod{.namespace_name = "a", .name = "x", .uid = "uid-x"};
  pod.deletion = applied_at;
  cluster.apply(pod);
  EXPECT_EQ(why(), "pod a/x is being deleted");
  pod = {.namespace_name = "a", .name = "x", .uid = "another"};
  cluster.apply(pod);
  EXPECT_EQ(why(), "pod a/x is another one of the same name");
  cluster.apply(Removal{.kind = ObjectKind::pod, .namespace_name = "a", .name = "x"});
  EXPECT_EQ(why(), "pod a/x is gone");
  put("x");
  cluster.apply(Removal{.kind = ObjectKind::node, .name = "n1"});
  EXPECT_EQ(why(), "node n1 is gone");
  const ApprovedAnswer got = answer();
  EXPECT_EQ(got.dropped.size(), 1U);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].asks, (std::vector<AskName>{approved_pod("y")}));
}

TEST_F(ApprovedPlanTest, PodsOfOtherSchedulersAreNotPlaced) {
  const std::vector<std::string> schedulers = {"other"};
  EXPECT_EQ(why_stale(cluster, schedulers, asks[0]),
            "pod a/x is placed by another scheduler (makeway)");
}

TEST_F(ApprovedPlanTest, NothingIsLeftToDoWhenAllRun) {
  put("x", "n1");
  put("y", "n2");
  const ApprovedAnswer got = answer();
  EXPECT_TRUE(requests.empty());
  ASSERT_TRUE(got.decision.plan);
  EXPECT_TRUE(got.decision.plan->asks.empty());
  EXPECT_EQ(got.decision.plan->now, applied_at);
}

// ---- ApplyProgress ------------------------------------------------------------------------------

class ApplyProgressTest : public ApprovedPlanTest {
 protected:
  using Kind = ApplyEvent::Kind;

  /// One cycle in which both asks are due.
  void cycle(ApplyProgress& progress) {
    const std::vector<AskName> due = {approved_pod("x"), approved_pod("y")};
    LawfulPlan made;
    made.plan = progress.decide(cluster, {}, {.now = applied_at, .asks = due}).plan;
    made.plan->id = "plan";
    progress.cycle({.now = applied_at, .due = due, .judged = true, .made = made}, cluster);
  }
  void refuse(ApplyProgress& progress, std::string plan, std::string reason,
              std::optional<Time> again_at = std::nullopt) {
    const std::vector<Receipt> receipts = {{.plan = std::move(plan),
                                            .object = pod_ref("a", "low"),
                                            .reason = std::move(reason),
                                            .ask = pod_ref("a", "x"),
                                            .again_at = again_at}};
    progress.batch({.now = applied_at, .receipts = receipts}, cluster);
  }
  static std::vector<Kind> kinds(ApplyProgress& progress) {
    std::vector<Kind> all;
    for (const ApplyEvent& event : progress.take_events()) all.push_back(event.kind);
    return all;
  }
};

TEST_F(ApplyProgressTest, AnAskIsDoneWhenItIsSeenToRun) {
  evicts = {{"x", "low"}};
  ApplyProgress progress(asks, function());
  cycle(progress);
  EXPECT_EQ(kinds(progress), (std::vector<Kind>{Kind::evicts, Kind::binds}));
  progress.look(cluster, {});
  EXPECT_FALSE(progress.is_over());
  put("x", "n1");
  put("y", "n2");
  progress.look(cluster, {});
  EXPECT_TRUE(progress.is_over());
  EXPECT_EQ(kinds(progress), (std::vector<Kind>{Kind::done, Kind::done}));
  EXPECT_FALSE(progress.take_withdrawn(applied_at));
}

TEST_F(ApplyProgressTest, ThreeRefusedPlansAreEnough) {
  evicts = {{"x", "low"}};
  ApplyProgress progress(asks, function());
  cycle(progress);
  for (int tries = 0; tries < 5; ++tries) {
    refuse(progress, "braked", "brake: 1 a minute", applied_at);
  }
  refuse(progress, "p1", "forbidden");
  refuse(progress, "p1", "forbidden");
  refuse(progress, "p2", "forbidden");
  EXPECT_EQ(progress.states()[0].stage, ApplyStage::open);
  refuse(progress, "p3", "forbidden");
  EXPECT_EQ(progress.states()[0].stage, ApplyStage::dropped);
  EXPECT_EQ(progress.states()[0].reason,
            "the cluster has refused it 3 times, at last Pod a/low: forbidden");
  EXPECT_EQ(progress.states()[0].evicted, std::set<std::string>{"a/low"});
  // Its nomination is to be taken back, once.
  const std::optional<Plan> withdrawn = progress.take_withdrawn(applied_at);
  ASSERT_TRUE(withdrawn);
  ASSERT_EQ(withdrawn->asks.size(), 1U);
  EXPECT_EQ(ask_name_of(withdrawn->asks[0]), approved_pod("x"));
  EXPECT_TRUE(withdrawn->asks[0].placements.empty());
  EXPECT_FALSE(progress.take_withdrawn(applied_at));
}

TEST_F(ApplyProgressTest, ADroppedAskStaysOut) {
  without_place = {"x"};
  ApplyProgress progress(asks, function());
  cycle(progress);
  EXPECT_EQ(progress.states()[0].stage, ApplyStage::dropped);
  EXPECT_FALSE(progress.take_withdrawn(applied_at)) << "nothing was written for it";
  without_place.clear();
  requests.clear();
  cycle(progress);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].asks, (std::vector<AskName>{approved_pod("y")}));
}

TEST_F(ApplyProgressTest, AnAskThatTheJudgeLeavesOutIsReported) {
  ApplyProgress progress(asks, function());
  LawfulPlan made;
  made.plan = Plan{};
  made.plan->left_out = {
      {.kind = AskKind::pod, .namespace_name = "a", .name = "x", .law = 3, .reason = "no room"}};
  progress.cycle({.now = applied_at, .judged = true, .made = made}, cluster);
  EXPECT_TRUE(progress.has_seen_bug());
  EXPECT_EQ(progress.states()[0].reason, "a bug of Makeway: no room");
  EXPECT_EQ(progress.states()[1].stage, ApplyStage::open);
}

}  // namespace
}  // namespace makeway

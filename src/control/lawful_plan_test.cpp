// Law 14 around policies with wrong plans: which ask is left out, how often, and when nothing is
// left.
#include "control/lawful_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "base/check.hpp"

namespace makeway {
namespace {

AskName pod_called(std::string name) {
  return {.kind = AskKind::pod, .namespace_name = "default", .name = std::move(name)};
}

/// A policy that plans for some pods, and a judge that names those in `bad`.
class LawfulPlanTest : public testing::Test {
 protected:
  LawfulPlanTest() {
    tools.decide = [this](const Cluster&, const Configuration&, const PlanRequest& request) {
      requests.push_back(request);
      Plan plan{.preset = request.preset, .now = request.now, .left_out = request.left_out};
      for (const std::string& name : pods) {
        const bool out = std::ranges::any_of(
            request.left_out, [&](const PlanLeftOut& left) { return left.name == name; });
        if (!out || stubborn) plan.asks.push_back({.namespace_name = "default", .name = name});
      }
      return Decision{.plan = std::move(plan), .recheck_at = Time{77}};
    };
    tools.check = [this](const Cluster&, const Configuration&, const Plan& plan) {
      std::vector<LawBreach> breaches;
      for (const PlanAsk& ask : plan.asks) {
        if (!bad.contains(ask.name)) continue;
        breaches.push_back(
            {.law = 3, .ask = ask_text(ask), .text = "it is bad", .asks = {pod_called(ask.name)}});
      }
      if (unnamed) breaches.push_back({.law = 9, .text = "something is bad"});
      return breaches;
    };
    tools.identify = [](const Plan& plan) { return fmt::format("{} asks", plan.asks.size()); };
    tools.microseconds = [this] { return clock += 1; };
    tools.contain = true;
  }

  LawfulPlan make() {
    requests.clear();
    return make_lawful_plan(Cluster(), configuration, {.now = Time{5}, .preset = "p"}, tools);
  }
  static std::vector<std::string> asks(const LawfulPlan& made) {
    std::vector<std::string> names;
    for (const PlanAsk& ask : made.plan->asks) names.push_back(ask.name);
    return names;
  }
  using Names = std::vector<std::string>;

  PlanTools tools;
  Configuration configuration;
  Names pods = {"a", "b", "c", "d", "e", "f"};
  std::set<std::string> bad;
  bool stubborn = false;  ///< It also decides about asks that are left out.
  bool unnamed = false;
  std::vector<PlanRequest> requests;
  std::int64_t clock = 0;
};

TEST_F(LawfulPlanTest, AGoodPlanIsHandedOn) {
  const LawfulPlan made = make();
  EXPECT_EQ(asks(made), pods);
  EXPECT_EQ(made.plan->id, "6 asks");
  EXPECT_EQ(made.recheck_at, Time{77});
  EXPECT_FALSE(made.shows_bug());
  EXPECT_EQ(made.decide_us, 1);
  EXPECT_EQ(made.check_us, 1);
  EXPECT_TRUE(requests.front().contain);
}

TEST_F(LawfulPlanTest, AllNamedAsksAreLeftOutAtOnce) {
  bad = {"a", "e"};
  const LawfulPlan made = make();
  EXPECT_EQ(asks(made), (Names{"b", "c", "d", "f"}));
  EXPECT_EQ(made.plan->left_out,
            (std::vector<PlanLeftOut>{{AskKind::pod, "default", "a", 3, "it is bad"},
                                      {AskKind::pod, "default", "e", 3, "it is bad"}}));
  EXPECT_EQ(made.plan->id, "4 asks");
  EXPECT_EQ(requests.size(), 2U);
  ASSERT_EQ(made.refused.size(), 1U);
  EXPECT_EQ(made.refused.front().id, "6 asks");
  EXPECT_EQ(made.refused.front().breaches.size(), 2U);
  EXPECT_TRUE(made.shows_bug());
}

/// Law 13, live: a pod that cannot ask does not stop the others.
TEST_F(LawfulPlanTest, APodThatCannotAskDoesNotStopTheOthers) {
  const std::set<std::string> strange = {"b", "e"};
  tools.decide = [&](const Cluster&, const Configuration&, const PlanRequest& request) {
    requests.push_back(request);
    Plan plan{.preset = request.preset, .now = request.now};
    for (const AskName& ask : request.asks) {
      if (strange.contains(ask.name)) {
        return Decision{.problems = {{.object = ask_text(ask),
                                      .field = "ask",
                                      .message = "it is a replica",
                                      .remedy = "ask for the schedule"}}};
      }
      if (ask.kind != AskKind::queue) {
        plan.asks.push_back({.namespace_name = "default", .name = ask.name});
      }
    }
    return Decision{.plan = std::move(plan)};
  };
  PlanRequest request{.now = Time{5}, .preset = "p"};
  for (const std::string& name : pods) request.asks.push_back(pod_called(name));
  EXPECT_FALSE(make_lawful_plan(Cluster(), configuration, request, tools).plan.has_value());
  tools.keep_going = true;
  LawfulPlan made = make_lawful_plan(Cluster(), configuration, request, tools);
  ASSERT_TRUE(made.plan.has_value());
  EXPECT_EQ(asks(made), (Names{"a", "c", "d", "f"}));
  EXPECT_EQ(made.problems.count(), 2U);
  EXPECT_FALSE(made.shows_bug());
  EXPECT_EQ(made.plan->status,
            (std::vector<PlanStatus>{{.object = pod_ref("default", "b"),
                                      .condition = "PodScheduled",
                                      .value = false,
                                      .reason = "Unschedulable",
                                      .message = "it is a replica; ask for the schedule"},
                                     {.object = pod_ref("default", "e"),
                                      .condition = "PodScheduled",
                                      .value = false,
                                      .reason = "Unschedulable",
                                      .message = "it is a replica; ask for the schedule"}}));
  // No ask is left; an empty request would mean all asks.
  request.asks = {pod_called("b")};
  made = make_lawful_plan(Cluster(), configuration, request, tools);
  ASSERT_TRUE(made.plan.has_value());
  EXPECT_TRUE(made.plan->asks.empty());
  EXPECT_EQ(made.plan->status.size(), 1U);
  EXPECT_EQ(requests.back().asks, (std::vector<AskName>{{AskKind::queue, {}, {}}}));
}

TEST_F(LawfulPlanTest, RoundsAreBounded) {
  // Each round blames one more.
  std::size_t judged = 0;
  tools.check = [&](const Cluster&, const Configuration&, const Plan& plan) {
    ++judged;
    return std::vector<LawBreach>{{.law = 1,
                                   .ask = ask_text(plan.asks.front()),
                                   .text = "it is the first",
                                   .asks = {pod_called(plan.asks.front().name)}}};
  };
  const LawfulPlan made = make();
  EXPECT_EQ(judged, 4U);  // Once, and three times afresh.
  EXPECT_TRUE(made.plan->asks.empty());
  EXPECT_EQ(made.plan->withheld, "law 1: Pod default/d: it is the first");
  EXPECT_EQ(made.plan->left_out.size(), 4U);
  EXPECT_EQ(made.plan->preset, "p");
  EXPECT_EQ(made.plan->now, Time{5});
  EXPECT_EQ(made.plan->id, "0 asks");
}

TEST_F(LawfulPlanTest, ABreachWithoutAnAskGivesAnEmptyPlan) {
  unnamed = true;
  const LawfulPlan made = make();
  EXPECT_EQ(made.plan->withheld, "law 9: something is bad");
  EXPECT_TRUE(made.plan->asks.empty());
  EXPECT_TRUE(made.plan->left_out.empty());
  EXPECT_EQ(requests.size(), 1U);
  EXPECT_TRUE(made.shows_bug());
}

TEST_F(LawfulPlanTest, APolicyThatIgnoresLeftOutAsksGetsAnEmptyPlan) {
  bad = {"b"};
  stubborn = true;
  const LawfulPlan made = make();
  EXPECT_EQ(made.plan->withheld, "law 3: Pod default/b: it is bad");
  EXPECT_EQ(requests.size(), 2U);  // The second time no other ask is named.
}

TEST_F(LawfulPlanTest, ABreachOfAQueueLeavesOutTheStage) {
  tools.check = [](const Cluster&, const Configuration&, const Plan& plan) {
    std::vector<LawBreach> breaches;
    if (leaves_out_queues(plan.left_out)) return breaches;
    for (const std::string name : {"x", "y"}) {
      breaches.push_back({.law = 8,
                          .ask = "Queue " + name,
                          .text = "too much",
                          .asks = {{.kind = AskKind::queue, .name = name}}});
    }
    return breaches;
  };
  const LawfulPlan made = make();
  EXPECT_EQ(asks(made), pods);
  EXPECT_EQ(made.plan->left_out,
            (std::vector<PlanLeftOut>{{AskKind::queue, "", "", 8, "too much"}}));
}

TEST_F(LawfulPlanTest, AnAskThatDecideLeavesOutStaysOut) {
  const auto honest = tools.decide;
  tools.decide = [&](const Cluster& cluster, const Configuration& configuration,
                     const PlanRequest& request) {
    PlanRequest again = request;
    if (again.left_out.empty()) {
      again.left_out.push_back({AskKind::pod, "default", "c", 0, "CHECK(x) failed"});
    }
    return honest(cluster, configuration, again);
  };
  bad = {"a"};
  const LawfulPlan made = make();
  EXPECT_EQ(asks(made), (Names{"b", "d", "e", "f"}));
  ASSERT_EQ(made.plan->left_out.size(), 2U);
  EXPECT_EQ(made.plan->left_out[0].law, 0);
  EXPECT_EQ(made.plan->left_out[1].name, "a");
}

TEST_F(LawfulPlanTest, WhatFailsOutsideOfAnyAskGivesAnEmptyPlan) {
  tools.decide = [](const Cluster&, const Configuration&, const PlanRequest&) {
    CHECK(1 + 1 == 3, "arithmetic");
    return Decision{};
  };
  EXPECT_TRUE(make().plan->withheld.ends_with("CHECK(1 + 1 == 3) failed: arithmetic"));
  tools.decide = [](const Cluster&, const Configuration&, const PlanRequest&) -> Decision {
    throw std::out_of_range("map::at");
  };
  EXPECT_EQ(make().plan->withheld, "map::at");
}

TEST_F(LawfulPlanTest, AJudgeThatFailsLetsNothingPass) {
  tools.check = [](const Cluster&, const Configuration&, const Plan&) {
    CHECK(false, "the judge");
    return std::vector<LawBreach>{};
  };
  const LawfulPlan made = make();
  EXPECT_TRUE(made.plan->asks.empty());
  EXPECT_TRUE(made.plan->withheld.ends_with("the judge")) << made.plan->withheld;
}

TEST_F(LawfulPlanTest, WithoutContainmentTheFirstBreachIsTheEnd) {
  tools.contain = false;
  bad = {"a"};
  const LawfulPlan made = make();
  EXPECT_FALSE(made.plan.has_value());
  EXPECT_EQ(made.refused.size(), 1U);
  EXPECT_TRUE(made.shows_bug());
  EXPECT_FALSE(requests.front().contain);
}

TEST_F(LawfulPlanTest, ProblemsOfTheRequestAreNoBug) {
  tools.decide = [](const Cluster&, const Configuration&, const PlanRequest&) {
    return Decision{.problems = {{.message = "no such ask"}}};
  };
  const LawfulPlan made = make();
  EXPECT_FALSE(made.plan.has_value());
  EXPECT_EQ(made.problems.size(), 1U);
  EXPECT_FALSE(made.shows_bug());
}

TEST(LawfulPlanDeathTest, WithoutContainmentACheckStopsTheProcess) {
  const PlanTools tools{
      .decide = [](const Cluster&, const Configuration&, const PlanRequest&) -> Decision {
        CHECK(false, "a bug");
        return {};
      },
      .microseconds = [] { return 0; }};
  const Cluster cluster;
  EXPECT_DEATH(make_lawful_plan(cluster, {}, {}, tools), "a bug");
}

}  // namespace
}  // namespace makeway

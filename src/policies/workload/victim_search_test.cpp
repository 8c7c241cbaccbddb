// SPEC section 2, the algorithm on one node: which victims the score prefers.
#include "policies/workload/victim_search.hpp"

#include <gtest/gtest.h>

#include "policies/workload/cascades.hpp"
#include "support/short_cluster.hpp"

namespace makeway {
namespace {

struct SearchScene : ShortWorld {
  explicit SearchScene(std::string_view text, const Configuration& rules = {})
      : ShortWorld(text, rules) {}

  /// The victims on n1 for the pod `ask`, most important first; "none".
  std::string victims(std::string_view node_name = "n1") {
    candidate = search.on_node(node(node_name));
    if (!candidate) return "none";
    std::string text;
    for (const VictimUnit& unit : candidate->victims.units) {
      text += (text.empty() ? "" : " ") + names(candidate->victims.pods_of(unit));
    }
    return text;
  }
  std::int64_t term(ScoreKey key) const {
    return std::ranges::find(candidate->score, key, &ScoreTerm::key)->value;
  }

  PodFit fit{world.survey(), world.after(), pod("ask"), world.holds()};
  Cascades cascades{world, world.after()};
  VictimSearch search{world, fit, configuration.workload.victim_choice, &cascades};
  std::optional<Candidate> candidate;
};

std::string found_victims(std::string_view text, const Configuration& rules = {}) {
  return SearchScene(text, rules).victims();
}

Configuration put_back() {
  Configuration rules;
  rules.workload.victim_choice = VictimChoiceRule::put_back;
  return rules;
}

TEST(VictimSearch, NothingMayLeaveOrNothingHelps) {
  EXPECT_EQ(found_victims("node n1 gpu=1\npod ask gpu=1 p=5\npod equal @n1 gpu=1 p=5"), "none");
  SearchScene small("node n1 gpu=1\npod ask gpu=2 p=5\npod low @n1 gpu=1 p=1");
  EXPECT_EQ(small.victims(), "none");
  EXPECT_EQ(small.search.refused().reason, RefusalReason::resource);
  EXPECT_EQ(small.search.refused().amount, 1) << "with all gone that may leave";
  EXPECT_FALSE(small.search.unproven());
  SearchScene cordoned("node n1 gpu=1 cordoned\npod ask gpu=1 p=5\npod low @n1 gpu=1 p=1");
  EXPECT_EQ(cordoned.victims(), "none");
  EXPECT_FALSE(cordoned.search.unproven());
}

// The keys of the score in their order; each case differs in one key, and in later ones the other
// way round.
TEST(VictimSearch, TheScoreKeyByKey) {
  struct Row {
    std::string_view key;
    std::string_view pods;
    std::string_view victims;
  };
  for (const auto& [key, pods, victims] : {
           Row{"budget-violations", R"(
             budget keep app=web min=1 allowed=0
             pod web @n1 gpu=2 p=1 app=web
             pod plain @n1 gpu=2 p=4)",
               "plain"},
           Row{"highest-priority", R"(
             pod low-{1..2} @n1 gpu=1 p=1
             pod mid @n1 gpu=2 p=2)",
               "low-1 low-2"},
           Row{"stopped-pods", R"(
             gang g min=3 p=1
             pod g-1 @n1 gpu=2 group=g
             pod g-{2..3} @n2 gpu=1 group=g
             pod a-{1..2} @n1 gpu=1 p=1)",
               "a-1 a-2"},
           Row{"victims", R"(
             pod pair-{1..2} @n1 gpu=1 p=0
             pod one @n1 gpu=2 p=0 started=01:00)",
               "one"},
           Row{"priority-sum", R"(
             pod a @n1 gpu=1 p=2
             pod b @n1 gpu=1 p=0
             pod c @n1 gpu=1 p=1
             pod keep @n1 gpu=1 p=9)",
               "c b"},
           Row{"lost-work", R"(
             pod old @n1 gpu=2 p=1 started=09:00
             pod young @n1 gpu=2 p=1 started=11:00)",
               "young"},
           Row{"names", R"(
             pod b @n1 gpu=2 p=1
             pod a @n1 gpu=2 p=1)",
               "b"},
       }) {
    SCOPED_TRACE(key);
    std::string text = "node n1 gpu=4\nnode n2 gpu=2\npod ask gpu=2 p=5";
    EXPECT_EQ(found_victims(text + std::string(pods)), victims);
  }
}

TEST(VictimSearch, WhatIsNotNeededStays) {
  SearchScene scene(R"(
    node n1 gpu=4
    pod ask gpu=2 p=5
    pod a @n1 gpu=2 p=1
    pod b @n1 gpu=1 p=1
    pod none @n1 cpu=0 p=1
  )");
  EXPECT_EQ(scene.victims(), "b") << "one is free (law 4)";
  EXPECT_EQ(scene.candidate->spared.size(), 2U);
  EXPECT_EQ(scene.term(ScoreKey::victims), 1);
  EXPECT_EQ(scene.term(ScoreKey::highest_priority), 1);
}

// Law 5: wherever its pods run.
TEST(VictimSearch, AGroupOfModeAllLeavesWhole) {
  constexpr std::string_view group = R"(
    node n1 gpu=2
    node n2 gpu=2
    pod ask gpu=2 p=5
    gang g min=2 p=1 mode=all
    pod g-0 @n1 gpu=2 group=g
    pod g-1 @n2 gpu=2 group=g)";
  SearchScene scene(group);
  EXPECT_EQ(scene.victims(), "g-0 g-1");
  EXPECT_EQ(scene.term(ScoreKey::disrupted_groups), 1);
  EXPECT_EQ(found_victims(std::string(group) + " makeway:allow-preemption=false"), "none")
      << "g-1 may not leave, so none does";
}

TEST(VictimSearch, AGangThatFallsBelowItsMinimum) {
  constexpr std::string_view pods = R"(
    node n1 gpu=1
    node n2 gpu=2
    pod ask gpu=1 p=5
    pod g-0 @n1 gpu=1 group=g started=11:00
    pod g-1 @n2 gpu=1 group=g started=11:00
    gang g min=2 p=1)";
  SearchScene keep(pods);
  EXPECT_EQ(keep.victims(), "g-0");
  EXPECT_EQ(keep.term(ScoreKey::stopped_pods), 2) << "the victim and the member that stays";
  EXPECT_EQ(keep.term(ScoreKey::groups_below_minimum), 1);
  EXPECT_EQ(keep.term(ScoreKey::lost_work), 7200) << "of all its pods";
  SearchScene evict(std::string(pods) + " makeway:below-minimum=evict");
  EXPECT_EQ(evict.victims(), "g-0 g-1");
  EXPECT_EQ(evict.term(ScoreKey::stopped_pods), 2);
  EXPECT_EQ(evict.term(ScoreKey::victims), 2);
}

TEST(VictimSearch, LeavingPodsAreNoVictims) {
  EXPECT_EQ(found_victims(R"(
    node n1 gpu=2
    pod ask gpu=2 p=5
    pod leaves @n1 gpu=1 p=1 deleted=12:00:10
    pod low @n1 gpu=1 p=1
  )"),
            "low");
}

TEST(VictimSearch, StrictBudgetsAreNeverViolated) {
  constexpr std::string_view text = R"(
    node n1 gpu=2
    pod ask gpu=2 p=5
    budget keep app=web min=1 allowed=1
    pod web-{1..2} @n1 gpu=1 p=1 app=web
  )";
  SearchScene best_effort(text);
  EXPECT_EQ(best_effort.victims(), "web-1 web-2");
  EXPECT_EQ(best_effort.candidate->budget_violations, 1);
  Configuration rules;
  rules.budgets.mode = BudgetMode::strict;
  EXPECT_EQ(found_victims(text, rules), "none");
}

// kube-scheduler: most important first comes back, those under an exhausted budget before.
TEST(VictimSearch, ByPutBack) {
  constexpr std::string_view text = R"(
    node n1 gpu=4
    pod ask gpu=2 p=5
    pod mid @n1 gpu=2 p=3
    pod low-{1..2} @n1 gpu=1 p=1
  )";
  EXPECT_EQ(found_victims(text, put_back()), "low-1 low-2");
  EXPECT_EQ(found_victims(R"(
    node n1 gpu=4
    pod ask gpu=2 p=5
    budget keep app=web min=1 allowed=0
    pod mid @n1 gpu=2 p=3
    pod web @n1 gpu=2 p=1 app=web
  )",
                          put_back()),
            "mid");
  EXPECT_EQ(found_victims("node n1 gpu=1\npod ask gpu=1 p=5\npod equal @n1 gpu=1 p=5", put_back()),
            "none");
}

TEST(VictimSearch, ABoundEndsTheSearchWithAnIrreducibleAnswer) {
  Configuration rules;
  rules.engine.victim_steps_max = 1;
  SearchScene scene(R"(
    node n1 gpu=4
    pod ask gpu=2 p=5
    pod a @n1 gpu=1 p=1
    pod b @n1 gpu=1 p=1
    pod c @n1 gpu=2 p=2
  )",
                    rules);
  EXPECT_EQ(scene.victims(), "a b");
  EXPECT_TRUE(scene.search.out_of_steps());
  EXPECT_TRUE(scene.search.unproven());
  EXPECT_EQ(scene.search.bound(), "engine.victimStepsMax");
}

TEST(VictimSearch, OnlyWhatIsBetterThanARival) {
  SearchScene scene("node n1 gpu=1\npod ask gpu=1 p=5\npod low @n1 gpu=1 p=3");
  ASSERT_EQ(scene.victims(), "low");
  ScoreTerms rival = scene.candidate->score;
  EXPECT_TRUE(scene.search.on_node(scene.node("n1"), &rival).has_value()) << "equals count";
  std::ranges::find(rival, ScoreKey::highest_priority, &ScoreTerm::key)->value = 2;
  EXPECT_FALSE(scene.search.on_node(scene.node("n1"), &rival).has_value());
}

TEST(VictimSearch, AnotherOneOnTheNodeThatCouldHaveLeft) {
  SearchScene scene(R"(
    node n1 gpu=6
    pod ask gpu=2 p=5
    pod low @n1 gpu=2 p=1
    pod mid @n1 gpu=2 p=2
    pod small @n1 gpu=1 p=1
    pod high @n1 gpu=1 p=9
  )");
  ASSERT_EQ(scene.victims(), "low");
  const auto instead = scene.search.instead_of(*scene.candidate);
  ASSERT_TRUE(instead.has_value());
  EXPECT_EQ(scene.name(instead->pod), "mid") << "small alone is not enough";
  EXPECT_GT(compare(instead->score, scene.candidate->score), 0);
}

// Removing the pod that the ask must be near would prove nothing.
TEST(VictimSearch, AffinityThroughRemovals) {
  SearchScene scene(R"(
    node n1 gpu=2 hostname
    pod ask gpu=1 p=5 near=app:db:kubernetes.io/hostname
    pod db @n1 gpu=1 p=1 app=db
    pod other @n1 gpu=1 p=2
  )");
  EXPECT_EQ(scene.victims(), "other") << "though its priority is higher";
  EXPECT_EQ(found_victims(R"(
    node n1 gpu=3 hostname
    pod ask gpu=1 p=5 apart=app:db:kubernetes.io/hostname
    pod db @n1 gpu=1 p=2 app=db
    pod other @n1 gpu=1 p=1
  )"),
            "db")
      << "there is room; only db stands in the way";
}

}  // namespace
}  // namespace makeway

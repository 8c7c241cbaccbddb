// SPEC section 5, strategies: which pods leave for a pinned pod.
#include "policies/required_node/victim_ladder.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "engine/room.hpp"
#include "support/short_cluster.hpp"

namespace makeway {
namespace {

/// The pod `ask` is pinned to n1.
struct LadderScene : ShortWorld {
  explicit LadderScene(std::string_view text, const Configuration& rules = {})
      : ShortWorld(text, rules) {
    fit.take_turns_on(node("n1"));
    std::vector<std::int64_t> row(cluster.order().columns());
    Room(world).free(node("n1"), Horizon::soon, row);
    shortfall = shortfall_of(request_of(cluster, pod("ask")), row);
    const bool all = !fit.portless() || fit.constraints().any();
    CandidateSearch(world, classes).collect(node("n1"), fit.priority(), shortfall, all, candidates);
  }

  /// "low (single, 1)": the victims, most important first, the strategy and how many classes.
  std::string climb() {
    ladder.emplace(
        world,
        LadderTask{
            .fit = fit, .node = node("n1"), .shortfall = shortfall, .candidates = candidates},
        classes.count(), &report);
    answer = ladder->climb();
    if (!answer) return "none";
    std::vector<PodIndex> pods;
    for (const VictimUnit& unit : answer->victims.units) {
      for (const PodIndex pod : answer->victims.pods_of(unit)) pods.push_back(pod);
    }
    return names(pods) + " (" + std::string(choice_name(answer->strategy)) + ", " +
           std::to_string(answer->classes) + ")";
  }
  std::uint32_t at(std::string_view name) const {
    const auto found = std::ranges::find(candidates.units, pod(name), &PinnedCandidate::first);
    return static_cast<std::uint32_t>(found - candidates.units.begin());
  }

  PodFit fit{world.survey(), world.after(), pod("ask"), world.holds()};
  VictimClasses classes{cluster, configuration, world.rules()};
  Shortfall shortfall;
  CandidateList candidates;
  PlanReservation report;
  std::optional<VictimLadder> ladder;
  std::optional<LadderAnswer> answer;
};

std::string climbed(std::string_view text, const Configuration& rules = {}) {
  return LadderScene(text, rules).climb();
}

Configuration only(VictimSelection strategy) {
  Configuration rules;
  rules.required_node.victim_selection = {strategy};
  return rules;
}

TEST(VictimLadder, NoCandidatesAndTooFew) {
  EXPECT_EQ(climbed("node n1 gpu=1\npod ask gpu=1 p=5 pin=n1\npod high @n1 gpu=1 p=9"), "none");
  LadderScene scene(
      "node n1 gpu=2\npod ask gpu=2 p=5 pin=n1\npod low @n1 gpu=1\npod hi @n1 gpu=1 p=9");
  EXPECT_EQ(scene.climb(), "none");
  ASSERT_TRUE(scene.ladder->lasting().has_value()) << "the GPU of hi stays";
  EXPECT_EQ(scene.ladder->lasting()->reason, RefusalReason::resource);
}

// ---- single ------------------------------------------------------------------------------------

// The request is 100: at most 10 % more or less.
TEST(VictimLadder, SingleTakesTheSmallestDeviation) {
  EXPECT_EQ(climbed(R"(
    node n1 gpu=1000
    pod ask gpu=100 p=5 pin=n1
    pod exact @n1 gpu=100 p=4
    pod near @n1 gpu=101 p=1
    pod fill @n1 gpu=799 p=9
  )"),
            "exact (single, 1)")
      << "though near has the lower priority";
}

TEST(VictimLadder, TenPercentIsTheBorderEitherWay) {
  constexpr std::string_view base = R"(
    node n1 gpu=1000
    pod ask gpu=100 p=5 pin=n1
  )";
  const auto with = [&](std::string_view rest) {
    return climbed(std::string(base) + std::string(rest));
  };
  EXPECT_EQ(with("pod a @n1 gpu=110\npod fill @n1 gpu=890 p=9"), "a (single, 1)");
  EXPECT_EQ(with("pod a @n1 gpu=111\npod fill @n1 gpu=889 p=9"), "a (multiple, 1)");
  // Ten are free: 90 cover the shortfall.
  EXPECT_EQ(with("pod a @n1 gpu=90\npod fill @n1 gpu=900 p=9"), "a (single, 1)");
  EXPECT_EQ(with("pod a @n1 gpu=89\npod fill @n1 gpu=900 p=9"), "a (multiple, 1)");
}

TEST(VictimLadder, EqualDeviationsByPriorityThenYoungerThenName) {
  constexpr std::string_view base = R"(
    node n1 gpu=30
    pod ask gpu=10 p=5 pin=n1
  )";
  const auto with = [&](std::string_view rest) {
    return climbed(std::string(base) + std::string(rest));
  };
  EXPECT_EQ(with("pod a @n1 gpu=10 p=2\npod b @n1 gpu=10 p=1\npod c @n1 gpu=10 p=1 started=11:00"),
            "b (single, 1)")
      << "unknown counts as now";
  EXPECT_EQ(with("pod a @n1 gpu=10 started=09:00\npod b @n1 gpu=10 started=10:00\npod c @n1 gpu=10 "
                 "started=08:00"),
            "b (single, 1)");
  EXPECT_EQ(with("pod c @n1 gpu=10\npod b @n1 gpu=10\npod aa/z @n1 gpu=10"), "aa/z (single, 1)");
}

TEST(VictimLadder, TheDeviationIsTheLargestOverWhatIsAskedFor) {
  LadderScene scene(R"(
    node n1 gpu=10 cpu=10
    pod ask gpu=10 cpu=10 p=5 pin=n1
    pod a @n1 gpu=10 cpu=8
    pod b @n1 cpu=2 p=9
  )");
  EXPECT_EQ(scene.ladder, std::nullopt);
  scene.climb();
  EXPECT_EQ(scene.ladder->deviation_ppm(scene.at("a")), 200'000);
}

TEST(VictimLadder, HugeAmountsDoNotOverflow) {
  LadderScene scene(R"(
    node n1 gpu=576460752303423488
    pod ask gpu=1 p=5 pin=n1
    pod whale @n1 gpu=576460752303423488
  )");
  EXPECT_EQ(scene.climb(), "whale (multiple, 1)");
  EXPECT_EQ(scene.ladder->deviation_ppm(scene.at("whale")),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(scene.ladder->worth(scene.at("whale")), 1000) << "min(amount, missing) counts";
}

// ---- multiple ----------------------------------------------------------------------------------

TEST(VictimLadder, MultipleByPriorityThenTheLargest) {
  constexpr std::string_view text = R"(
    node n1 gpu=12
    pod ask gpu=5 p=5 pin=n1
    pod low-1 @n1 gpu=1 p=1
    pod low-2 @n1 gpu=2 p=1
    pod low-3 @n1 gpu=3 p=1
    pod mid-6 @n1 gpu=6 p=2
  )";
  EXPECT_EQ(climbed(text), "low-2 low-3 (multiple, 1)") << "3, then 2; low-1 stays";
  Configuration rules;
  rules.required_node.multiple_order = MultipleOrder::largest_first;
  EXPECT_EQ(climbed(text, rules), "mid-6 (multiple, 1)");
}

// SPEC law 4: victims that turn out to be needless come back, most important first.
TEST(VictimLadder, WhatIsNotNeededIsPutBack) {
  EXPECT_EQ(climbed(R"(
    node n1 gpu=8
    pod ask gpu=4 p=5 pin=n1
    pod low-1 @n1 gpu=1 p=1
    pod low-3 @n1 gpu=3 p=1
    pod mid-4 @n1 gpu=4 p=2
  )",
                    only(VictimSelection::multiple)),
            "low-1 low-3 (multiple, 1)");
  EXPECT_EQ(climbed(R"(
    node n1 gpu=7
    pod ask gpu=4 p=5 pin=n1
    pod low-3 @n1 gpu=3 p=1
    pod mid-4 @n1 gpu=4 p=2
  )",
                    only(VictimSelection::multiple)),
            "mid-4 (multiple, 1)")
      << "low-3 alone is not enough, and with mid-4 it is not needed";
}

TEST(VictimLadder, WorthIsCappedByWhatIsMissing) {
  LadderScene scene(R"(
    node n1 gpu=4 cpu=4
    pod ask gpu=4 cpu=2 p=5 pin=n1
    pod gpus @n1 gpu=2
    pod both @n1 gpu=1 cpu=3
    pod rest @n1 gpu=1
  )");
  scene.climb();
  // Missing: 4 GPUs, and 1 of the 4 CPUs.
  EXPECT_EQ(scene.ladder->worth(scene.at("gpus")), 500);
  EXPECT_EQ(scene.ladder->worth(scene.at("both")), 250 + 1000);
  EXPECT_EQ(scene.ladder->worth(scene.at("rest")), 250);
  EXPECT_FALSE(scene.ladder->covers(scene.at("gpus")));
}

TEST(VictimLadder, AtMostMaxVictimsAndSmallOnesDoNotHideLargerOnes) {
  constexpr std::string_view text = R"(
    node n1 gpu=12
    pod ask gpu=6 p=5 pin=n1
    pod small-{1..6} @n1 gpu=1 p=1
    pod big @n1 gpu=6 p=4
  )";
  EXPECT_EQ(climbed(text, only(VictimSelection::multiple)), "big (multiple, 1)");
  Configuration rules = only(VictimSelection::multiple);
  rules.required_node.max_victims = 6;
  EXPECT_EQ(climbed(text, rules), "small-1 small-2 small-3 small-4 small-5 small-6 (multiple, 1)");
  EXPECT_EQ(climbed(text, only(VictimSelection::prefix)), "none") << "six are too many";
}

TEST(VictimLadder, TheListOfStrategiesIsTriedInItsOrder) {
  constexpr std::string_view text = R"(
    node n1 gpu=8
    pod ask gpu=4 p=5 pin=n1
    pod pair-{1..2} @n1 gpu=2 p=1
    pod one @n1 gpu=4 p=2
  )";
  EXPECT_EQ(climbed(text), "one (single, 1)");
  Configuration rules;
  rules.required_node.victim_selection = {VictimSelection::multiple, VictimSelection::single};
  EXPECT_EQ(climbed(text, rules), "pair-1 pair-2 (multiple, 1)");
}

// ---- classes and budgets -----------------------------------------------------------------------

TEST(VictimLadder, OwnersAndOptedOutPodsAreTheLastResort) {
  constexpr std::string_view base = R"(
    node n1 gpu=4
    pod ask gpu=2 p=5 pin=n1
  )";
  const auto with = [&](std::string_view rest) {
    return climbed(std::string(base) + std::string(rest));
  };
  EXPECT_EQ(with("pod a @n1 gpu=2 p=4\npod own @n1 gpu=2 p=1 makeway:owner=true"), "a (single, 1)");
  EXPECT_EQ(with("pod own @n1 gpu=2 p=4 makeway:owner=true\npod out @n1 gpu=2 p=1 "
                 "makeway:allow-preemption=false"),
            "own (single, 2)");
  EXPECT_EQ(with("pod out @n1 gpu=4 makeway:allow-preemption=false"), "out (multiple, 3)");
}

constexpr std::string_view budgeted = R"(
node n1 gpu=4
pod ask gpu=2 p=5 pin=n1
budget keep app=web min=2 allowed=0
pod web-1 @n1 gpu=2 p=1 app=web
)";

TEST(VictimLadder, BudgetsAreAvoidedWhileOtherPodsDo) {
  EXPECT_EQ(climbed(std::string(budgeted) + "pod plain @n1 gpu=2 p=4"), "plain (single, 1)");
  EXPECT_EQ(climbed(std::string(budgeted) + "pod high @n1 gpu=2 p=9"), "web-1 (single, 1)");
  Configuration rules;
  rules.budgets.mode = BudgetMode::strict;
  EXPECT_EQ(climbed(std::string(budgeted) + "pod high @n1 gpu=2 p=9", rules), "none");
}

TEST(VictimLadder, EveryStepIsReported) {
  LadderScene scene(std::string(budgeted) + "pod high @n1 gpu=2 p=9");
  scene.climb();
  ASSERT_EQ(scene.report.ladder.size(), 3U) << "single and multiple within budgets, then single";
  EXPECT_TRUE(scene.report.ladder[0].within_budgets);
  EXPECT_EQ(scene.report.ladder[1].strategy, VictimSelection::multiple);
  EXPECT_FALSE(scene.report.ladder[2].within_budgets);
}

// ---- groups and other rules of feasibility -----------------------------------------------------

TEST(VictimLadder, AWholeGroupIsNoSingleVictim) {
  EXPECT_EQ(climbed(R"(
    node n1 gpu=2
    pod ask gpu=2 p=5 pin=n1
    gang g x2 min=2 mode=all gpu=1 p=1 @n1
  )"),
            "g-0 g-1 (multiple, 1)");
}

TEST(VictimLadder, AGangBelowItsMinimumLeavesWholeAndCounts) {
  constexpr std::string_view text = R"(
    node n1 gpu=2
    node n2 gpu=8
    pod ask gpu=1 p=5 pin=n1
    pod high @n1 gpu=1 p=9
    gang g min=3 p=1 makeway:below-minimum=evict
    pod g-0 @n1 gpu=1 group=g
    pod g-{1..2} @n2 gpu=1 group=g
  )";
  EXPECT_EQ(climbed(text), "g-0 g-1 g-2 (single, 1)");
  Configuration rules;
  rules.required_node.max_victims = 2;
  EXPECT_EQ(climbed(text, rules), "none");
}

TEST(VictimLadder, WhatStandsInTheWayByAnotherRuleThanRoomLeavesInAnyCase) {
  EXPECT_EQ(climbed(R"(
    node n1 gpu=4 hostname
    pod ask gpu=2 p=5 pin=n1 apart=app:web:kubernetes.io/hostname
    pod web @n1 p=1 app=web
    pod a @n1 gpu=2 p=1
    pod b @n1 gpu=2 p=1
  )"),
            "a web (multiple, 1)");
}

TEST(VictimLadder, TheOrderInsideAClass) {
  LadderScene scene(R"(
    node n1 gpu=16
    pod ask gpu=16 p=5 pin=n1
    pod owner @n1 gpu=1 makeway:owner=true
    pod low @n1 gpu=4 p=1 started=08:00
    pod young @n1 gpu=4 p=2 started=11:00
    pod old-small @n1 gpu=1 p=2 started=09:00
    pod old-large @n1 gpu=2 p=2 started=09:00
    pod old-twin @n1 gpu=2 p=2 started=09:00
  )");
  scene.climb();
  const std::vector<std::string_view> order = {"low",       "young",    "old-small",
                                               "old-large", "old-twin", "owner"};
  for (std::size_t place = 0; place + 1 < order.size(); ++place) {
    EXPECT_TRUE(scene.ladder->before(scene.at(order[place]), scene.at(order[place + 1])))
        << order[place];
    EXPECT_FALSE(scene.ladder->before(scene.at(order[place + 1]), scene.at(order[place])));
  }
}

// ---- YuniKorn's rule ---------------------------------------------------------------------------

// Candidates in order until their own sum covers the ask; free room is not credited, and nothing is
// put back.
TEST(VictimLadder, APrefixByItsOwnSum) {
  Configuration rules = only(VictimSelection::prefix);
  rules.required_node.coverage = Coverage::own_sum;
  rules.required_node.put_back = PutBack::none;
  rules.required_node.class_steps = ClassSteps::together;
  LadderScene scene(R"(
    node n1 gpu=8
    pod ask gpu=3 p=5 pin=n1
    pod a @n1 gpu=1 p=1
    pod b @n1 gpu=2 p=2
    pod c @n1 gpu=4 p=3
  )",
                    rules);
  EXPECT_EQ(scene.climb(), "b a (prefix, 3)") << "one GPU is free; b alone would do";
  ASSERT_TRUE(scene.answer->next.has_value());
  EXPECT_EQ(scene.name(scene.candidates.units[*scene.answer->next].first), "c");
}

}  // namespace
}  // namespace makeway

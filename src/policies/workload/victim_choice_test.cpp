// The best set of victims on one node, by branch and bound (law 10: its bound is named).
#include "policies/workload/victim_choice.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

/// The pod `ask` on n1; a set is scored by its number of pods alone.
struct ChoiceScene : ShortWorld {
  explicit ChoiceScene(std::string_view text) : ShortWorld(text, victims_only()) {
    world.rules().collect(world.after(), node("n1"), fit.priority(), list);
    std::ranges::sort(list.units, [this](const VictimUnit& a, const VictimUnit& b) {
      return world.rules().more_important(a, b);
    });
    world.after().remove(list.pods);
  }

  static Configuration victims_only() {
    Configuration rules;
    rules.workload.score_keys = {ScoreKey::victims};
    return rules;
  }
  std::string best(std::int64_t steps_max = 1000, std::optional<std::int64_t> limit = {}) {
    const VictimChoice::Score score = [&](const VictimChoice::Evicted& evicted,
                                          const ScoreTerms* /*to_beat*/, std::int64_t& /*steps*/) {
      std::int64_t pods = 0;
      for (std::size_t at = 0; at < evicted.size(); ++at) {
        if (evicted[at] != 0) pods += list.units[at].size;
      }
      return std::optional(ScoreTerms{{.key = ScoreKey::victims, .value = pods}});
    };
    const ScoreTerms rival = {{.key = ScoreKey::victims, .value = limit.value_or(0)}};
    answer = choice.best({.node = node("n1"),
                          .list = list,
                          .not_worse_than = limit ? &rival : nullptr,
                          .score = score,
                          .steps_max = steps_max});
    if (!answer.evicted) return "none";
    std::string text;
    for (std::size_t at = 0; at < list.units.size(); ++at) {
      if ((*answer.evicted)[at] != 0) text += name(list.units[at].first) + " ";
    }
    return text;
  }

  PodFit fit{world.survey(), world.after(), pod("ask"), world.holds()};
  VictimChoice choice{world, world.rules(), fit};
  VictimList list;
  VictimChoice::Answer answer;
};

constexpr std::string_view mixed_sizes = R"(
node n1 gpu=10
pod ask gpu=4 p=5
pod one-{1..4} @n1 gpu=1 p=1
pod two @n1 gpu=2 p=1
pod four @n1 gpu=4 p=4
)";

TEST(VictimChoice, TheFewestPods) {
  ChoiceScene scene(mixed_sizes);
  EXPECT_EQ(scene.best(), "four ");
  EXPECT_FALSE(scene.answer.bound_reached);
  EXPECT_GT(scene.answer.steps, 0);
  EXPECT_FALSE(scene.world.after().node_of(scene.pod("four")).exists()) << "left as it was found";
}

TEST(VictimChoice, SetsThatAreWorseThanTheRivalAreNone) {
  constexpr std::string_view pairs = R"(
    node n1 gpu=4
    pod ask gpu=2 p=5
    pod one-{1..4} @n1 gpu=1 p=1
  )";
  EXPECT_EQ(ChoiceScene(pairs).best(1000, 1), "none");
  EXPECT_NE(ChoiceScene(pairs).best(1000, 2), "none");
}

TEST(VictimChoice, WithoutStepsItSaysSo) {
  ChoiceScene scene(mixed_sizes);
  scene.best(0);
  EXPECT_TRUE(scene.answer.bound_reached);
}

TEST(VictimChoice, AWholeGroupCountsAllItsPods) {
  EXPECT_EQ(ChoiceScene(R"(
    node n1 gpu=4
    node n2 gpu=4
    pod ask gpu=2 p=5
    gang g min=3 p=1 mode=all
    pod g-0 @n1 gpu=2 group=g
    pod g-{1..2} @n2 gpu=1 group=g
    pod one-{1..2} @n1 gpu=1 p=4
  )")
                .best(),
            "one-1 one-2 ");
}

TEST(VictimChoice, WhatRemovalsAloneCannotMend) {
  ChoiceScene scene(R"(
    node n1 gpu=2 hostname
    pod ask gpu=1 p=5 near=app:db:kubernetes.io/hostname
    pod db @n1 gpu=1 p=1 app=db
    pod other @n1 gpu=1 p=1
  )");
  const auto still = scene.fit.check(scene.node("n1"));
  ASSERT_TRUE(still.has_value()) << "the pod that it must be near is gone, too";
  EXPECT_TRUE(scene.choice.may_change_later(*still, scene.node("n1"), scene.list));
  EXPECT_EQ(scene.best(), "other ");
  ChoiceScene small("node n1 gpu=1\npod ask gpu=2 p=5\npod low @n1 gpu=1 p=1");
  const auto short_of = small.fit.check(small.node("n1"));
  ASSERT_TRUE(short_of.has_value());
  EXPECT_FALSE(small.choice.may_change_later(*short_of, small.node("n1"), small.list));
}

}  // namespace
}  // namespace makeway

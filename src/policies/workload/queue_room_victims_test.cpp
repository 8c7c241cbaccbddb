// Victims that an ask needs not for its node but for its queue (SPEC section 3).
#include "policies/workload/queue_room_victims.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

/// A queue that may have so many pods; the first ones of it leave first.
class FakeQueue : public AskLimits {
 public:
  FakeQueue(World& world, std::vector<PodIndex> pods, std::size_t most)
      : world_(world), pods_(std::move(pods)), most_(most) {}

  bool contains(PodIndex pod) const override {
    return std::ranges::find(pods_, pod) != pods_.end();
  }
  void turn_to(UnitIndex /*ask*/, PodIndex /*member*/) override {}
  bool has_room_now(std::span<const PodIndex> coming) const override {
    return has_room_later(coming);
  }
  bool has_room_later(std::span<const PodIndex> coming) const override {
    return there().size() + coming.size() <= most_;
  }
  std::vector<PodIndex> find_victims(std::span<const PodIndex> coming,
                                     std::int32_t /*priority*/) const override {
    std::vector<PodIndex> victims = there();
    const std::size_t all = victims.size();
    if (coming.size() > most_) return {};
    victims.resize(all + coming.size() - most_);
    return victims;
  }
  std::vector<PodIndex> awaited(std::span<const PodIndex> /*coming*/) const override { return {}; }
  Reason full_reason(std::span<const PodIndex> /*coming*/) const override { return {}; }
  Reason title() const override { return {}; }
  Reason own_pods() const override { return {}; }

 private:
  std::vector<PodIndex> there() const {
    std::vector<PodIndex> there;
    std::ranges::copy_if(pods_, std::back_inserter(there),
                         [this](PodIndex pod) { return world_.after().node_of(pod).exists(); });
    return there;
  }

  World& world_;
  std::vector<PodIndex> pods_;
  std::size_t most_;
};

constexpr std::string_view queue_of_three = R"(
node n1 gpu=1
node n2 gpu=2
pod ask gpu=1 p=5
pod here @n1 gpu=1 p=1
pod there-{1..2} @n2 gpu=1 p=1
)";

struct QueueVictimScene : ShortWorld {
  QueueVictimScene(std::string_view text, std::size_t most, const Configuration& rules = {})
      : ShortWorld(text, rules) {
    world.limit_asks(
        std::make_unique<FakeQueue>(world, pods({"there-1", "there-2", "here"}), most));
  }

  /// With a victim of the node to begin with, if one is named.
  QueueVerdict add(std::string_view victim, const FitsWithout& fits) {
    if (!victim.empty()) {
      const PodIndex wanted = pod(victim);
      world.rules().collect_some(
          world.after(), cluster.home_nodes(), 5, [&](PodIndex each) { return each == wanted; },
          victims);
    }
    const PodIndex ask = pod("ask");
    return add_queue_victims(world, std::span(&ask, 1), 5, fits,
                             {.victims = victims, .budget_violations = violations, .score = score});
  }
  QueueVerdict add(std::string_view victim) {
    return add(victim, [](std::span<const PodIndex> /*gone*/) { return true; });
  }

  VictimList victims;
  std::int64_t violations = 0;
  ScoreTerms score;
};

TEST(QueueRoomVictims, NoMoreWhereTheQueueHasRoom) {
  QueueVictimScene scene(queue_of_three, 3);
  EXPECT_EQ(scene.add("here"), QueueVerdict::has_room);
  EXPECT_EQ(scene.names(scene.victims.pods), "here");
  EXPECT_TRUE(scene.score.empty()) << "nothing has changed";
}

TEST(QueueRoomVictims, TooLittleMayLeave) {
  QueueVictimScene scene(queue_of_three, 0);
  EXPECT_EQ(scene.add("here"), QueueVerdict::too_little);
  EXPECT_EQ(scene.names(scene.victims.pods), "here");
  EXPECT_TRUE(scene.world.after().node_of(scene.pod("here")).exists());
}

TEST(QueueRoomVictims, OthersOfTheQueueLeaveTooAndAreScored) {
  QueueVictimScene scene(queue_of_three, 2);
  EXPECT_EQ(scene.add("here"), QueueVerdict::has_room);
  EXPECT_EQ(scene.victims.pods.size(), 2U);
  EXPECT_FALSE(scene.score.empty());
  EXPECT_EQ(std::ranges::find(scene.score, ScoreKey::victims, &ScoreTerm::key)->value, 2);
}

// Law 4: what the queue frees may make a victim of the node needless, and the other way round.
TEST(QueueRoomVictims, WhatIsNeedlessIsPutBack) {
  QueueVictimScene scene(queue_of_three, 2);
  const auto needs_here = [&](std::span<const PodIndex> gone) {
    return std::ranges::find(gone, scene.pod("here")) != gone.end();
  };
  EXPECT_EQ(scene.add("", needs_here), QueueVerdict::spoils)
      << "the queue would free there-1 and there-2";
  EXPECT_TRUE(scene.victims.pods.empty());
  EXPECT_EQ(scene.add("here", needs_here), QueueVerdict::has_room);
  EXPECT_EQ(scene.victims.pods.size(), 2U);
  EXPECT_NE(scene.names(scene.victims.pods).find("here"), std::string::npos);
}

TEST(QueueRoomVictims, PlacesThatDependOnWhatLeavesAreSpoiled) {
  QueueVictimScene scene(queue_of_three, 2);
  const auto needs_all = [](std::span<const PodIndex> gone) { return gone.size() <= 1; };
  EXPECT_EQ(scene.add("here", needs_all), QueueVerdict::spoils);
  EXPECT_EQ(scene.names(scene.victims.pods), "here");
}

TEST(QueueRoomVictims, StrictBudgetsKeepTheQueuesPods) {
  constexpr std::string_view budgeted = R"(
    node n1 gpu=1
    node n2 gpu=2
    budget keep app=web min=2 allowed=0
    pod ask gpu=1 p=5
    pod here @n1 gpu=1 p=1
    pod there-{1..2} @n2 gpu=1 p=1 app=web
  )";
  QueueVictimScene best_effort(budgeted, 2);
  EXPECT_EQ(best_effort.add("here"), QueueVerdict::has_room);
  EXPECT_EQ(best_effort.violations, 1);
  Configuration rules;
  rules.budgets.mode = BudgetMode::strict;
  QueueVictimScene strict(budgeted, 2, rules);
  EXPECT_EQ(strict.add("here"), QueueVerdict::spoils);
}

TEST(QueueRoomVictims, TheReasonSaysWhatStandsInTheWay) {
  QueueVictimScene scene(queue_of_three, 0);
  const std::vector<PodIndex> coming = scene.pods({"ask"});
  const auto code = [&](QueueVerdict verdict, bool never) {
    return queue_full_reason(scene.world, coming, verdict, never).code;
  };
  EXPECT_EQ(code(QueueVerdict::too_little, false), ReasonCode::queue_full_too_little);
  EXPECT_EQ(code(QueueVerdict::spoils, false), ReasonCode::queue_full_spoils);
  EXPECT_EQ(code(QueueVerdict::spoils, true), ReasonCode::queue_full_never);
  PlanAsk ask;
  EXPECT_EQ(queue_waits_reason(ask, {}).code, ReasonCode::queue_awaits_promise);
  ask.waits_for.push_back({.namespace_name = "default", .name = "here", .node = "n1"});
  EXPECT_EQ(queue_waits_reason(ask, {}).code, ReasonCode::queue_awaits_departures);
}

}  // namespace
}  // namespace makeway

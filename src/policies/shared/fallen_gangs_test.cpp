// SPEC section 2, `belowMinimum: evict`: gangs that victims take below their minimum leave whole,
// and what that frees spares others (law 4).
#include "policies/shared/fallen_gangs.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

using Names = std::initializer_list<std::string_view>;

constexpr std::int32_t fallen_ask_priority = 100;

/// Victims that a search has chosen and removed from the world `after`.
struct FallenScene : ShortWorld {
  using ShortWorld::ShortWorld;

  VictimList units_of(Names names) {
    const std::vector<PodIndex> wanted = pods(names);
    const auto is_wanted = [&](PodIndex pod) {
      return std::ranges::find(wanted, pod) != wanted.end();
    };
    VictimList list;
    world.rules().collect_some(world.after(), cluster.home_nodes(), fallen_ask_priority, is_wanted,
                               list);
    world.after().remove(list.pods);
    return list;
  }
  std::int64_t free_gpus(std::string_view name) {
    const std::size_t gpu = resource("nvidia.com/gpu").value;
    return world.survey().allocatable(node(name))[gpu] - world.after().used(node(name))[gpu];
  }
  FallenIn fallen_in() {
    return {.cluster = cluster,
            .scratch = world.after(),
            .rules = world.rules(),
            .budgets = world.budgets()};
  }
  /// The victims that `take_fallen_whole` leaves, when the ask needs so many GPUs on n1; "no" if it
  /// says that this does not work.
  std::string taken(Names names, std::int64_t gpus_needed) {
    VictimList victims = units_of(names);
    const bool works =
        take_fallen_whole(fallen_in(), [&] { return free_gpus("n1") >= gpus_needed; }, victims);
    std::ranges::sort(victims.pods, {}, [this](PodIndex pod) { return name(pod); });
    return works ? this->names(victims.pods) : "no";
  }
};

TEST(FallenGangs, NoVictimsAndNoGangChangeNothing) {
  FallenScene scene("node n1 gpu=2\npod low @n1 gpu=1 p=1");
  EXPECT_EQ(scene.taken({}, 1), "");
  EXPECT_EQ(scene.taken({"low"}, 2), "low");
}

constexpr std::string_view gang_nodes = R"(
node n1 gpu=4
node n2 gpu=4
pod lone @n1 gpu=1 p=5
gang g min=2 p=1 makeway:below-minimum=evict
pod g-0 @n1 gpu=1 group=g
pod g-1 @n1 gpu=1 group=g
)";

TEST(FallenGangs, TheRestOfTheGangLeavesToo) {
  EXPECT_EQ(FallenScene(gang_nodes).taken({"g-0"}, 2), "g-0 g-1");
}

TEST(FallenGangs, AVictimStaysWhereTheRestMakesRoomEnough) {
  // One GPU is free. The lone pod and g-0 free two more; with g-1 gone as well, it need not leave.
  EXPECT_EQ(FallenScene(gang_nodes).taken({"lone", "g-0"}, 3), "g-0 g-1");
  EXPECT_EQ(FallenScene(gang_nodes).taken({"lone", "g-0"}, 4), "g-0 g-1 lone");
}

TEST(FallenGangs, AGangAtItsMinimumRunsOn) {
  FallenScene scene(std::string(gang_nodes) + "pod g-2 @n2 gpu=1 group=g");
  EXPECT_EQ(scene.taken({"g-0"}, 2), "g-0") << "two of three stay";
}

TEST(FallenGangs, WithoutTheMarkItRunsOnDegraded) {
  FallenScene scene(R"(
    node n1 gpu=4
    gang g x2 min=2 gpu=1 p=1 @n1
  )");
  EXPECT_EQ(scene.taken({"g-0"}, 3), "g-0");
}

TEST(FallenGangs, AGangThatWasBelowItsMinimumBeforeIsLeftAlone) {
  FallenScene scene(R"(
    node n1 gpu=4
    gang g x3 min=4 gpu=1 p=1 @n1 makeway:below-minimum=evict
  )");
  EXPECT_EQ(scene.taken({"g-0"}, 2), "g-0");
}

TEST(FallenGangs, AProtectedMemberKeepsTheRest) {
  FallenScene scene(R"(
    node n1 gpu=4
    gang g min=2 p=1 makeway:below-minimum=evict
    pod g-0 @n1 gpu=1 group=g
    pod g-1 @n1 gpu=1 group=g makeway:protected=true
  )");
  EXPECT_EQ(scene.taken({"g-0"}, 2), "g-0");
}

TEST(FallenGangs, ALeavingMemberIsNotTakenAgain) {
  FallenScene scene(R"(
    node n1 gpu=4
    gang g min=2 p=1 makeway:below-minimum=evict
    pod g-0 @n1 gpu=1 group=g
    pod g-1 @n1 gpu=1 group=g
    pod g-2 @n1 gpu=1 group=g deleted=12:00:05
  )");
  EXPECT_EQ(scene.taken({"g-0"}, 3), "g-0 g-1");
}

TEST(FallenGangs, WhatNeedsTheGangDoesNotWorkWithoutIt) {
  FallenScene scene(gang_nodes);
  VictimList victims = scene.units_of({"g-0"});
  const auto near_the_other = [&] {
    return scene.world.after().node_of(scene.pod("g-1")).exists();
  };
  EXPECT_FALSE(take_fallen_whole(scene.fallen_in(), near_the_other, victims));
  EXPECT_EQ(scene.names(victims.pods), "g-0") << "the victims are as they were";
}

TEST(FallenGangs, ForAScoreTheWorldIsAsItWasButForTheSpared) {
  FallenScene scene(gang_nodes);
  VictimList victims = scene.units_of({"lone", "g-0"});
  ASSERT_TRUE(
      add_fallen_and_spare(scene.fallen_in(), [&] { return scene.free_gpus("n1") >= 3; }, victims));
  EXPECT_EQ(victims.pods.size(), 2U);
  const Scratch& after = scene.world.after();
  EXPECT_TRUE(after.node_of(scene.pod("lone")).exists()) << "it is spared";
  EXPECT_FALSE(after.node_of(scene.pod("g-0")).exists()) << "it had left before";
  EXPECT_TRUE(after.node_of(scene.pod("g-1")).exists()) << "it has not left yet";
}

TEST(FallenGangs, AUnitIsAppendedWithItsPods) {
  FallenScene scene(R"(
    node n1 gpu=4
    gang whole x2 min=2 gpu=1 p=1 mode=all @n1
    pod lone @n1 gpu=1 p=5
  )");
  const VictimList from = scene.units_of({"lone", "whole-0"});
  VictimList to;
  for (std::size_t at = from.units.size(); at-- > 0;) append_unit(from, from.units[at], to);
  ASSERT_EQ(to.units.size(), 2U);
  for (const VictimUnit& unit : to.units) {
    EXPECT_EQ(scene.names(to.pods_of(unit)), unit.group ? "whole-0 whole-1" : "lone");
  }
}

}  // namespace
}  // namespace makeway

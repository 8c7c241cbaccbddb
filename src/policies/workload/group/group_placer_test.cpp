// Places for the members of a group, one after the other, without victims (SPEC section 2).
#include "policies/workload/group/group_placer.hpp"

#include <gtest/gtest.h>

#include "support/gang_scene.hpp"

namespace makeway {
namespace {

struct PlacerScene : GangScene {
  using GangScene::GangScene;

  std::string place(std::size_t needed, std::size_t enough) {
    const std::vector<PodOnNode> places =
        placer.place({.members = members, .needed = needed, .enough = enough});
    return text(places);
  }
  std::string ordered(MemberOrder order) {
    std::vector<PodIndex> pods = members;
    order_members(world, order, pods);
    return names(pods);
  }

  GroupPlacer placer{world, planning_rules_of(world), domain, fits, nullptr, nullptr};
};

constexpr std::string_view mixed_members = R"(
node n1 gpu=4 cpu=100
gang ask min=1
pod ask-cpu cpu=20 group=ask p=1
pod ask-gpu gpu=1 group=ask p=2 created=11:00
pod ask-both gpu=1 cpu=20 group=ask p=2 created=10:00
pod ask-twin gpu=1 group=ask p=2
pod ask-none group=ask p=9
)";

TEST(OrderMembers, TheLargestShareOfAllNodesFirst) {
  // A GPU is a quarter of what there is, 20 CPUs are a fifth.
  EXPECT_EQ(PlacerScene(mixed_members).ordered(MemberOrder::largest),
            "ask-both ask-gpu ask-twin ask-cpu ask-none");
}

TEST(OrderMembers, ByCreationAsQueuesHaveThem) {
  EXPECT_EQ(PlacerScene(mixed_members).ordered(MemberOrder::creation),
            "ask-none ask-both ask-gpu ask-twin ask-cpu")
      << "priority, then creation; unknown is the latest";
}

TEST(OrderMembers, HugeRequestsDoNotOverflow) {
  PlacerScene scene(R"(
    node n1 memory=1Ei
    gang ask min=1
    pod ask-a memory=1Gi group=ask
    pod ask-b memory=512Pi group=ask
  )");
  EXPECT_EQ(scene.ordered(MemberOrder::largest), "ask-b ask-a");
}

TEST(GroupPlacer, PacksTheFullestNodesFirst) {
  PlacerScene scene(R"(
    node n1 gpu=4
    node n2 gpu=4
    pod there @n2 gpu=2
    gang ask x3 min=3 gpu=1
  )");
  EXPECT_EQ(scene.place(3, 3), "ask-0@n2 ask-1@n2 ask-2@n1");
  EXPECT_FALSE(scene.placer.first_without().has_value());
  EXPECT_TRUE(scene.world.after().node_of(scene.pod("ask-0")).exists()) << "they are there now";
}

TEST(GroupPlacer, NoMoreThanEnoughAndItGivesUpBelowWhatIsNeeded) {
  constexpr std::string_view text = "node n1 gpu=2\ngang ask x3 min=2 gpu=1";
  EXPECT_EQ(PlacerScene(text).place(1, 1), "ask-0@n1");
  PlacerScene two(text);
  EXPECT_EQ(two.place(2, 3), "ask-0@n1 ask-1@n1");
  EXPECT_EQ(two.placer.first_without(), two.pod("ask-2"));
  PlacerScene none("gang ask x2 min=2 gpu=1\nnode n1 gpu=0");
  EXPECT_EQ(none.place(2, 2), "");
  EXPECT_EQ(none.placer.first_without(), none.pod("ask-0"));
}

TEST(GroupPlacer, ANominatedMemberGoesThereIfItFits) {
  PlacerScene scene(R"(
    node n1 gpu=1
    node n2 gpu=2
    gang ask min=2
    pod ask-0 gpu=1 group=ask
    pod ask-1 gpu=1 group=ask nominated=n2
    pod ask-2 gpu=1 group=ask nominated=gone
  )");
  EXPECT_EQ(scene.place(3, 3), "ask-0@n1 ask-1@n2 ask-2@n2");
}

TEST(GroupPlacer, AMemberThatNeedsALaterOneIsTriedAgain) {
  PlacerScene scene(R"(
    node n1 gpu=1 hostname
    node n2 gpu=2 hostname
    gang ask min=2
    pod ask-a gpu=1 group=ask near=app:b:kubernetes.io/hostname
    pod ask-b gpu=1 group=ask app=b select=kubernetes.io/hostname:n2
  )");
  EXPECT_EQ(scene.place(2, 2), "ask-a@n2 ask-b@n2");
}

TEST(GroupPlacer, ABoundIsNamed) {
  Configuration rules;
  rules.engine.placement_steps_max = 1;
  PlacerScene scene("node n{1..3} gpu=1\ngang ask x3 min=3 gpu=1", rules);
  scene.place(3, 3);
  EXPECT_TRUE(scene.placer.bound_reached());
  EXPECT_EQ(scene.placer.bound(), "engine.placementStepsMax");
}

TEST(GroupPlacer, FurtherMembersTakeNoNominatedRoom) {
  PlacerScene scene(R"(
    node n1 gpu=3
    gang ask x3 min=1 gpu=1 p=5
    pod modest gpu=1 p=1 nominated=n1
  )");
  std::vector<PodOnNode> places =
      scene.placer.place({.members = std::span(scene.members).first(1), .needed = 1, .enough = 1});
  ASSERT_EQ(scene.text(places), "ask-0@n1");
  fill_free_room(scene.world, planning_rules_of(scene.world), scene.domain, scene.fits,
                 scene.members, places);
  EXPECT_EQ(scene.text(places), "ask-0@n1 ask-1@n1") << "the third GPU is nominated";
}

TEST(GroupPlacer, NominatedMembersThatKeepTheirPlace) {
  PlacerScene scene(R"(
    node n1 gpu=2 hostname
    node n2 gpu=1 hostname
    pod full @n2 gpu=1
    gang ask min=2
    pod ask-near gpu=1 group=ask nominated=n1 near=app:b:kubernetes.io/hostname
    pod ask-b gpu=1 group=ask nominated=n1 app=b
    pod ask-c gpu=1 group=ask nominated=n2
    pod ask-d gpu=1 group=ask nominated=gone
  )");
  const std::set<PodIndex> keep = members_that_keep_their_place(scene.world, scene.members);
  EXPECT_EQ(scene.text(std::vector<PodIndex>(keep.begin(), keep.end())), "ask-b ask-near")
      << "alone ask-near would find no pod near it";
  EXPECT_FALSE(scene.world.after().node_of(scene.pod("ask-b")).exists());
}

}  // namespace
}  // namespace makeway

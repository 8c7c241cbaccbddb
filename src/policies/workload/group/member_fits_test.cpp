// Do the members of a group fit where they are to go (SPEC section 2).
#include "policies/workload/group/member_fits.hpp"

#include <gtest/gtest.h>

#include "support/gang_scene.hpp"

namespace makeway {
namespace {

using Nominations = MemberFits::Nominations;

TEST(MemberFits, MembersThatAreAlikeAreOneClass) {
  GangScene scene(R"(
    node n1 gpu=8
    gang ask x2 min=2 gpu=1 p=5
    pod ask-big gpu=2 group=ask
  )");
  EXPECT_EQ(scene.fits.classes(), 2U);
  EXPECT_EQ(scene.fits.class_of(scene.pod("ask-0")), scene.fits.class_of(scene.pod("ask-1")));
  EXPECT_NE(scene.fits.class_of(scene.pod("ask-0")), scene.fits.class_of(scene.pod("ask-big")));
  EXPECT_FALSE(scene.fits.countable());
  EXPECT_FALSE(scene.fits.constrained());
  EXPECT_TRUE(scene.fits.portless());
  EXPECT_FALSE(scene.fits.may_spoil());
  EXPECT_EQ(scene.name(scene.fits.of(scene.pod("ask-1")).ask()), "ask-1") << "it takes its turn";
}

TEST(MemberFits, OneClassWithoutConstraintsCanBeCounted) {
  EXPECT_TRUE(GangScene("node n1 gpu=8\ngang ask x3 min=2 gpu=1").fits.countable());
  GangScene apart(
      "node n1 gpu=8 hostname\ngang ask x2 min=2 gpu=1 app=a apart=app:a:kubernetes.io/hostname");
  EXPECT_FALSE(apart.fits.countable());
  EXPECT_TRUE(apart.fits.constrained());
  const GangScene none("node n1 gpu=8\ngang ask min=2\npod ask-0 @n1 group=ask");
  EXPECT_EQ(none.fits.classes(), 0U);
}

TEST(MemberFits, OneAfterTheOther) {
  GangScene scene("node n1 gpu=1\nnode n2 gpu=1\ngang ask x2 min=2 gpu=1");
  const std::vector<PodOnNode> apart = {scene.at("ask-0", "n1"), scene.at("ask-1", "n2")};
  const std::vector<PodOnNode> together = {scene.at("ask-0", "n1"), scene.at("ask-1", "n1")};
  EXPECT_TRUE(scene.fits.fit_in_turn(apart, Nominations::count));
  EXPECT_FALSE(scene.fits.fit_in_turn(together, Nominations::count)) << "alone each would fit";
  EXPECT_TRUE(scene.fits.fit_in_turn({}, Nominations::count));
  EXPECT_FALSE(scene.world.after().node_of(scene.pod("ask-0")).exists()) << "as it was";
}

// ask-a wants to be near ask-b, which comes after it.
TEST(MemberFits, TheOrderMayChangeWhereMembersLookAtEachOther) {
  GangScene scene(R"(
    node n1 gpu=2 hostname
    gang ask min=2
    pod ask-a gpu=1 group=ask near=app:b:kubernetes.io/hostname
    pod ask-b gpu=1 group=ask app=b
  )");
  const std::vector<PodOnNode> places = {scene.at("ask-a", "n1"), scene.at("ask-b", "n1")};
  EXPECT_TRUE(scene.fits.fit_in_turn(places, Nominations::count, PutBackScope::every_node));
  EXPECT_FALSE(scene.fits.fit_in_turn(places, Nominations::count, PutBackScope::ask_nodes));
  EXPECT_TRUE(scene.fits.may_spoil());
}

// Law 7: room of a more important nomination.
TEST(MemberFits, NominationsCountOrNot) {
  GangScene scene(R"(
    node n1 gpu=2
    gang ask x2 min=2 gpu=1 p=5
    pod promised gpu=1 p=9 nominated=n1
    pod modest gpu=1 p=1 nominated=n1
  )");
  const std::vector<PodOnNode> one = {scene.at("ask-0", "n1")};
  const std::vector<PodOnNode> both = {scene.at("ask-0", "n1"), scene.at("ask-1", "n1")};
  EXPECT_TRUE(scene.fits.fit_in_turn(one, Nominations::count)) << "modest holds nothing against it";
  EXPECT_FALSE(scene.fits.fit_in_turn(both, Nominations::count));
  EXPECT_TRUE(scene.fits.fit_in_turn(both, Nominations::ignore));
  scene.fits.respect_every_nomination(true);
  EXPECT_FALSE(scene.fits.fit_in_turn(one, Nominations::count));
  scene.fits.respect_every_nomination(false);
  EXPECT_TRUE(scene.fits.fit_in_turn(one, Nominations::count));
}

TEST(MemberFits, WhetherTheyStillStandWhereTheyAre) {
  GangScene scene(R"(
    node n1 gpu=2 hostname
    node n2 gpu=2 hostname
    gang ask x2 min=2 gpu=1 p=5 app=a
    pod late gpu=1 p=5
    pod hater p=5 apart=app:a:kubernetes.io/hostname
  )");
  const std::vector<PodOnNode> places = {scene.at("ask-0", "n1"), scene.at("ask-1", "n1")};
  Scratch& after = scene.world.after();
  for (const PodOnNode& place : places) after.place(place.pod, place.node);
  EXPECT_TRUE(scene.fits.still_fit(places));
  EXPECT_TRUE(scene.fits.all_still_fit(places));
  after.place(scene.pod("late"), scene.node("n1"));
  EXPECT_FALSE(scene.fits.still_fit(places)) << "three on two GPUs";
  after.remove(scene.pod("late"));
  after.place(scene.pod("hater"), scene.node("n1"));
  EXPECT_FALSE(scene.fits.all_still_fit(places)) << "it repels them";
}

}  // namespace
}  // namespace makeway

// Places for members one after the other, each where the least is lost (SPEC section 2).
#include "policies/workload/group/member_by_member.hpp"

#include <gtest/gtest.h>

#include "support/gang_scene.hpp"

namespace makeway {
namespace {

struct MemberScene : GangScene {
  using GangScene::GangScene;

  std::string place(std::size_t needed, std::size_t wanted,
                    const MemberByMember::Detour& detour = {}) {
    const auto found = by_member.place(members, needed, wanted, detour);
    return found ? text(found->places) + "; " + text(found->victims) : "none";
  }

  MemberByMember by_member{world, domain, fits, {.rules = world.rules(), .priority = 100}};
};

constexpr std::string_view three_costs = R"(
node n1 gpu=1
node n2 gpu=1
node n3 gpu=1
gang ask x2 min=2 gpu=1 p=100
pod high @n1 gpu=1 p=9
pod low @n2 gpu=1 p=1
pod mid @n3 gpu=1 p=5
)";

TEST(MemberByMember, EachGoesWhereTheLeastIsLost) {
  MemberScene scene(three_costs);
  EXPECT_EQ(scene.place(2, 2), "ask-0@n2 ask-1@n3; low mid");
  EXPECT_TRUE(scene.world.after().node_of(scene.pod("low")).exists()) << "as it was";
}

TEST(MemberByMember, ADetourGivesOneMemberItsNextBestNode) {
  EXPECT_EQ(MemberScene(three_costs).place(2, 2, {.member = 0, .rank = 1}),
            "ask-0@n3 ask-1@n2; low mid");
  EXPECT_EQ(MemberScene(three_costs).place(2, 2, {.member = 1, .rank = 1}),
            "ask-0@n2 ask-1@n1; high low");
  EXPECT_EQ(MemberScene(three_costs).place(2, 2, {.member = 0, .rank = 9}), "none");
}

TEST(MemberByMember, FewerThanAreNeededAreNone) {
  constexpr std::string_view text = "node n1 gpu=1\ngang ask x2 min=2 gpu=1 p=100";
  EXPECT_EQ(MemberScene(text).place(2, 2), "none");
  EXPECT_EQ(MemberScene(text).place(1, 2), "ask-0@n1; ");
  EXPECT_EQ(MemberScene(text).place(0, 0), "; ");
}

TEST(MemberByMember, WhatOneMadeLeaveServesTheNext) {
  EXPECT_EQ(MemberScene(R"(
    node n1 gpu=2
    node n2 gpu=1
    gang ask x2 min=2 gpu=1 p=100
    pod big @n1 gpu=2 p=2
    pod small @n2 gpu=1 p=3
  )")
                .place(2, 2),
            "ask-0@n1 ask-1@n1; big");
}

TEST(MemberByMember, WhereOneMemberCouldGoBesideTheOthers) {
  MemberScene scene(three_costs);
  const std::vector<PodOnNode> others = {scene.at("ask-0", "n2")};
  const auto choices = scene.by_member.beside(others, scene.pods({"low"}), scene.pod("ask-1"));
  ASSERT_EQ(choices.size(), 2U);
  EXPECT_EQ(scene.name(choices[0].node), "n3");
  EXPECT_EQ(scene.names(choices[0].victims), "mid");
  EXPECT_EQ(scene.name(choices[1].node), "n1");
  EXPECT_TRUE(scene.world.after().node_of(scene.pod("low")).exists());
}

// Anti-affinity closes both zones; zone a opens when the pods there have left.
TEST(MemberByMember, OpeningsOfAPartOfTheTopology) {
  MemberScene scene(R"(
    node a1 gpu=1 zone=a
    node a2 gpu=1 zone=a
    node b1 gpu=1 zone=b
    gang ask min=1 p=100
    pod ask-0 gpu=1 group=ask apart=app:x:zone
    pod x-1 @a1 p=1 app=x
    pod x-2 @a2 p=1 app=x
    node b2 gpu=1 zone=b
    pod x-3 @b1 p=200 app=x
  )");
  const auto openings = scene.by_member.openings(scene.pod("ask-0"));
  ASSERT_EQ(openings.size(), 1U) << "what closes zone b may not leave";
  EXPECT_EQ(scene.text(openings.front().victims.pods), "x-1 x-2");
  EXPECT_EQ(openings.front().nodes.size(), 2U);
  MemberScene plain(three_costs);
  EXPECT_TRUE(plain.by_member.openings(plain.pod("ask-0")).empty());
}

}  // namespace
}  // namespace makeway

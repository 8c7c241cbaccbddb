// Places for the members of a group, chosen by what would have to leave (SPEC section 2).
#include "policies/workload/victim_guide.hpp"

#include <gtest/gtest.h>

#include "support/gang_scene.hpp"

namespace makeway {
namespace {

struct GuideScene : GangScene {
  using GangScene::GangScene;

  /// "ask-0@n1 ask-1@n2; low-1 low-2": the places, and which pods leave.
  std::string place(std::size_t needed, std::size_t wanted, bool spare = false) {
    EmptiedNodes emptied(world.survey(), world.after(), world.rules(), world.budgets(),
                         {.nodes = domain.nodes, .ask_priority = 100});
    emptied.start(99);
    const auto found =
        VictimGuide(world, domain, fits, emptied, spare).place(members, needed, wanted);
    return found ? text(found->places) + "; " + text(found->victims) : "none";
  }
};

TEST(VictimGuide, FreeRoomCostsNothing) {
  EXPECT_EQ(GuideScene("node n1 gpu=2\ngang ask x2 min=2 gpu=1 p=100").place(2, 2),
            "ask-0@n1 ask-1@n1; ");
}

TEST(VictimGuide, TheCheapestStepsOfAllNodes) {
  GuideScene scene(R"(
    node n1 gpu=2
    node n2 gpu=2
    gang ask x2 min=2 gpu=1 p=100
    pod mid-{1..2} @n1 gpu=1 p=5
    pod low-1 @n2 gpu=1 p=1
    pod high-1 @n2 gpu=1 p=9
  )");
  EXPECT_EQ(scene.place(1, 1), "ask-0@n2; low-1");
}

TEST(VictimGuide, FewerPlacesThanAreNeededAreNone) {
  constexpr std::string_view text = R"(
    node n1 gpu=2
    gang ask x3 min=3 gpu=1 p=100
    pod equal @n1 gpu=1 p=100
  )";
  EXPECT_EQ(GuideScene(text).place(2, 3), "none");
  EXPECT_EQ(GuideScene(text).place(1, 3), "ask-0@n1; ");
}

// It is paid for once, and its pods on other nodes are free afterwards.
TEST(VictimGuide, AWholeGroupOpensSeveralNodes) {
  constexpr std::string_view text = R"(
    node n{1..3} gpu=1
    gang ask x2 min=2 gpu=1 p=100
    gang g min=2 p=1 mode=all
    pod g-0 @n1 gpu=1 group=g
    pod g-1 @n3 gpu=1 group=g
    pod equal @n2 gpu=1 p=100
  )";
  EXPECT_EQ(GuideScene(text).place(2, 2), "ask-0@n1 ask-1@n3; g-0 g-1");
}

TEST(VictimGuide, PodsAgainstABudgetAreTheLastOrNone) {
  constexpr std::string_view text = R"(
    node n1 gpu=1
    node n2 gpu=1
    gang ask x1 min=1 gpu=1 p=100
    budget keep app=web min=1 allowed=0
    pod web @n1 gpu=1 p=1 app=web
    pod plain @n2 gpu=1 p=50
  )";
  EXPECT_EQ(GuideScene(text).place(1, 1), "ask-0@n2; plain");
  EXPECT_EQ(GuideScene(text).place(1, 1, true), "ask-0@n2; plain");
}

}  // namespace
}  // namespace makeway

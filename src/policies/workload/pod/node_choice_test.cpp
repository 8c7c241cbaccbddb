// Where an ask goes for which no pod has to leave (law 1).
#include "policies/workload/pod/node_choice.hpp"

#include <gtest/gtest.h>

#include "support/short_cluster.hpp"

namespace makeway {
namespace {

struct ChooseScene : ShortWorld {
  explicit ChooseScene(std::string_view text, const Configuration& rules = {})
      : ShortWorld(text, rules) {}

  /// "n1", "later n1" or "none".
  std::string chosen(const NodeChoice& choice) const {
    if (choice.now) return name(*choice.now);
    return choice.later ? "later " + name(*choice.later) : "none";
  }
  std::string choose(NodeScore score = NodeScore::pack) {
    choice = choose_node(world, after, world.differs() ? &now : nullptr, world.survey().nodes(),
                         score, Others::listed, Comes::alone);
    const bool nominated = cluster.pods().nominated[pod("ask")].exists();
    if (!nominated && !world.survey().nodes().empty()) {
      RoomRanking ranking(world, after, world.survey().nodes(), score, nullptr);
      const NodeChoice ranked = ranking.choose(world.differs() ? &now : nullptr);
      EXPECT_EQ(chosen(ranked), chosen(choice)) << "both ways agree";
    }
    return chosen(choice);
  }

  PodFit after{world.survey(), world.after(), pod("ask"), world.holds()};
  PodFit now{world.survey(), world.now(), pod("ask"), world.holds()};
  NodeChoice choice;
};

TEST(NodeChoice, NoNodeAndNoRoom) {
  EXPECT_EQ(ChooseScene("pod ask gpu=1").choose(), "none");
  EXPECT_EQ(ChooseScene("node n1 cpu=1\npod ask gpu=1").choose(), "none");
  EXPECT_EQ(ChooseScene("node n1 gpu=1 cordoned\npod ask gpu=1").choose(), "none");
}

constexpr std::string_view half_and_empty = R"(
node n1 gpu=4
node n2 gpu=4
node n3 gpu=4
pod there @n2 gpu=2
pod ask gpu=1
)";

TEST(NodeChoice, PackTakesTheFullestAndSpreadTheEmptiest) {
  ChooseScene scene(half_and_empty);
  EXPECT_EQ(scene.choose(NodeScore::pack), "n2");
  EXPECT_EQ(scene.choice.fitting_now, 3);
  ASSERT_EQ(scene.choice.others.size(), 2U);
  EXPECT_EQ(scene.choice.others.front().node, "n1");
  EXPECT_EQ(scene.choose(NodeScore::spread), "n1") << "the first by name of two";
}

TEST(NodeChoice, AnAskForNothingGoesWhereTheFewestSlotsAreLeft) {
  EXPECT_EQ(ChooseScene("node n1 pods=10\nnode n2 pods=4\npod ask").choose(), "n2");
}

TEST(NodeChoice, HugeNodesDoNotOverflow) {
  EXPECT_EQ(ChooseScene(R"(
    node n1 memory=1Ei
    node n2 memory=512Pi
    pod ask memory=256Pi
  )")
                .choose(),
            "n2");
}

TEST(NodeChoice, AvoidedTaintsComeBeforeFullness) {
  EXPECT_EQ(ChooseScene(R"(
    node n1 gpu=2 taint=slow:PreferNoSchedule
    node n2 gpu=8
    pod ask gpu=1
  )")
                .choose(),
            "n2");
  EXPECT_EQ(ChooseScene(R"(
    node n1 gpu=2 taint=slow:PreferNoSchedule
    node n2 gpu=8
    pod ask gpu=1 tolerates=slow
  )")
                .choose(),
            "n1");
}

// Law 6: room that is leaving.
TEST(NodeChoice, LaterIsWhereItDoesNotFitNow) {
  constexpr std::string_view leaving = R"(
    node n1 gpu=1
    pod leaves @n1 gpu=1 deleted=12:00:10
    pod ask gpu=1
  )";
  EXPECT_EQ(ChooseScene(leaving).choose(), "later n1");
  EXPECT_EQ(ChooseScene(std::string(leaving) + "node n2 gpu=9").choose(), "n2");
}

// Law 7.
TEST(NodeChoice, ItsOwnNominationComesFirstAndThoseOfOthersHoldTheirRoom) {
  EXPECT_EQ(ChooseScene(R"(
    node n1 gpu=4
    node n2 gpu=1
    pod ask gpu=1 p=5 nominated=n1
  )")
                .choose(),
            "n1")
      << "though n2 would be fuller";
  constexpr std::string_view held = R"(
    node n1 gpu=1
    pod other gpu=1 p=5 nominated=n1
  )";
  EXPECT_EQ(ChooseScene(std::string(held) + "pod ask gpu=1 p=5").choose(), "none");
  EXPECT_EQ(ChooseScene(std::string(held) + "pod ask gpu=1 p=6").choose(), "n1");
}

TEST(NodeChoice, AnAskThatHasAPlaceTakesNoOthersRoom) {
  EXPECT_EQ(ChooseScene(R"(
    node n1 gpu=1
    node n2 gpu=1
    pod ask gpu=1 p=9 nominated=n2
    pod modest gpu=1 p=1 nominated=n1
  )")
                .choose(),
            "n2");
}

TEST(NodeChoice, WhetherOthersCouldLoseTheirPlace) {
  ShortWorld scene(R"(
    node n1 gpu=4 hostname
    pod a gpu=1 nominated=n1
    pod b gpu=1 nominated=n1
    pod near gpu=1 nominated=n1 near=app:x:kubernetes.io/hostname
  )");
  EXPECT_TRUE(others_may_lose(scene.world, scene.pods({"a"}))) << "`near` looks at others";
  EXPECT_FALSE(others_may_lose(scene.world, scene.pods({"a", "b", "near"})));
  scene.world.decided(scene.pod("near"));
  EXPECT_FALSE(others_may_lose(scene.world, scene.pods({"a"})));
}

TEST(RoomRanking, AChangedNodeIsLookedAtAgain) {
  ChooseScene scene(half_and_empty);
  RoomRanking ranking(scene.world, scene.after);
  EXPECT_EQ(scene.chosen(ranking.choose(nullptr)), "n2");
  scene.world.after().remove(scene.pod("there"));
  ranking.changed(scene.node("n2"));
  EXPECT_EQ(scene.chosen(ranking.choose(nullptr)), "n1");
  EXPECT_EQ(ranking.choose(nullptr).fitting_now, 3);
}

}  // namespace
}  // namespace makeway

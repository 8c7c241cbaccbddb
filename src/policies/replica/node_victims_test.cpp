// SPEC section 4: what a place would lose for one replica, and how two places compare.
#include "policies/replica/node_victims.hpp"

#include <gtest/gtest.h>

#include "policies/shared/plan_writer.hpp"
#include "support/fleet_scene.hpp"

namespace makeway {
namespace {

struct VictimScene : FleetScene {
  using FleetScene::FleetScene;

  /// The victims on the node for one more replica of `ask`; "no" when it does not fit.
  std::string victims_on(std::string_view node) {
    PlaceCost cost;
    return victims.evaluate(place(node), need("ask"), cost) ? pods_of(victims.victims()) : "no";
  }
  PlaceCost cost_of(std::string_view node) {
    PlaceCost cost;
    CHECK(victims.evaluate(place(node), need("ask"), cost), node);
    return cost;
  }
  /// "n1 by excess: 0 against 1": the better of two nodes and why.
  std::string better(std::string_view a, std::string_view b, std::int64_t left = 0,
                     std::int64_t right = 0) {
    const PlaceCost first = cost_of(a);
    const PlaceCost second = cost_of(b);
    Reason key;
    if (victims.compare(need("ask"), first, left, second, right, &key) < 0) {
      EXPECT_GT(victims.compare(need("ask"), second, right, first, left), 0);
      return fmt::format("{} by {}", a, write_text(cluster, key));
    }
    EXPECT_LT(victims.compare(need("ask"), second, right, first, left, &key), 0);
    return fmt::format("{} by {}", b, write_text(cluster, key));
  }

  NodeVictims victims{fleet};
};

TEST(NodeVictims, RoomNeedsNone) {
  VictimScene scene(R"(
    node n1 gpu=2 plane=eu
    schedule ask gpu=2 p=9 plane=eu
    schedule web gpu=1 p=1 plane=eu:2
  )");
  EXPECT_EQ(scene.victims_on("n1"), "");
  const PlaceCost cost = scene.cost_of("n1");
  EXPECT_EQ(cost.worst_class, -1);
  EXPECT_EQ(cost.victims, 0);
  EXPECT_EQ(cost.excess, 0);
  EXPECT_EQ(cost.highest_priority, PlaceCost::no_priority);
}

TEST(NodeVictims, NoVictimsOnACordonedOrTooSmallNode) {
  VictimScene scene(R"(
    node closed gpu=9 plane=eu cordoned
    node small gpu=1 plane=eu
    node none cpu=1 plane=eu
    schedule ask gpu=2 p=9 plane=eu
  )");
  EXPECT_EQ(scene.victims_on("closed"), "no");
  EXPECT_EQ(scene.victims_on("small"), "no");
  EXPECT_EQ(scene.victims_on("none"), "no") << "a node without that resource";
}

TEST(NodeVictims, InTheOrderOfClassesUntilItFitsThenWhatIsNotNeededIsPutBack) {
  VictimScene scene(R"(
    node n1 gpu=4 plane=eu
    schedule ask gpu=3 p=9 plane=eu
    schedule web gpu=1 p=1 plane=eu:9
    pod web-1 @n1 gpu=2 deployment=web created=08:00
    pod web-2 @n1 gpu=1 deployment=web created=09:00
    pod ends @n1 gpu=1 deployment=web deleted=12:00:10 grace=30
    node n2 gpu=1 plane=eu
    pod web-3 @n2 gpu=1 deployment=web
  )");
  // ends and web-2 free 2; web-1 makes it 4. One is too much: web-2 is put back, not ends.
  EXPECT_EQ(scene.victims_on("n1"), "ends web-1");
  const PlaceCost cost = scene.cost_of("n1");
  EXPECT_EQ(cost.committed, 1);
  EXPECT_EQ(cost.excess, 0);
  EXPECT_EQ(cost.highest_priority, 1);
}

TEST(NodeVictims, AShareKeepsItsLastReplicaOverSeveralNodes) {
  VictimScene scene(R"(
    node n1 gpu=2 plane=eu
    schedule ask gpu=2 p=9 plane=eu
    schedule web gpu=1 p=1 plane=eu:2
    pod web-{1..2} @n1 gpu=1 deployment=web
  )");
  EXPECT_EQ(scene.victims_on("n1"), "no");
}

TEST(NodeVictims, EqualPriorityStays) {
  VictimScene scene(R"(
    node n1 gpu=2 plane=eu
    schedule ask gpu=1 p=5 plane=eu
    schedule web gpu=1 p=5 plane=eu:2
    pod web-{1..2} @n1 gpu=1 deployment=web
  )");
  EXPECT_EQ(scene.victims_on("n1"), "no");
}

TEST(NodeVictims, PodSlotsAreRoomToo) {
  VictimScene scene(R"(
    node n1 gpu=9 pods=2 plane=eu
    schedule ask gpu=1 p=5 plane=eu
    schedule web gpu=1 p=1 plane=eu:3
    pod web-{1..2} @n1 gpu=1 deployment=web
  )");
  EXPECT_EQ(scene.victims_on("n1"), "web-2");
}

// After a miss (Kubernetes removed another pod), the share is not scaled down again for this node.
TEST(NodeVictims, MissedSharesAreLeftAlone) {
  VictimScene scene(R"(
    node n1 gpu=2 plane=eu
    schedule ask gpu=1 p=9 plane=eu
    schedule tiny gpu=1 p=2 plane=eu:2
    schedule web gpu=1 p=1 plane=eu:2
    pod web-1 @n1 gpu=1 deployment=web
    pod tiny-1 @n1 gpu=1 deployment=tiny
    node n2 gpu=2 plane=eu
    pod web-2 @n2 gpu=1 deployment=web
    pod tiny-2 @n2 gpu=1 deployment=tiny
  )");
  EXPECT_EQ(scene.victims_on("n1"), "web-1");
  const std::vector<MissedPlace> missed = {
      {.place = scene.place("n1"), .share = scene.share("web")}};
  ReplicaNeed need = scene.need("ask");
  need.missed = missed;
  PlaceCost cost;
  ASSERT_TRUE(scene.victims.evaluate(scene.place("n1"), need, cost));
  EXPECT_EQ(scene.pods_of(scene.victims.victims()), "tiny-1");
  ASSERT_TRUE(scene.victims.evaluate(scene.place("n2"), need, cost));
  EXPECT_EQ(scene.pods_of(scene.victims.victims()), "web-2") << "on another node it is tried";
}

TEST(NodeVictims, VictimsOfAnEarlierClaimAreReduced) {
  VictimScene scene(R"(
    node n1 gpu=3 plane=eu
    schedule ask gpu=2 p=9 plane=eu
    schedule web gpu=1 p=1 plane=eu:9
    pod web-{1..3} @n1 gpu=1 deployment=web
  )");
  std::vector<ReplicaIndex> claimed = {scene.replica("web-1"), scene.replica("web-2"),
                                       scene.replica("web-3")};
  scene.victims.reduce(scene.place("n1"), scene.need("ask"), claimed);
  EXPECT_EQ(scene.pods_of(claimed), "web-3 web-2") << "the most intrusive is put back first";
  claimed.clear();
  scene.victims.reduce(scene.place("n1"), scene.need("ask"), claimed);
  EXPECT_TRUE(claimed.empty());
}

// A deployment that loses a replica and could take another one of lower priority in its plane.
TEST(NodeVictims, SecondaryVictims) {
  constexpr std::string_view text = R"(
    node n1 gpu=2 plane=eu
    node n2 gpu=8 plane=eu
    schedule ask gpu=2 p=9 plane=eu
    schedule mid gpu=2 p=5 plane=eu:2
    schedule low gpu=1 p=1 plane=eu:2
    pod mid-1 @n1 gpu=2 deployment=mid
    pod mid-2 @n2 gpu=2 deployment=mid
    pod low-{1..2} @n2 gpu=3 deployment=low
  )";
  EXPECT_EQ(VictimScene(text).cost_of("n1").secondary, 1);
  EXPECT_EQ(VictimScene(text).cost_of("n2").secondary, 0) << "low has none below it";
  Configuration rules;
  rules.engine.cascade_depth = 0;
  EXPECT_EQ(VictimScene(text, rules).cost_of("n1").secondary, 0);
}

// ---- compare -----------------------------------------------------------------------------------

// One GPU: the node whose victim is lowest.
TEST(NodeVictims, OneGpuGoesToTheLowestVictim) {
  VictimScene scene(R"(
    schedule ask gpu=1 p=9 plane=eu
    schedule low gpu=1 p=1 plane=eu:9
    schedule high gpu=1 p=2 plane=eu:9
    schedule extra gpu=1 p=8 plane=eu:0
    node free gpu=1 plane=eu
    node surplus gpu=1 plane=eu
    pod extra-1 @surplus gpu=1 deployment=extra created=11:00
    node spare gpu=1 cpu=1 plane=eu cordoned
    pod extra-2 @spare gpu=1 deployment=extra created=01:00
    node low-old gpu=1 plane=eu
    pod low-a @low-old gpu=1 deployment=low created=08:00
    node low-new gpu=1 plane=eu
    pod low-b @low-new gpu=1 deployment=low created=09:00
    node low-twin gpu=1 plane=eu
    pod low-c @low-twin gpu=1 deployment=low created=09:00
    node high gpu=1 plane=eu
    pod high-a @high gpu=1 deployment=high created=09:00
    pod high-b @spare gpu=1 deployment=high created=09:00
  )");
  EXPECT_TRUE(scene.better("surplus", "free").starts_with("free by class: "));
  EXPECT_EQ(scene.better("surplus", "low-old"), "surplus by class: surplus against committed")
      << "though its priority is higher";
  EXPECT_EQ(scene.better("high", "low-old"), "low-old by priority: 1 against 2");
  EXPECT_EQ(scene.better("low-old", "low-new", 0, 1), "low-old by plane-score: 0 against 1");
  EXPECT_EQ(scene.better("low-old", "low-new"), "low-new by newest");
  EXPECT_EQ(scene.better("low-new", "low-twin"), "low-twin by higher-name: low-c against low-b");
}

TEST(NodeVictims, EqualPlacesAreComparedByTheNamesOfNodes) {
  VictimScene scene(R"(
    schedule ask gpu=1 p=9 plane=eu
    node n2 gpu=1 plane=eu
    node n1 gpu=1 plane=eu
  )");
  EXPECT_TRUE(scene.better("n2", "n1").starts_with("n1 by"));
}

// Several GPUs: the keys in their order.
TEST(NodeVictims, SeveralGpusGoWhereTheLeastIsLost) {
  VictimScene scene(R"(
    schedule ask gpu=2 p=9 plane=eu
    schedule one gpu=1 p=1 plane=eu:9
    schedule two gpu=1 p=2 plane=eu:9
    schedule extra gpu=1 p=8 plane=eu:0
    node surplus gpu=2 plane=eu
    pod extra-1 @surplus gpu=2 deployment=extra created=11:00
    node hidden gpu=2 plane=eu cordoned
    pod extra-2 @hidden gpu=2 deployment=extra created=01:00
    node exact gpu=2 plane=eu
    pod one-a @exact gpu=2 deployment=one created=08:00
    node excess gpu=3 plane=eu
    pod one-b @excess gpu=3 deployment=one created=09:00
    node pair gpu=2 plane=eu
    pod one-c @pair gpu=1 deployment=one created=09:00
    pod one-d @pair gpu=1 deployment=one created=09:00
    node higher gpu=2 plane=eu
    pod two-a @higher gpu=2 deployment=two created=09:00
    pod two-b @hidden gpu=2 deployment=two created=09:00
  )");
  EXPECT_EQ(scene.better("surplus", "exact"), "surplus by worst-class: surplus against committed");
  EXPECT_EQ(scene.better("higher", "exact"), "exact by highest-priority: 1 against 2");
  EXPECT_EQ(scene.better("exact", "excess"), "exact by excess: 0 against 1");
  EXPECT_EQ(scene.better("exact", "pair"), "exact by committed-victims: 1 against 2");
  EXPECT_EQ(scene.better("exact", "exact", 2, 3), "exact by plane-score: 2 against 3");
}

// Both victims have priority 5; only mid could take one of low in its place.
TEST(NodeVictims, SecondaryVictimsWeighMoreThanExcess) {
  VictimScene scene(R"(
    schedule ask gpu=2 p=9 plane=eu plane=us
    schedule mid gpu=2 p=5 plane=eu:3
    schedule calm gpu=2 p=5 plane=us:3
    schedule low gpu=1 p=1 plane=eu:2
    node cascade gpu=2 plane=eu
    pod mid-1 @cascade gpu=2 deployment=mid
    node rest gpu=9 plane=eu cordoned
    pod mid-2 @rest gpu=2 deployment=mid
    pod low-{1..2} @rest gpu=1 deployment=low
    node quiet gpu=3 plane=us
    pod calm-1 @quiet gpu=3 deployment=calm
    node more gpu=2 plane=us cordoned
    pod calm-2 @more gpu=2 deployment=calm
  )");
  PlaceCost quiet;
  ASSERT_TRUE(scene.victims.evaluate(scene.place("quiet", "us"), scene.need("ask"), quiet));
  const PlaceCost cascade = scene.cost_of("cascade");
  EXPECT_EQ(cascade.secondary, 1);
  EXPECT_EQ(quiet.secondary, 0);
  EXPECT_EQ(quiet.excess, 1);
  EXPECT_LT(scene.victims.compare(scene.need("ask"), quiet, 0, cascade, 0), 0);
}

}  // namespace
}  // namespace makeway

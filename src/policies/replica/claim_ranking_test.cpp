// The best place for a replica among all places of its planes (SPEC section 4).
#include "policies/replica/claim_ranking.hpp"

#include <gtest/gtest.h>

#include "policies/shared/plan_writer.hpp"
#include "support/fleet_scene.hpp"

namespace makeway {
namespace {

struct RankingScene : FleetScene {
  using FleetScene::FleetScene;

  /// "n1, not n2 (priority: 1 against 2)"; "none".
  std::string best(const ReplicaNeed& need, std::string_view ask) {
    const auto found = ranking.best(deployment(ask), need);
    if (!found) return "none";
    std::string text = node_of(found->cost.place);
    if (found->alternative.exists()) {
      text += fmt::format(", not {} ({})", node_of(found->alternative),
                          write_text(cluster, found->decided_by));
    }
    return text;
  }
  std::string best(std::string_view ask) { return best(need(ask), ask); }
  std::string node_of(PlaceIndex place) const { return name(fleet.places()[place].node); }

  NodeVictims victims{fleet};
  ClaimRanking ranking{fleet, victims};
};

TEST(ClaimRanking, NoPlaceAndOnePlace) {
  RankingScene none("schedule ask gpu=1 p=9 plane=eu\nnode n1 gpu=1 plane=eu cordoned");
  EXPECT_EQ(none.best("ask"), "none");
  RankingScene one("schedule ask gpu=1 p=9 plane=eu\nnode n1 gpu=1 plane=eu");
  EXPECT_EQ(one.best("ask"), "n1");
  EXPECT_EQ(one.best("ask"), "n1") << "asking changes nothing";
}

constexpr std::string_view three_nodes = R"(
schedule ask gpu=1 p=9 plane=eu
schedule low gpu=1 p=1 plane=eu:9
schedule mid gpu=1 p=5 plane=eu:9
node n1 gpu=1 plane=eu
node n2 gpu=1 plane=eu
node n3 gpu=1 plane=eu
pod mid-1 @n1 gpu=1 deployment=mid
pod mid-2 @n2 gpu=1 deployment=mid
pod low-1 @n3 gpu=1 deployment=low
node n4 gpu=1 plane=eu cordoned
pod low-2 @n4 gpu=1 deployment=low
)";

TEST(ClaimRanking, TheBestComesFirstAndNamesTheSecond) {
  RankingScene scene(three_nodes);
  EXPECT_EQ(scene.best("ask"), "n3, not n2 (priority: 1 against 5)") << "mid-2 before mid-1";
}

TEST(ClaimRanking, AChangedPlaceIsLookedAtAgain) {
  RankingScene scene(three_nodes);
  EXPECT_EQ(scene.best("ask").substr(0, 2), "n3");
  scene.fleet.take(scene.replica("low-1"));
  scene.ranking.changed(scene.place("n3"));
  EXPECT_EQ(scene.best("ask"), "n2, not n1 (higher-name: mid-2 against mid-1)");
  scene.fleet.release(scene.replica("low-1"));
  scene.ranking.changed(scene.place("n3"));
  EXPECT_EQ(scene.best("ask").substr(0, 2), "n3");
}

TEST(ClaimRanking, ALowerAskReachesFewerPlaces) {
  RankingScene scene(std::string(three_nodes) + R"(
    schedule ask-5 gpu=1 p=5 plane=eu
    schedule ask-1 gpu=1 p=1 plane=eu
  )");
  EXPECT_EQ(scene.best("ask").substr(0, 2), "n3");
  EXPECT_EQ(scene.best("ask-5"), "n3") << "mid has its priority";
  EXPECT_EQ(scene.best("ask-1"), "none");
}

TEST(ClaimRanking, PlacesWhoseActionDependsOnTheAskAreLookedAtForEachPriority) {
  RankingScene scene(R"(
    schedule ask gpu=1 p=9 plane=eu
    schedule ask-5 gpu=1 p=5 plane=eu
    schedule mid gpu=1 p=5 plane=eu:0
    node n1 gpu=1 plane=eu
    pod mid-1 @n1 gpu=1 deployment=mid deleted=11:58 grace=30
  )");
  EXPECT_EQ(scene.best("ask"), "n1") << "it is stuck, and force-deleted";
  EXPECT_EQ(scene.best("ask-5"), "none");
}

TEST(ClaimRanking, PlanesAreComparedByTheScoresOfTheAsk) {
  RankingScene scene(R"(
    schedule ask gpu=1 p=9 plane=east:0:7 plane=west:0:3
    schedule other gpu=1 p=9 plane=east:0:3 plane=west:0:7
    schedule low gpu=1 p=1 plane=east:2 plane=west:2
    node e1 gpu=2 plane=east
    node w1 gpu=2 plane=west
    pod low-{1..2} @e1 gpu=1 deployment=low
    pod low-{3..4} @w1 gpu=1 deployment=low
  )");
  EXPECT_EQ(scene.best("ask"), "w1, not e1 (plane-score: 3 against 7)");
  EXPECT_EQ(scene.best("other"), "e1, not w1 (plane-score: 3 against 7)");
}

TEST(ClaimRanking, AnAskThatMissedVictimsHasCostsOfItsOwnThere) {
  RankingScene scene(std::string(three_nodes) + "pod mid-3 @n3 gpu=1 deployment=mid");
  // n3 is overfull: it needs low-1 and mid-3 gone, or nothing fits there without low.
  const std::vector<MissedPlace> missed = {
      {.place = scene.place("n3"), .share = scene.share("low")}};
  ReplicaNeed need = scene.need("ask");
  need.missed = missed;
  EXPECT_EQ(scene.best(need, "ask"), "n2, not n1 (higher-name: mid-2 against mid-1)");
  EXPECT_EQ(scene.best("ask").substr(0, 2), "n3") << "for others it is as it was";
}

}  // namespace
}  // namespace makeway

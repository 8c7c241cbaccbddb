// Law 7: which nominations are void, and which keep room of their queue.
#include "model/hold.hpp"

#include <gtest/gtest.h>

#include "model/cluster.hpp"

namespace makeway {
namespace {

class NominationHold : public testing::Test {
 protected:
  NominationHold() {
    cluster.apply(Node{.name = "n1", .allocatable = {{"cpu", 4'000}, {"pods", 10}}});
    add({.namespace_name = "default", .name = "a", .priority = 7});
  }

  void add(Pod pod) {
    pod.nominated_node = "n1";
    cluster.apply(pod);
  }
  Hold hold(const NominationFacts& facts) const {
    return nomination_hold(cluster, *cluster.find_pod("default", "a"), *cluster.find_node("n1"),
                           facts);
  }

  Cluster cluster;
};

TEST_F(NominationHold, HasThePriorityOfItsUnit) {
  const Hold found = hold({.regime_admits = true, .node_takes = true});
  EXPECT_EQ(found.rank.priority, 7);
  EXPECT_FALSE(found.is_void);
  EXPECT_TRUE(found.may_come);
  EXPECT_FALSE(found.reserved);
}

TEST_F(NominationHold, IsVoidOnANodeThatNeverTakesThePod) {
  EXPECT_TRUE(hold({.regime_admits = false, .node_takes = true}).is_void);
  EXPECT_TRUE(hold({.regime_admits = true, .node_takes = false}).is_void);
  EXPECT_FALSE(hold({.regime_admits = false, .node_takes = true}).may_come);
}

/// It stands, but keeps no room of its queue.
TEST_F(NominationHold, ThatIsInfeasibleStandsForKubeScheduler) {
  NominationFacts facts{.regime_admits = true, .node_takes = false, .infeasible_stands = true};
  EXPECT_FALSE(hold(facts).is_void);
  EXPECT_FALSE(hold(facts).may_come);
  facts.pinned = true;
  EXPECT_TRUE(hold(facts).is_void) << "section 5 has a rule of its own";
}

TEST_F(NominationHold, OfAPinnedPodIsAReservationOnceItsRoomIsPromised) {
  const NominationFacts facts{.regime_admits = true, .node_takes = true, .pinned = true};
  Pod pinned{.namespace_name = "default", .name = "a", .priority = 7};
  pinned.notes.required_node = "n1";
  pinned.notes.reserved_since = Time{1'000};
  add(pinned);
  EXPECT_TRUE(hold(facts).is_void);
  pinned.notes.promised = true;
  add(pinned);
  EXPECT_FALSE(hold(facts).is_void);
  EXPECT_TRUE(hold(facts).reserved);
}

}  // namespace
}  // namespace makeway

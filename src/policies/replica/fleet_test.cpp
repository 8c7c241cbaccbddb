// SPEC section 4: planes, shares and victim classes, as read from a cluster.
#include "policies/replica/fleet.hpp"

#include <gtest/gtest.h>

#include "support/fleet_scene.hpp"

namespace makeway {
namespace {

constexpr std::int32_t any_ask = 1'000'000;

TEST(Fleet, WithoutSchedulesThereIsNothing) {
  const FleetScene scene("node n1 gpu=4 plane=eu\npod p @n1 gpu=1");
  EXPECT_EQ(scene.fleet.planes().size(), 0U);
  EXPECT_EQ(scene.fleet.places().size(), 0U);
  EXPECT_EQ(scene.fleet.find_place("eu", "n1"), std::nullopt);
  EXPECT_EQ(scene.fleet.find_deployment("default", "web"), std::nullopt);
}

TEST(Fleet, PlacesAreNodesOfPlanesThatSchedulesName) {
  const FleetScene scene(R"(
    node b2 gpu=4 plane=west
    node b1 gpu=4 plane=east cordoned
    node a1 gpu=4 plane=west
    node c1 gpu=4 plane=north
    node d1 gpu=4
    schedule web gpu=1 plane=west plane=east plane=south
  )");
  std::string planes;
  for (std::uint32_t at = 0; at < scene.fleet.planes().size(); ++at) {
    const FleetPlane& plane = scene.fleet.planes()[PlaneIndex{at}];
    planes += fmt::format("{}{} ", plane.name, plane.end - plane.begin);
  }
  EXPECT_EQ(planes, "east1 south0 west2 ");
  std::string places;
  for (std::uint32_t at = 0; at < scene.fleet.places().size(); ++at) {
    const FleetPlace& place = scene.fleet.places()[PlaceIndex{at}];
    places += scene.name(place.node) + (place.open ? " " : "! ");
  }
  EXPECT_EQ(places, "b1! a1 b2 ") << "by plane, then by name";
  EXPECT_EQ(scene.fleet.find_place("north", "c1"), std::nullopt);
}

TEST(Fleet, ColumnsAreTheCountedResourceThenTheOthersAndPods) {
  const FleetScene scene(R"(
    node n1 gpu=4 cpu=4 plane=eu
    schedule web cpu=1 memory=1Gi plane=eu
    schedule big gpu=2 plane=eu
    schedule web2 cpu=1 memory=1Gi plane=eu
  )");
  const Fleet& fleet = scene.fleet;
  std::string columns;
  for (std::size_t at = 0; at < fleet.columns(); ++at) {
    columns += fmt::format("{} ", fleet.column_name(at));
  }
  EXPECT_EQ(columns, "nvidia.com/gpu cpu memory pods ");
  EXPECT_EQ(fleet.request_count(), 2U) << "web and web2 ask for the same";
  const auto request = scene.need("web").request;
  EXPECT_EQ(std::vector(request.begin(), request.end()),
            (std::vector<std::int64_t>{0, 1000, std::int64_t{1} << 30, 1}));
}

TEST(Fleet, AResourceThatNoNodeHasIsNoRoom) {
  const FleetScene scene("node n1 cpu=4 plane=eu\nschedule web example.com/tpu=1 plane=eu");
  EXPECT_EQ(scene.fleet.column_name(1), "example.com/tpu");
  EXPECT_EQ(scene.fleet.room(scene.place("n1"))[1], 0);
  EXPECT_EQ(scene.fleet.room(scene.place("n1"))[Fleet::counted], 0);
}

TEST(Fleet, LeavingPodsHoldTheirRoomUntilTheyAreClaimed) {
  FleetScene scene(R"(
    node n1 gpu=8 plane=eu
    schedule web gpu=1 plane=eu:1
    pod web-1 @n1 gpu=1 deployment=web
    pod web-2 @n1 gpu=2 deployment=web deleted=12:00:10 grace=30
  )");
  const PlaceIndex place = scene.place("n1");
  EXPECT_EQ(scene.fleet.free_room(place)[Fleet::counted], 5);
  EXPECT_EQ(scene.fleet.room(place)[Fleet::counted], 5);
  EXPECT_EQ(scene.fleet.freed(scene.fleet.replica(scene.replica("web-2")))[Fleet::counted], 2);
}

TEST(Fleet, WhatTheCycleDecidedBeforeCounts) {
  ShortWorld scene(R"(
    node n1 gpu=8 plane=eu
    schedule web gpu=1 plane=eu
    pod victim @n1 gpu=2
    pod daemon gpu=3 pin=n1 p=5
  )");
  scene.world.nominate(scene.pod("daemon"), scene.node("n1"), scene.pods({"victim"}));
  Plan plan;
  const Draft draft{.world = scene.world, .plan = plan};
  const Fleet fleet(draft);
  const PlaceIndex place = *fleet.find_place("eu", "n1");
  EXPECT_EQ(fleet.free_room(place)[Fleet::counted], 6) << "8 less the victim, which is there now";
  EXPECT_EQ(fleet.room(place)[Fleet::counted], 5) << "8 less the pod that comes";
  std::vector<std::int64_t> first;
  fleet.first_room(place, first);
  EXPECT_EQ(first[Fleet::counted], 8) << "before anything was given, victims gone";
  EXPECT_EQ(fleet.find_replica(place, scene.pod("victim")), std::nullopt);
}

TEST(Fleet, SharesCountRunningPodsAndTheSurplus) {
  const FleetScene scene(R"(
    node n1 gpu=8 plane=eu
    node n2 gpu=8 plane=us
    schedule web gpu=1 plane=eu:2
    schedule other gpu=1 plane=us
    pod web-{1..3} @n1 gpu=1 deployment=web
    pod web-4 @n1 gpu=1 deployment=web deleted=12:00:10
    pod web-5 @n2 gpu=1 deployment=web
    pod web-6 gpu=1 deployment=web
    pod lone @n1 gpu=1
  )");
  const FleetShare& share = scene.fleet.shares()[scene.share("web")];
  EXPECT_EQ(share.committed, 2);
  EXPECT_EQ(share.running, 3);
  EXPECT_EQ(share.surplus, 1);
  EXPECT_EQ(share.surplus_moving, 1);
  const auto unlisted = scene.fleet.unlisted_shares(scene.deployment("web"));
  ASSERT_EQ(unlisted.size(), 1U) << "it runs in plane us, too";
  EXPECT_EQ(scene.fleet.shares()[unlisted.front()].committed, 0);
  EXPECT_EQ(scene.fleet.shares()[unlisted.front()].surplus, 1);
  EXPECT_TRUE(scene.fleet.unlisted_shares(scene.deployment("other")).empty());
  EXPECT_FALSE(scene.replica("lone").exists());
  EXPECT_TRUE(scene.fleet.some_pod_leaves(scene.deployment("web"), PlaneIndex{0}));
  EXPECT_FALSE(scene.fleet.some_pod_leaves(scene.deployment("other"), PlaneIndex{1}));
}

// `leaveTimeout` is 60 s.
TEST(Fleet, ClassesAndWhenTheirCreditEnds) {
  const FleetScene scene(R"(
    node n1 gpu=80 plane=eu
    schedule web gpu=1 plane=eu:1
    pod web-1 @n1 gpu=1 deployment=web created=08:00 condition=Ready:True
    pod web-2 @n1 gpu=1 deployment=web created=09:00
    pod forced @n1 gpu=1 deployment=web deleted=12:00 grace=0
    pod forced-long @n1 gpu=1 deployment=web deleted=11:59 grace=0
    pod ends @n1 gpu=1 deployment=web deleted=12:00:10 grace=30
    pod stuck @n1 gpu=1 deployment=web deleted=11:59 grace=30
    pod not-ours @n1 gpu=1 deleted=12:00:10 grace=30
  )");
  EXPECT_EQ(scene.class_of("forced"), "force-deleting");
  EXPECT_EQ(scene.class_of("forced-long"), "force-deleting expired");
  EXPECT_EQ(scene.class_of("ends"), "terminating");
  EXPECT_EQ(scene.class_of("stuck"), "terminating expired");
  EXPECT_EQ(scene.class_of("web-2"), "surplus");
  EXPECT_EQ(scene.class_of("web-1"), "committed");
  EXPECT_EQ(scene.class_of("not-ours"), "terminating protected") << "waiting for it is free";
}

TEST(Fleet, SurplusIsWhatKubernetesWouldRemove) {
  const FleetScene scene(R"(
    node n1 gpu=8 plane=eu
    node n2 gpu=8 plane=eu
    node n3 gpu=8 plane=eu
    schedule web gpu=1 plane=eu:0
    pod not-ready @n3 gpu=1 deployment=web created=07:00
    pod twin-old @n1 gpu=1 deployment=web created=07:00 condition=Ready:True
    pod twin-new @n1 gpu=1 deployment=web created=08:00 condition=Ready:True
    pod new @n2 gpu=1 deployment=web created=11:00 condition=Ready:True
    node n4 gpu=8 plane=eu
    pod old-a @n4 gpu=1 deployment=web created=06:00 condition=Ready:True
    node n5 gpu=8 plane=eu
    pod old-b @n5 gpu=1 deployment=web created=06:00 condition=Ready:True
  )");
  EXPECT_EQ(scene.pods_of(scene.fleet.in_share(scene.share("web"))),
            "not-ready twin-new twin-old new old-b old-a");
  EXPECT_EQ(scene.class_of("old-a"), "surplus last") << "the commit is 0";
  EXPECT_FALSE(scene.fleet.usable(scene.fleet.replica(scene.replica("old-a")), any_ask));
}

TEST(Fleet, SurplusThatDoesNotGoFreezesItsShare) {
  const FleetScene scene(R"(
node n1 gpu=8 plane=eu
---
apiVersion: makeway.dev/v1
kind: ReplicaSchedule
metadata: {name: web}
spec: {priority: 1, resources: {nvidia.com/gpu: 1}, planes: [{name: eu, committed: 2}]}
status:
  surplus:
  - {name: web-3, since: "2026-01-01T11:55:00Z"}
  - {name: web-4, since: "2026-01-01T11:55:01Z"}
---
pod web-{1..4} @n1 gpu=1 deployment=web
)");
  EXPECT_EQ(scene.class_of("web-3"), "surplus expired") << "surplusTimeout is 300 s";
  EXPECT_EQ(scene.class_of("web-4"), "surplus");
  EXPECT_EQ(scene.fleet.shares()[scene.share("web")].surplus_moving, 1);
  EXPECT_EQ(scene.fleet.spare(scene.share("web")), 0);
}

// Never the last replica, neither of the commit nor of what runs.
TEST(Fleet, HowManyCommittedReplicasAShareCanLose) {
  FleetScene scene(R"(
    node n1 gpu=8 plane=eu
    schedule none gpu=1 plane=eu:3
    schedule one gpu=1 plane=eu:1
    schedule three gpu=1 plane=eu:3
    schedule few gpu=1 plane=eu:5
    pod one-1 @n1 gpu=1 deployment=one
    pod three-{1..3} @n1 gpu=1 deployment=three
    pod few-{1..2} @n1 gpu=1 deployment=few
  )");
  EXPECT_LT(scene.fleet.spare(scene.share("none")), 1);
  EXPECT_EQ(scene.fleet.spare(scene.share("one")), 0);
  EXPECT_EQ(scene.fleet.spare(scene.share("three")), 2);
  EXPECT_EQ(scene.fleet.spare(scene.share("few")), 1);
  scene.fleet.take(scene.replica("three-1"));
  EXPECT_EQ(scene.fleet.spare(scene.share("three")), 1) << "lowered in this cycle";
  EXPECT_FALSE(scene.fleet.usable(scene.fleet.replica(scene.replica("three-1")), any_ask));
  scene.fleet.release(scene.replica("three-1"));
  EXPECT_EQ(scene.fleet.spare(scene.share("three")), 2);
}

TEST(Fleet, PriorityLimitsOnlyCommittedVictims) {
  FleetScene scene(R"(
    node n1 gpu=80 plane=eu
    schedule web gpu=1 p=5 plane=eu:2
    pod web-{1..2} @n1 gpu=1 deployment=web created=08:00
    pod web-3 @n1 gpu=1 deployment=web created=09:00
    pod ends @n1 gpu=1 deployment=web deleted=12:00:10 grace=30
    pod stuck @n1 gpu=1 deployment=web deleted=11:58 grace=30
  )");
  struct Row {
    std::string_view pod;
    bool lower;  ///< Whether an ask of priority 4 may use it.
    bool equal;
    bool higher;
    ReplicaAction action;  ///< For an ask of priority 6.
  };
  for (const Row& row : {
           Row{"web-1", false, false, true, ReplicaAction::scale_down},
           Row{"web-3", true, true, true, ReplicaAction::wait},
           Row{"ends", true, true, true, ReplicaAction::wait},
           Row{"stuck", false, false, true, ReplicaAction::force_delete},
       }) {
    SCOPED_TRACE(row.pod);
    const FleetReplica& replica = scene.fleet.replica(scene.replica(row.pod));
    EXPECT_EQ(scene.fleet.usable(replica, 4), row.lower);
    EXPECT_EQ(scene.fleet.usable(replica, 5), row.equal);
    EXPECT_EQ(scene.fleet.usable(replica, 6), row.higher);
    EXPECT_EQ(scene.fleet.action(replica, 6), row.action);
  }
  EXPECT_EQ(scene.fleet.conditional_places().size(), 1U) << "stuck is of use to some asks only";
}

TEST(Fleet, WhatItWasScaledUpToInThisCycleIsNotTaken) {
  FleetScene scene(R"(
    node n1 gpu=8 plane=eu
    schedule web gpu=1 plane=eu:2
    pod web-{1..2} @n1 gpu=1 deployment=web
  )");
  const FleetReplica& replica = scene.fleet.replica(scene.replica("web-1"));
  EXPECT_TRUE(scene.fleet.usable(replica, any_ask));
  scene.fleet.share(scene.share("web")).raised = 1;
  EXPECT_FALSE(scene.fleet.usable(replica, any_ask));
  EXPECT_TRUE(scene.fleet.ever_usable(replica, any_ask));
}

TEST(Fleet, ForceDeletionOfEqualsNeedsItsSetting) {
  constexpr std::string_view text = R"(
    node n1 gpu=8 plane=eu
    schedule web gpu=1 p=5 plane=eu
    pod over @n1 gpu=1 deployment=web deleted=11:59:50 grace=30
    pod kept @n1 gpu=1 deployment=web deleted=11:59:50 grace=30 makeway:allow-preemption=false
  )";
  const FleetScene scene(text);
  const auto action = [](const FleetScene& in, std::string_view pod) {
    return in.fleet.action(in.fleet.replica(in.replica(pod)), 5);
  };
  EXPECT_EQ(action(scene, "over"), ReplicaAction::wait);
  Configuration rules;
  rules.replica.force_delete_any_priority = true;
  const FleetScene forcing(text, rules);
  EXPECT_EQ(action(forcing, "over"), ReplicaAction::force_delete);
  EXPECT_EQ(action(forcing, "kept"), ReplicaAction::wait) << "protected";
}

TEST(Fleet, OnOnePlaceByClassThenPriorityThenAgeThenName) {
  const FleetScene scene(R"(
    node n1 gpu=80 plane=eu
    schedule low gpu=1 p=1 plane=eu:3
    schedule high gpu=1 p=9 plane=eu:0
    pod low-a @n1 gpu=1 deployment=low created=09:00
    pod low-b @n1 gpu=1 deployment=low created=09:00
    pod low-new @n1 gpu=1 deployment=low created=10:00
    pod high-1 @n1 gpu=1 deployment=high
    pod ends @n1 gpu=1 deployment=high deleted=12:00:10 grace=30
    pod forced @n1 gpu=1 deployment=high deleted=12:00:10 grace=0
  )");
  EXPECT_EQ(scene.pods_of(scene.fleet.in_order(scene.place("n1"))),
            "forced ends high-1 low-new low-b low-a");
}

TEST(Fleet, ProtectedReplicasAreNotScaledDown) {
  const FleetScene scene(R"(
    node n1 gpu=8 plane=eu
    schedule web gpu=1 plane=eu:4
    gang whole min=1 mode=all
    pod opted-out @n1 gpu=1 deployment=web makeway:allow-preemption=false
    pod member @n1 gpu=1 deployment=web group=whole
    pod plain @n1 gpu=1 deployment=web
  )");
  EXPECT_EQ(scene.class_of("opted-out"), "committed protected");
  EXPECT_EQ(scene.class_of("member"), "committed protected") << "law 5: Kubernetes picks the pod";
  EXPECT_EQ(scene.class_of("plain"), "committed");
}

}  // namespace
}  // namespace makeway

// Sessions, groups and partitions of a cluster in columns (SPEC section 6).
#include "policies/session/session_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/session_scene.hpp"

namespace makeway {
namespace {

std::string demand_text(const SessionScene& scene, std::string_view session) {
  const SessionKernel& kernel = scene.table.kernels(scene.session(session)).front();
  std::string text;
  for (const ResourceAmount& item : scene.table.demand(kernel.demand)) {
    text += fmt::format("{} {} ", scene.cluster.resources().name(item.resource), item.amount);
  }
  return text;
}

TEST(SessionTable, AClusterWithoutGroupsIsEmpty) {
  const SessionScene scene("node n1 gpu=1");
  EXPECT_EQ(scene.table.sessions().size(), 0U);
  EXPECT_EQ(scene.table.nodes().size(), 0U);
  EXPECT_FALSE(scene.table.place_of(scene.node("n1")).exists());
  EXPECT_FALSE(scene.table.find("default", "none").exists());
}

TEST(SessionTable, NodesThatTakeKernels) {
  const SessionScene scene(R"(
    node n5 gpu=1
    node n1 gpu=1 cordoned
    node n2 gpu=1 taint=other:NoSchedule
    node n3 gpu=1 taint=makeway.dev/resource-group:lab:NoSchedule
    node n4 gpu=1 taint=makeway.dev/resource-group:else:NoSchedule
    node n6 gpu=1 taint=other:PreferNoSchedule
    node outside gpu=1
    resourcegroup lab nodes=n6,n5,n4,n3,n2,n1,gone
    session s gpu=1 group=lab
  )");
  EXPECT_EQ(scene.nodes_of(scene.table.open_nodes(scene.session("s"))), "n3 n5 n6");
  EXPECT_EQ(scene.table.nodes().size(), 6U) << "closed nodes belong to the group, too";
  EXPECT_TRUE(scene.place("n1").exists());
  EXPECT_FALSE(scene.place("outside").exists());
}

TEST(SessionTable, SessionsByNameWithDefaults) {
  const SessionScene scene(R"(
    node n1 gpu=9
    resourcegroup lab nodes=n1
    resourcegroup strict nodes=n1b preemptible=3 order=newest
    node n1b gpu=1
    session b gpu=1 group=lab p=0 created=09:00
    session a gpu=1 group=lab
    session runs @n1 gpu=1 group=lab phase=running started=10:00
    session runs-since-created @n1 gpu=1 group=lab phase=running created=08:00
    session runs-since-when @n1 gpu=1 group=lab phase=running
    session other gpu=1 group=strict
  )");
  EXPECT_EQ(scene.names_of(scene.table.group_of(scene.session("a")).sessions),
            "a b runs runs-since-created runs-since-when");
  EXPECT_EQ(scene.session("a").priority, 10);
  EXPECT_EQ(scene.session("b").priority, 0);
  EXPECT_EQ(scene.session("b").created, noon_plus(-10'800));
  EXPECT_GT(scene.session("a").created, noon_plus(1'000'000'000)) << "unknown counts as the latest";
  EXPECT_EQ(scene.session("runs").started, noon_plus(-7'200));
  EXPECT_EQ(scene.session("runs-since-created").started, noon_plus(-14'400));
  EXPECT_EQ(scene.session("runs-since-when").started, noon);
  EXPECT_EQ(scene.table.group_of(scene.session("a")).preemptible_priority, 5);
  EXPECT_EQ(scene.table.group_of(scene.session("other")).preemptible_priority, 3);
  EXPECT_EQ(scene.table.group_of(scene.session("other")).order, PreemptionOrder::newest);
  EXPECT_EQ(scene.table.index_of(scene.session("b")), scene.index("b"));
}

TEST(SessionTable, WhereSessionsStand) {
  const SessionScene scene(R"(
    node n1 gpu=9
    resourcegroup lab nodes=n1
    session waits gpu=1 group=lab
    session runs @n1 gpu=1 group=lab phase=running
    session leaves @n1 group=lab phase=running fate=ends ends=12:01 preempted-by="Session x"
    session rests gpu=1 group=lab phase=preempted fate=requeues resumes=12:00:01
    session is-back gpu=1 group=lab phase=preempted fate=requeues resumes=12:00
    session promised gpu=1 group=lab nominated=n1
  )");
  EXPECT_EQ(scene.session("waits").standing, SessionStanding::pending);
  EXPECT_EQ(scene.session("runs").standing, SessionStanding::running);
  EXPECT_EQ(scene.session("leaves").standing, SessionStanding::leaving);
  EXPECT_EQ(scene.session("rests").standing, SessionStanding::off_queue);
  EXPECT_EQ(scene.session("is-back").standing, SessionStanding::pending)
      << "its back-off is over, without any write";
  EXPECT_TRUE(scene.session("promised").nominated);
  EXPECT_FALSE(scene.session("waits").nominated);
  EXPECT_EQ(scene.name(scene.table.kernels(scene.session("runs")).front().node), "n1");
}

TEST(SessionTable, ADemandHasTheScarceFirstAndNoZeros) {
  const SessionScene scene(R"(
    node n1 gpu=9 cpu=9 memory=9Gi example.com/fpga=1
    resourcegroup lab nodes=n1
    session a cpu=1 memory=1Gi gpu=2 example.com/fpga=1 group=lab
    session b cpu=1 memory=1Gi gpu=2 example.com/fpga=1 group=lab p=3
    session c cpu=1 gpu=0 group=lab
  )");
  EXPECT_EQ(demand_text(scene, "a"),
            "example.com/fpga 1 nvidia.com/gpu 2 memory 1073741824 cpu 1000 ");
  EXPECT_EQ(demand_text(scene, "c"), "cpu 1000 ");
  const auto demand = [&](std::string_view name) {
    return scene.table.kernels(scene.session(name)).front().demand;
  };
  EXPECT_EQ(demand("a"), demand("b"));
  EXPECT_NE(demand("a"), demand("c"));
  EXPECT_TRUE(scene.table.scarcer(scene.resource("nvidia.com/gpu"), scene.resource("memory")));
  EXPECT_TRUE(scene.table.scarcer(scene.resource("memory"), scene.resource("cpu")));
}

constexpr std::string_view divided = R"(
node n{1..2} gpu=9
resourcegroup lab nodes=n1,n2
partition batch group=lab tier=1 preemptible nodes=n2
partition prod group=lab tier=5
partition pause group=lab tier=0 preemptible mode=suspend
session low @n2 gpu=1 group=lab partition=batch phase=running started=11:00
session high gpu=1 group=lab partition=prod
session paused @n1 gpu=1 group=lab partition=pause phase=running started=11:00
)";

TEST(SessionTable, PartitionsHaveTiersAndNodesOfTheirOwn) {
  const SessionScene scene(divided);
  EXPECT_EQ(scene.session("low").tier, 1);
  EXPECT_EQ(scene.session("high").tier, 5);
  EXPECT_TRUE(scene.table.group_of(scene.session("low")).divided);
  EXPECT_EQ(scene.nodes_of(scene.table.open_nodes(scene.session("low"))), "n2");
  EXPECT_EQ(scene.nodes_of(scene.table.open_nodes(scene.session("high"))), "n1 n2");
  EXPECT_NE(scene.table.domain_of(scene.session("low")),
            scene.table.domain_of(scene.session("high")));
  EXPECT_EQ(scene.table.domains(), 4U) << "one group, three partitions";
  EXPECT_EQ(scene.table.partition_of(scene.session("low"))->name, "batch");
}

TEST(SessionTable, LostWorkIsThatOfAllKernelsAndNoneWhereItIsSuspended) {
  const SessionScene scene(divided);
  EXPECT_EQ(scene.table.lost_work_seconds(scene.session("low")), 3600);
  EXPECT_EQ(scene.table.lost_work_seconds(scene.session("paused")), 0);
  const SessionScene two(R"(
node n1 gpu=9
resourcegroup lab nodes=n1
---
apiVersion: makeway.dev/v1
kind: Session
metadata: {name: s}
spec: {resourceGroup: lab, kernels: [{name: a, node: n1}, {name: b, node: n1}]}
status:
  phase: running
  started: "2026-01-01T11:00:00Z"
  lastCheckpoint: "2026-01-01T11:59:00Z"
---
)");
  EXPECT_EQ(two.table.lost_work_seconds(two.session("s")), 120) << "a minute, two kernels";
}

}  // namespace
}  // namespace makeway

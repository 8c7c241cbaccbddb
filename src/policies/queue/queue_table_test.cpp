// SPEC section 3: what queues use, want and deserve, resource by resource.
#include "policies/queue/queue_table.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/queue_scene.hpp"

namespace makeway {
namespace {

using Queues = std::vector<std::string_view>;
using Amounts64 = std::vector<std::int64_t>;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

Amounts64 deserved_gpus(QueueScene& scene, const Queues& queues) {
  Amounts64 amounts;
  for (const std::string_view queue : queues) amounts.push_back(scene.gpus(queue).deserved);
  return amounts;
}

Amounts64 certain_gpus(QueueScene& scene, const Queues& queues) {
  Amounts64 amounts;
  for (const std::string_view queue : queues) amounts.push_back(scene.gpus(queue).certain);
  return amounts;
}

Configuration by_weights() {
  Configuration rules;
  rules.queue.division = Division::by_weight;
  return rules;
}

TEST(QueueTable, WithoutNodesNothingIsDivided) {
  const QueueScene scene("queue a weight=1\npod p queue=a gpu=1");
  EXPECT_EQ(scene.table.resources(), 0U);
  EXPECT_EQ(scene.table.size(), 1U);
  EXPECT_EQ(scene.table.rows(), 2U);
  EXPECT_EQ(scene.table.column(scene.resource("nvidia.com/gpu")), QueueTable::no_column);
  EXPECT_EQ(scene.table.row_of(scene.pod("p")), scene.row("a"));
}

TEST(QueueTable, ResourcesAreThoseOfNodesByNameWithoutPods) {
  const QueueScene scene("node n1 cpu=1 gpu=2 memory=0\nqueue a weight=1\npod p memory=1Gi");
  ASSERT_EQ(scene.table.resources(), 2U);
  EXPECT_EQ(scene.column("cpu"), 0U);
  EXPECT_EQ(scene.column("nvidia.com/gpu"), 1U);
  EXPECT_EQ(scene.column("memory"), QueueTable::no_column);
  EXPECT_FALSE(scene.table.in_devices(0));
  EXPECT_TRUE(scene.table.in_devices(1));
}

TEST(QueueTable, NodesOfOtherRegimesDoNotCount) {
  QueueScene scene(R"(
    node n1 gpu=2
    node n2 gpu=4
    node n3 gpu=8 plane=eu
    resourcegroup lab nodes=n2
    queue a weight=1
    pod elsewhere @n2 gpu=1 queue=a
  )");
  EXPECT_EQ(scene.table.total(scene.column()), 2);
  EXPECT_TRUE(scene.table.is_nowhere(scene.pod("elsewhere")));
  EXPECT_EQ(scene.gpus("a").used, 0);
}

TEST(QueueTable, PodsBelongByLabelThenNamespaceThenDefault) {
  const QueueScene scene(R"(
    node n1 gpu=1
    queue a weight=1
    queue b weight=1 namespaces=team
    queue default weight=1
    pod labelled queue=a
    pod team/listed
    pod team/both queue=a
    pod other
    gang g x1 min=1 queue=a
    pod pinned pin=n1
  )");
  const auto queue_of = [&](std::string_view pod) {
    return scene.queue(scene.table.row_of(scene.pod(pod)));
  };
  EXPECT_EQ(queue_of("labelled"), "a");
  EXPECT_EQ(queue_of("team/listed"), "b");
  EXPECT_EQ(queue_of("team/both"), "a");
  EXPECT_EQ(queue_of("other"), "default");
  EXPECT_EQ(queue_of("g-0"), "a");
  EXPECT_EQ(queue_of("pinned"), "") << "infrastructure is in no queue";
}

// Leaving pods are used, until they are gone; a pod that no empty node would take is no demand.
TEST(QueueTable, WhatAQueueUsesAndWants) {
  Configuration rules;
  rules.engine.preemption_delay = Duration{60'000};
  QueueScene scene(R"(
    node n1 gpu=8
    queue a weight=1
    pod runs @n1 gpu=2 queue=a
    pod soon @n1 gpu=1 queue=a deleted=12:00:10
    pod stuck @n1 gpu=1 queue=a deleted=11:58
    pod old gpu=2 queue=a created=11:00
    pod young gpu=1 queue=a created=11:59:30
    pod huge gpu=9 queue=a
    pod gone gpu=1 queue=a deleted=12:00:10
  )",
                   rules);
  const QueueNumbers& numbers = scene.gpus("a");
  EXPECT_EQ(numbers.used, 4);
  EXPECT_EQ(numbers.leaving, 2);
  EXPECT_EQ(numbers.stuck, 1);
  EXPECT_EQ(numbers.staying(), 2);
  EXPECT_EQ(numbers.holding(), 3);
  EXPECT_EQ(numbers.pending, 3);
  EXPECT_EQ(numbers.young, 1);
  EXPECT_EQ(numbers.allocated, 4) << "missing in the status: used";
  EXPECT_EQ(numbers.deserved, 7) << "used and pending";
}

TEST(QueueTable, TheStatusIsRead) {
  QueueScene scene(R"(
    node n1 gpu=8
    queue a weight=1 allocated=gpu:5 preempting=gpu:2
    queue b weight=1
  )");
  EXPECT_EQ(scene.gpus("a").allocated, 5);
  EXPECT_EQ(scene.gpus("a").promised_before, 2);
  EXPECT_EQ(scene.gpus("b").allocated, 0);
  EXPECT_EQ(scene.gpus("b").promised_before, 0);
}

TEST(QueueTable, TheTotalIsWhatPodsOutsideLeaveOnEachNode) {
  const QueueScene scene(R"(
    node n1 gpu=4
    node n2 gpu=2
    queue a weight=1
    pod out-1 @n1 gpu=3
    pod out-2 @n2 gpu=5
    pod in @n1 gpu=1 queue=a
  )");
  EXPECT_EQ(scene.table.total(scene.column()), 1) << "1 of n1; n2 is overfull, not a debt";
}

TEST(QueueTable, ANominationOutsideHoldsItsRoomInsteadOfTheVictimsOfIt) {
  const QueueScene scene(R"(
    node n1 gpu=8
    queue a weight=1
    pod leaves @n1 gpu=2 deleted=12:00:10
    pod comes gpu=3 nominated=n1 p=5
    pod never gpu=9 nominated=n1 p=5
  )");
  EXPECT_EQ(scene.table.total(scene.column()), 5) << "2 now, 3 afterwards: the larger";
}

TEST(QueueTable, ByWeightDemandDoesNotMatter) {
  QueueScene scene("node n1 gpu=9\nqueue a weight=2\nqueue b weight=1", by_weights());
  EXPECT_EQ(deserved_gpus(scene, {"a", "b"}), (Amounts64{6, 3}));
}

TEST(QueueTable, MaxMinRefillsWhatIsNotWanted) {
  QueueScene scene(R"(
    node n1 gpu=9
    queue a weight=2
    queue b weight=1
    queue c weight=7
    pod a-1 @n1 gpu=1 queue=a
    pod a-2 gpu=1 queue=a
    pod b-1 gpu=9 queue=b
  )");
  EXPECT_EQ(deserved_gpus(scene, {"a", "b", "c"}), (Amounts64{2, 7, 0}));
}

TEST(QueueTable, AGuaranteeIsAFloorWithoutDemandAndALimitACap) {
  QueueScene scene(R"(
    node n1 gpu=9
    queue a weight=1 guarantee=gpu:4
    queue b weight=1 limit=gpu:2
    queue c weight=1
    pod b-1 gpu=9 queue=b
    pod c-1 gpu=9 queue=c
  )");
  EXPECT_EQ(deserved_gpus(scene, {"a", "b", "c"}), (Amounts64{4, 2, 3}));
  EXPECT_EQ(scene.table.limit(scene.row("b"), scene.column()), 2);
  EXPECT_EQ(scene.table.limit(scene.row("c"), scene.column()), largest);
}

TEST(QueueTable, ChildrenDivideTheShareOfTheirParent) {
  QueueScene scene(R"(
    node n1 gpu=8
    queue top weight=1
    queue top-a weight=3 parent=top
    queue top-b weight=1 parent=top
    queue z weight=1
  )",
                   by_weights());
  EXPECT_EQ(deserved_gpus(scene, {"top", "top-a", "top-b", "z"}), (Amounts64{4, 3, 1, 4}));
  EXPECT_EQ(scene.table.leaves().size(), 3U);
  EXPECT_FALSE(scene.table.entry(scene.row("top")).leaf());
  EXPECT_EQ(scene.table.entry(scene.row("top-a")).parent, scene.row("top"));
}

// 8 / 3 = 2.67: the remainders go to the first by name, and evict no pod.
TEST(QueueTable, TheCertainShareIsRoundedDown) {
  constexpr std::string_view text = "node n1 gpu=8\nqueue {a..c} weight=1";
  QueueScene scene(text, by_weights());
  EXPECT_EQ(deserved_gpus(scene, {"a", "b", "c"}), (Amounts64{3, 3, 2}));
  EXPECT_EQ(certain_gpus(scene, {"a", "b", "c"}), (Amounts64{2, 2, 2}));
  Configuration rules = by_weights();
  rules.queue.evict_up_to = EvictUpTo::deserved;
  QueueScene seed(text, rules);
  EXPECT_EQ(certain_gpus(seed, {"a", "b", "c"}), (Amounts64{3, 3, 2}));
}

TEST(QueueTable, HugeAmountsDoNotOverflow) {
  QueueScene scene(R"(
    node n{1..2} memory=1Ei
    queue a weight=1000000
    queue b weight=1
  )",
                   by_weights());
  const std::size_t memory = scene.column("memory");
  const std::int64_t total = std::int64_t{1} << 61;
  EXPECT_EQ(scene.table.total(memory), total);
  EXPECT_EQ(scene.table.at(scene.row("a"), memory).deserved +
                scene.table.at(scene.row("b"), memory).deserved,
            total);
}

TEST(QueueTable, PodsOutsideMayUseWhatNoQueueIsPromised) {
  QueueScene scene(R"(
    node n1 gpu=10
    queue a weight=1 allocated=gpu:4 preempting=gpu:1
    pod a-1 @n1 gpu=2 queue=a
    pod out @n1 gpu=3
  )");
  scene.gpus("a").preempting = 1;
  scene.table.open_to_outside();
  // 7 are divided: 4 are allocated and 1 is promised, so 2 belong to no queue; the pod holds 3.
  EXPECT_EQ(scene.gpus("").allocated, 5);
  EXPECT_EQ(scene.gpus("").preempting, 0);
}

TEST(QueueNumbers, WhatYoungPodsDeserveIsNotUrgent) {
  struct Row {
    QueueNumbers numbers;
    std::int64_t young;
    std::int64_t claim;
    std::int64_t lasting;
  };
  for (const Row& row : {
           Row{{}, 0, 0, 0},
           // Deserves 5: 2 used, 1 of the old pod, 2 of the 3 that young ones want.
           Row{{.used = 2, .pending = 4, .young = 3, .deserved = 5, .certain = 5, .allocated = 2},
               2,
               3,
               2},
           Row{{.used = 5, .pending = 3, .young = 3, .deserved = 4, .certain = 4, .allocated = 5},
               0,
               -1,
               4},
           Row{{.pending = 2,
                .young = 2,
                .deserved = 9,
                .certain = 8,
                .allocated = 3,
                .preempting = 2},
               2,
               3,
               5},
           Row{{.deserved = largest, .certain = largest, .allocated = largest, .preempting = 7},
               0,
               -7,
               largest},
       }) {
    SCOPED_TRACE(fmt::format("used {} deserved {}", row.numbers.used, row.numbers.deserved));
    EXPECT_EQ(row.numbers.deserved_young(), row.young);
    EXPECT_EQ(row.numbers.claim(), row.claim);
    EXPECT_EQ(row.numbers.lasting(), row.lasting);
  }
}

TEST(QueueTable, AnAmountThatIsNotStated) {
  const Amounts amounts = {{"cpu", 0}, {"nvidia.com/gpu", 3}};
  EXPECT_EQ(stated(amounts, "nvidia.com/gpu", 9), 3);
  EXPECT_EQ(stated(amounts, "cpu", 9), 0);
  EXPECT_EQ(stated(amounts, "memory", 9), 9);
  EXPECT_EQ(stated({}, "cpu", -1), -1);
}

}  // namespace
}  // namespace makeway

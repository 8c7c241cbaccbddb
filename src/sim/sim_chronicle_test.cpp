#include "sim/sim_chronicle.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace makeway {
namespace {

constexpr Time sample_start{1'000'000};
constexpr Duration sample_pace{60'000};

TEST(PreemptionMatrix, CountsByBothPriorities) {
  PreemptionMatrix matrix;
  matrix.add(100, 0);
  matrix.add(100, 0);
  matrix.add(200, 100);
  EXPECT_EQ(matrix.grain(), 1);
  EXPECT_EQ(matrix.counts().at({100, 0}), 2);
  EXPECT_EQ(matrix.counts().at({200, 100}), 1);
}

TEST(PreemptionMatrix, PutsManyPrioritiesTogether) {
  PreemptionMatrix matrix;
  for (std::int32_t priority = 0; priority < 100; ++priority) matrix.add(1'000, priority);
  EXPECT_EQ(matrix.grain(), 10);
  EXPECT_EQ(matrix.counts().size(), 10U);
  EXPECT_EQ(matrix.counts().at({1'000, 90}), 10);
}

TEST(PreemptionMatrix, QueuesHaveNoPriority) {
  PreemptionMatrix matrix;
  matrix.add(std::nullopt, 200);
  matrix.add(0, 200);
  EXPECT_EQ(matrix.counts().at({std::nullopt, 200}), 1);
  EXPECT_EQ(matrix.counts().at({0, 200}), 1);
  SimChronicle chronicle(sample_start, sample_pace);
  Plan plan{.now = sample_start};
  plan.asks = {{.kind = AskKind::queue, .name = "team"}};
  plan.asks[0].victims.push_back({.namespace_name = "default", .name = "low", .priority = 7});
  chronicle.planned(plan, "cpu");
  EXPECT_EQ(chronicle.matrix().counts().at({std::nullopt, 7}), 1);
  EXPECT_EQ(chronicle.most_disruptive().front().priority, std::nullopt);
}

TEST(PreemptionMatrix, RangesGoDownwardsBelowZero) {
  EXPECT_EQ(range_of(-7, 10), -10);
  EXPECT_EQ(range_of(-10, 10), -10);
  EXPECT_EQ(range_of(7, 10), 0);
  EXPECT_EQ(range_of(-7, 1), -7);
}

PlanAsk sample_ask(std::string name, std::int64_t waited, std::int64_t victims) {
  PlanAsk ask{.namespace_name = "default",
              .name = std::move(name),
              .priority = 100,
              .outcome = victims > 0 ? Outcome::preempts : Outcome::fits,
              .pending_seconds = waited,
              .placements = {{"default", "x", "n1", ""}}};
  for (std::int64_t at = 0; at < victims; ++at) {
    ask.victims.push_back({.namespace_name = "default",
                           .name = fmt::format("low-{}", at),
                           .node = "n1",
                           .priority = 5,
                           .reason = "lower priority",
                           .cause_rule = "rule",
                           .cause_alternative = "node n2",
                           .cause_key = "victims: 1 against 2"});
  }
  return ask;
}

TEST(SimChronicle, KeepsTheDecisionsThatStandOut) {
  SimChronicle chronicle(sample_start, sample_pace);
  Plan plan{.now = sample_start};
  plan.asks = {sample_ask("quick", 0, 0), sample_ask("slow", 50, 0), sample_ask("hungry", 10, 12)};
  chronicle.planned(plan, "cpu");
  ASSERT_EQ(chronicle.slowest().size(), 2U);
  EXPECT_EQ(chronicle.slowest()[0].ask, "Pod default/slow");
  EXPECT_EQ(chronicle.slowest()[0].place, "n1");
  EXPECT_EQ(chronicle.slowest()[1].ask, "Pod default/hungry");
  ASSERT_EQ(chronicle.most_disruptive().size(), 1U);
  const ChronicledDecision& hungry = chronicle.most_disruptive()[0];
  EXPECT_EQ(hungry.victims, 12);
  EXPECT_EQ(hungry.first_victims.size(), SimChronicle::victims_listed_max);
  EXPECT_EQ(hungry.first_victims[0].name, "default/low-0");
  EXPECT_EQ(hungry.rule, "rule");
  EXPECT_EQ(hungry.alternative, "node n2");
  EXPECT_EQ(hungry.key, "victims: 1 against 2");
  EXPECT_EQ(chronicle.matrix().counts().at({100, 5}), 12);
}

TEST(SimChronicle, ReportsTheLastDecisionOfEachAsk) {
  SimChronicle chronicle(sample_start, sample_pace);
  Plan plan{.now = sample_start};
  plan.asks = {sample_ask("high", 10, 1)};
  chronicle.planned(plan, "cpu");
  plan.asks = {sample_ask("high", 40, 0)};
  chronicle.planned(plan, "cpu");
  ASSERT_EQ(chronicle.slowest().size(), 1U);
  EXPECT_EQ(chronicle.slowest()[0].waited_seconds, 40);
  EXPECT_EQ(chronicle.most_disruptive().size(), 1U);
}

TEST(SimChronicle, AWaitingAskIsNoDecision) {
  SimChronicle chronicle(sample_start, sample_pace);
  Plan plan{.now = sample_start};
  plan.asks = {sample_ask("stuck", 500, 0)};
  plan.asks[0].outcome = Outcome::infeasible;
  chronicle.planned(plan, "cpu");
  EXPECT_TRUE(chronicle.slowest().empty());
}

TEST(SimChronicle, IsBounded) {
  SimChronicle chronicle(sample_start, sample_pace);
  Plan plan{.now = sample_start};
  for (int at = 0; at < 1'000; ++at) {
    plan.asks = {sample_ask(fmt::format("ask-{:04}", at), 1 + at, 1 + at % 7)};
    plan.queues = {{.name = fmt::format("queue-{:04}", at),
                    .parent = {},
                    .shares = {{.resource = "cpu", .deserved = 2, .used = 3, .leaving = 1}}}};
    chronicle.planned(plan, "cpu");
  }
  ASSERT_EQ(chronicle.slowest().size(), SimChronicle::decisions_max);
  EXPECT_EQ(chronicle.slowest().front().waited_seconds, 1'000);
  EXPECT_EQ(chronicle.slowest().back().waited_seconds, 951);
  ASSERT_EQ(chronicle.most_disruptive().size(), SimChronicle::decisions_max);
  EXPECT_EQ(chronicle.most_disruptive().back().victims, 7);
  EXPECT_EQ(chronicle.queues().size(), SimChronicle::queues_max);
  EXPECT_TRUE(chronicle.has_more_queues());
  EXPECT_EQ(chronicle.queue_used().mean(0, 0), 2);  // Without what is leaving.
  EXPECT_EQ(chronicle.queue_deserved().mean(0, 0), 2);
}

/// One cpu of each node is used, of 4, 2 and 1: 250, 500 and 1,000 thousandths.
TEST(SimChronicle, MeasuresHowFullNodesAre) {
  SimLoad load;
  for (const auto& [name, cpu] : {std::pair{"a", 4'000}, {"b", 2'000}, {"c", 1'000}}) {
    load.objects.emplace_back(Node{.name = name, .allocatable = {{"cpu", cpu}, {"pods", 10}}});
  }
  SimNodes nodes(load);
  for (const std::string name : {"a", "b", "c"}) {
    nodes.occupy(name, 0, nodes.pod_row({{"cpu", 1'000}}), 1);
  }
  SimChronicle chronicle(sample_start, sample_pace);
  chronicle.sampled(sample_start, nodes, nodes.column("cpu"));
  nodes.lose("c", sample_start);
  chronicle.sampled(sample_start + sample_pace, nodes, nodes.column("cpu"));
  EXPECT_EQ(chronicle.node_rows(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(chronicle.node_use().mean(0, 0), 250);
  EXPECT_EQ(chronicle.node_use().mean(1, 1), 500);
  EXPECT_EQ(chronicle.node_use().mean(2, 0), 1'000);
  EXPECT_EQ(chronicle.node_use().mean(2, 1), std::nullopt);
}

TEST(SimChronicle, ManyNodesShareRows) {
  SimLoad load;
  for (int at = 0; at < 250; ++at) {
    load.objects.emplace_back(
        Node{.name = fmt::format("n{:03}", at), .allocatable = {{"cpu", 1'000}, {"pods", 10}}});
  }
  SimNodes nodes(load);
  nodes.occupy("n000", 0, nodes.pod_row({{"cpu", 1'000}}), 1);
  SimChronicle chronicle(sample_start, sample_pace);
  chronicle.sampled(sample_start, nodes, nodes.column("cpu"));
  // 250 nodes in at most 120 rows: three in each, 84 rows, and one node in the last.
  ASSERT_EQ(chronicle.node_rows().size(), 84U);
  EXPECT_EQ(chronicle.node_rows().front(), "n000 to n002");
  EXPECT_EQ(chronicle.node_rows().back(), "n249");
  EXPECT_EQ(chronicle.node_use().mean(0, 0), 333);
}

}  // namespace
}  // namespace makeway

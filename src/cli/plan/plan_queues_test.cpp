// The queue stage as people read it, from plans made up by hand. Real ones are in tests/scenarios.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cli/plan/plan_text.hpp"

namespace makeway::cli {
namespace {

constexpr std::int64_t gibi = std::int64_t{1} << 30;

/// The seed's three queues, after the new one came.
Plan seed_plan() {
  const auto cpu = [](std::int64_t deserved, std::int64_t before, std::int64_t after,
                      std::int64_t used, std::int64_t preempting) {
    return PlanQueueShare{.resource = "cpu",
                          .deserved = deserved * 1000,
                          .allocated_before = before * 1000,
                          .allocated = after * 1000,
                          .used = used * 1000,
                          .demand = used * 1000,
                          .preempting = preempting * 1000};
  };
  const auto memory = [](std::int64_t deserved, std::int64_t before, std::int64_t after,
                         std::int64_t used) {
    return PlanQueueShare{.resource = "memory",
                          .deserved = deserved * gibi,
                          .allocated_before = before * gibi,
                          .allocated = after * gibi,
                          .used = used * gibi,
                          .demand = used * gibi};
  };
  return {
      .id = "00ff",
      .preset = "makeway",
      .now = Time{0},
      .queues =
          {{.name = "queue-1", .weight = 2, .shares = {cpu(2, 3, 2, 3, 0), memory(6, 9, 6, 2)}},
           {.name = "queue-2", .weight = 4, .shares = {cpu(4, 6, 4, 5, 0), memory(12, 18, 12, 3)}},
           {.name = "queue-3", .weight = 3, .shares = {cpu(3, 0, 1, 0, 2), memory(9, 0, 9, 0)}}},
      .queue_moves = {
          {.resource = "cpu", .from = "queue-2", .to = "", .amount = 1000},
          {.resource = "cpu", .from = "", .to = "queue-3", .amount = 1000},
          {.resource = "cpu", .from = "queue-1", .to = "queue-3", .amount = 1000, .at_once = false},
          {.resource = "memory", .from = "", .to = "queue-3", .amount = 9 * gibi}}};
}

TEST(PlanQueuesText, ShowsSharesAndMoves) {
  EXPECT_EQ(queues_text(seed_plan(), {}),
            "Queues\n"
            "  QUEUE    WEIGHT  RESOURCE  DESERVED     ALLOCATED  USED  PREEMPTING\n"
            "  queue-1       2  cpu              2        3 -> 2     3           -\n"
            "                   memory         6Gi    9Gi -> 6Gi   2Gi           -\n"
            "  queue-2       4  cpu              4        6 -> 4     5           -\n"
            "                   memory        12Gi  18Gi -> 12Gi   3Gi           -\n"
            "  queue-3       3  cpu              3        0 -> 1     0           2\n"
            "                   memory         9Gi      0 -> 9Gi     0           -\n"
            "  MOVES       FROM             TO           WHEN\n"
            "  cpu 1       queue-2      ->  unused room  at once\n"
            "  cpu 1       unused room  ->  queue-3      at once\n"
            "  cpu 1       queue-1      ->  queue-3      when its pods are gone\n"
            "  memory 9Gi  unused room  ->  queue-3      at once\n"
            "\n");
}

TEST(PlanQueuesText, StandsBeforeTheAsks) {
  Plan plan = seed_plan();
  plan.asks = {{.kind = AskKind::queue,
                .name = "queue-3",
                .outcome = Outcome::preempts,
                .victims = {{.namespace_name = "default",
                             .name = "pod-3",
                             .node = "n1",
                             .unit = "Pod default/pod-3",
                             .reason = "queue queue-1 is above its share"}},
                .reason = "1 pod must leave so that queue-3 gets 1 cpu"}};
  const std::string text = plan_text(plan, {});
  EXPECT_TRUE(text.starts_with("Queues\n")) << text;
  EXPECT_TRUE(
      text.contains("\n\n~ Queue queue-3 (priority 0) preempts 1 pod\n"
                    "  1 pod must leave so that queue-3 gets 1 cpu\n"
                    "     VICTIM         PRIORITY  NODE  WHY\n"
                    "  -  default/pod-3         0  n1    queue queue-1 is above its share\n"
                    "\nPlan: 1 ask: 1 preempts 1 pod.\n"))
      << text;
  EXPECT_EQ(ask_text(plan.asks.front()), "Queue queue-3");
}

TEST(PlanQueuesText, SaysWhyAQueueGotWhatItGot) {
  Plan plan = seed_plan();
  plan.asks = {{.kind = AskKind::queue,
                .name = "queue-3",
                .outcome = Outcome::fits,
                .reason = "gets 9Gi of memory at once"}};
  EXPECT_TRUE(
      plan_text(plan, {}).contains("+ Queue queue-3 (priority 0) fits\n"
                                   "  gets 9Gi of memory at once\n"));
}

TEST(PlanQueuesText, SetsChildrenBelowTheirParents) {
  const PlanQueueShare share{
      .resource = "cpu", .deserved = 500, .allocated_before = 500, .allocated = 500, .demand = 1};
  const Plan plan{.queues = {{.name = "a", .parent = "team", .shares = {share}},
                             {.name = "b", .weight = 7, .shares = {share}},
                             {.name = "lab", .parent = "a", .shares = {share}},
                             {.name = "team", .leaf = false, .shares = {share}}}};
  EXPECT_EQ(queues_text(plan, {}),
            "Queues\n"
            "  QUEUE    WEIGHT  RESOURCE  DESERVED  ALLOCATED  USED  PREEMPTING\n"
            "  b             7  cpu            0.5        0.5     0           -\n"
            "  team          1  cpu            0.5        0.5     0           -\n"
            "    a           1  cpu            0.5        0.5     0           -\n"
            "      lab       1  cpu            0.5        0.5     0           -\n"
            "\n");
}

TEST(PlanQueuesText, ShowsLeavingAndWithExplainDemand) {
  const Plan plan{.queues = {{.name = "a",
                              .shares = {{.resource = "nvidia.com/gpu",
                                          .deserved = 4,
                                          .allocated_before = 4,
                                          .allocated = 4,
                                          .used = 6,
                                          .leaving = 2,
                                          .demand = 9}}}}};
  EXPECT_EQ(queues_text(plan, {.explain = true}),
            "Queues\n"
            "  QUEUE  WEIGHT  RESOURCE  DEMAND  DESERVED  ALLOCATED           USED  PREEMPTING\n"
            "  a           1  gpu            9         4          4  6 (2 leaving)           -\n"
            "\n");
}

TEST(PlanQueuesText, LeavesOutResourcesWithoutRequests) {
  Plan plan = seed_plan();
  plan.queues.resize(1);
  plan.queues[0].shares[1].demand = 0;
  plan.queues[0].shares[1].used = 0;
  EXPECT_EQ(queues_text(plan, {}),
            "Queues\n"
            "  QUEUE    WEIGHT  RESOURCE  DESERVED  ALLOCATED  USED  PREEMPTING\n"
            "  queue-1       2  cpu              2     3 -> 2     3           -\n"
            "  Not shown, because no pod of a queue requests it: memory.\n"
            "  MOVES  FROM             TO           WHEN\n"
            "  cpu 1  queue-2      ->  unused room  at once\n"
            "  cpu 1  unused room  ->  queue-3      at once\n"
            "  cpu 1  queue-1      ->  queue-3      when its pods are gone\n"
            "\n");
}

TEST(PlanQueuesText, OfManyQueuesShowsOnlyTheChangedOnes) {
  Plan plan;
  for (int number = 0; number < 60; ++number) {
    const std::int64_t before = number < 25 ? 1 : 2;
    plan.queues.push_back({.name = fmt::format("q{:02}", number),
                           .shares = {{.resource = "cpu",
                                       .deserved = 2000,
                                       .allocated_before = before * 1000,
                                       .allocated = 2000,
                                       .demand = 2000}}});
    if (before == 1) {
      plan.queue_moves.push_back(
          {.resource = "cpu", .to = plan.queues.back().name, .amount = 1000});
    }
  }
  const std::string text = queues_text(plan, {});
  EXPECT_TRUE(
      text.contains("  q19         1  cpu              2     1 -> 2     0           -\n"
                    "  ... and 5 queues where something changes (-o json lists them)\n"
                    "  ... and 35 queues where nothing changes\n"
                    "  MOVES  FROM             TO   WHEN\n"))
      << text;
  EXPECT_TRUE(
      text.ends_with("  cpu 1  unused room  ->  q19  at once\n"
                     "  ... and 5 more moves (-o json lists them)\n\n"))
      << text;
}

TEST(PlanQueuesText, IsNothingWithoutQueues) { EXPECT_EQ(queues_text({}, {}), ""); }

}  // namespace
}  // namespace makeway::cli

// A recorded cycle by other rules: kinds that these do not schedule do not ask.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/journal/journal_walk.hpp"
#include "cli/plan/ask_name.hpp"
#include "cli/plan/plan_maker.hpp"
#include "codec/dump.hpp"
#include "codec/load.hpp"
#include "codec/presets.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view three_kinds = R"(
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 20}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 20}}}
---
apiVersion: v1
kind: Node
metadata: {name: n3, labels: {makeway.dev/plane: eu-1}}
status: {allocatable: {cpu: 4, pods: 20}}
---
{apiVersion: makeway.dev/v1, kind: ResourceGroup, metadata: {name: people}, spec: {nodes: [n2]}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, creationTimestamp: 2026-01-01T10:00:00Z}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: not-due, creationTimestamp: 2026-01-01T10:00:00Z}
spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}
---
apiVersion: makeway.dev/v1
kind: Session
metadata: {name: train, creationTimestamp: 2026-01-01T10:00:00Z}
spec: {resourceGroup: people, kernels: [{name: main, resources: {cpu: 1}}]}
---
apiVersion: makeway.dev/v1
kind: ReplicaSchedule
metadata: {name: fleet}
spec: {resources: {cpu: 1}, unmet: 1, planes: [{name: eu-1}]}
)";

const AskName web{.kind = AskKind::pod, .namespace_name = "default", .name = "web"};
const AskName train{.kind = AskKind::session, .namespace_name = "default", .name = "train"};
const AskName fleet{
    .kind = AskKind::replica_schedule, .namespace_name = "default", .name = "fleet"};

class DecideAgainTest : public testing::Test {
 protected:
  void SetUp() override {
    LoadResult read = load_text(three_kinds, "three kinds");
    ASSERT_TRUE(read.loaded.has_value()) << to_text(read.problems.front());
    const BaseRecord base{
        .now = now, .waiting = {}, .objects = dump(read.loaded->cluster, DumpFormat::json)};
    ASSERT_FALSE(world.take({.record = base}).has_value());
  }
  /// The asks in the plan for those that were due, by name.
  std::vector<std::string> decided(std::vector<AskName> due) {
    const CycleRecord cycle{
        .number = 1, .now = now, .due = std::move(due), .plan_id = {}, .changed = {}, .plan = {}};
    const LawfulPlan made = decide_again(cycle, world, {.configuration = rules, .preset = "others"},
                                         real_tools(), false);
    EXPECT_TRUE(made.plan.has_value());
    EXPECT_TRUE(made.problems.empty());
    if (!made.plan) return {};
    EXPECT_EQ(made.plan->preset, "others");
    EXPECT_EQ(made.plan->now, now);
    std::vector<std::string> asks;
    for (const PlanAsk& ask : made.plan->asks) asks.push_back(ask_text(ask_name_of(ask)));
    std::ranges::sort(asks);
    return asks;
  }

  static constexpr Time now{1'767'261'660'000};  // 2026-01-01T10:01:00Z
  Configuration rules = *load_preset(default_preset);
  JournalWorld world;
};

TEST_F(DecideAgainTest, AllKindsThatWereDueAreDecided) {
  EXPECT_EQ(decided({web, train, fleet}),
            (std::vector<std::string>{"Pod default/web", "ReplicaSchedule default/fleet",
                                      "Session default/train"}));
}

TEST_F(DecideAgainTest, KindsThatTheRulesDoNotScheduleAreLeftOut) {
  rules.session.enabled = false;
  EXPECT_EQ(decided({web, train, fleet}),
            (std::vector<std::string>{"Pod default/web", "ReplicaSchedule default/fleet"}));
  rules.replica.enabled = false;
  EXPECT_EQ(decided({web, train, fleet}), std::vector<std::string>{"Pod default/web"});
}

/// The pods are not decided instead: they were not due.
TEST_F(DecideAgainTest, NoPodsLeftMeansNoDecisions) {
  rules.session.enabled = false;
  rules.replica.enabled = false;
  EXPECT_EQ(decided({train, fleet}), std::vector<std::string>{});
}

}  // namespace
}  // namespace makeway::cli

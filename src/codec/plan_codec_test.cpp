// The plan document: field names and shape are a promise.
#include "codec/plan_codec.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "codec/json_value.hpp"

namespace makeway {
namespace {

Plan small_plan() {
  PlanAsk ask{.kind = AskKind::pod,
              .namespace_name = "default",
              .name = "urgent",
              .priority = 1000,
              .outcome = Outcome::preempts,
              .placements = {{"default", "urgent", "n1"}},
              .victims = {{.namespace_name = "default",
                           .name = "low",
                           .uid = "u1",
                           .node = "n1",
                           .unit = "Pod default/low",
                           .priority = 10,
                           .violates_budget = true,
                           .reason = "lower priority",
                           .cause_for = "Pod default/urgent",
                           .cause_rule = "workload",
                           .cause_alternative = "node n2",
                           .cause_key = "victims: 2 against 1",
                           .cost = {60, 120}}},
              .disrupted_groups = {},
              .cost = {60, 120},
              .score = {{ScoreKey::budget_violations, 1},
                        {ScoreKey::highest_priority, 10},
                        {ScoreKey::raw_priority_sum, 2147483658}},
              .reason = "1 pod must leave",
              .explanation = {.nodes_considered = 2,
                              .nodes_fitting = 0,
                              .nodes_with_preemption = 2,
                              .potential_victims = 3,
                              .alternatives = {{.node = "n2",
                                                .score = {{ScoreKey::victims, 2}},
                                                .victims = 2,
                                                .victim_units = 1,
                                                .lost_on = "victims: 2 against 1"}},
                              .spared = {{.namespace_name = "default",
                                          .name = "lucky",
                                          .plane = "east",
                                          .priority = 20}},
                              .spared_count = 1,
                              .refusals = {{.reason = RefusalReason::taint,
                                            .detail = "a=b:NoSchedule",
                                            .nodes = 1,
                                            .example = "n3"}}}};
  return {.id = "0123456789abcdef",
          .preset = "kube-1.37",
          .configuration_hash = "fedcba9876543210",
          .now = *parse_time("2026-01-01T00:00:00Z"),
          .laws_waived = {WaivedLaw::law_6, WaivedLaw::law_4_gangs},
          .asks = {std::move(ask)},
          .actions = {{.type = ActionType::evict,
                       .namespace_name = "default",
                       .name = "low",
                       .uid = "u1",
                       .node = "n1",
                       .ask = pod_ref("default", "urgent")},
                      {.type = ActionType::wait, .namespace_name = "default", .name = "urgent"}},
          .status = {{.object = pod_ref("default", "urgent"),
                      .condition = "PodScheduled",
                      .value = false,
                      .reason = "Unschedulable",
                      .message = "1 pod must leave"}},
          .cost = {60, 120}};
}

TEST(PlanDocument, HasTheFieldsOfTheDesign) {
  EXPECT_EQ(
      plan_text_json(small_plan(), PlanDetail::brief, JsonStyle::compact),
      R"({"apiVersion":"makeway.dev/v1","kind":"Plan","id":"0123456789abcdef",)"
      R"("preset":"kube-1.37","configurationHash":"fedcba9876543210","now":"2026-01-01T00:00:00Z",)"
      R"("lawsWaived":["6","4-gangs"],"asks":[{"kind":"Pod","namespace":"default",)"
      R"("name":"urgent","priority":1000,"outcome":"preempts","placements":[{"namespace":)"
      R"("default","name":"urgent","node":"n1"}],"victims":[{"namespace":"default","name":"low",)"
      R"("uid":"u1","node":"n1","unit":"Pod default/low","priority":10,"violatesBudget":true,)"
      R"("reason":"lower priority","cause":{"for":"Pod default/urgent","rule":)"
      R"("workload","alternative":"node n2","key":"victims: 2 against 1"},)"
      R"("cost":{"podSeconds":60,"gpuSeconds":120}}],"disruptedGroups":[],)"
      R"("cost":{"podSeconds":60,"gpuSeconds":120},"waitsFor":[],)"
      R"("score":{"budgetViolations":1,"highestPriority":10,"rawPrioritySum":2147483658},)"
      R"("boundsReached":[],"reason":"1 pod must leave"}],"actions":[{"type":"evict",)"
      R"("namespace":"default","name":"low","uid":"u1","node":"n1","for":"Pod default/urgent"},)"
      R"({"type":"wait","namespace":"default","name":"urgent","uid":""}],"status":[{"object":)"
      R"("Pod default/urgent","condition":"PodScheduled","value":false,"reason":)"
      R"("Unschedulable","message":"1 pod must leave"}],"othersPending":0,)"
      R"("cost":{"podSeconds":60,"gpuSeconds":120}})"
      "\n");
}

TEST(PlanDocument, ExplainsWhenAsked) {
  const std::string text =
      plan_text_json(small_plan(), PlanDetail::with_explanation, JsonStyle::compact);
  EXPECT_TRUE(text.contains(
      R"("explanation":{"nodesConsidered":2,"nodesFitting":0,"nodesWithPreemption":2,)"
      R"("potentialVictims":3,"alternatives":[{"node":"n2","score":{"victims":2},"victims":2,)"
      R"("victimUnits":1,"lostOn":"victims: 2 against 1"}],"spared":[{"namespace":"default",)"
      R"("name":"lucky","plane":"east","priority":20}],"sparedCount":1,"cascades":[],)"
      R"("refusals":[{"reason":"taint",)"
      R"("detail":"a=b:NoSchedule","amountMin":0,"nodes":1,"example":"n3","holders":[]}]})"))
      << text;
}

TEST(PlanDocument, OfABatchBeginsWithItsCase) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  const JsonValue id{.data = std::int64_t{7}};
  write_plan(writer, small_plan(), PlanDetail::brief, &id);
  EXPECT_TRUE(text.starts_with(
      R"({"id":7,"apiVersion":"makeway.dev/v1","kind":"Plan","planId":"0123456789abcdef",)"))
      << text;
}

TEST(PlanDocument, SaysUntilWhenOnlyWhereItIsKnown) {
  Plan plan = small_plan();
  EXPECT_FALSE(plan_text_json(plan).contains("waitsUntil"));
  plan.asks.front().waits_until = Time{30'000};
  plan.asks.front().waits_for = {{"default", "old", "n2"}};
  const std::string text = plan_text_json(plan, PlanDetail::brief, JsonStyle::compact);
  EXPECT_TRUE(text.contains(R"("waitsFor":[{"namespace":"default","name":"old","node":"n2"}],)"
                            R"("waitsUntil":"1970-01-01T00:00:30Z")"))
      << text;
}

TEST(PlanDocument, ReportsTheStateOfGroupsAndTheHoldsOnRoom) {
  Plan plan = small_plan();
  EXPECT_FALSE(plan_text_json(plan).contains("pendingSeconds"));
  EXPECT_FALSE(plan_text_json(plan).contains("heldBack"));
  EXPECT_FALSE(plan_text_json(plan).contains("domain"));
  PlanAsk& ask = plan.asks.front();
  ask.pending_seconds = 90;
  ask.domain = "rack=a";
  ask.disrupted_groups = {{.namespace_name = "default",
                           .name = "g",
                           .mode = DisruptionMode::single,
                           .lost = 1,
                           .running = 4,
                           .remaining = 3,
                           .minimum = 4,
                           .fate = GroupFate::degraded,
                           .cost = {60, 0}}};
  ask.held_back =
      PlanHeldBack{.needed = 4,
                   .room_left = 1,
                   .room_alone = 4,
                   .takers = {{.ask = "PodGroup default/first", .priority = 7, .pods = 3}}};
  const std::string text = plan_text_json(plan, PlanDetail::brief, JsonStyle::compact);
  EXPECT_TRUE(text.contains(R"("outcome":"preempts","pendingSeconds":90,"placements":)")) << text;
  EXPECT_TRUE(text.contains(R"("domain":"rack=a","victims":)")) << text;
  EXPECT_TRUE(text.contains(
      R"("disruptedGroups":[{"namespace":"default","name":"g","mode":"single","lost":1,)"
      R"("running":4,"remaining":3,"minimum":4,"fate":"degraded",)"
      R"("cost":{"podSeconds":60,"gpuSeconds":0}}],"cost":)"))
      << text;
  EXPECT_TRUE(text.contains(R"("heldBack":{"needed":4,"roomLeft":1,"roomAlone":4,"takers":[{"ask":)"
                            R"("PodGroup default/first","priority":7,"pods":3}]},"reason":)"))
      << text;
}

TEST(PlanDocument, NamesEveryScoreKeyInCamelCase) {
  EXPECT_EQ(score_field(ScoreKey::members_not_placed), "membersNotPlaced");
  EXPECT_EQ(score_field(ScoreKey::groups_below_minimum), "groupsBelowMinimum");
  EXPECT_EQ(score_field(ScoreKey::victims), "victims");
}

TEST(PlanIdentity, ExplanationsAndTheIdItselfDoNotCount) {
  Plan plan = small_plan();
  const std::string id = plan_identity(plan);
  EXPECT_EQ(id.size(), 16U);
  plan.id = "other";
  plan.asks.front().explanation = {};
  plan.asks.front().victims.front().cause_alternative = "node n4";
  plan.asks.front().victims.front().cause_key = "name";
  EXPECT_EQ(plan_identity(plan), id);
  // Without explanations only the first sessions of a list are written, so only those count.
  plan.resource_groups.push_back({.name = "g"});
  plan.resource_groups.front().running.first.resize(plan_sessions_listed_max);
  const std::string with_group = plan_identity(plan);
  EXPECT_NE(with_group, id);
  plan.resource_groups.front().running.first.push_back({.name = "one more"});
  EXPECT_EQ(plan_identity(plan), with_group);
}

/// Everything that is decided counts: each of these changes something that the document says.
TEST(PlanIdentity, CoversTheDocument) {
  using Change = void (*)(Plan&);
  const std::vector<Change> changes = {
      [](Plan& plan) { plan.preset = "other"; },
      [](Plan& plan) { plan.now = Time{plan.now.ms + 1'000}; },
      [](Plan& plan) { plan.laws_waived.clear(); },
      [](Plan& plan) { plan.withheld = "law 3"; },
      [](Plan& plan) { plan.left_out.push_back({AskKind::pod, "default", "x", 3, "bad"}); },
      [](Plan& plan) { plan.left_out.push_back({AskKind::pod, "default", "x", 0, "bad"}); },
      [](Plan& plan) { plan.asks.front().reason += "."; },
      [](Plan& plan) { plan.asks.front().waits_for.push_back({"default", "a", "n1"}); },
      [](Plan& plan) { plan.asks.front().waits_for.push_back({"other", "a", "n1"}); },
      [](Plan& plan) { plan.asks.front().waits_until = Time{1}; },
      [](Plan& plan) { plan.asks.front().victims.front().cause_rule = "other"; },
      [](Plan& plan) { plan.asks.front().victims.front().violates_budget = false; },
      [](Plan& plan) { plan.asks.front().bounds_reached.emplace_back("engine.x"); },
      [](Plan& plan) { plan.asks.front().session.emplace().victims.resize(1); },
      [](Plan& plan) {
        plan.asks.front().session.emplace().victims.resize(1);
        plan.asks.front().session->victims.front().fate = SessionFate::suspends;
      },
      [](Plan& plan) { plan.asks.front().replicas.emplace().unmet = 1; },
      [](Plan& plan) { plan.asks.front().replicas.emplace().claims.resize(1); },
      // A session whose grace time is over has an action and no ask.
      [](Plan& plan) { plan.actions.push_back({.type = ActionType::requeue, .name = "s"}); },
      [](Plan& plan) { plan.actions.push_back({.type = ActionType::suspend, .name = "s"}); },
      [](Plan& plan) { plan.actions.front().until = Time{1}; },
      [](Plan& plan) { plan.status.front().message += "."; },
      [](Plan& plan) { plan.replica_status.push_back({.name = "r"}); },
      [](Plan& plan) { plan.queues.push_back({.name = "q"}); },
      [](Plan& plan) { plan.others_pending = 9; },
      [](Plan& plan) { plan.cost.pod_seconds += 1; },
  };
  std::set<std::string> ids = {plan_identity(small_plan())};
  for (const Change& change : changes) {
    Plan plan = small_plan();
    change(plan);
    EXPECT_TRUE(ids.insert(plan_identity(plan)).second) << plan_text_json(plan);
  }
}

}  // namespace
}  // namespace makeway

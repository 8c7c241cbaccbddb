// A plan document read again: places, victims and uids.
#include "codec/plan_document.hpp"

#include <gtest/gtest.h>

#include "codec/plan_codec.hpp"
#include "codec/plan_versions.hpp"

namespace makeway {
namespace {

Plan planned() {
  Plan plan{.id = "0123456789abcdef",
            .preset = "makeway-live",
            .configuration_hash = "hash",
            .now = *parse_time("2026-11-17T14:00:00Z")};
  plan.asks.push_back(
      {.kind = AskKind::pod,
       .namespace_name = "a",
       .name = "urgent",
       .outcome = Outcome::preempts,
       .placements = {{"a", "urgent", "n1"}},
       .victims = {{.namespace_name = "a", .name = "low", .uid = "u-low", .node = "n1"}}});
  plan.asks.push_back({.kind = AskKind::pod_group,
                       .namespace_name = "a",
                       .name = "gang",
                       .outcome = Outcome::infeasible});
  plan.actions = {{.type = ActionType::evict,
                   .namespace_name = "a",
                   .name = "low",
                   .uid = "u-low",
                   .node = "n1",
                   .ask = pod_ref("a", "urgent")},
                  {.type = ActionType::nominate,
                   .namespace_name = "a",
                   .name = "urgent",
                   .uid = "u-urgent",
                   .node = "n1"}};
  return plan;
}

TEST(PlanDocument, IsReadAsItWasWritten) {
  const PlanVersions versions{.cluster = "here", .objects = {{"Pod", "a", "low", "u-low", "7"}}};
  std::string json;
  JsonWriter json_writer(json, JsonStyle::pretty);
  write_plan(json_writer, planned(), PlanDetail::with_explanation, nullptr, &versions);
  std::string yaml;
  YamlWriter yaml_writer(yaml);
  write_plan(yaml_writer, planned(), PlanDetail::brief, nullptr, &versions);
  for (const std::string& text : {json, yaml}) {
    const PlanReading reading = read_plan_document(text, "plan");
    ASSERT_TRUE(reading.document) << to_text(*reading.problems.begin());
    EXPECT_EQ(reading.document->id, "0123456789abcdef");
    EXPECT_EQ(reading.document->preset, "makeway-live");
    EXPECT_EQ(reading.document->configuration_hash, "hash");
    EXPECT_EQ(reading.document->cluster, "here");
    EXPECT_EQ(to_text(reading.document->now), "2026-11-17T14:00:00Z");
    ASSERT_EQ(reading.document->asks.size(), 2U);
    const PlannedAsk& ask = reading.document->asks[0];
    EXPECT_EQ(ask.outcome, Outcome::preempts);
    EXPECT_EQ(ask.places, (std::vector<PlannedPod>{{"a", "urgent", "n1", "", "u-urgent", ""}}));
    EXPECT_EQ(ask.victims, (std::vector<PlannedPod>{{"a", "low", "n1", "", "u-low", "7"}}));
    EXPECT_EQ(reading.document->asks[1].kind, AskKind::pod_group);
    EXPECT_TRUE(reading.document->asks[1].places.empty());
  }
}

TEST(PlanDocument, WhatIsWrongIsNamed) {
  const auto problem_text = [](std::string_view text) {
    const PlanReading reading = read_plan_document(text, "p.json");
    EXPECT_FALSE(reading.document);
    return reading.problems.empty() ? std::string{} : to_text(*reading.problems.begin());
  };
  EXPECT_TRUE(problem_text(" \n").contains("p.json: it is empty"));
  EXPECT_TRUE(
      problem_text(R"({"kind":"Pod","apiVersion":"v1"})").contains("\"v1 Pod\": this is no plan"));
  EXPECT_TRUE(problem_text("[]").contains("this is no plan"));
  EXPECT_TRUE(problem_text("a: 1\n---\nb: 2\n").contains("expected one document, found 2"));
  const std::string head = R"({"apiVersion":"makeway.dev/v1","kind":"Plan",)";
  EXPECT_TRUE(problem_text(head + R"("planId":"x"})").contains("this is an answer of a --batch"));
  EXPECT_TRUE(problem_text(head + R"("id":"x"})").contains("preset: it is missing"));
  const std::string rest = head + R"("id":"x","preset":"p","configurationHash":"h","actions":[],)";
  EXPECT_TRUE(problem_text(rest + R"("now":"soon","asks":[]})").contains("now \"soon\""));
  const std::string asks = rest + R"("now":"2026-11-17T14:00:00Z","asks":)";
  EXPECT_TRUE(problem_text(asks + "{}}").contains("asks: expected a list"));
  EXPECT_TRUE(problem_text(asks + R"([{"kind":"Dog","namespace":"a","name":"b","outcome":"fits",)"
                                  R"("placements":[],"victims":[]}]})")
                  .contains("asks[0].kind \"Dog\": this version knows no such word"));
}

}  // namespace
}  // namespace makeway

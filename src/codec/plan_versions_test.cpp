// Which versions of objects a plan was made on.
#include "codec/plan_versions.hpp"

#include <gtest/gtest.h>

#include "codec/plan_codec.hpp"
#include "codec/source.hpp"

namespace makeway {
namespace {

Plan plan_of_urgent() {
  Plan plan;
  plan.asks.push_back({.kind = AskKind::pod,
                       .namespace_name = "a",
                       .name = "urgent",
                       .placements = {{"a", "urgent", "n1"}},
                       .victims = {{.namespace_name = "a", .name = "low", .uid = "u-low"}}});
  return plan;
}

void read(VersionReader& reader, std::string_view text) { reader.read(PaddedText(text).view()); }

TEST(VersionReader, KnowsWhatThePlanNames) {
  VersionReader reader;
  read(reader, R"({"kind":"PodList","items":[)"
               R"({"metadata":{"namespace":"a","name":"low","uid":"u-low","resourceVersion":"7"}},)"
               R"({"metadata":{"namespace":"a","name":"else","uid":"u","resourceVersion":"8"}}]})");
  read(reader, R"({"kind":"List","items":[{"kind":"Pod","metadata":{"namespace":"a",)"
               R"("name":"urgent","uid":"u-urgent","resourceVersion":"9"}},)"
               R"({"kind":"Namespace","metadata":{"name":"kube-system","uid":"here"}}]})");
  const PlanVersions versions = reader.of(plan_of_urgent());
  EXPECT_EQ(versions, (PlanVersions{.cluster = "here",
                                    .objects = {{"Pod", "a", "low", "u-low", "7"},
                                                {"Pod", "a", "urgent", "u-urgent", "9"}}}));
}

TEST(VersionReader, WhatHasNoVersionOrCannotBeReadIsLeftOut) {
  VersionReader reader;
  read(reader, R"({"kind":"Pod","metadata":{"namespace":"a","name":"low","uid":"u"}})");
  read(reader, R"({"kind":"Pod","metadata":{"namespace":"a","name":)");
  read(reader, R"([1, 2])");
  read(reader, "");
  EXPECT_EQ(reader.of(plan_of_urgent()), PlanVersions{});
}

TEST(VersionReader, VersionsAreWrittenBesideThePlan) {
  const Plan plan = plan_of_urgent();
  const PlanVersions versions{.cluster = "here", .objects = {{"Pod", "a", "low", "u-low", "7"}}};
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_plan(writer, plan, PlanDetail::brief, nullptr, &versions);
  EXPECT_TRUE(
      text.contains(R"("cluster":"here","objects":[{"kind":"Pod","namespace":"a","name":"low",)"
                    R"("uid":"u-low","resourceVersion":"7"}],"preset")"))
      << text;
  EXPECT_FALSE(plan_text_json(plan).contains("objects"));
}

}  // namespace
}  // namespace makeway

// Which asks of a plan document can be carried out.
#include <gtest/gtest.h>

#include "cli/apply/apply_text.hpp"

namespace makeway::cli {
namespace {

PlannedPod planned_pod(std::string name, std::string uid = "u", std::string plane = {}) {
  return {.namespace_name = "a",
          .name = std::move(name),
          .node = "n1",
          .plane = std::move(plane),
          .uid = std::move(uid),
          .version = "7"};
}

PlannedAsk planned_ask(const std::string& name, AskKind kind = AskKind::pod) {
  return {.kind = kind,
          .namespace_name = "a",
          .name = name,
          .plane = {},
          .made_from = {},
          .outcome = Outcome::fits,
          .places = {planned_pod(name)},
          .victims = {}};
}

TEST(ChooseAsks, WhatCannotBeCarriedOutIsRefusedByName) {
  PlanDocument document;
  document.asks = {planned_ask("good"), planned_ask("queue", AskKind::queue),
                   planned_ask("web", AskKind::replica_schedule),
                   planned_ask("train", AskKind::session)};
  PlannedAsk made = planned_ask("made");
  made.made_from = "Job a/job";
  PlannedAsk far = planned_ask("far");
  far.places = {planned_pod("far", "u", "east")};
  PlannedAsk nameless = planned_ask("nameless");
  nameless.victims = {planned_pod("victim", "")};
  PlannedAsk hopeless = planned_ask("hopeless");
  hopeless.places.clear();
  hopeless.outcome = Outcome::infeasible;
  document.asks.insert(document.asks.end(), {made, far, nameless, hopeless});
  const Result<ChosenAsks> chosen = choose_asks(document, {});
  ASSERT_TRUE(chosen);
  ASSERT_EQ(chosen->asks.size(), 1U);
  EXPECT_EQ(chosen->asks[0].name.name, "good");
  EXPECT_EQ(chosen->versions.at({"a", "good"}), "7");
  EXPECT_EQ(chosen->without_place, 1U);
  ASSERT_EQ(chosen->refused.size(), 6U);
  EXPECT_TRUE(chosen->refused[0].reason.starts_with("moving room between queues is not carried"));
  EXPECT_EQ(chosen->refused[1].ask, "ReplicaSchedule a/web");
  EXPECT_TRUE(chosen->refused[1].reason.starts_with("scale-up, scale-down and force-delete"));
  EXPECT_TRUE(chosen->refused[2].reason.contains("suspending sessions"));
  EXPECT_EQ(chosen->refused[3].reason,
            "its pod was made from Job a/job for this plan and is not there yet");
  EXPECT_EQ(chosen->refused[4].reason, "pod a/far is in plane east");
  EXPECT_TRUE(chosen->refused[5].reason.starts_with("the plan has no uid of pod a/victim"));
}

TEST(ChooseAsks, OnlyWhatIsNamed) {
  PlanDocument document;
  document.asks = {planned_ask("x"), planned_ask("x", AskKind::pod_group), planned_ask("y")};
  PlannedAsk hopeless = planned_ask("hopeless");
  hopeless.places.clear();
  hopeless.outcome = Outcome::not_found;
  document.asks.push_back(hopeless);
  const Result<ChosenAsks> group = choose_asks(document, {"podgroup/a/x"});
  ASSERT_TRUE(group);
  ASSERT_EQ(group->asks.size(), 1U);
  EXPECT_EQ(group->asks[0].name.kind, AskKind::pod_group);
  EXPECT_EQ(group->not_wanted, 2U);
  const Result<ChosenAsks> both = choose_asks(document, {"a/x", "a/y"});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->asks.size(), 3U);
  const auto wrong = [&](const std::string& only) {
    const Result<ChosenAsks> chosen = choose_asks(document, {only});
    return chosen ? std::string{} : chosen.error().message;
  };
  EXPECT_EQ(wrong("a/hopeless"), "--only 'a/hopeless': the plan has no place for it (not-found)");
  EXPECT_EQ(wrong("a/yy"), "--only 'a/yy': the plan has no such ask; did you mean a/y?");
  EXPECT_TRUE(wrong("job/a/x").starts_with("--only 'job/a/x': the plan has no such ask"));
}

}  // namespace
}  // namespace makeway::cli

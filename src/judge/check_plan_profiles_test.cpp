// SPEC section 8: an ask is judged by the rules of its own profile.
#include <gtest/gtest.h>

#include "support/plan_scene.hpp"

namespace makeway::scene {
namespace {

Pod of_scheduler(Pod pod, std::string scheduler) {
  pod.scheduler = std::move(scheduler);
  return pod;
}

void add_rules(Scene& scene, std::string path, std::string value) {
  scene.configuration.profiles = {
      {.scheduler_name = "batch", .knobs = {{std::move(path), std::move(value)}}}};
}

TEST(CheckPlanProfiles, Law9TheProfileOfAnAskIsReported) {
  Scene scene(node("n1", 1000), of_scheduler(pod("ask", "", 100, 600), "batch"));
  scene.ask("ask", Outcome::fits, "n1");
  EXPECT_EQ(scene.laws(), Laws{});
  add_rules(scene, "workload.nodeScore", "spread");
  EXPECT_EQ(scene.laws(), Laws{9});
  scene.plan.asks.front().profile = "batch";
  EXPECT_EQ(scene.laws(), Laws{});
  add_rules(scene, "workload.nodeScore", "pack");  // As all: no profile is named.
  EXPECT_EQ(scene.laws(), Laws{9});
}

TEST(CheckPlanProfiles, Law2ADelayIsThatOfTheProfile) {
  Scene scene(node("n1", 1000), pod("low", "n1", 0, 1000),
              of_scheduler(pod("ask", "", 100, 1000), "batch"));
  PlanAsk& ask = scene.ask("ask", Outcome::preempts, "n1", {"low"});
  EXPECT_EQ(scene.laws(), Laws{});
  add_rules(scene, "engine.preemptionDelay", "1h");  // It is 999 s old.
  ask.profile = "batch";
  EXPECT_EQ(scene.laws(), Laws{2});
  // All other asks wait, and this profile does not.
  scene.configuration.engine.preemption_delay = Duration{3'600'000};
  add_rules(scene, "engine.preemptionDelay", "0s");
  EXPECT_EQ(scene.laws(), Laws{});
}

}  // namespace
}  // namespace makeway::scene

// SPEC section 4, stability: whether what the last plan claimed still stands.
#include "policies/replica/previous_claims.hpp"

#include <gtest/gtest.h>

#include "support/fleet_scene.hpp"

namespace makeway {
namespace {

/// `ask` wants two GPUs in eu; its status has these claims.
std::string asking_with(std::string_view claims, std::int32_t priority = 9) {
  return fmt::format(R"(
---
apiVersion: makeway.dev/v1
kind: ReplicaSchedule
metadata: {{name: ask}}
spec: {{priority: {}, resources: {{nvidia.com/gpu: 2}}, unmet: 1, planes: [{{name: eu}}]}}
status: {{claims: [{}]}}
---
)",
                     priority, claims);
}

/// web-1 on n1 was to go: web was scaled down to two for it.
constexpr std::string_view claim_web_1 =
    R"({plane: eu, node: n1, since: "2026-01-01T11:00:00Z", )"
    R"(victims: [{namespace: default, name: web-1, deployment: web, committed: 2}]})";

struct ClaimScene : FleetScene {
  using FleetScene::FleetScene;

  const PreviousClaim& claim(std::size_t at = 0) const {
    return previous.of(deployment("ask"))[at];
  }
  bool stands(std::size_t at = 0) const { return previous.stands(claim(at), need("ask")); }
  std::string missed() const {
    IndexedVector<ShareIndex, std::int64_t> steps = previous.steps();
    std::string text;
    for (const MissedVictim& each : previous.missed(claim(), need("ask"), steps)) {
      text += fmt::format("{} on {} at {}", each.deployment, each.node, each.committed);
    }
    return text;
  }

  PreviousClaims previous{fleet};
};

ClaimScene claimed(std::string_view rest, std::int32_t priority = 9) {
  // NOLINTNEXTLINE(modernize-return-braced-init-list): the inherited constructor is explicit
  return ClaimScene(asking_with(claim_web_1, priority) + std::string(rest));
}

TEST(PreviousClaims, WithoutAStatusThereAreNone) {
  const ClaimScene scene("node n1 gpu=2 plane=eu\nschedule ask gpu=2 plane=eu");
  EXPECT_TRUE(scene.previous.of(scene.deployment("ask")).empty());
}

// web still has three committed: the step is requested again.
constexpr std::string_view step_not_taken = R"(
node n1 gpu=2 plane=eu
node n2 gpu=2 plane=eu
schedule web gpu=1 p=1 plane=eu:3
pod web-1 @n1 gpu=1 deployment=web
pod web-{2..3} @n2 gpu=1 deployment=web
)";

TEST(PreviousClaims, AStepThatIsNotCarriedOutStands) {
  const ClaimScene scene = claimed(step_not_taken);
  EXPECT_EQ(scene.pods_of(scene.claim().victims), "web-1");
  EXPECT_FALSE(scene.claim().unknown_victim);
  EXPECT_TRUE(scene.stands());
  EXPECT_EQ(scene.previous.held(scene.claim())[Fleet::counted], 1) << "2 less what web-1 holds";
  EXPECT_EQ(scene.missed(), "");
  EXPECT_EQ(scene.previous.steps()[scene.share("web")], 1);
  const ClaimedVictim* const about = scene.previous.about(scene.pod("web-1"));
  ASSERT_NE(about, nullptr);
  EXPECT_EQ(about->committed, 2);
  EXPECT_EQ(scene.previous.about(scene.pod("web-2")), nullptr);
}

TEST(PreviousClaims, ASurplusOrLeavingVictimIsOnItsWay) {
  EXPECT_TRUE(claimed(R"(
    node n1 gpu=2 plane=eu
    node n2 gpu=2 plane=eu
    schedule web gpu=1 p=1 plane=eu:2
    pod web-1 @n1 gpu=1 deployment=web created=11:00
    pod web-{2..3} @n2 gpu=1 deployment=web created=09:00 condition=Ready:True
  )")
                  .stands());
  EXPECT_TRUE(claimed(R"(
    node n1 gpu=2 plane=eu
    schedule web gpu=1 p=1 plane=eu:2
    pod web-1 @n1 gpu=1 deployment=web deleted=12:00:10 grace=30
  )")
                  .stands());
}

TEST(PreviousClaims, WhenItsVictimsAreGoneItStandsWhileItFits) {
  const ClaimScene scene = claimed(R"(
    node n1 gpu=2 plane=eu
    schedule web gpu=1 p=1 plane=eu:2
  )");
  EXPECT_TRUE(scene.claim().victims.empty());
  EXPECT_TRUE(scene.stands());
  EXPECT_EQ(scene.previous.held(scene.claim())[Fleet::counted], 2);
}

// The commit is lowered, and web-1 is an ordinary replica: Kubernetes has removed another pod.
TEST(PreviousClaims, AMissEndsTheClaimAndIsRemembered) {
  const ClaimScene scene = claimed(R"(
    node n1 gpu=2 plane=eu
    node n2 gpu=2 plane=eu
    schedule web gpu=1 p=1 plane=eu:2
    pod web-1 @n1 gpu=1 deployment=web
    pod web-2 @n2 gpu=1 deployment=web
  )");
  EXPECT_FALSE(scene.stands());
  EXPECT_EQ(scene.missed(), "web on n1 at 2");
}

TEST(PreviousClaims, WhatEndsAClaim) {
  const std::vector<std::pair<std::string_view, std::string_view>> rows = {
      {"the node is cordoned", "node n1 gpu=2 plane=eu cordoned"},
      {"it is in another plane", "node n1 gpu=2 plane=us"},
      {"it is gone", "node n2 gpu=2 plane=eu"},
      {"its room was taken", "node n1 gpu=2 plane=eu\npod other @n1 gpu=1"},
      {"it became too small", "node n1 gpu=1 plane=eu"},
  };
  for (const auto& [why, rest] : rows) {
    SCOPED_TRACE(why);
    const ClaimScene scene =
        claimed(std::string(rest) + "\nschedule web gpu=1 p=1 plane=eu:2 plane=us");
    EXPECT_FALSE(scene.stands());
  }
}

TEST(PreviousClaims, AVictimOfEqualPriorityIsNotTakenAnyMore) {
  EXPECT_FALSE(claimed(step_not_taken, 1).stands());
}

TEST(PreviousClaims, AVictimThatIsNoReplicaAnyMoreEndsIt) {
  const ClaimScene scene = claimed(R"(
    node n1 gpu=2 plane=eu
    schedule web gpu=1 p=1 plane=eu:2
    pod web-1 @n1 gpu=1
  )");
  EXPECT_TRUE(scene.claim().unknown_victim);
  EXPECT_FALSE(scene.stands());
}

TEST(PreviousClaims, AKeptClaimUsesUpItsStep) {
  ClaimScene scene(asking_with(std::string(claim_web_1)) + std::string(step_not_taken));
  scene.previous.keep(scene.claim());
  EXPECT_EQ(scene.previous.steps()[scene.share("web")], 0);
  EXPECT_FALSE(scene.stands()) << "another claim could not count on that step";
}

TEST(PreviousClaims, WhetherAMissIsWorthAnotherTry) {
  const ClaimScene scene = claimed(step_not_taken);
  const auto missed_at = [](std::int64_t committed, std::string_view node = "n1") {
    return MissedVictim{.plane = "eu",
                        .node = std::string(node),
                        .namespace_name = "default",
                        .deployment = "web",
                        .committed = committed};
  };
  // web has 3 committed: with as many or more it was missed before, so 3 is a step never tried.
  EXPECT_EQ(scene.previous.find(missed_at(3)), std::nullopt);
  EXPECT_EQ(scene.previous.find(missed_at(2)),
            (MissedPlace{.place = scene.place("n1"), .share = scene.share("web")}));
  EXPECT_EQ(scene.previous.find(missed_at(2, "n9")), std::nullopt);
  MissedVictim gone = missed_at(2);
  gone.deployment = "nothing";
  EXPECT_EQ(scene.previous.find(gone), std::nullopt);
}

}  // namespace
}  // namespace makeway

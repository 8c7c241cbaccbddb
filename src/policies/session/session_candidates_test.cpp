// SPEC section 6: which running sessions may be made to leave, and in which order.
#include "policies/session/session_candidates.hpp"

#include <gtest/gtest.h>

#include "support/session_scene.hpp"

namespace makeway {
namespace {

struct CandidatesScene : SessionScene {
  using SessionScene::SessionScene;

  std::string of(std::string_view ask) { return names_of(candidates.of(session(ask))); }
  std::optional<ReasonCode> why_not(std::string_view name) const {
    const auto reason = candidates.why_not(session(name));
    return reason ? std::optional(reason->code) : std::nullopt;
  }

  SessionCandidates candidates{table, configuration};
};

constexpr std::string_view one_group = R"(
node n1 gpu=99
node n2 gpu=99
resourcegroup lab nodes=n1
resourcegroup else nodes=n2
session p0 @n1 gpu=1 group=lab p=0 phase=running started=08:00
session p3-old @n1 gpu=1 group=lab p=3 phase=running started=08:00
session p3-new @n1 gpu=1 group=lab p=3 phase=running started=10:00
session p3-twin @n1 gpu=1 group=lab p=3 phase=running started=10:00
session p5 @n1 gpu=1 group=lab p=5 phase=running started=08:00
session p6 @n1 gpu=1 group=lab p=6 phase=running started=08:00
session waits gpu=1 group=lab p=1
session elsewhere @n2 gpu=1 group=else p=0 phase=running
session ask-0 gpu=1 group=lab p=0
session ask-3 gpu=1 group=lab p=3
session ask-9 gpu=1 group=lab p=9
)";

TEST(SessionCandidates, LowestPriorityThenTheOldestOfTheGroupBelowTheAsk) {
  CandidatesScene scene(one_group);
  EXPECT_EQ(scene.of("ask-9"), "p0 p3-old p3-new p3-twin p5") << "p6 is above the threshold 5";
  EXPECT_EQ(scene.of("ask-3"), "p0") << "strictly lower (law 2)";
  EXPECT_EQ(scene.of("ask-0"), "");
  EXPECT_EQ(scene.names_of(scene.candidates.all(scene.session("ask-0").group)),
            "p0 p3-old p3-new p3-twin p5");
}

TEST(SessionCandidates, OtherOrders) {
  struct Row {
    PreemptionOrder order;
    std::string_view expected;
  };
  for (const auto& [order, expected] : {
           Row{PreemptionOrder::newest, "p0 p3-new p3-twin p3-old p5"},
           Row{PreemptionOrder::least_lost_work, "p0 p3-new p3-twin p3-old p5"},
           Row{PreemptionOrder::fewest, "p0 p3-old p3-new p3-twin p5"},
       }) {
    SCOPED_TRACE(choice_name(order));
    Configuration rules;
    rules.session.preemption_order = order;
    CandidatesScene scene(one_group, rules);
    EXPECT_EQ(scene.of("ask-9"), expected);
  }
}

TEST(SessionCandidates, TheKeyThatDecided) {
  CandidatesScene scene(one_group);
  const auto decided = [&](std::string_view first, std::string_view second) {
    return scene.candidates.decided_by(scene.index(first), scene.index(second)).code;
  };
  EXPECT_EQ(decided("p0", "p5"), ReasonCode::by_priority);
  EXPECT_EQ(decided("p3-old", "p3-new"), ReasonCode::by_start);
  EXPECT_EQ(decided("p3-new", "p3-twin"), ReasonCode::by_name);
}

TEST(SessionCandidates, WhatKeepsASession) {
  Configuration rules;
  rules.session.max_preemptions = 2;
  rules.protection.namespaces = {"safe"};
  rules.protection.minimum_runtime = Duration{60'000};
  CandidatesScene scene(R"(
    node n1 gpu=99
    resourcegroup lab nodes=n1
    session yes @n1 gpu=1 group=lab p=0 phase=running started=11:59 preemptions=1
    session waits gpu=1 group=lab p=0
    session leaves @n1 group=lab p=0 phase=running fate=ends ends=12:01 preempted-by="Session x"
    session above @n1 gpu=1 group=lab p=6 phase=running started=08:00
    session often @n1 gpu=1 group=lab p=0 phase=running started=08:00 preemptions=2
    session young @n1 gpu=1 group=lab p=0 phase=running started=11:59:01
    session ahead @n1 gpu=1 group=lab p=0 phase=running started=12:30
    session ask gpu=1 group=lab p=9
  )",
                        rules);
  EXPECT_EQ(scene.why_not("yes"), std::nullopt);
  EXPECT_EQ(scene.why_not("waits"), ReasonCode::stays_not_running);
  EXPECT_EQ(scene.why_not("leaves"), ReasonCode::stays_leaving);
  EXPECT_EQ(scene.why_not("above"), ReasonCode::priority_above);
  EXPECT_EQ(scene.why_not("often"), ReasonCode::stays_preempted_often);
  EXPECT_EQ(scene.why_not("young"), ReasonCode::stays_too_young);
  EXPECT_EQ(scene.why_not("ahead"), ReasonCode::stays_too_young);
  EXPECT_EQ(scene.of("ask"), "yes");
  EXPECT_TRUE(scene.candidates.preemptible(scene.session("yes")));
  rules.protection.namespaces = {"default"};
  EXPECT_EQ(CandidatesScene(one_group, rules).why_not("p0"), ReasonCode::stays_in_namespace);
}

// With partitions law 2 compares tiers, and the threshold does not apply.
TEST(SessionCandidates, PartitionsCompareTiers) {
  CandidatesScene scene(R"(
    node n1 gpu=99
    resourcegroup lab nodes=n1
    partition low group=lab tier=1 preemptible
    partition mid group=lab tier=2 preemptible exempt=1h
    partition firm group=lab tier=1
    partition high group=lab tier=3
    session low-99 @n1 gpu=1 group=lab partition=low p=99 phase=running started=08:00
    session low-1 @n1 gpu=1 group=lab partition=low p=1 phase=running started=08:00
    session mid-1 @n1 gpu=1 group=lab partition=mid p=1 phase=running started=11:00
    session exempt @n1 gpu=1 group=lab partition=mid p=1 phase=running started=11:00:01
    session stays @n1 gpu=1 group=lab partition=firm p=1 phase=running started=08:00
    session gives @n1 gpu=1 group=lab partition=firm p=5 preemptible phase=running started=08:00
    session ask-high gpu=1 group=lab partition=high p=0
    session ask-mid gpu=1 group=lab partition=mid p=99
    session ask-low gpu=1 group=lab partition=low p=99
  )");
  EXPECT_EQ(scene.of("ask-high"), "low-1 gives low-99 mid-1");
  EXPECT_EQ(scene.of("ask-mid"), "low-1 gives low-99");
  EXPECT_EQ(scene.of("ask-low"), "") << "an equal tier, whatever the priorities";
  EXPECT_EQ(scene.why_not("exempt"), ReasonCode::exempt_until);
  EXPECT_EQ(scene.why_not("stays"), ReasonCode::stays_by_partition);
  EXPECT_EQ(scene.candidates.decided_by(scene.index("low-99"), scene.index("mid-1")).code,
            ReasonCode::by_tier);
}

}  // namespace
}  // namespace makeway

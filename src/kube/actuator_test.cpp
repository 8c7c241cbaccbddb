#include "kube/actuator.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "kube/clocks.hpp"
#include "kube/live_port.hpp"
#include "support/live_server.hpp"

namespace makeway::kube {
namespace {

using WriteFaultKind = WriteFault::Kind;

std::string written_pod(std::string_view name, std::string_view uid, std::string_view node = {}) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}","namespace":"a","uid":"{}",)"
      R"("generation":1,"labels":{{"app":"{}"}}}},"spec":{{{}"containers":[{{"name":"c"}}]}},)"
      R"("status":{{"phase":"{}"}}}})",
      name, uid, name, node.empty() ? std::string{} : fmt::format(R"("nodeName":"{}",)", node),
      node.empty() ? "Pending" : "Running");
}

PlanAction written_action(ActionType type, const std::string& name, std::string node,
                          std::string_view ask = {}) {
  return {.type = type,
          .namespace_name = "a",
          .name = name,
          .uid = "uid-" + name,
          .node = std::move(node),
          .ask = parse_ref(ask)};
}

Plan bind_plan(const std::string& name) {
  Plan plan{.id = "0123", .now = Time{1}};
  plan.actions = {written_action(ActionType::bind, name, "n1")};
  return plan;
}

/// `urgent` makes `low` leave n1.
Plan preempting_plan() {
  Plan plan{.id = "0123", .now = Time{1}};
  plan.asks = {{.kind = AskKind::pod,
                .namespace_name = "a",
                .name = "urgent",
                .outcome = Outcome::preempts,
                .placements = {{"a", "urgent", "n1", {}}},
                .reason = "needs room"}};
  plan.actions = {written_action(ActionType::evict, "low", "n1", "Pod a/urgent"),
                  written_action(ActionType::nominate, "urgent", "n1")};
  return plan;
}

class ActuatorTest : public testing::Test {
 protected:
  ActuatorTest() {
    settings.options.timeout = Duration{5'000};
    settings.limits.pause.first = Duration{10};
    gate.open_forever();
    live.server.put(written_pod("urgent", "uid-urgent"));
    live.server.put(written_pod("low", "uid-low", "n1"));
  }

  /// The feed first: the actuator must know what it writes about.
  void start(WriteHook hook = {}) {
    live.server.allow_writes(std::move(hook));
    auto connection = live.connect();
    const auto served = connection->api().discover();
    ASSERT_TRUE(served.has_value());
    feed = std::make_unique<LiveFeed>(std::move(connection), *served, 7, WatchLimits{},
                                      FeedUse::to_schedule);
    actuator =
        std::make_unique<Actuator>(live.connect(), settings, gate,
                                   ActuatorTools{.server_now = [] { return SystemClock().now(); },
                                                 .wake = [this] { feed->mailbox().wake(); }});
    port = std::make_unique<LivePort>(*feed, actuator.get());
    do {
      port->poll(port->now() + Duration{10'000});
    } while (!feed->sees_all());
  }
  /// The reasons of all refusals, once nothing is under way any more.
  std::vector<std::string> refusals() {
    EXPECT_TRUE(actuator->await_idle(Duration{30'000}));
    std::vector<std::string> texts;
    for (const Receipt& receipt : actuator->take_receipts()) {
      texts.push_back(ref_text(receipt.object) + ": " + receipt.reason);
    }
    return texts;
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> texts;
    for (const auto& write : live.server.writes()) {
      texts.push_back(write.line.substr(0, write.line.find('?')));
    }
    return texts;
  }
  std::size_t count(std::string_view what) const {
    return static_cast<std::size_t>(std::ranges::count(live.server.deeds(), what, &FakeDeed::what));
  }

  LiveServer live;
  WriteGate gate;
  ActuatorSettings settings;
  std::unique_ptr<LiveFeed> feed;
  std::unique_ptr<Actuator> actuator;
  std::unique_ptr<LivePort> port;
};

TEST_F(ActuatorTest, Binds) {
  start();
  actuator->carry_out(bind_plan("urgent"));
  EXPECT_TRUE(refusals().empty());
  EXPECT_EQ(lines(), (std::vector<std::string>{"POST /api/v1/namespaces/a/pods/urgent/binding",
                                               "POST /apis/events.k8s.io/v1/namespaces/a/events"}));
  EXPECT_EQ(live.server.deeds()[1].detail, "Successfully assigned a/urgent to n1");
  EXPECT_FALSE(actuator->sending_since().has_value());
}

TEST_F(ActuatorTest, NominatesThenMarksThenDeletes) {
  start();
  actuator->carry_out(preempting_plan());
  EXPECT_TRUE(refusals().empty());
  const std::vector<std::string> sent = lines();
  ASSERT_GE(sent.size(), 3U);
  EXPECT_EQ(sent[0], "PATCH /api/v1/namespaces/a/pods/urgent/status");
  EXPECT_EQ(sent[1], "PATCH /api/v1/namespaces/a/pods/low/status");
  EXPECT_EQ(sent[2], "DELETE /api/v1/namespaces/a/pods/low");
  EXPECT_EQ(count("event Preempted"), 1U);
  const std::string low = live.server.object("Pod", "a", "low");
  EXPECT_NE(low.find("deletionTimestamp"), std::string::npos);
  EXPECT_NE(low.find("PreemptionByScheduler"), std::string::npos);
  EXPECT_NE(live.server.object("Pod", "a", "urgent").find("node n1, plan 0123"), std::string::npos);
}

TEST_F(ActuatorTest, AForeignBinderWins) {
  start();
  live.server.put(written_pod("urgent", "uid-urgent", "n9"));
  actuator->carry_out(bind_plan("urgent"));
  const std::vector<std::string> texts = refusals();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts[0], "Pod a/urgent: it is bound to n9");
  EXPECT_EQ(count("bind"), 0U);
}

TEST_F(ActuatorTest, TheSameNameWithANewUidSurvives) {
  start();
  live.server.remove("Pod", "a", "low");
  live.server.put(written_pod("low", "uid-new", "n1"));
  actuator->carry_out(preempting_plan());
  EXPECT_EQ(refusals().size(), 1U);
  EXPECT_EQ(count("delete"), 0U);
  EXPECT_EQ(live.server.object("Pod", "a", "low").find("deletionTimestamp"), std::string::npos);
}

TEST_F(ActuatorTest, AChangedPodIsNotBoundOnAnOldDecision) {
  start();
  live.server.put(written_pod("urgent", "uid-urgent"));  // Another version, not seen yet.
  actuator->carry_out(bind_plan("urgent"));
  EXPECT_EQ(refusals().size(), 1U);
  EXPECT_EQ(count("bind"), 0U);
}

TEST_F(ActuatorTest, OurOwnPatchDoesNotStaleTheGuard) {
  start();
  Plan nominates = preempting_plan();
  nominates.actions.erase(nominates.actions.begin());
  actuator->carry_out(nominates);
  // The plan was decided before the watch showed the nomination.
  actuator->carry_out(bind_plan("urgent"));
  EXPECT_TRUE(refusals().empty());
  EXPECT_EQ(count("bind"), 1U);
}

TEST_F(ActuatorTest, AnAnswerThatIsLostIsReadBack) {
  start([](std::int64_t number, const std::string&) -> std::optional<WriteFault> {
    if (number == 1) return WriteFault{.kind = WriteFaultKind::cut_after};
    return std::nullopt;
  });
  actuator->carry_out(bind_plan("urgent"));
  EXPECT_TRUE(refusals().empty());
  EXPECT_EQ(count("bind"), 1U);
}

TEST_F(ActuatorTest, OneThatWasLostIsRefusedWhenItCannotComeAnyMore) {
  start([](std::int64_t number, const std::string& line) -> std::optional<WriteFault> {
    const bool binds = line.find("/binding") != std::string::npos;
    if (number <= 2 && binds)
      return WriteFault{.kind = WriteFaultKind::status_before, .status = 504};
    return std::nullopt;
  });
  actuator->carry_out(bind_plan("urgent"));
  EXPECT_EQ(refusals().size(), 1U);
  EXPECT_EQ(count("bind"), 0U);
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(ActuatorTest, OverloadIsSentAgain) {
  start([](std::int64_t number, const std::string&) -> std::optional<WriteFault> {
    if (number > 3) return std::nullopt;
    return WriteFault{.kind = WriteFaultKind::status_before, .status = 429, .plain_text = true};
  });
  actuator->carry_out(bind_plan("urgent"));
  EXPECT_TRUE(refusals().empty());
  EXPECT_EQ(count("bind"), 1U);
}

TEST_F(ActuatorTest, AMissingRightIsARefusal) {
  start();
  live.server.forbid("pods/binding");
  actuator->carry_out(bind_plan("urgent"));
  const std::vector<std::string> texts = refusals();
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_NE(texts[0].find("403"), std::string::npos);
}

TEST_F(ActuatorTest, StrictBudgetsAreAskedFirst) {
  settings.budgets = BudgetMode::strict;
  live.server.put(
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b",)"
      R"("namespace":"a","uid":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":)"
      R"({"app":"low"}}},"status":{"disruptionsAllowed":0}})");
  start();
  actuator->carry_out(preempting_plan());
  EXPECT_EQ(refusals().size(), 1U);
  EXPECT_EQ(count("evict"), 0U);
  live.server.put(
      R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b",)"
      R"("namespace":"a","uid":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":)"
      R"({"app":"low"}}},"status":{"disruptionsAllowed":1}})");
  actuator->carry_out(preempting_plan());
  EXPECT_TRUE(refusals().empty());
  EXPECT_EQ(count("evict"), 1U);
}

TEST_F(ActuatorTest, NothingPassesAClosedGate) {
  start();
  gate.close();
  actuator->carry_out(preempting_plan());
  EXPECT_EQ(refusals().size(), 2U);
  EXPECT_TRUE(live.server.writes().empty());
  gate.open_forever();
  gate.pause(WritePause::evictions);
  actuator->carry_out(preempting_plan());
  EXPECT_EQ(refusals().size(), 1U);
  EXPECT_EQ(count("nominate"), 1U);
  EXPECT_EQ(count("mark"), 0U);
}

TEST_F(ActuatorTest, AStopDropsWhatIsNotSent) {
  settings.sent_at_once = 1;
  settings.stop_max = Duration{200};
  start([](std::int64_t, const std::string&) -> std::optional<WriteFault> {
    return WriteFault{.kind = WriteFaultKind::hold};
  });
  Plan plan = bind_plan("urgent");
  plan.actions.push_back(written_action(ActionType::force_delete, "low", "n1"));
  actuator->carry_out(plan);
  ASSERT_TRUE(live.server.await([this](const FakeObjects&, const std::vector<FakeDeed>&) {
    return actuator->unsent() == 1;
  }));
  port.reset();
  actuator.reset();
  live.server.release_held();
  EXPECT_EQ(live.server.writes().size(), 1U);
}

TEST_F(ActuatorTest, BeingSentIsKnownFromTheFirstMoment) {
  start([](std::int64_t, const std::string&) -> std::optional<WriteFault> {
    return WriteFault{.kind = WriteFaultKind::hold};
  });
  actuator->carry_out(bind_plan("urgent"));
  EXPECT_EQ(actuator->sending_since(), Time{1});
  ASSERT_TRUE(live.server.await([this](const FakeObjects&, const std::vector<FakeDeed>&) {
    return actuator->unsent() == 0;
  }));
  EXPECT_EQ(port->poll(Time{0}).sending_since, Time{1});
  live.server.allow_writes();
  live.server.release_held();
  EXPECT_TRUE(refusals().empty());
  EXPECT_FALSE(actuator->sending_since().has_value());
}

}  // namespace
}  // namespace makeway::kube

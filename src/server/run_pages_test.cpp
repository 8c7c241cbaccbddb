// Health, readiness and metrics of a run.
#include "server/run_pages.hpp"

#include <gtest/gtest.h>

#include "model/cluster.hpp"

namespace makeway::server {
namespace {

constexpr Time page_now{1'000'000};

class RunPages : public testing::Test {
 protected:
  HttpReply page(std::string_view path, Time now = page_now) const {
    return run_page(path, health, metrics, now);
  }
  static Pod pending_pod(const std::string& name) {
    Pod pod;
    pod.namespace_name = "shop";
    pod.name = name;
    pod.scheduler = "makeway";
    return pod;
  }
  void show(std::vector<Change> changes, std::vector<Receipt> receipts = {}) {
    for (const Change& change : changes) cluster.apply(change);
    metrics.batch({.now = page_now, .changes = changes, .effects = {}, .receipts = receipts},
                  cluster);
  }
  void decide(const PlanAsk& ask, std::vector<PlanAction> actions = {}) {
    LawfulPlan made;
    made.plan.emplace();
    made.plan->asks.push_back(ask);
    made.plan->actions = std::move(actions);
    made.decide_us = 1'500;
    metrics.cycle({.now = page_now, .due = {}, .judged = true, .made = made}, cluster);
  }
  void expect_line(std::string_view line) const {
    const std::string text = metrics.text();
    EXPECT_TRUE(text.contains(std::string(line) + "\n")) << line << "\n" << text;
  }

  RunHealth health;
  RunMetrics metrics{{"makeway", "batch"}};
  Cluster cluster;
};

TEST_F(RunPages, HealthFailsWhenTheLoopStandsForAMinute) {
  EXPECT_EQ(page("/healthz").status, 503);
  health.stepped(page_now);
  EXPECT_EQ(page("/healthz").status, 200);
  EXPECT_EQ(page("/healthz", page_now + Duration{59'999}).status, 200);
  EXPECT_EQ(page("/healthz", page_now + Duration{60'000}).status, 503);
}

TEST_F(RunPages, ReadyIsWhoSeesEverythingAndLeadsOrStandsBy) {
  health.stepped(page_now);
  EXPECT_EQ(page("/readyz").status, 503);
  health.plays(RunRole::leader);
  EXPECT_EQ(page("/readyz").status, 503);
  EXPECT_EQ(page("/readyz").body, "[+]loop ok\n[-]sight failed\n[+]role ok\nleader: not ready\n");
  health.sees(true);
  EXPECT_EQ(page("/readyz").status, 200);
  health.plays(RunRole::standby);
  EXPECT_EQ(page("/readyz").body, "[+]loop ok\n[+]sight ok\n[+]role ok\nstandby: ready\n");
  health.plays(RunRole::starting);
  EXPECT_EQ(page("/readyz").status, 503);
}

TEST_F(RunPages, OtherPathsAreMissing) {
  EXPECT_EQ(page("/").status, 404);
  EXPECT_EQ(page("/").body, "there are /healthz, /readyz and /metrics\n");
  EXPECT_EQ(page("/metrics/").status, 404);
  EXPECT_EQ(page("/metrics").status, 200);
}

TEST_F(RunPages, PendingPodsAreCountedUntilTheyAreBoundOrGone) {
  show({pending_pod("a"), pending_pod("b"), pending_pod("c")});
  expect_line("scheduler_pending_pods{queue=\"active\"} 3");
  PlanAsk ask{.namespace_name = "shop", .name = "a", .outcome = Outcome::infeasible};
  decide(ask);
  expect_line("scheduler_pending_pods{queue=\"active\"} 2");
  expect_line("scheduler_pending_pods{queue=\"unschedulable\"} 1");
  Pod bound = pending_pod("b");
  bound.node = "n1";
  show({bound, Removal{.kind = ObjectKind::pod, .namespace_name = "shop", .name = "a"}});
  expect_line("scheduler_pending_pods{queue=\"active\"} 1");
  expect_line("scheduler_pending_pods{queue=\"unschedulable\"} 0");
}

TEST_F(RunPages, PendingPodsOfOtherSchedulersCountInAClusterOfOurOwn) {
  RunMetrics own({"makeway"}, RunMetrics::Ours::all);
  Pod pod = pending_pod("a");
  pod.scheduler = "default-scheduler";
  show({pod});
  expect_line("scheduler_pending_pods{queue=\"active\"} 0");
  const std::vector<Change> changes = {pod};
  own.batch({.now = page_now, .changes = changes, .effects = {}, .receipts = {}}, cluster);
  EXPECT_TRUE(own.text().contains("scheduler_pending_pods{queue=\"active\"} 1\n"));
}

TEST_F(RunPages, DecisionsAreCountedAsKubeSchedulerDoes) {
  show({pending_pod("a")}, {Receipt{.plan = "p", .object = pod_ref("shop", "a"), .reason = "no"}});
  PlanAsk ask{.namespace_name = "shop", .name = "a", .outcome = Outcome::preempts};
  ask.victims.resize(3);
  decide(ask, {{.type = ActionType::nominate}, {.type = ActionType::evict}});
  ask.victims.clear();
  ask.outcome = Outcome::fits;
  decide(ask, {{.type = ActionType::bind}});
  expect_line("scheduler_schedule_attempts_total{profile=\"makeway\",result=\"unschedulable\"} 1");
  expect_line("scheduler_schedule_attempts_total{profile=\"makeway\",result=\"scheduled\"} 1");
  expect_line("scheduler_schedule_attempts_total{profile=\"batch\",result=\"scheduled\"} 0");
  expect_line("scheduler_preemption_attempts_total 1");
  expect_line("scheduler_preemption_victims_sum 3");
  expect_line("makeway_changes_total 1");
  expect_line("makeway_cycles_total 2");
  expect_line("makeway_actions_total{type=\"bind\"} 1");
  expect_line("makeway_actions_refused_total 1");
}

TEST_F(RunPages, TotalsOfOthersOnlyGrow) {
  metrics.note({.nodes = 5, .leads = true, .writes_sent = 7});
  metrics.note({.nodes = 4, .assumed = 2, .leads = false, .writes_sent = 9});
  expect_line("makeway_nodes 4");
  expect_line("makeway_assumed_objects 2");
  expect_line("makeway_leader 0");
  expect_line("makeway_writes_total 9");
}

/// Health and metrics are open to whoever reaches the port: they name no object.
TEST_F(RunPages, NoObjectIsNamed) {
  show({pending_pod("secret-name")});
  decide({.namespace_name = "secret-space", .name = "secret-name", .outcome = Outcome::fits});
  EXPECT_FALSE(metrics.text().contains("secret"));
}

}  // namespace
}  // namespace makeway::server

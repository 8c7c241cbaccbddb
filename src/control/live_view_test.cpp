// SPEC sections 8 and 10: a live cluster as decisions may see it.
#include "control/live_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace makeway {
namespace {

constexpr Time view_start{1'000'000'000};

class LiveViewTest : public testing::Test {
 protected:
  LiveViewTest() { configuration.trust.mode = TrustMode::cluster; }

  static Pod pod(const std::string& name, std::string node = {}) {
    Pod made{.namespace_name = "a", .name = name, .uid = "uid-" + name, .node = std::move(node)};
    made.scheduler = "makeway";
    return made;
  }
  static Pod owned(Pod made) {
    made.owners = {{.kind = "ReplicaSet", .name = "web", .uid = "rs", .controller = true}};
    return made;
  }
  LiveView& view() {
    if (!view_) view_.emplace(configuration, LiveViewOptions{.schedulers = {"makeway"}});
    return *view_;
  }
  /// Applies the reported changes to what was shown before.
  std::size_t show(std::vector<Change> changes, const LiveUpdates& updates = {}) {
    const std::vector<Change> reported = view().show(std::move(changes), updates, now);
    for (const Change& change : reported) shown.apply(change);
    return reported.size();
  }
  Pod shown_pod(std::string_view name) const { return shown.pod(*shown.find_pod("a", name)); }
  static DisruptionBudget budget(std::string name, std::int32_t allowed = 1) {
    DisruptionBudget made{.namespace_name = "a", .name = std::move(name)};
    made.selector = LabelSelector{
        .requirements = {{.key = "app", .operation = Operator::in, .values = {"web"}}}};
    made.disruptions_allowed = allowed;
    return made;
  }

  Configuration configuration;
  Cluster shown;
  Time now = view_start;

 private:
  std::optional<LiveView> view_;
};

/// makeway apply: only the plan's victims leave, by uid.
TEST_F(LiveViewTest, OnlyPodsThatMayLeaveAreNotKept) {
  LiveView strict(configuration, {.schedulers = {"makeway"}, .may_leave = {{"uid-victim"}}});
  Pod again = pod("again", "n1");
  again.uid = "another";
  const auto reported =
      strict.show({pod("victim", "n1"), pod("neighbour", "n1"), again, pod("asks")}, {}, now);
  for (const Change& change : reported) shown.apply(change);
  EXPECT_EQ(shown_pod("victim").kept, KeptBy::none);
  EXPECT_EQ(shown_pod("neighbour").kept, KeptBy::other_scheduler);
  EXPECT_EQ(shown_pod("again").kept, KeptBy::other_scheduler);
  EXPECT_EQ(shown_pod("asks").kept, KeptBy::none);
}

TEST_F(LiveViewTest, PodsOfOtherSchedulersAreKept) {
  Pod theirs = pod("theirs", "n1");
  theirs.scheduler.clear();  // Kubernetes' own.
  Pod liar = pod("liar", "n1");
  liar.kept = KeptBy::other_scheduler;
  show({pod("ours", "n1"), theirs, liar});
  EXPECT_EQ(shown_pod("ours").kept, KeptBy::none);
  EXPECT_EQ(shown_pod("liar").kept, KeptBy::none);
  EXPECT_EQ(shown_pod("theirs").kept, KeptBy::other_scheduler);
}

TEST_F(LiveViewTest, TheyAreNotWhereTheKnobSaysSo) {
  configuration.protection.preempt_other_schedulers = true;
  Pod theirs = pod("theirs", "n1");
  theirs.scheduler = "other";
  show({theirs});
  EXPECT_EQ(shown_pod("theirs").kept, KeptBy::none);
}

TEST_F(LiveViewTest, UnderStrictBudgetsAPodUnderTwoIsKept) {
  configuration.budgets.mode = BudgetMode::strict;
  Pod web = pod("web", "n1");
  web.labels = {{"app", "web"}};
  show({web, pod("other", "n1"), budget("one")});
  EXPECT_EQ(shown_pod("web").kept, KeptBy::none);
  EXPECT_EQ(show({budget("two")}), 2U);  // The budget and its pod.
  EXPECT_EQ(shown_pod("web").kept, KeptBy::two_budgets);
  EXPECT_EQ(shown_pod("other").kept, KeptBy::none);
  EXPECT_EQ(show({budget("two", 0)}), 1U);  // Its status means nothing here.
  show({web});
  EXPECT_EQ(shown_pod("web").kept, KeptBy::two_budgets);
  show({Removal{.kind = ObjectKind::disruption_budget, .namespace_name = "a", .name = "one"}});
  EXPECT_EQ(shown_pod("web").kept, KeptBy::none);
}

TEST_F(LiveViewTest, MarksComeBackWhenTheirNamespaceIsTrusted) {
  Pod marked = pod("marked", "n1");
  marked.opted_out = true;
  show({Namespace{.name = "a"}, marked, pod("plain", "n1")});
  EXPECT_FALSE(shown_pod("marked").opted_out);
  const Change trusted = Namespace{.name = "a", .labels = {{"makeway.dev/trusted", "true"}}};
  EXPECT_EQ(show({trusted}), 2U);
  EXPECT_TRUE(shown_pod("marked").opted_out);
  EXPECT_EQ(show({Namespace{.name = "a"}}), 2U);
  EXPECT_FALSE(shown_pod("marked").opted_out);
  EXPECT_EQ(show({Namespace{.name = "a", .labels = {{"team", "x"}}}}), 1U);
}

// Law 13: always in a live run.
TEST_F(LiveViewTest, AnObjectRemovedByAnotherClientStopsNoOther) {
  const Change parent = Queue{.name = "all"};
  show({parent, Queue{.name = "team", .parent = "all"}});
  EXPECT_TRUE(view().quarantined().empty());
  show({Removal{.kind = ObjectKind::queue, .name = "all"}});
  EXPECT_FALSE(view().quarantined().empty());
  EXPECT_EQ(shown.own<Queue>().begin()->second.parent, "");
  ASSERT_TRUE(view().own_findings().contains("Queue team"));
  const OwnFinding& finding = view().own_findings().at("Queue team");
  EXPECT_EQ(finding.level, OwnFinding::Level::quarantined);
  EXPECT_TRUE(finding.text.starts_with("spec.parent 'all': ")) << finding.text;
  show({parent});
  EXPECT_TRUE(view().quarantined().empty());
  EXPECT_TRUE(view().own_findings().empty());
  EXPECT_EQ(shown.own<Queue>().find(ObjectKeyView{.name = "team"})->second.parent, "all");
}

TEST_F(LiveViewTest, WhatCheckWarnsOfIsSaidAboutObjectsOfOurs) {
  using Level = OwnFinding::Level;
  const auto level = [&](const std::string& object) -> std::optional<Level> {
    const auto found = view().own_findings().find(object);
    return found == view().own_findings().end() ? std::nullopt : std::optional(found->second.level);
  };
  Partition night{.name = "night", .resource_group = "seats", .tier = 1};
  night.preemptible = true;
  ResourceGroup seats{.name = "seats"};
  seats.node_selector = {{"pool", "seats"}};
  Queue team{.name = "team"};
  team.limit = {{"example.com/gpu", 1}};
  show({seats, night, team});
  EXPECT_EQ(level("ResourceGroup seats"), Level::doubtful);  // It has no node.
  EXPECT_EQ(level("Partition night"), Level::cannot_work);   // No pod can preempt in it.
  // Nodes come, and one of them has the resource that the queue limits.
  Node node{.name = "s1"};
  node.labels = {{"pool", "seats"}};
  node.allocatable = {{"cpu", 1'000}};
  show({node});
  EXPECT_EQ(level("ResourceGroup seats"), std::nullopt);
  EXPECT_EQ(level("Queue team"), Level::doubtful);
  node.allocatable = {{"cpu", 1'000}, {"example.com/gpu", 1}};
  show({node, Partition{.name = "day", .resource_group = "seats", .tier = 2}});
  EXPECT_TRUE(view().own_findings().empty());
  night.mode = PartitionMode::suspend;
  show({night});
  EXPECT_EQ(level("Partition night"), Level::cannot_work);
}

TEST_F(LiveViewTest, AStatusOfAQueueIsNoNewRule) {
  Queue queue{.name = "team"};
  queue.namespaces = {"b"};
  Pod stray = pod("stray");
  stray.notes.queue = "team";  // A mark that does not count: looked at each time.
  show({queue, stray});
  const std::uint64_t before = view().not_honoured(TrustMark::queue_label);
  EXPECT_GT(before, 0U);
  queue.used = {{"cpu", 1'000}};
  EXPECT_EQ(show({queue}), 1U);
  EXPECT_EQ(view().not_honoured(TrustMark::queue_label), before);
  queue.weight = 2;
  show({queue});
  EXPECT_GT(view().not_honoured(TrustMark::queue_label), before);
}

TEST_F(LiveViewTest, APendingPodOfAnUnknownClassIsHeldUntilTheClassIsThere) {
  Pod waits = pod("waits");
  waits.priority_class = "gold";
  show({waits});
  EXPECT_FALSE(shown_pod("waits").shape.unsupported.empty());
  show({PriorityClass{.name = "gold", .value = 5}});
  EXPECT_TRUE(shown_pod("waits").shape.unsupported.empty());
}

TEST_F(LiveViewTest, AStatedCostIsLimitedByARunTimeThatGrows) {
  Pod dear = pod("dear", "n1");
  dear.started = now;
  dear.notes.preemption_cost_seconds = 100;
  show({dear});
  EXPECT_EQ(shown_pod("dear").notes.preemption_cost_seconds, 0);
  EXPECT_EQ(view().next_due(), now + Duration{60'000});
  now = now + Duration{60'000};
  EXPECT_EQ(show({}), 1U);
  EXPECT_EQ(shown_pod("dear").notes.preemption_cost_seconds, 60);
  now = now + Duration{60'000};
  show({});
  EXPECT_EQ(shown_pod("dear").notes.preemption_cost_seconds, 100);
  EXPECT_FALSE(view().next_due().has_value());
}

/// In the status it is our own record; in an annotation it is only a request (SPEC section 10).
TEST_F(LiveViewTest, AReservationCountsOnlyFromTheStatus) {
  Pod agent = pod("agent");
  agent.notes.reserved_since = view_start;
  agent.notes.promised = true;
  agent.notes.plan = "0123456789abcdef";
  LiveView scheduler(configuration, {.schedulers = {"makeway"}, .recalls_notes = true});
  for (const Change& change : scheduler.show({agent}, {}, now)) shown.apply(change);
  EXPECT_EQ(shown_pod("agent").notes.reserved_since, view_start);
  EXPECT_TRUE(shown_pod("agent").notes.promised);
  EXPECT_EQ(scheduler.not_honoured(TrustMark::note), 0U);
  show({agent});
  EXPECT_FALSE(shown_pod("agent").notes.reserved_since.has_value());
  EXPECT_FALSE(shown_pod("agent").notes.promised);
  EXPECT_EQ(view().not_honoured(TrustMark::note), 2U);
}

TEST_F(LiveViewTest, ANodeThatRefusedIsClosedToTheOwnersPendingPods) {
  show({owned(pod("w-1")), pod("other"), owned(pod("runs", "n1"))});
  EXPECT_EQ(show({}, {.kubelet_refusals = {{"a/w-0", "rs", "n1", "OutOfcpu"}}}), 1U);
  ASSERT_EQ(shown_pod("w-1").shape.node_terms.size(), 1U);
  EXPECT_EQ(shown_pod("w-1").shape.node_terms[0].fields[0].values, std::vector<std::string>{"n1"});
  EXPECT_TRUE(shown_pod("other").shape.node_terms.empty());
  show({owned(pod("w-2"))});
  EXPECT_EQ(shown_pod("w-2").shape.node_terms.size(), 1U);
  EXPECT_EQ(view().next_due(), now + Duration{60'000});
  now = now + Duration{60'000};
  EXPECT_EQ(show({}), 2U);
  EXPECT_TRUE(shown_pod("w-1").shape.node_terms.empty());
  EXPECT_TRUE(shown_pod("w-2").shape.node_terms.empty());
}

TEST_F(LiveViewTest, ABarePodThatWasRefusedClosesNothing) {
  show({pod("p")});
  EXPECT_EQ(show({}, {.kubelet_refusals = {{"a/q", "", "n1", "OutOfcpu"}}}), 0U);
  EXPECT_EQ(view().kubelet_refusals(), 1U);
  EXPECT_FALSE(view().next_due().has_value());
}

}  // namespace
}  // namespace makeway

// SPEC section 9: the faults of the simulated world, by hand.
#include "sim/faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <variant>

#include "sim/sim_world.hpp"

namespace makeway {
namespace {

constexpr std::int64_t always = 1'000;

SimLoad two_nodes(std::int64_t jobs) {
  SimLoad load;
  for (const std::string name : {"n1", "n2"}) {
    load.objects.emplace_back(
        Node{.name = name, .allocatable = {{"cpu", 8'000}, {"memory", 8}, {"pods", 10}}});
  }
  for (std::int64_t number = 0; number < jobs; ++number) {
    load.tasks.push_back({.name = "job-" + std::to_string(number),
                          .run = {600'000},
                          .leave = {10'000},
                          .recreate = {5'000},
                          .requests = {{"cpu", 1'000}}});
  }
  return load;
}

Plan one_action(ActionType type, std::string name, std::string node) {
  Plan plan;
  plan.actions.push_back(
      {.type = type,
       .namespace_name = "default",
       .name = std::move(name),
       .node = std::move(node),
       .ask = type == ActionType::evict ? parse_ref("Pod default/urgent") : std::nullopt});
  return plan;
}

std::set<std::string> pods_in(const std::vector<Change>& changes) {
  std::set<std::string> names;
  for (const Change& change : changes) {
    if (const Pod* const pod = std::get_if<Pod>(&change)) names.insert(pod->name);
  }
  return names;
}

TEST(Faults, AListNamesThemAndHowOftenOfAThousand) {
  const Result<FaultOptions> faults = parse_faults("node-loss=5,kill=1000");
  ASSERT_TRUE(faults.has_value());
  EXPECT_EQ(faults->node_loss, 5);
  EXPECT_EQ(faults->kill, 1'000);
  EXPECT_EQ(faults->stuck, 0);
  EXPECT_TRUE(faults->any());
  EXPECT_FALSE(parse_faults("")->any());
  EXPECT_FALSE(parse_faults("kill=1001").has_value());
  EXPECT_FALSE(parse_faults("fire=1").has_value());
}

TEST(Faults, AConflictIsRefusedAndNotThePlansFault) {
  const SimLoad load = two_nodes(1);
  SimWorld world(load, {.sample = {}, .faults = {.conflict = always}});
  world.poll({});
  world.submit(one_action(ActionType::bind, "job-0", "n1"));
  const Batch batch = world.poll({});
  ASSERT_EQ(batch.receipts.size(), 1U);
  EXPECT_EQ(batch.receipts[0].reason, "another client has changed it");
  EXPECT_TRUE(batch.changes.empty());
  const SimMetrics metrics = world.finish();
  EXPECT_EQ(metrics.refused, 0);
  EXPECT_EQ(metrics.faults.refused, 1);
}

TEST(Faults, ALostNodeTakesItsPodsAlongAndReturnsEmpty) {
  const SimLoad load = two_nodes(2);
  SimWorld world(load, {.sample = {}, .faults = {.node_loss = always}});
  world.poll({});
  world.submit(one_action(ActionType::bind, "job-0", "n1"));
  world.submit(one_action(ActionType::bind, "job-1", "n2"));
  // Both nodes are lost sooner or later; their pods come back under other names, and so do they.
  std::set<std::string> gone;
  std::set<std::string> back;
  for (int count = 0; count < 50; ++count) {
    const Batch batch = world.poll(world.now() + Duration{600'000});
    for (const Change& change : batch.changes) {
      if (const Removal* const removal = std::get_if<Removal>(&change)) gone.insert(removal->name);
      if (const Node* const node = std::get_if<Node>(&change)) back.insert(node->name);
    }
    world.submit({});
    if (world.now() > Time{3'600'000}) break;
  }
  EXPECT_EQ(back, (std::set<std::string>{"n1", "n2"}));
  EXPECT_TRUE(gone.contains("n1"));
  EXPECT_TRUE(gone.contains("n2"));
  const SimMetrics metrics = world.finish();
  EXPECT_GE(metrics.faults.nodes_lost, 2);
  EXPECT_EQ(metrics.refused, 0);
}

TEST(Faults, AKilledProcessIsShownEverythingAnew) {
  const SimLoad load = two_nodes(3);
  SimWorld world(load, {.sample = {}, .faults = {.kill = always}});
  world.poll({});
  Plan plan = one_action(ActionType::bind, "job-0", "n1");
  for (const std::string name : {"job-1", "job-2"}) {
    plan.actions.push_back(one_action(ActionType::bind, name, "n1").actions.front());
  }
  world.submit(plan);
  EXPECT_TRUE(world.take_kill());
  EXPECT_FALSE(world.take_kill());
  const Batch batch = world.poll({});
  EXPECT_EQ(batch.now, Time{10'000});
  EXPECT_EQ(pods_in(batch.changes), (std::set<std::string>{"job-0", "job-1", "job-2"}));
  EXPECT_EQ(batch.changes.size(), 5U);
  EXPECT_EQ(world.finish().faults.kills, 1);
}

TEST(Faults, AStuckPodIsThereLongAfterItsTime) {
  const SimLoad load = two_nodes(1);
  SimWorld world(load, {.sample = {}, .faults = {.stuck = always}});
  world.poll({});
  world.submit(one_action(ActionType::bind, "job-0", "n1"));
  world.poll({});
  world.submit(one_action(ActionType::evict, "job-0", "n1"));
  const Time checked_at = world.now();
  world.poll({});
  const Batch later = world.poll(checked_at + Duration{500'000});
  EXPECT_TRUE(later.changes.empty());
  EXPECT_EQ(pods_in(world.objects()), (std::set<std::string>{"job-0"}));
  world.submit(one_action(ActionType::force_delete, "job-0", "n1"));
  EXPECT_TRUE(pods_in(world.objects()).empty());
  EXPECT_EQ(world.finish().faults.stuck, 1);
}

TEST(Faults, ASecondWriterActsBetweenTheDecisionAndThePlan) {
  const SimLoad load = two_nodes(6);
  SimWorld world(load, {.sample = {}, .faults = {.writer = always}});
  world.poll({});
  for (int count = 0; count < 20; ++count) {
    world.submit(one_action(ActionType::bind, "job-0", "n1"));
    world.poll({});
  }
  const SimMetrics metrics = world.finish();
  EXPECT_GT(metrics.faults.second_writes, 5);
}

TEST(Faults, ALateChangeKeepsTheOrderOfItsObject) {
  const SimLoad load = two_nodes(1);
  SimWorld world(load, {.sample = {}, .faults = {.late = always}});
  world.poll({});
  EXPECT_TRUE(pods_in(world.poll({}).changes).empty());  // It has arrived, and was not shown yet.
  world.submit(one_action(ActionType::bind, "job-0", "n1"));
  const Batch shown = world.poll(Time{late_max.ms});
  ASSERT_EQ(shown.changes.size(), 2U);
  EXPECT_TRUE(std::get<Pod>(shown.changes[0]).node.empty());
  EXPECT_EQ(std::get<Pod>(shown.changes[1]).node, "n1");
  EXPECT_EQ(world.finish().faults.late, 1);
}

}  // namespace
}  // namespace makeway

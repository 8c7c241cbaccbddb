// SPEC section 9: what the simulated world does with plans, by hand.
#include "sim/sim_world.hpp"

#include <gtest/gtest.h>

#include <variant>

namespace makeway {
namespace {

constexpr Time start{1'000'000};

Time at(std::int64_t seconds) { return start + Duration{seconds * 1'000}; }

SimTask task(std::string name, std::int64_t run_s) {
  return {.name = std::move(name),
          .arrival = start,
          .run = {run_s * 1'000},
          .leave = {10'000},
          .recreate = {5'000},
          .requests = {{"cpu", 1'000}}};
}

SimLoad load_of(std::vector<SimTask> tasks) {
  SimLoad load;
  load.objects.emplace_back(Node{.name = "n1", .allocatable = {{"cpu", 2'000}, {"pods", 10}}});
  load.tasks = std::move(tasks);
  return load;
}

Plan plan_of(ActionType type, std::string name, std::string node) {
  Plan plan;
  plan.actions.push_back({.type = type,
                          .namespace_name = "default",
                          .name = std::move(name),
                          .node = std::move(node),
                          .ask = pod_ref("default", "urgent")});
  return plan;
}

/// The last thing that a batch says of the pod.
std::optional<Pod> last_of(const Batch& batch, std::string_view name) {
  std::optional<Pod> found;
  for (const Change& change : batch.changes) {
    const Pod* const pod = std::get_if<Pod>(&change);
    if (pod != nullptr && pod->name == name) found = *pod;
  }
  return found;
}

bool reports_gone(const Batch& batch, std::string_view name) {
  for (const Change& change : batch.changes) {
    const Removal* const gone = std::get_if<Removal>(&change);
    if (gone != nullptr && gone->kind == ObjectKind::pod && gone->name == name) return true;
  }
  return false;
}

TEST(SimWorld, AJobRunsAndEnds) {
  const SimLoad load = load_of({task("job", 60)});
  SimWorld world(load, {.sample = {}, .start = start});
  EXPECT_TRUE(last_of(world.poll(at(0)), "job").has_value());
  world.submit(plan_of(ActionType::bind, "job", "n1"));
  const Batch bound = world.poll(at(600));
  EXPECT_EQ(last_of(bound, "job")->node, "n1");
  const Batch ended = world.poll(at(600));
  EXPECT_EQ(ended.now, at(60));
  EXPECT_TRUE(reports_gone(ended, "job"));
  EXPECT_TRUE(world.poll(at(600)).ended);
  const SimMetrics metrics = world.finish();
  EXPECT_EQ(metrics.runs.at(0).end, at(60));
  EXPECT_EQ(metrics.resources.at("cpu").useful, Wide{60'000} * 1'000);
  EXPECT_EQ(metrics.resources.at("cpu").lost, 0);
}

TEST(SimWorld, AVictimLosesWhatItDidSinceItsCheckpointAndComesBack) {
  SimTask job = task("job", 100);
  job.checkpoint = {20'000};
  const SimLoad load = load_of({job});
  SimWorld world(load, {.sample = {}, .start = start});
  world.poll(at(0));
  world.submit(plan_of(ActionType::bind, "job", "n1"));
  world.poll(at(1));
  world.poll(at(50));
  world.submit(plan_of(ActionType::evict, "job", "n1"));  // 50 s done, 40 s of them saved.
  EXPECT_EQ(last_of(world.poll(at(51)), "job")->deletion, at(60));
  const Batch gone = world.poll(at(600));
  EXPECT_EQ(gone.now, at(60));
  EXPECT_TRUE(reports_gone(gone, "job"));
  const Batch back = world.poll(at(600));
  EXPECT_EQ(back.now, at(65));
  ASSERT_TRUE(last_of(back, "job-r1").has_value());
  EXPECT_TRUE(last_of(back, "job-r1")->node.empty());
  world.submit(plan_of(ActionType::bind, "job-r1", "n1"));
  world.poll(at(66));
  EXPECT_EQ(world.poll(at(600)).now, at(125));  // 60 s were left.
  const SimMetrics metrics = world.finish();
  EXPECT_EQ(metrics.resources.at("cpu").lost, Wide{10'000} * 1'000);
  EXPECT_EQ(metrics.resources.at("cpu").useful, Wide{100'000} * 1'000);
  EXPECT_EQ(metrics.runs.at(0).interruptions, 1);
  EXPECT_EQ(metrics.victims, 1);
}

TEST(SimWorld, AVictimThatIsAwayAtItsOldEndDoesNotEndThen) {
  const SimLoad load = load_of({task("job", 60)});
  SimWorld world(load, {.sample = {}, .start = start});
  world.poll(at(0));
  world.submit(plan_of(ActionType::bind, "job", "n1"));
  world.poll(at(1));
  world.poll(at(50));
  world.submit(plan_of(ActionType::evict, "job", "n1"));
  world.poll(at(51));
  EXPECT_EQ(world.poll(at(200)).now, at(60));  // Gone; ten seconds to leave.
  EXPECT_EQ(world.poll(at(200)).now, at(65));  // Its new pod comes.
  EXPECT_EQ(world.poll(at(200)).now, at(200));
  EXPECT_TRUE(world.is_unfinished());
  world.submit(plan_of(ActionType::bind, "job-r1", "n1"));
  world.poll(at(201));
  EXPECT_EQ(world.poll(at(600)).now, at(260));
  EXPECT_FALSE(world.is_unfinished());
}

TEST(SimWorld, AGangWorksOnlyWhileItsMinimumRuns) {
  SimTask gang = task("gang", 30);
  gang.kind = TaskKind::gang;
  gang.pods = 2;
  gang.minimum = 2;
  const SimLoad load = load_of({gang});
  SimWorld world(load, {.sample = {}, .start = start});
  world.poll(at(0));
  world.submit(plan_of(ActionType::bind, "gang-0", "n1"));
  world.poll(at(10));
  world.poll(at(20));
  world.submit(plan_of(ActionType::bind, "gang-1", "n1"));
  world.poll(at(21));
  EXPECT_EQ(world.poll(at(600)).now, at(50));
  const SimMetrics metrics = world.finish();
  EXPECT_EQ(metrics.runs.at(0).first_start, at(20));
  EXPECT_EQ(metrics.runs.at(0).end, at(50));
}

TEST(SimWorld, AKubeletRefusesWhatDoesNotFit) {
  SimTask large = task("large", 30);
  large.requests = {{"cpu", 3'000}};
  const SimLoad load = load_of({large});
  SimWorld world(load, {.sample = {}, .start = start});
  world.poll(at(0));
  world.submit(plan_of(ActionType::bind, "large", "n1"));
  const Batch after = world.poll(at(5));
  ASSERT_EQ(after.receipts.size(), 1U);
  EXPECT_EQ(after.receipts[0].reason, "n1 has no room for it");
  EXPECT_EQ(world.finish().refused, 1);
}

/// The disruption controller acts a second after a pod that it counts began to leave, or runs.
TEST(SimWorld, ABudgetIsChargedAMomentLater) {
  SimLoad load = load_of({});
  load.objects.emplace_back(DisruptionBudget{
      .namespace_name = "default",
      .name = "web",
      .selector = LabelSelector{.requirements = {{.key = "app", .values = {"web"}}}},
      .disruptions_allowed = 1});
  load.objects.emplace_back(Pod{.namespace_name = "default",
                                .name = "web",
                                .labels = {{"app", "web"}},
                                .node = "n1",
                                .requests = {{"cpu", 1'000}}});
  SimWorld world(load, {.cycle = {0}, .sample = {}, .start = start});
  const auto allowed = [&world] {
    for (const Change& object : world.objects()) {
      if (const auto* const budget = std::get_if<DisruptionBudget>(&object)) {
        return budget->disruptions_allowed.value_or(-1);
      }
    }
    return -1;
  };
  world.submit(plan_of(ActionType::evict, "web", "n1"));
  EXPECT_EQ(allowed(), 1);
  world.pass(at(1));
  EXPECT_EQ(allowed(), 0);
  world.pass(at(60));
  world.happens(Pod{.namespace_name = "default",
                    .name = "another",
                    .labels = {{"app", "web"}},
                    .requests = {{"cpu", 1'000}}});
  world.submit(plan_of(ActionType::bind, "another", "n1"));
  world.pass(at(62));
  EXPECT_EQ(allowed(), 1);
}

TEST(SimWorld, AnotherClientWritesAndRemoves) {
  const SimLoad load = load_of({});
  SimWorld world(load, {.cycle = {0}, .sample = {}, .start = start});
  world.poll(at(0));
  world.happens(Node{.name = "n2", .allocatable = {{"cpu", 500}, {"rocket", 1}, {"pods", 9}}});
  world.happens(Pod{.namespace_name = "default", .name = "a", .requests = {{"rocket", 1}}});
  world.submit(plan_of(ActionType::bind, "a", "n2"));
  const Batch bound = world.poll(at(0));
  EXPECT_EQ(last_of(bound, "a")->node, "n2");
  EXPECT_TRUE(bound.receipts.empty());
  world.happens(Removal{.kind = ObjectKind::node, .namespace_name = {}, .name = "n2"});
  EXPECT_TRUE(reports_gone(world.poll(at(1)), "a"));
  EXPECT_EQ(world.objects().size(), 1U);
}

/// Only the newest plan counts: a member that it does not place is nominated no more.
TEST(SimWorld, AGroupHasThePlacesOfItsPlan) {
  SimTask gang = task("gang", 30);
  gang.kind = TaskKind::gang;
  gang.pods = 2;
  gang.minimum = 2;
  const SimLoad load = load_of({gang});
  SimWorld world(load, {.cycle = {0}, .sample = {}, .start = start});
  world.poll(at(0));
  world.submit(plan_of(ActionType::nominate, "gang-0", "n1"));
  EXPECT_EQ(last_of(world.poll(at(0)), "gang-0")->nominated_node, "n1");
  Plan plan;
  plan.asks.push_back({.kind = AskKind::pod_group,
                       .namespace_name = "default",
                       .name = "gang",
                       .outcome = Outcome::infeasible});
  world.submit(plan);
  EXPECT_EQ(last_of(world.poll(at(0)), "gang-0")->nominated_node, "");
}

TEST(SimMetrics, PercentilesAreValuesThatOccur) {
  const Spread spread = spread_of({5, 1, 4, 2, 3});
  EXPECT_EQ(spread.mean, 3);
  EXPECT_EQ(spread.p50, 3);
  EXPECT_EQ(spread.p90, 5);
  EXPECT_EQ(spread.max, 5);
  EXPECT_EQ(spread_of({}).count, 0U);
}

}  // namespace
}  // namespace makeway

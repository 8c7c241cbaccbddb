// SPEC section 8: each schedulerName is a profile with rules of its own; all share one cluster and
// one cycle. That a journal of such a run replays is tested with the command (run_test.cpp).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/live_stack.hpp"

namespace makeway {
namespace {

class LiveProfiles : public LiveLoop {
 protected:
  LiveProfiles() {
    configuration.profiles = {
        {.scheduler_name = "batch", .knobs = {{.path = "compatibility", .value = "mcm-v1"}}}};
  }

  /// Only their names distinguish the pods of a node: the first is the most important.
  void fill(std::string_view number) {
    std::string node = live_node(fmt::format("n{}", number), 4);
    node.replace(node.find(R"("name")"), 0, fmt::format(R"("labels":{{"for":"{}"}},)", number));
    live.server.put(node);
    const std::string on = fmt::format("n{}", number);
    put({.name = fmt::format("a-large-{}", number), .cpus = 2, .priority = 10, .node = on});
    put({.name = fmt::format("b-small-{}", number), .cpus = 1, .priority = 10, .node = on});
    put({.name = fmt::format("c-small-{}", number), .cpus = 1, .priority = 10, .node = on});
  }
  void ask(std::string_view number, std::string scheduler) {
    put({.name = fmt::format("ask-{}", number),
         .cpus = 2,
         .priority = 1'000,
         .scheduler = std::move(scheduler),
         .spec = fmt::format(R"("nodeSelector":{{"for":"{}"}},)", number)});
  }
};

/// Two cpus are needed on each node. The fewest victims: the large pod. By put-back the most
/// important one comes back, which is the large pod, and the two others do not fit beside the ask.
TEST_F(LiveProfiles, TwoNamesHaveTwoRulesInOneRun) {
  fill("1");
  fill("2");
  ask("1", "makeway");
  ask("2", "batch");
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"ask-1", "ask-2"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted(), (std::set<std::string>{"a/a-large-1", "a/b-small-2", "a/c-small-2"}));
  EXPECT_EQ(count("bind"), 2U);
  expect_lawful(*stack);
}

/// Two asks that differ in nothing but their scheduler: that the one has to wait says nothing about
/// the other.
TEST_F(LiveProfiles, APodParkedByItsOwnRulesParksNoOther) {
  configuration.profiles.front().knobs = {{.path = "engine.preemptionDelay", .value = "87600h"}};
  live.server.put(live_node("n1", 4));
  put({.name = "low", .cpus = 4, .priority = 0, .node = "n1"});
  put({.name = "a-patient", .cpus = 4, .priority = 1'000, .scheduler = "batch"});
  put({.name = "b-hasty", .cpus = 4, .priority = 1'000});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"b-hasty"}), [this] { live.server.let_go(); }));
  EXPECT_EQ(node_of("a-patient"), "");
  EXPECT_EQ(deleted(), (std::set<std::string>{"a/low"}));
  expect_lawful(*stack);
}

TEST_F(LiveProfiles, PodsOfAProfileAreNoPodsOfAnotherScheduler) {
  live.server.put(live_node("n1", 4));
  put({.name = "low", .cpus = 4, .priority = 0, .node = "n1", .scheduler = "batch"});
  put({.name = "urgent", .cpus = 4, .priority = 1'000});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"urgent"}), [this] { live.server.let_go(); }));
  expect_lawful(*stack);
}

}  // namespace
}  // namespace makeway

// Queues over a fake API server (SPEC sections 3 and 8): the status is the memory.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <set>
#include <string>

#include "support/live_stack.hpp"

namespace makeway {
namespace {

using Fault = WriteFault::Kind;

std::string live_queue(std::string_view name) {
  return fmt::format(R"({{"apiVersion":"makeway.dev/v1","kind":"Queue","metadata":{{"name":"{0}",)"
                     R"("uid":"uid-{0}","generation":1}},"spec":{{"weight":1}}}})",
                     name);
}

LivePodText queue_pod(std::string_view queue, int number, std::string node = {}) {
  return {.name = fmt::format("{}-{}", queue, number),
          .node = std::move(node),
          .metadata = fmt::format(R"("labels":{{"makeway.dev/queue":"{}"}},)", queue)};
}

/// A queue uses all four CPUs; a new one has two pods that wait, and deserves half.
void put_claim(FakeApiserver& server) {
  server.set_kubelet(true, false);
  server.serve("makeway.dev/v1", "queues", "Queue");
  server.put(live_node("n1", 4));
  server.put(live_queue("old"));
  server.put(live_queue("new"));
  for (int pod = 0; pod < 4; ++pod) server.put(live_pod(queue_pod("old", pod, "n1")));
  for (int pod = 0; pod < 2; ++pod) server.put(live_pod(queue_pod("new", pod)));
}

std::string share(const FakeApiserver& server, std::string_view queue, std::string_view field) {
  const JsonValue object = fake::parsed(server.object("Queue", "", queue));
  return fake::text_at(object, fmt::format("status.{}.cpu", field));
}

bool is_shared(const FakeApiserver& server) {
  for (const std::string_view queue : {"old", "new"}) {
    for (const std::string_view field : {"deserved", "allocated", "used"}) {
      if (share(server, queue, field) != "2") return false;
    }
    if (share(server, queue, "preempting") != "0") return false;
  }
  return true;
}

std::size_t count_left(const FakeApiserver& server) {
  std::set<std::string> victims;
  for (const FakeDeed& deed : server.deeds()) {
    if (deed.what == "delete") victims.insert(deed.object);
  }
  return victims.size();
}

class LiveQueues : public LiveLoop {};

TEST_F(LiveQueues, StatusesAreWrittenBeforeAnyPodLeaves) {
  put_claim(live.server);
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return count("delete") == 2; }));
  EXPECT_EQ(share(live.server, "old", "allocated"), "2");
  EXPECT_EQ(share(live.server, "new", "preempting"), "2");
  bool wrote_old = false;
  bool wrote_new = false;
  for (const FakeDeed& deed : live.server.deeds()) {
    wrote_old = wrote_old || deed.object == "/old";
    wrote_new = wrote_new || deed.object == "/new";
    EXPECT_TRUE(deed.what != "mark" || (wrote_old && wrote_new));
  }
  EXPECT_EQ(count("bind"), 0U);
  live.server.let_go();
  EXPECT_TRUE(stack->run_until([this] { return is_shared(live.server); }));
  EXPECT_TRUE(all_run({"new-0", "new-1"})());
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  EXPECT_EQ(count("delete"), 2U);
  // At rest nothing is written.
  const std::size_t writes = live.server.writes().size();
  for (int steps = 0; steps < 10; ++steps) stack->loop().step();
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  EXPECT_EQ(live.server.writes().size(), writes);
  EXPECT_TRUE(stack->loop().in_flight().empty());
  expect_lawful(*stack);
}

/// SPEC section 8, Brakes: a device plugin restarts, and its node offers less for a while.
TEST_F(LiveQueues, NoPodLeavesForAQueueSoonAfterANodeOffersLess) {
  configuration.live.capacity_grace = Duration{3'000};
  std::string with_gpu = live_node("n1", 4);
  with_gpu.replace(with_gpu.find(R"("pods":)"), 0, R"("example.com/gpu":"1",)");
  live.server.serve("makeway.dev/v1", "queues", "Queue");
  live.server.put(with_gpu);
  live.server.put(live_queue("old"));
  live.server.put(live_queue("new"));
  for (int pod = 0; pod < 4; ++pod) live.server.put(live_pod(queue_pod("old", pod, "n1")));
  live.server.allow_writes();
  const auto stack = start();
  const auto offered = [&] {
    const Cluster& cluster = stack->loop().cluster();
    const auto node = cluster.find_node("n1");
    return node ? cluster.node(*node).allocatable.size() : 0;
  };
  EXPECT_TRUE(stack->run_until([&] { return offered() == 4; }));
  const auto lost = std::chrono::steady_clock::now();
  live.server.put(live_node("n1", 4));
  EXPECT_TRUE(stack->run_until([&] { return offered() == 3; }));
  for (int pod = 0; pod < 2; ++pod) live.server.put(live_pod(queue_pod("new", pod)));
  EXPECT_TRUE(stack->run_until([this] { return count("delete") == 2; }));
  EXPECT_GE(std::chrono::steady_clock::now() - lost, std::chrono::seconds(2));
  expect_lawful(*stack);
}

/// A user has edited the queue: no pod leaves for what was decided before that.
TEST_F(LiveQueues, AConflictIsDecidedAgain) {
  put_claim(live.server);
  std::atomic<int> conflicts = 0;
  live.server.allow_writes([&](std::int64_t, const std::string& line) {
    const bool is_status = line.find("/queues/new/status") != std::string::npos;
    if (!is_status || conflicts >= 2) return std::optional<WriteFault>();
    ++conflicts;
    return std::optional(WriteFault{.kind = Fault::status_before, .status = 409});
  });
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return is_shared(live.server); },
                               [this] { live.server.let_go(); }));
  EXPECT_EQ(conflicts, 2);
  bool was_written = false;
  for (const FakeDeed& deed : live.server.deeds()) {
    was_written = was_written || deed.object == "/new";
    EXPECT_TRUE(deed.what != "mark" || was_written) << deed.object;
  }
  EXPECT_EQ(count_left(live.server), 2U);
  expect_lawful(*stack);
}

TEST_F(LiveQueues, WhatIsWrongWithAQueueIsReportedUntilItIsFixed) {
  live.server.serve("makeway.dev/v1", "queues", "Queue");
  live.server.put(live_node("n1", 4));
  live.server.put(R"({"apiVersion":"makeway.dev/v1","kind":"Queue","metadata":{"name":"orphan",)"
                  R"("uid":"uid-orphan","generation":1},"spec":{"parent":"gone"}})");
  live.server.allow_writes();
  const auto stack = start();
  const auto shows = [this](std::string_view status) {
    const std::string text = live.server.object("Queue", "", "orphan");
    return text.find(fmt::format(R"("type":"makeway.dev/Accepted","status":"{}")", status)) !=
           std::string::npos;
  };
  EXPECT_TRUE(stack->run_until([&] { return shows("False"); }));
  live.server.put(live_queue("gone"));
  EXPECT_TRUE(stack->run_until([&] { return shows("True"); }));
}

TEST_F(LiveQueues, KilledAtAnyWriteAClaimEndsTheSame) {
  kill_at_any_write({.before = {.kind = Fault::status_before, .status = 504},
                     .after = {.kind = Fault::status_after, .status = 504},
                     .writes_max = 40,
                     .put = put_claim,
                     .is_over = is_shared,
                     .check = [](LiveStack&, const FakeApiserver& server) {
                       EXPECT_EQ(count_left(server), 2U);
                     }});
}

}  // namespace
}  // namespace makeway

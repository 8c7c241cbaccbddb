// The whole scheduler over a fake API server: watches, view, loop, judge, writer. Every plan is
// judged, and whatever happens, no pod is evicted in vain and everything comes to rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>

#include "base/prng.hpp"
#include "support/live_stack.hpp"

namespace makeway {
namespace {

using Fault = WriteFault::Kind;

TEST_F(LiveLoop, APodThatFitsIsBoundWithOneCall) {
  live.server.put(live_node("n1", 4));
  put({.name = "p", .cpus = 1});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"p"})));
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  ASSERT_EQ(live.server.writes().size(), 2U);
  EXPECT_TRUE(live.server.writes()[0].line.starts_with(
      "POST /api/v1/namespaces/a/pods/p/binding?timeout=5s&fieldManager=makeway"));
  EXPECT_EQ(live.server.deeds()[1].what, "event Scheduled");
  expect_lawful(*stack);
}

TEST_F(LiveLoop, PodsOfOtherSchedulersAreNotOurs) {
  live.server.put(live_node("n1", 4));
  put({.name = "p", .cpus = 1});
  std::string theirs = live_pod({.name = "theirs", .cpus = 1});
  theirs.replace(theirs.find("\"makeway\""), 9, "\"default-scheduler\"");
  live.server.put(theirs);
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"p"})));
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  EXPECT_EQ(node_of("theirs"), "");
  EXPECT_EQ(count("bind"), 1U);
}

TEST_F(LiveLoop, AnUrgentPodWaitsUntilItsVictimIsGone) {
  live.server.put(live_node("n1", 4));
  put({.name = "low", .cpus = 4, .priority = 0, .node = "n1"});
  put({.name = "urgent", .cpus = 4, .priority = 1'000});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return count("delete") == 1; }));
  // As long as the victim runs, its room is not given away.
  for (int steps = 0; steps < 5; ++steps) stack->loop().step();
  EXPECT_EQ(count("bind"), 0U);
  EXPECT_NE(live.server.object("Pod", "a", "urgent").find(R"("nominatedNodeName":"n1")"),
            std::string::npos);
  EXPECT_EQ(live.server.let_go(), 1U);
  EXPECT_TRUE(stack->run_until(all_run({"urgent"})));
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  EXPECT_EQ(count("nominate"), 1U);
  EXPECT_EQ(count("mark"), 1U);
  EXPECT_EQ(count("delete"), 1U);
  EXPECT_EQ(count("bind"), 1U);
  expect_lawful(*stack);
}

TEST_F(LiveLoop, AForeignBinderIsRespected) {
  live.server.put(live_node("n1", 4));
  live.server.put(live_node("n2", 4));
  put({.name = "p", .cpus = 4});
  live.server.allow_writes([](std::int64_t number, const std::string&) {
    return number == 1 ? std::optional(WriteFault{.kind = Fault::hold}) : std::nullopt;
  });
  const auto stack = start();
  EXPECT_TRUE(stack->run_until([this] { return live.server.writes().size() == 1; }));
  put({.name = "p", .cpus = 4, .priority = 0, .node = "n2"});
  live.server.release_held();
  put({.name = "q", .cpus = 4});
  EXPECT_TRUE(stack->run_until(all_run({"p", "q"})));
  EXPECT_EQ(node_of("p"), "n2");
  EXPECT_EQ(node_of("q"), "n1");
  expect_lawful(*stack);
}

TEST_F(LiveLoop, AForeignNominationHoldsNoRoom) {
  live.server.put(live_node("n1", 4));
  std::string hinted = live_pod({.name = "hinted", .cpus = 8, .priority = 2'000});
  hinted.replace(hinted.find(R"("phase")"), 0, R"("nominatedNodeName":"n1",)");
  live.server.put(hinted);
  put({.name = "p", .cpus = 4});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"p"})));
  EXPECT_EQ(count("delete"), 0U);
}

TEST_F(LiveLoop, ABurstEvictsNoPodInVain) {
  std::vector<std::string> asks;
  for (int node = 0; node < 10; ++node) {
    live.server.put(live_node(fmt::format("n{}", node), 4));
    put({.name = fmt::format("low-{}", node),
         .cpus = 4,
         .priority = 0,
         .node = fmt::format("n{}", node)});
  }
  for (int ask = 0; ask < 5; ++ask) {
    asks.push_back(fmt::format("urgent-{}", ask));
    put({.name = asks.back(), .cpus = 4, .priority = 1'000});
  }
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run(asks), [this] { live.server.let_go(); }));
  EXPECT_EQ(deleted().size(), 5U);
  EXPECT_EQ(count("bind"), 5U);
  expect_lawful(*stack);
}

// As few writes as correctness allows: one nomination an ask, one mark and one deletion a victim,
// one bind. The asks are held back at first, because the process has just started, and decided
// again whenever a victim has gone: neither is written to the server.
TEST_F(LiveLoop, ABurstCostsFourWritesAnAsk) {
  constexpr int asks_in_burst = 10;
  std::vector<std::string> asks;
  for (int at = 0; at < asks_in_burst; ++at) {
    live.server.put(live_node(fmt::format("n{}", at), 4));
    put({.name = fmt::format("low-{}", at), .cpus = 4, .node = fmt::format("n{}", at)});
    asks.push_back(fmt::format("urgent-{}", at));
    put({.name = asks.back(), .cpus = 4, .priority = 1'000});
  }
  live.server.allow_writes();
  LiveStack stack(live, configuration, tools, Duration{700});
  EXPECT_TRUE(stack.run_until([this] { return count("delete") == asks_in_burst; }));
  for (int at = 0; at < asks_in_burst; ++at) {
    for (int steps = 0; steps < 3; ++steps) stack.loop().step();
    live.server.remove("Pod", "a", fmt::format("low-{}", at));
  }
  EXPECT_TRUE(stack.run_until(all_run(asks)));
  EXPECT_TRUE(stack.actuator().await_idle(Duration{30'000}));
  std::map<std::string, int> calls;
  for (const auto& write : live.server.writes()) {
    const std::string path = write.line.substr(0, write.line.find('?'));
    ++calls[path.substr(0, path.find(' ') + 1) + path.substr(path.rfind('/') + 1)];
  }
  int deletes = 0;
  for (const auto& [call, times] : calls) deletes += call.starts_with("DELETE") ? times : 0;
  EXPECT_EQ(calls["PATCH status"], 2 * asks_in_burst);
  EXPECT_EQ(deletes, asks_in_burst);
  EXPECT_EQ(calls["POST binding"], asks_in_burst);
  EXPECT_EQ(count("event FailedScheduling"), 10U);
  EXPECT_EQ(count("event Preempted"), 10U);
  EXPECT_EQ(count("event Scheduled"), 10U);
  expect_lawful(stack);
}

TEST_F(LiveLoop, AGangIsBoundWholeAndSaysSo) {
  live.server.put(live_node("n1", 4));
  live.server.put(live_node("n2", 4));
  live.server.put(
      R"({"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",)"
      R"("namespace":"a","uid":"uid-g"},"spec":{"priority":1000,"schedulingPolicy":{"gang":)"
      R"({"minCount":2}}}})");
  put({.name = "low", .cpus = 4, .priority = 0, .node = "n1"});
  put({.name = "m-0", .cpus = 4, .priority = 1'000, .node = {}, .group = "g"});
  put({.name = "m-1", .cpus = 4, .priority = 1'000, .node = {}, .group = "g"});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"m-0", "m-1"}), [this] { live.server.let_go(); }));
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  EXPECT_EQ(deleted(), std::set<std::string>{"a/low"});
  EXPECT_NE(live.server.object("PodGroup", "a", "g")
                .find(R"("type":"PodGroupInitiallyScheduled","status":"True")"),
            std::string::npos);
  expect_lawful(*stack);
}

TEST_F(LiveLoop, KilledAtAnyWriteItGoesOnFromTheClusterAlone) {
  const auto put_story = [](FakeApiserver& server) {
    server.put(live_node("n1", 4));
    server.put(live_node("n2", 4));
    server.put(live_pod({.name = "low-1", .cpus = 4, .priority = 0, .node = "n1"}));
    server.put(live_pod({.name = "low-2", .cpus = 4, .priority = 10, .node = "n2"}));
    server.put(live_pod({.name = "urgent", .cpus = 4, .priority = 1'000}));
  };
  const auto runs = [](const FakeApiserver& server) {
    const std::string text = server.object("Pod", "a", "urgent");
    return !fake::text_at(fake::parsed(text), "spec.nodeName").empty();
  };
  const auto check = [](LiveStack& second, const FakeApiserver& server) {
    for (int steps = 0; steps < 3; ++steps) second.loop().step();
    std::set<std::string> victims;
    for (const FakeDeed& deed : server.deeds()) {
      if (deed.what == "delete") victims.insert(deed.object);
    }
    EXPECT_EQ(victims, std::set<std::string>{"a/low-1"});
  };
  kill_at_any_write({.before = {.kind = Fault::cut_before},
                     .after = {.kind = Fault::cut_after},
                     .put = put_story,
                     .is_over = runs,
                     .check = check});
}

TEST_F(LiveLoop, ATenthOfAllWritesFails) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(fmt::format("seed={}", seed));
    LiveServer fresh;
    FakeApiserver& server = fresh.server;
    server.set_kubelet(true, false);
    std::vector<std::string> asks;
    for (int node = 0; node < 8; ++node) {
      server.put(live_node(fmt::format("n{}", node), 4));
      server.put(live_pod({.name = fmt::format("low-{}", node),
                           .cpus = node < 4 ? 4 : 1,
                           .priority = 0,
                           .node = fmt::format("n{}", node)}));
    }
    for (int ask = 0; ask < 20; ++ask) {
      asks.push_back(fmt::format("p-{}", ask));
      const bool urgent = ask < 6;
      server.put(
          live_pod({.name = asks.back(), .cpus = urgent ? 4 : 0, .priority = urgent ? 1'000 : 0}));
    }
    Prng prng(seed);
    server.allow_writes([&](std::int64_t, const std::string&) -> std::optional<WriteFault> {
      if (!prng.chance(10)) return std::nullopt;
      switch (prng.below(4)) {
        case 0: return WriteFault{.kind = Fault::status_before, .status = 429, .plain_text = true};
        case 1: return WriteFault{.kind = Fault::status_before, .status = 504};
        case 2: return WriteFault{.kind = Fault::status_after, .status = 504};
        default: return WriteFault{.kind = Fault::cut_after};
      }
    });
    LiveStack stack(fresh, configuration, tools);
    const auto all_bound = [&] {
      return std::ranges::all_of(asks, [&](const std::string& name) {
        const std::string text = server.object("Pod", "a", name);
        return !fake::text_at(fake::parsed(text), "spec.nodeName").empty();
      });
    };
    EXPECT_TRUE(stack.run_until(all_bound, [&] { server.let_go(); }));
    EXPECT_TRUE(stack.loop().refused().empty());
    std::set<std::string> victims;
    for (const FakeDeed& deed : server.deeds()) {
      if (deed.what == "delete") victims.insert(deed.object);
    }
    EXPECT_EQ(victims.size(), 6U);
    // Every pod on the server is known to the loop, and the other way round.
    EXPECT_TRUE(stack.run_until([&] { return stack.loop().in_flight().empty(); }));
  }
}

}  // namespace
}  // namespace makeway

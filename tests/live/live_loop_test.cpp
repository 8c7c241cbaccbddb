// The whole scheduler over a fake API server: watches, loop, judge, writer. Every plan is judged,
// and whatever happens, nobody is evicted in vain and everything comes to rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/check.hpp"
#include "base/prng.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "control/control_loop.hpp"
#include "judge/check_plan.hpp"
#include "kube/actuator.hpp"
#include "kube/live_port.hpp"
#include "policies/decide.hpp"
#include "support/fake_json.hpp"
#include "support/live_server.hpp"

namespace makeway {
namespace {

using Fault = WriteFault::Kind;

/// Everything that schedules a live cluster, over a FakeApiserver: watches, port, loop and writer.
/// Destroyed without a word, it is a process that was killed.
class LiveStack {
 public:
  LiveStack(LiveServer& live, const Configuration& configuration, const PlanTools& tools);
  LiveStack(const LiveStack&) = delete;
  LiveStack& operator=(const LiveStack&) = delete;
  ~LiveStack() = default;

  /// Steps the loop until that is so, at most so long; `between` is called after each step.
  bool run_until(const std::function<bool()>& done, const std::function<void()>& between = {},
                 std::chrono::seconds at_most = std::chrono::seconds(60));
  ControlLoop& loop() { return *loop_; }
  kube::Actuator& actuator() { return *actuator_; }

 private:
  kube::WriteGate gate_;
  std::unique_ptr<kube::LiveFeed> feed_;
  std::unique_ptr<kube::Actuator> actuator_;
  std::unique_ptr<kube::LivePort> port_;
  std::unique_ptr<ControlLoop> loop_;
};

struct LivePodText {
  std::string name;
  int cpus = 1;
  int priority = 0;
  std::string node;  ///< Empty: pending.
  std::string group;
};

LiveStack::LiveStack(LiveServer& live, const Configuration& configuration, const PlanTools& tools) {
  gate_.open_forever();
  auto connection = live.connect();
  const auto served = connection->api().discover();
  CHECK(served.has_value());
  kube::WatchLimits limits;
  limits.pause_first = Duration{5};
  limits.pause_max = Duration{20};
  feed_ = std::make_unique<kube::LiveFeed>(std::move(connection), *served, 7, limits,
                                           kube::FeedUse::to_schedule);
  kube::ActuatorSettings settings;
  settings.manner.timeout = Duration{1'000};
  settings.limits.pause_first = Duration{10};
  settings.budgets = configuration.budgets.mode;
  settings.stop_max = Duration{0};
  actuator_ = std::make_unique<kube::Actuator>(
      live.connect(), settings, gate_,
      kube::ActuatorTools{
          .server_now =
              [this] { return feed_->server_time().at(kube::monotonic_now()).value_or(Time{}); },
          .wake = [this] { feed_->mailbox().wake(); }});
  port_ = std::make_unique<kube::LivePort>(*feed_, actuator_.get());
  LoopOptions options;
  options.preset = "makeway";
  options.poll_max = Duration{100};
  options.backlog.schedulers = {"makeway"};
  options.backlog.back_off_min = Duration{50};
  options.backlog.back_off_max = Duration{500};
  options.profiles = {{.scheduler_name = "makeway", .configuration = configuration}};
  loop_ = std::make_unique<ControlLoop>(*port_, configuration, tools, std::move(options));
}

bool LiveStack::run_until(const std::function<bool()>& done, const std::function<void()>& between,
                          std::chrono::seconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    loop_->step();
    if (between) between();
  }
  return true;
}

PlanTools live_tools() {
  return {.decide = decide,
          .check = [](const Cluster& cluster, const Configuration& configuration,
                      const Plan& plan) { return check_plan(cluster, configuration, plan); },
          .identify = [](const Plan& plan) { return plan_identity(plan); },
          .microseconds = [] { return std::int64_t{0}; }};
}

std::string live_pod(const LivePodText& pod) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"a",)"
      R"("uid":"uid-{0}","generation":1,"creationTimestamp":"2026-11-17T04:00:00Z"}},)"
      R"("spec":{{"schedulerName":"makeway","priority":{1},{2}{3}"containers":[{{"name":"c",)"
      R"("resources":{{"requests":{{"cpu":"{4}"}}}}}}]}},"status":{{"phase":"{5}"}}}})",
      pod.name, pod.priority,
      pod.node.empty() ? std::string{} : fmt::format(R"("nodeName":"{}",)", pod.node),
      pod.group.empty() ? std::string{}
                        : fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}},)", pod.group),
      pod.cpus, pod.node.empty() ? "Pending" : "Running");
}

std::string live_node(std::string_view name, int cpus) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}},"status":{{"allocatable":)"
      R"({{"cpu":"{}","memory":"8Gi","pods":"110"}}}}}})",
      name, cpus);
}

class LiveLoop : public testing::Test {
 protected:
  LiveLoop() : configuration(*load_preset("makeway")), tools(live_tools()) {
    live.server.set_kubelet(true, false);
    live.server.serve("scheduling.k8s.io/v1beta1", "podgroups", "PodGroup");
  }

  std::unique_ptr<LiveStack> start() {
    return std::make_unique<LiveStack>(live, configuration, tools);
  }
  void put(const LivePodText& pod) { live.server.put(live_pod(pod)); }
  /// Where it runs; empty: it does not.
  std::string node_of(std::string_view name) const {
    const std::string text = live.server.object("Pod", "a", name);
    return text.empty() ? std::string{} : fake::text_at(fake::parsed(text), "spec.nodeName");
  }
  std::function<bool()> all_run(std::vector<std::string> names) const {
    return [this, names = std::move(names)] {
      return std::ranges::none_of(names,
                                  [&](const std::string& name) { return node_of(name).empty(); });
    };
  }
  std::set<std::string> deleted() const {
    std::set<std::string> victims;
    for (const FakeDeed& deed : live.server.deeds()) {
      if (deed.what == "delete" || deed.what == "evict") victims.insert(deed.object);
    }
    return victims;
  }
  std::size_t count(std::string_view what) const {
    const auto deeds = live.server.deeds();
    return static_cast<std::size_t>(std::ranges::count(deeds, what, &FakeDeed::what));
  }
  /// What is on a node, and how much of it there is.
  std::map<std::string, std::int64_t> used_cpus() const {
    std::map<std::string, std::int64_t> used;
    const JsonValue dumped = fake::parsed(live.server.dump());
    for (const JsonValue& object : *dumped.find("items")->as_array()) {
      const std::string node = fake::text_at(object, "spec.nodeName");
      if (fake::text_at(object, "kind") != "Pod" || node.empty()) continue;
      const JsonValue& container = fake::value_at(object, "spec.containers")->as_array()->front();
      used[node] += std::stoll(fake::text_at(container, "resources.requests.cpu"));
    }
    return used;
  }
  void expect_lawful(LiveStack& stack) const {
    EXPECT_TRUE(stack.loop().refused().empty());
    for (const RefusedPlan& refused : stack.loop().refused()) {
      for (const LawBreach& breach : refused.breaches) ADD_FAILURE() << breach.text;
    }
    for (const auto& [node, cpus] : used_cpus()) EXPECT_LE(cpus, 4) << node;
  }

  LiveServer live;
  Configuration configuration;
  PlanTools tools;
};

TEST_F(LiveLoop, APodThatFitsIsBoundWithOneCall) {
  live.server.put(live_node("n1", 4));
  put({.name = "p", .cpus = 1});
  live.server.allow_writes();
  const auto stack = start();
  EXPECT_TRUE(stack->run_until(all_run({"p"})));
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  ASSERT_EQ(live.server.writes().size(), 2U);
  EXPECT_TRUE(live.server.writes()[0].line.starts_with(
      "POST /api/v1/namespaces/a/pods/p/binding?timeout=1s&fieldManager=makeway"));
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

TEST_F(LiveLoop, SomebodyElsesNominationHoldsNoRoom) {
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

TEST_F(LiveLoop, ABurstMakesNobodyLeaveInVain) {
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

/// SPEC section 8, no hidden memory: the process dies before or after the k-th write, for every k.
TEST_F(LiveLoop, KilledAtAnyWriteItGoesOnFromTheClusterAlone) {
  for (const Fault kind : {Fault::cut_before, Fault::cut_after}) {
    bool was_killed = true;
    for (std::int64_t kill_at = 1; was_killed && kill_at < 20; ++kill_at) {
      SCOPED_TRACE(
          fmt::format("{} write {}", kind == Fault::cut_before ? "before" : "after", kill_at));
      LiveServer fresh;
      FakeApiserver& server = fresh.server;
      server.set_kubelet(true, false);
      server.put(live_node("n1", 4));
      server.put(live_node("n2", 4));
      server.put(live_pod({.name = "low-1", .cpus = 4, .priority = 0, .node = "n1"}));
      server.put(live_pod({.name = "low-2", .cpus = 4, .priority = 10, .node = "n2"}));
      server.put(live_pod({.name = "urgent", .cpus = 4, .priority = 1'000}));
      std::atomic<bool> dead = false;
      server.allow_writes([&](std::int64_t number, const std::string&) {
        if (dead) return std::optional(WriteFault{.kind = Fault::cut_before});
        if (number != kill_at) return std::optional<WriteFault>();
        dead = true;
        return std::optional(WriteFault{.kind = kind});
      });
      const auto runs = [&] {
        const std::string text = server.object("Pod", "a", "urgent");
        return !fake::text_at(fake::parsed(text), "spec.nodeName").empty();
      };
      {
        LiveStack first(fresh, configuration, tools);
        EXPECT_TRUE(first.run_until(
            [&] { return dead || (runs() && first.actuator().await_idle(Duration{0})); },
            [&] {
              if (!dead) server.let_go();
            }));
        expect_lawful(first);
      }
      was_killed = dead;
      server.allow_writes();
      LiveStack second(fresh, configuration, tools);
      EXPECT_TRUE(second.run_until(runs, [&] { server.let_go(); }));
      for (int steps = 0; steps < 3; ++steps) second.loop().step();
      expect_lawful(second);
      std::set<std::string> victims;
      for (const FakeDeed& deed : server.deeds()) {
        if (deed.what == "delete") victims.insert(deed.object);
      }
      EXPECT_EQ(victims, std::set<std::string>{"a/low-1"});
    }
    EXPECT_FALSE(was_killed) << "it never came to its end";
  }
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
    // Whoever is on the server is known to the loop, and the other way round.
    EXPECT_TRUE(stack.run_until([&] { return stack.loop().in_flight().empty(); }));
  }
}

}  // namespace
}  // namespace makeway

// Replicas over planes, live (SPEC sections 4 and 8): a home server with the schedules, and planes
// with API servers and controllers of their own. Every plan is judged.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>

#include "support/fake_plane.hpp"
#include "support/live_stack.hpp"

namespace makeway {
namespace {

using Fault = WriteFault::Kind;

struct ScheduleText {
  std::string name;
  int priority = 0;
  int unmet = 0;
  std::string planes;  ///< R"({"name":"east","committed":3})"
};

/// A home without nodes of its own, and two planes.
struct PlanesWorld {
  PlanesWorld() {
    home.server.serve("makeway.dev/v1", "replicaschedules", "ReplicaSchedule");
    home.server.put(FakePlane::namespace_text());
    home.server.allow_writes();
  }

  void put(const ScheduleText& schedule) {
    home.server.put(fmt::format(
        R"({{"apiVersion":"makeway.dev/v1","kind":"ReplicaSchedule","metadata":{{"name":"{0}",)"
        R"("namespace":"a","uid":"uid-of-{0}"}},"spec":{{"priority":{1},"unmet":{2},"resources":)"
        R"({{"nvidia.com/gpu":"1"}},"selector":{{"app":"{0}"}},"planes":[{3}]}}}})",
        schedule.name, schedule.priority, schedule.unmet, schedule.planes));
  }
  std::string status(std::string_view name) const {
    const JsonValue tree = fake::parsed(home.server.object("ReplicaSchedule", "a", name));
    const JsonValue* const status = tree.find("status");
    return status == nullptr ? std::string() : fake::text_of(*status);
  }
  void step() {
    east.step();
    west.step();
  }
  void let_go() {
    east.let_go();
    west.let_go();
  }
  std::vector<std::string> scales() const {
    std::vector<std::string> all;
    for (const auto& [name, plane] : {std::pair("east", &east), std::pair("west", &west)}) {
      for (const FakeDeed& deed : plane->live.server.deeds()) {
        if (deed.what != "scale") continue;
        all.push_back(fmt::format("{} {} {}", name, deed.object, deed.detail));
      }
    }
    return all;
  }
  LiveStack::Planes planes() { return {{"east", &east.live}, {"west", &west.live}}; }

  LiveServer home;
  FakePlane east{{"e1", "e2", "e3"}};
  FakePlane west{{"w1"}};
};

class LivePlanes : public LiveLoop {
 protected:
  LivePlanes() { configuration.trust = live_trust(); }
  std::unique_ptr<LiveStack> begin(PlanesWorld& world) {
    return std::make_unique<LiveStack>(world.home, configuration, tools, Duration{},
                                       world.planes());
  }
  /// reco wants one GPU; web has the three of east, job the one of west.
  static void fill(PlanesWorld& world) {
    world.put({.name = "reco", .priority = 100, .unmet = 1, .planes = R"({"name":"east"})"});
    world.put({.name = "web", .priority = 10, .planes = R"({"name":"east","committed":3})"});
    world.put({.name = "job", .priority = 10, .planes = R"({"name":"west","committed":1})"});
    world.east.deploy("web", 3);
    world.east.deploy("reco", 0);
    world.west.deploy("job", 1);
    world.step();
  }
};

TEST_F(LivePlanes, TheLifecycleOfAPreemptedReplica) {
  PlanesWorld world;
  fill(world);
  const auto stack = begin(world);
  EXPECT_TRUE(stack->run_until([&] { return world.east.replicas("web") == 2; }));
  // The claim is on the home server before the commit is lowered.
  const auto written = world.home.server.writes();
  ASSERT_FALSE(written.empty());
  EXPECT_TRUE(written[0].line.starts_with(
      "PATCH /apis/makeway.dev/v1/namespaces/a/replicaschedules/reco/status?timeout=1s"))
      << written[0].line;
  EXPECT_TRUE(written[0].body.contains(R"("node":"e3")")) << written[0].body;
  EXPECT_TRUE(written[0].body.contains(R"("committed":2)")) << written[0].body;
  world.step();  // Kubernetes chooses the pod: it is terminating.
  for (int steps = 0; steps < 5; ++steps) stack->loop().step();
  EXPECT_EQ(world.east.replicas("reco"), 0);
  world.let_go();
  EXPECT_TRUE(
      stack->run_until([&] { return world.east.replicas("reco") == 1; }, [&] { world.step(); }));
  EXPECT_TRUE(
      stack->run_until([&] { return world.east.running("reco") == 1; }, [&] { world.step(); }));
  EXPECT_TRUE(
      stack->run_until([&] { return world.status("reco").find("claims") == std::string::npos; },
                       [&] { world.step(); }));
  EXPECT_EQ(world.scales(), (std::vector<std::string>{"east a/web 2", "east a/reco 1"}));
  // At rest: nobody writes anything.
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  const std::size_t writes = world.home.server.writes().size();
  for (int steps = 0; steps < 10; ++steps) stack->loop().step();
  EXPECT_EQ(world.home.server.writes().size(), writes);
  EXPECT_EQ(world.scales().size(), 2U);
  EXPECT_EQ(world.east.running("web"), 2U);
  EXPECT_TRUE(stack->loop().refused().empty());
}

TEST_F(LivePlanes, APlaneThatIsCutOffKeepsWhatItHasAndBlocksNobody) {
  PlanesWorld world;
  world.west.deploy("web", 1);
  world.east.deploy("web", 0);
  world.east.deploy("reco", 0);
  world.put({.name = "web",
             .priority = 10,
             .planes = R"({"name":"east","score":5},{"name":"west","committed":1})"});
  world.step();
  const auto stack = begin(world);
  EXPECT_TRUE(stack->run_until([&] { return stack->loop().cluster().pod_count() == 1; }));
  world.west.cut();
  EXPECT_TRUE(stack->run_until([&] { return !stack->sees("west"); }));
  const std::size_t asked = world.west.live.server.writes().size();
  // Others go on; what is in west is not wanted elsewhere.
  world.put({.name = "reco", .priority = 100, .unmet = 1, .planes = R"({"name":"east"})"});
  EXPECT_TRUE(
      stack->run_until([&] { return world.east.running("reco") == 1; }, [&] { world.step(); }));
  // More of what also runs in west goes where it can.
  world.put({.name = "web",
             .priority = 10,
             .unmet = 1,
             .planes = R"({"name":"east","score":5},{"name":"west","committed":1})"});
  EXPECT_TRUE(
      stack->run_until([&] { return world.east.running("web") == 1; }, [&] { world.step(); }));
  for (int steps = 0; steps < 5; ++steps) stack->loop().step();
  EXPECT_EQ(world.scales(), (std::vector<std::string>{"east a/reco 1", "east a/web 1"}));
  EXPECT_EQ(world.west.live.server.writes().size(), asked);
  // It comes back, with a free node, and is used again.
  world.west.mend();
  world.west.live.server.remove("Pod", "a", "web-001");
  world.west.deploy("web", 0);
  EXPECT_TRUE(
      stack->run_until([&] { return world.west.running("web") == 1; }, [&] { world.step(); }));
  EXPECT_EQ(world.scales().back(), "west a/web 1");
  EXPECT_TRUE(stack->loop().refused().empty());
}

TEST_F(LivePlanes, WhatAnAutoscalerScalesIsLeftAlone) {
  PlanesWorld world;
  fill(world);
  world.east.live.server.put(
      R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"up",)"
      R"("namespace":"a"},"spec":{"scaleTargetRef":{"kind":"Deployment","name":"web"}}})");
  const auto stack = begin(world);
  EXPECT_TRUE(stack->run_until([&] { return stack->plane_view().notes().contains("a/web"); }));
  for (int steps = 0; steps < 10; ++steps) stack->loop().step();
  EXPECT_TRUE(world.scales().empty());
  EXPECT_TRUE(stack->run_until([&] {  // Whoever looks at the schedule is told.
    return world.status("web").contains("HorizontalPodAutoscaler a/up scales Deployment a/web");
  }));
  world.east.live.server.remove("HorizontalPodAutoscaler", "a", "up");
  EXPECT_TRUE(stack->run_until([&] { return world.east.replicas("web") == 2; }));
}

/// A plane that was never seen: nobody knows what is committed there.
TEST_F(LivePlanes, AScheduleWaitsForAPlaneThatWasNeverSeen) {
  PlanesWorld world;
  world.west.deploy("web", 1);
  world.east.deploy("web", 0);
  world.step();
  world.west.cut();
  world.put(
      {.name = "web", .priority = 10, .unmet = 1, .planes = R"({"name":"east"},{"name":"west"})"});
  const auto stack = begin(world);
  EXPECT_TRUE(stack->run_until([&] { return stack->plane_view().notes().contains("a/web"); }));
  for (int steps = 0; steps < 10; ++steps) stack->loop().step();
  EXPECT_TRUE(world.scales().empty());
  world.west.mend();
  EXPECT_TRUE(stack->run_until([&] { return stack->sees("west"); }));
  for (int steps = 0; steps < 10; ++steps) stack->loop().step();
  EXPECT_TRUE(world.scales().empty()) << "the one that is wanted runs in west";
}

/// SPEC section 8, no hidden memory: the process dies before or after the k-th write, at home or in
/// the plane, for every k; the story ends the same.
TEST_F(LivePlanes, KilledAtAnyWriteItGoesOnFromTheClustersAlone) {
  for (const Fault kind : {Fault::cut_before, Fault::cut_after}) {
    bool was_killed = true;
    for (std::int64_t kill_at = 1; was_killed && kill_at < 20; ++kill_at) {
      SCOPED_TRACE(
          fmt::format("{} write {}", kind == Fault::cut_before ? "before" : "after", kill_at));
      PlanesWorld world;
      fill(world);
      std::atomic<bool> dead = false;
      std::atomic<std::int64_t> number = 0;
      const WriteHook hook = [&](std::int64_t, const std::string&) -> std::optional<WriteFault> {
        if (dead) return WriteFault{.kind = Fault::cut_before};
        if (++number != kill_at) return std::nullopt;
        dead = true;
        return WriteFault{.kind = kind};
      };
      for (LiveServer* const each : {&world.home, &world.east.live}) {
        each->server.allow_writes(hook);
      }
      const auto runs = [&] {
        return world.east.running("reco") == 1 &&
               world.status("reco").find("claims") == std::string::npos;
      };
      const auto go_on = [&] {
        world.step();
        world.let_go();
      };
      {
        const auto first = begin(world);
        EXPECT_TRUE(first->run_until(
            [&] { return dead || (runs() && first->actuator().await_idle(Duration{0})); },
            [&] {
              if (!dead) go_on();
            }));
        EXPECT_TRUE(first->loop().refused().empty());
      }
      was_killed = dead;
      world.home.server.allow_writes();
      world.east.live.server.allow_writes();
      const auto second = begin(world);
      EXPECT_TRUE(second->run_until(runs, go_on));
      EXPECT_TRUE(second->loop().refused().empty());
      EXPECT_EQ(world.scales(), (std::vector<std::string>{"east a/web 2", "east a/reco 1"}));
    }
    EXPECT_FALSE(was_killed) << "it never came to its end";
  }
}

}  // namespace
}  // namespace makeway

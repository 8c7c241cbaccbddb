// Replicas over planes, live (SPEC sections 4 and 8): a home server with the schedules, and planes
// with API servers and controllers of their own. Every plan is judged.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codec/load.hpp"
#include "codec/plan_codec.hpp"
#include "kube/live_cluster.hpp"
#include "model/trust.hpp"
#include "support/fake_plane.hpp"
#include "support/live_stack.hpp"

namespace makeway {
namespace {

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
  LivePlanes() { configuration.trust.mode = TrustMode::cluster; }
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
      "PATCH /apis/makeway.dev/v1/namespaces/a/replicaschedules/reco/status?timeout=5s"))
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
  // At rest: nothing is written.
  EXPECT_TRUE(stack->actuator().await_idle(Duration{30'000}));
  const std::size_t writes = world.home.server.writes().size();
  for (int steps = 0; steps < 10; ++steps) stack->loop().step();
  EXPECT_EQ(world.home.server.writes().size(), writes);
  EXPECT_EQ(world.scales().size(), 2U);
  EXPECT_EQ(world.east.running("web"), 2U);
  EXPECT_TRUE(stack->loop().refused().empty());
}

TEST_F(LivePlanes, APlaneThatIsCutOffKeepsWhatItHasAndBlocksNoOther) {
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
  EXPECT_TRUE(stack->run_until([&] {  // The status of the schedule says it.
    return world.status("web").contains("HorizontalPodAutoscaler a/up scales Deployment a/web");
  }));
  EXPECT_TRUE(world.status("web").contains("CannotWork")) << world.status("web");
  world.east.live.server.remove("HorizontalPodAutoscaler", "a", "up");
  EXPECT_TRUE(stack->run_until([&] { return world.east.replicas("web") == 2; }));
}

/// A plane that was never seen: it is unknown what is committed there.
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

// ---- Read once, from outside --------------------------------------------------------------------

/// What `makeway plan --kubeconfig K --plane ...` decides on, without its command line.
struct ReadOnce {
  std::vector<kube::PlaneReading> planes;
  Cluster cluster;
  std::map<std::string, std::string> notes;  ///< By schedule.
};

ReadOnce read_once(PlanesWorld& world, const Configuration& configuration, Time now) {
  ReadOnce read;
  LoadOptions options{.planes_of_dumps = false};
  options.feed = [&](const TextTaker& take) {
    const auto home = world.home.connect();
    Problems problems = kube::read_live_cluster(home->api(), {},
                                                [&](std::string_view name, const PaddedText& page) {
                                                  take(name, page.view(), {});
                                                })
                            .problems;
    for (const auto& [name, live] : world.planes()) {
      const auto plane = live->connect();
      read.planes.push_back(kube::read_live_plane(plane->api(), name, {}, take));
    }
    return problems;
  };
  LoadResult result = load({}, {}, options);
  for (const Problem& problem : result.problems) ADD_FAILURE() << to_text(problem);
  read.cluster = std::move(result.loaded->cluster);
  read.notes = kube::show_planes({.planes = read.planes,
                                  .needs_selector = configuration.trust.mode == TrustMode::cluster,
                                  .now = now},
                                 read.cluster);
  apply_trust(read.cluster, configuration, {.has_daemon_set = {}, .now = now});
  return read;
}

/// reco wants a GPU and there is none; what its schedule commits to web is out of date.
class ReadPlanes : public LivePlanes {
 protected:
  static void fill_both(PlanesWorld& world) {
    fill(world);
    world.west.deploy("reco", 0);
    world.put({.name = "web", .priority = 10, .planes = R"({"name":"east","committed":1})"});
    world.put({.name = "reco",
               .priority = 100,
               .unmet = 1,
               .planes = R"({"name":"east"},{"name":"west","score":5})"});
  }
};

TEST_F(ReadPlanes, APlanFromOutsideIsTheOneThatARunMakes) {
  PlanesWorld world;
  fill_both(world);
  std::optional<Plan> made;
  tools.check = [&](const Cluster& cluster, const Configuration& rules, const Plan& plan) {
    if (!made && !plan.asks.empty()) made = plan;
    return check_plan(cluster, rules, plan);
  };
  const Time now{1'794'900'000'000};  // Nothing was force-deleted: it means nothing here.
  const ReadOnce read = read_once(world, configuration, now);
  EXPECT_TRUE(read.notes.empty());
  const auto stack = begin(world);
  ASSERT_TRUE(stack->run_until([&] { return made.has_value(); }));
  const LawfulPlan outside =
      make_lawful_plan(read.cluster, configuration,
                       {.now = made->now, .preset = "makeway", .explain = false}, live_tools());
  ASSERT_TRUE(outside.plan.has_value());
  EXPECT_EQ(plan_text_json(*outside.plan, PlanDetail::brief),
            plan_text_json(*made, PlanDetail::brief));
  EXPECT_EQ(made->asks[0].outcome, Outcome::preempts);
}

TEST_F(ReadPlanes, APlaneThatDoesNotAnswerIsReported) {
  PlanesWorld world;
  fill_both(world);
  world.west.cut();
  const ReadOnce read = read_once(world, configuration, Time{});
  ASSERT_EQ(read.planes.size(), 2U);
  EXPECT_TRUE(read.planes[0].sees);
  EXPECT_TRUE(read.planes[0].problems.empty());
  EXPECT_FALSE(read.planes[1].sees);
  ASSERT_EQ(read.planes[1].problems.count(Severity::warning), 1U);
  EXPECT_TRUE(read.planes[1].problems.begin()->message.starts_with("plane west was not seen: "));
  // As in a run: nothing is decided about pods that may be there.
  EXPECT_EQ(read.notes.at("a/reco"), "nothing is decided about it: plane west was not seen yet");
  EXPECT_FALSE(read.cluster.own<ReplicaSchedule>().contains({"a", "reco"}));
  EXPECT_TRUE(read.cluster.own<ReplicaSchedule>().contains({"a", "web"}));
  EXPECT_TRUE(read.cluster.find_node("e1", "east").has_value());
  EXPECT_FALSE(read.cluster.find_node("w1", "west").has_value());
}

/// SPEC section 8, no hidden memory: the process dies before or after the k-th write, at home or in
/// the plane, for every k; the story ends the same.
class KilledPlanes : public LivePlanes {
 protected:
  /// The connection is not cut: it would silently be asked again on another one.
  static constexpr int no_answer = 504;
  const KilledStory story{.before = {.kind = WriteFault::Kind::status_before, .status = no_answer},
                          .after = {.kind = WriteFault::Kind::status_after, .status = no_answer},
                          .put = {},
                          .is_over = {},
                          .check = {}};

  static bool is_over(const PlanesWorld& world) {
    return world.east.running("reco") == 1 && !world.status("reco").contains("claims");
  }
  static void go_on(PlanesWorld& world) {
    world.step();
    world.let_go();
  }
  /// What the servers have, and were asked, for finding out why it does not end.
  static std::string server_state(const PlanesWorld& world) {
    std::string text;
    for (const auto& [name, live] :
         {std::pair("home", &world.home), std::pair("east", &world.east.live)}) {
      text += fmt::format("{}: {}\n", name, live->server.dump());
      for (const FakeApiserver::SeenWrite& write : live->server.writes()) {
        text += fmt::format("  {} {}\n", write.line, write.body);
      }
    }
    return text;
  }
  bool round(const WriteFault& last, std::int64_t kill_at) {
    PlanesWorld world;
    fill(world);
    std::atomic<bool> dead = false;
    std::atomic<std::int64_t> number = 0;
    for (LiveServer* const each : {&world.home, &world.east.live}) {
      each->server.allow_writes([&](std::int64_t, const std::string&) {
        if (dead) return std::optional(story.before);
        if (++number != kill_at) return std::optional<WriteFault>();
        dead = true;
        return std::optional(last);
      });
    }
    {
      const auto first = begin(world);
      EXPECT_TRUE(first->run_until(
          [&] { return dead || (is_over(world) && first->actuator().await_idle(Duration{0})); },
          [&] {
            if (!dead) go_on(world);
          }))
          << server_state(world);
      EXPECT_TRUE(first->loop().refused().empty());
    }
    world.home.server.allow_writes();
    world.east.live.server.allow_writes();
    const auto second = begin(world);
    EXPECT_TRUE(second->run_until([&] { return is_over(world); }, [&] { go_on(world); }))
        << server_state(world);
    EXPECT_TRUE(second->loop().refused().empty());
    EXPECT_EQ(world.scales(), (std::vector<std::string>{"east a/web 2", "east a/reco 1"}));
    return dead;
  }
};

TEST_F(KilledPlanes, TheNextProcessGoesOnFromTheClustersAlone) {
  at_any_write(
      story, [this](const WriteFault& last, std::int64_t kill_at) { return round(last, kill_at); });
}

}  // namespace
}  // namespace makeway

// Everything that schedules a live cluster, over a FakeApiserver, for the tests of this folder.
#pragma once

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
#include <string_view>
#include <vector>

#include "base/check.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "control/control_loop.hpp"
#include "control/live_view.hpp"
#include "judge/check_plan.hpp"
#include "kube/actuator.hpp"
#include "kube/live_port.hpp"
#include "kube/live_settings.hpp"
#include "kube/resources.hpp"
#include "model/profiles.hpp"
#include "policies/decide.hpp"
#include "support/fake_json.hpp"
#include "support/live_server.hpp"

namespace makeway {

/// Everything that schedules a live cluster, over a FakeApiserver: watches, port, loop and writer.
/// Destroyed without a word, it is a process that was killed.
class LiveStack {
 public:
  using Planes = std::map<std::string, LiveServer*>;  ///< By name.
  /// It evicts no pod for so long.
  LiveStack(LiveServer& live, const Configuration& configuration, const PlanTools& tools,
            Duration quiet_first = {}, const Planes& planes = {});
  LiveStack(const LiveStack&) = delete;
  LiveStack& operator=(const LiveStack&) = delete;
  ~LiveStack() = default;

  /// Steps the loop until that is so, at most so long; `between` is called after each step.
  bool run_until(const std::function<bool()>& done, const std::function<void()>& between = {},
                 std::chrono::seconds at_most = std::chrono::seconds(120));
  ControlLoop& loop() { return *loop_; }
  kube::Actuator& actuator() { return *actuator_; }
  const LiveView& view() const { return *view_; }
  const PlaneView& plane_view() const { return *plane_view_; }
  bool sees(const std::string& plane) const { return plane_feeds_.at(plane)->sees_all(); }

 private:
  kube::WriteGate gate_;
  std::unique_ptr<LiveView> view_;
  std::unique_ptr<PlaneView> plane_view_;
  std::unique_ptr<kube::LiveFeed> feed_;
  std::map<std::string, std::unique_ptr<kube::LiveFeed>> plane_feeds_;
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
  std::string scheduler = "makeway";
  std::string metadata;  ///< More of it: R"("annotations":{},)"
  std::string spec;      ///< The same.
};

inline LiveStack::LiveStack(LiveServer& live, const Configuration& configuration,
                            const PlanTools& tools, Duration quiet_first, const Planes& planes) {
  gate_.open_forever();
  auto connection = live.connect();
  const auto served = connection->api().discover();
  CHECK(served.has_value());
  kube::WatchLimits limits;
  limits.pause.first = Duration{5};
  limits.pause.max = Duration{20};
  feed_ = std::make_unique<kube::LiveFeed>(std::move(connection), *served, 7, limits,
                                           kube::FeedUse::to_schedule);
  kube::PlaneConnections to_planes;
  std::vector<std::string> plane_names;
  for (const auto& [name, server] : planes) {
    plane_feeds_[name] = std::make_unique<kube::LiveFeed>(
        server->connect(), kube::plane_resources({}), 7, limits, kube::FeedUse::to_schedule, name);
    to_planes[name] = server->connect();
    plane_names.push_back(name);
  }
  plane_view_ =
      std::make_unique<PlaneView>(plane_names, configuration.trust.mode == TrustMode::cluster);
  kube::ActuatorSettings settings = kube::actuator_settings(configuration, *served, "makeway-test");
  settings.limits.pause.first = Duration{10};
  settings.limits.status_again = Duration{50};
  settings.stop_max = Duration{0};
  settings.brakes->quiet_first = quiet_first;
  actuator_ = std::make_unique<kube::Actuator>(
      live.connect(), settings, gate_,
      kube::ActuatorTools{
          .server_now =
              [this] { return feed_->server_time().at(kube::monotonic_now()).value_or(Time{}); },
          .wake = [this] { feed_->mailbox().wake(); }},
      std::move(to_planes));
  LoopOptions options;
  options.backlog.schedulers = served_schedulers({"makeway"}, configuration);
  view_ = std::make_unique<LiveView>(configuration, kube::view_options(options.backlog.schedulers));
  port_ = std::make_unique<kube::LivePort>(*feed_, actuator_.get(), view_.get());
  port_->show_planes(*plane_view_);
  for (const auto& [name, feed] : plane_feeds_) port_->add_plane(name, *feed);
  options.preset = "makeway";
  options.poll_max = Duration{100};
  options.queue_turns = true;
  options.queue_pace = Duration{50};
  options.backlog.back_off = {.first = {50}, .max = {500}};
  loop_ = std::make_unique<ControlLoop>(*port_, configuration, tools, std::move(options));
}

inline bool LiveStack::run_until(const std::function<bool()>& done,
                                 const std::function<void()>& between,
                                 std::chrono::seconds at_most) {
  const auto deadline = std::chrono::steady_clock::now() + at_most;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    loop_->step();
    if (between) between();
  }
  return true;
}

inline PlanTools live_tools() {
  return {.decide = decide,
          .check = [](const Cluster& cluster, const Configuration& configuration,
                      const Plan& plan) { return check_plan(cluster, configuration, plan); },
          .identify = [](const Plan& plan) { return plan_identity(plan); },
          .microseconds = [] { return std::int64_t{0}; }};
}

inline std::string live_pod(const LivePodText& pod) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{0}","namespace":"a",)"
      R"({7}"uid":"uid-{0}","generation":1,"creationTimestamp":"2026-11-17T04:00:00Z"}},)"
      R"("spec":{{{8}"schedulerName":"{6}","priority":{1},{2}{3}"containers":[{{"name":"c",)"
      R"("resources":{{"requests":{{"cpu":"{4}"}}}}}}]}},"status":{{"phase":"{5}"}}}})",
      pod.name, pod.priority,
      pod.node.empty() ? std::string{} : fmt::format(R"("nodeName":"{}",)", pod.node),
      pod.group.empty() ? std::string{}
                        : fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}},)", pod.group),
      pod.cpus, pod.node.empty() ? "Pending" : "Running", pod.scheduler, pod.metadata, pod.spec);
}

inline std::string live_node(std::string_view name, int cpus) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"{}"}},"status":{{"allocatable":)"
      R"({{"cpu":"{}","memory":"8Gi","pods":"110"}}}}}})",
      name, cpus);
}

/// What is killed at every write, before it is carried out and after.
struct KilledStory {
  WriteFault before;  ///< How the write ends that is the last one.
  WriteFault after;
  std::int64_t writes_max = 20;
  std::function<void(FakeApiserver&)> put;
  std::function<bool(const FakeApiserver&)> is_over;
  std::function<void(LiveStack& second, const FakeApiserver&)> check;
};

class LiveLoop : public testing::Test {
 protected:
  LiveLoop() : configuration(*load_preset("makeway")), tools(live_tools()) {
    configuration.trust.mode = TrustMode::cluster;
    configuration.live.max_evictions_per_minute = 60'000;
    live.server.set_kubelet(true, false);
    live.server.serve("scheduling.k8s.io/v1beta1", "podgroups", "PodGroup");
  }

  std::unique_ptr<LiveStack> start() {
    return std::make_unique<LiveStack>(live, configuration, tools);
  }
  /// SPEC section 8, no hidden memory: the process dies at the k-th write, for every k, and another
  /// one goes on from what the cluster shows.
  void kill_at_any_write(const KilledStory& story) {
    at_any_write(story, [&](const WriteFault& last, std::int64_t kill_at) {
      return kill_at_write(story, last, kill_at);
    });
  }
  /// `round` says whether it wrote so often.
  static void at_any_write(
      const KilledStory& story,
      const std::function<bool(const WriteFault& last, std::int64_t kill_at)>& round) {
    for (const WriteFault& last : {story.before, story.after}) {
      bool was_killed = true;
      for (std::int64_t kill_at = 1; was_killed && kill_at < story.writes_max; ++kill_at) {
        SCOPED_TRACE(fmt::format("{} write {}", last.kind == story.before.kind ? "before" : "after",
                                 kill_at));
        was_killed = round(last, kill_at);
      }
      EXPECT_FALSE(was_killed) << "it never came to its end";
    }
  }
  /// Whether it wrote so often.
  bool kill_at_write(const KilledStory& story, const WriteFault& last, std::int64_t kill_at) {
    LiveServer fresh;
    FakeApiserver& server = fresh.server;
    server.set_kubelet(true, false);
    story.put(server);
    std::atomic<bool> dead = false;
    server.allow_writes([&](std::int64_t number, const std::string&) {
      if (dead) return std::optional(story.before);
      if (number != kill_at) return std::optional<WriteFault>();
      dead = true;
      return std::optional(last);
    });
    {
      LiveStack first(fresh, configuration, tools);
      EXPECT_TRUE(first.run_until(
          [&] {
            return dead || (story.is_over(server) && first.actuator().await_idle(Duration{0}));
          },
          [&] {
            if (!dead) server.let_go();
          }));
      expect_lawful(first);
    }
    const bool was_killed = dead;
    server.allow_writes();
    LiveStack second(fresh, configuration, tools);
    EXPECT_TRUE(second.run_until([&] { return story.is_over(server); }, [&] { server.let_go(); }));
    story.check(second, server);
    expect_lawful(second);
    return was_killed;
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

}  // namespace makeway

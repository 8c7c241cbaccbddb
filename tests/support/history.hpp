// History: the simulated world over time, looked at cycle by cycle. One step is one cycle and what
// follows it.
//
//   History history(objects, configuration, planning_now, {.seed = seed});
//   while (history.cycles() < 10 && history.complaints().empty()) history.step();
//
// The world is that of src/sim, behind its port; the loop is that of src/control, which decides
// about all pending pods in each cycle; the laws over time (history_laws.hpp) watch the loop. What
// is here only says when a pod leaves, and lets things happen: a history is determined by its
// start, its seed and what is done to it. Nothing arrives by itself.
//
// A complaint is a plan that breaks a law, which is not carried out, or an action that the world
// refuses although no fault explains it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "control/control_loop.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "sim/sim_world.hpp"
#include "support/history_laws.hpp"

namespace makeway {

/// How the world carries out what it is asked to do.
struct HistoryOptions {
  std::uint64_t seed = 1;
  Duration step_min{10'000};
  Duration step_max{10'000};
  Duration grace_max{0};            ///< Of victims; up to this.
  Duration late_max{0};             ///< They stay longer than their grace by up to this.
  std::uint64_t stuck_percent = 0;  ///< Victims that never leave.
  std::int64_t conflict = 0;        ///< Of a thousand actions: they are refused.
  bool recreate = false;            ///< Controllers recreate their pods that are gone.
  Takers takers = Takers::higher;
};

class History {
 public:
  History(std::vector<Change> objects, Configuration configuration, Time now,
          HistoryOptions options);
  // The loop and the laws refer to the configuration.
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  History(History&&) = delete;
  History& operator=(History&&) = delete;
  ~History() = default;

  /// A cycle, and then time until the next one.
  const Plan& step();

  /// Says when a pod leaves that will be evicted: so long after its deletion timestamp, or never.
  /// Otherwise the options say it.
  void leaves_late(const PodKey& key, std::optional<Duration> late) {
    chosen_lateness_[key] = late;
  }

  /// Something from outside: an object comes, changes or goes. A pod that goes may be recreated.
  void happens(const Change& change);

  Time now() const { return world_.now(); }
  const std::vector<Plan>& plans() const { return laws_.plans(); }
  std::size_t cycles() const { return plans().size(); }
  /// The objects, by name. The pod must be there.
  Pod pod(const PodKey& key) const;
  bool has_pod(const PodKey& key) const;
  std::vector<Pod> pods() const;
  std::vector<Node> nodes() const;
  /// How many evictions were carried out, those of pods that were leaving already left out.
  std::int64_t evictions() const { return world_.metrics().victims; }
  std::int64_t partners_lost() const { return laws_.partners_lost(); }
  /// A pod is leaving and will be gone one day.
  bool any_pod_leaving() const;

  /// What broke a law, and what happened so far, for people.
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;

 private:
  SimOptions sim_options(Time now);
  std::optional<Duration> lateness(const Pod& pod, Time now);
  void log(std::string line);

  SimLoad load_;
  Configuration configuration_;
  HistoryOptions options_;
  Prng random_;
  HistoryLaws laws_;
  std::map<PodKey, std::optional<Duration>> chosen_lateness_;
  std::set<PodKey> stuck_;  ///< They never leave.
  std::vector<std::string> complaints_;
  std::string world_then_;  ///< At the first complaint.
  std::vector<std::string> story_;
  PlanTools tools_;
  SimWorld world_;
  ControlLoop loop_;
};

/// The real ones, without containment: a plan that breaks a law is refused. No time passes in them.
PlanTools history_tools();

/// The queues that have an object, with the status that the plan gives them.
std::vector<Queue> queues_after(const Cluster& cluster, const Plan& plan);

/// The plan in a few words, one line an ask.
std::string short_text(const Plan& plan);

/// Both decide the same for every ask: outcome, places and victims. Time, ids and words may differ.
bool same_decisions(const Plan& a, const Plan& b);

}  // namespace makeway

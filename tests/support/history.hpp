// History: a cluster over time, driven by plans. One step is one cycle and what follows it.
//
//   History history(std::move(cluster), configuration, planning_now, {.seed = seed});
//   while (history.cycles() < 10 && history.complaints().empty()) history.step();
//
// A cycle decides about everything that is pending, shows the plan to the laws (history_laws.hpp)
// and carries out its actions: bind, nominate, evict; queues get their status. What an eviction
// does: a deletion timestamp in the future by a grace period, and the marks of a preempted pod. A
// pending pod for which there is no place loses its nomination. Then time passes: leaving pods
// whose time has come disappear, and a controller may recreate them under a new name.
//
// Everything else that happens (`happens`, see history_world.hpp) is a disturbance: promises made
// before it need not be kept. So is a pod that leaves too late, and a bind that does not come off.
//
// A history is determined by its start, its seed and what is done to it. A plan that breaks a law
// is a complaint and is not carried out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "support/history_laws.hpp"

namespace makeway {

/// How the world carries out what it is asked to do.
struct HistoryOptions {
  std::uint64_t seed = 1;
  Duration step_min{10'000};
  Duration step_max{10'000};
  Duration grace_max{0};                ///< Of victims; up to this.
  Duration late_max{0};                 ///< They stay longer than their grace by up to this.
  std::uint64_t stuck_percent = 0;      ///< Victims that never leave.
  std::uint64_t late_bind_percent = 0;  ///< Binds that do not come off in their cycle.
  bool recreate = false;                ///< Controllers recreate their pods that are gone.
  Takers takers = Takers::higher;
};

class History {
 public:
  History(Cluster cluster, Configuration configuration, Time now, HistoryOptions options);
  // The laws refer to the configuration.
  History(const History&) = delete;
  History& operator=(const History&) = delete;
  History(History&&) = delete;
  History& operator=(History&&) = delete;
  ~History() = default;

  /// A cycle, and then time until the next one.
  const Plan& step();
  /// Decides, checks and carries out.
  const Plan& cycle();
  void pass(Duration duration);

  /// Says when a pod leaves that is leaving or will be evicted: so long after its deletion
  /// timestamp, or never. Otherwise the options say it.
  void leaves_late(const PodKey& key, std::optional<Duration> late);

  /// Something from outside: an object comes, changes or goes. A pod that goes may be recreated.
  void happens(const Change& change);

  const Cluster& cluster() const { return cluster_; }
  const Configuration& configuration() const { return configuration_; }
  Time now() const { return now_; }
  const std::vector<Plan>& plans() const { return plans_; }
  std::size_t cycles() const { return plans_.size(); }
  /// The objects, by name. The pod must be there.
  Pod pod(const PodKey& key) const;
  bool has_pod(const PodKey& key) const;
  std::vector<Pod> pods() const;
  /// How many evictions were carried out, those of pods that were leaving already left out.
  std::int64_t evictions() const { return evictions_; }
  /// Somebody is leaving and will be gone one day.
  bool anybody_leaving() const;

  /// What broke a law, and what happened so far, for people.
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;

 private:
  void carry_out(const Plan& plan);
  void write_queues(const Plan& plan);
  void bind(const PlanAction& action);
  void nominate(const PlanAction& action);
  void evict(const PlanAction& action, const Plan& plan);
  void spend_budgets(const Pod& victim);
  void drop_nominations(const Plan& plan);
  void plan_departure(const Pod& pod);
  void disappear(const Pod& gone);
  void recreate(const Pod& gone);
  void tell(std::string line);

  Cluster cluster_;
  Configuration configuration_;
  Time now_;
  HistoryOptions options_;
  Prng random_;
  HistoryLaws laws_;
  std::vector<Plan> plans_;
  /// Of leaving pods: when they will be gone; none: never.
  std::map<PodKey, std::optional<Time>> departures_;
  std::map<PodKey, std::optional<Duration>> told_late_;
  std::int64_t evictions_ = 0;
  std::int64_t recreated_ = 0;
  std::vector<std::string> complaints_;
  std::string world_then_;  ///< At the first complaint.
  std::vector<std::string> story_;
};

/// The queues that have an object, with the status that the plan gives them.
std::vector<Queue> queues_after(const Cluster& cluster, const Plan& plan);

/// The plan in a few words, one line an ask.
std::string short_text(const Plan& plan);

/// Both decide the same for everybody: outcome, places and victims. Time, ids and words may differ.
bool same_decisions(const Plan& a, const Plan& b);

}  // namespace makeway

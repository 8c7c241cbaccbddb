// FleetHistory: a fleet over many cycles in the simulated world (SPEC section 4).
//
// The world is that of src/sim, the loop that of src/control, which decides about every ask in each
// cycle. What is here decides what Kubernetes leaves open, carelessly: controllers take their time,
// now and then remove another pod than ReplicaSet's order says, new pods land on any open node of
// the plane where they fit, a terminating pod is gone after its grace and perhaps some more,
// scaling is refused, force-deletion takes some cycles or is lost.
//
// It watches the loop. What must hold from one plan to the next is collected as complaints: plans
// that break a law, a last replica that is lost, a loss that is taken back while its claim stands,
// actions that the world refuses although no fault explains it.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "control/control_loop.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "sim/sim_world.hpp"

namespace makeway {

struct FleetOptions {
  std::uint64_t seed = 1;
  Duration step{10'000};
  std::int64_t grace_min_s = 0;
  std::int64_t grace_max_s = 30;
  std::int64_t late_max_s = 20;        ///< How long after its grace a pod is still there.
  std::uint64_t act_percent = 100;     ///< How likely an action is carried out and not refused.
  std::uint64_t delete_percent = 100;  ///< How likely the controller acts within a cycle.
  std::uint64_t force_lost_percent = 0;
  std::int64_t force_cycles_min = 0;
  std::int64_t force_cycles_max = 1;  ///< How many cycles a force-deletion takes.
  std::uint64_t wrong_percent = 0;    ///< How likely the controller removes any pod instead.
  bool obedient = false;              ///< The controller removes victims of claims first.
};

class FleetHistory final : private LoopWatcher {
 public:
  FleetHistory(std::vector<Change> objects, Configuration configuration, Time now,
               const FleetOptions& options);

  /// One cycle, and time until the next one; the plan stays valid until then.
  const Plan& step();
  /// Something else happens.
  void happens(const Change& change) { world_.happens(change); }
  Time now() const { return world_.now(); }
  FleetOptions& options() { return options_; }
  /// Nothing was done in the last cycle, and no pod is leaving or more than committed.
  bool at_rest() const;
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;
  ReplicaSchedule schedule(const std::string& name) const;
  std::vector<ReplicaSchedule> schedules() const;
  bool has_pod(const std::string& name) const;
  /// Replicas that deployments lost for the ask, over all cycles.
  std::int64_t lost_for(const std::string& ask) const;
  std::int64_t scale_downs() const { return world_.metrics().replica_victims; }

 private:
  using ShareName = std::pair<std::string, std::string>;  ///< Schedule, plane.

  void start(const LoopStart& start) override;
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

  SimOptions sim_options(Time now);
  std::size_t removes(const std::vector<const Pod*>& pods);
  bool is_claimed(const Pod& pod) const;
  void complain(std::string text);
  void log(std::string text);
  void log_change(const Change& change);
  void judge_losses(const Plan& plan);
  void judge_last(const Plan& plan);
  std::vector<Pod> pods() const;

  SimLoad load_;
  Configuration configuration_;
  FleetOptions options_;
  Prng random_;
  PlanTools tools_;
  std::map<std::string, std::string> planes_;  ///< By node.
  Plan plan_;
  std::map<std::string, std::int64_t> lost_for_;
  std::set<ShareName> out_;  ///< Shares that lost a replica to a claim that stands.
  std::vector<std::string> complaints_;
  std::vector<std::string> log_;
  SimWorld world_;
  ControlLoop loop_;
};

}  // namespace makeway

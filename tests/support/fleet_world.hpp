// FleetWorld: a fleet over many cycles on a virtual clock (SPEC section 4).
//
// Each step decides, checks the plan, carries it out as a careless operator would, and lets
// Kubernetes do what it does: a controller for each share scales to the commit, removes pods in
// ReplicaSet's order (not bound, not ready, more siblings on the node, newer; then whoever it
// likes), new pods land on some open node of the plane where they fit, whoever terminates is gone
// after its grace and perhaps some more, force-deletion is carried out some cycles later.
//
// What must hold from one plan to the next is collected as complaints: broken laws, a last replica
// that is lost, a loss that is taken back while its claim stands.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/prng.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

struct FleetWorldOptions {
  std::uint64_t seed = 1;
  Duration step{10'000};
  std::int64_t grace_max_s = 30;
  std::int64_t late_max_s = 20;        ///< How long after its grace a pod is still there.
  std::uint64_t scale_percent = 100;   ///< How likely a scale action is carried out in a cycle.
  std::uint64_t delete_percent = 100;  ///< How likely the controller acts in a cycle.
  std::uint64_t force_lost_percent = 0;
  std::int64_t force_cycles_max = 1;  ///< How many cycles a force-deletion takes.
  std::uint64_t wrong_percent = 0;    ///< How likely the controller removes any pod instead.
};

class FleetWorld {
 public:
  FleetWorld(Cluster cluster, Configuration configuration, Time now,
             const FleetWorldOptions& options);

  /// One cycle; the plan stays valid until the next one.
  const Plan& step();
  /// Something else happens.
  void happens(const Change& change) { cluster_.apply(change); }
  const Cluster& cluster() const { return cluster_; }
  Time now() const { return now_; }
  Prng& random() { return random_; }
  /// Nothing was done in the last cycle, and nobody is leaving or pending or more than committed.
  bool at_rest() const;
  const std::vector<std::string>& complaints() const { return complaints_; }
  std::string story() const;
  ReplicaSchedule schedule(const std::string& name) const;
  /// Replicas that deployments lost for the ask, over all cycles.
  std::int64_t lost_for(const std::string& ask) const;
  std::int64_t scale_downs() const { return scale_downs_; }

 private:
  using ShareName = std::pair<std::string, std::string>;  ///< Schedule, plane.

  void complain(std::string text);
  void tell(std::string text);
  void judge_losses(const Plan& plan);
  void carry_out(const Plan& plan);
  void scale(const PlanAction& action);
  void write_status(const Plan& plan);
  void let_go();
  void control(const ReplicaSchedule& schedule, const ReplicaPlane& plane);
  void remove_one(std::vector<Pod> pods);
  void add_one(const ReplicaSchedule& schedule, const std::string& plane);
  void place_pending();
  std::vector<Pod> pods_of(const ReplicaSchedule& schedule, const std::string& plane) const;
  std::vector<Pod> all_pods() const;
  std::string plane_of(const Pod& pod) const;

  Cluster cluster_;
  Configuration configuration_;
  Time now_;
  FleetWorldOptions options_;
  Prng random_;
  std::set<std::string> planes_;
  Plan plan_;
  std::map<std::string, Time> gone_at_;  ///< By pod: when it is really gone.
  std::map<std::string, int> forced_;    ///< By pod: cycles until force-deletion is carried out.
  std::map<std::string, std::string> planes_of_pending_;
  std::map<std::string, std::int64_t> lost_for_;
  std::set<ShareName> out_;  ///< Who lost a replica to a claim that stands.
  std::vector<std::string> complaints_;
  std::vector<std::string> told_;
  std::int64_t scale_downs_ = 0;
  int pods_made_ = 0;
};

}  // namespace makeway

// SimSampler: what is measured of a simulated world at regular instants, and of every plan.
#pragma once

#include <vector>

#include "model/plan.hpp"
#include "sim/sim_pods.hpp"

namespace makeway {

class SimSampler {
 public:
  SimSampler(SimState& state, const SimPods& pods);

  void measure(const Plan& plan);
  void sample();

 private:
  /// What waits at one instant: equal pods.
  struct Waiting {
    std::int32_t priority = 0;
    ResourceVector wanted;
    const PodShape* shape = nullptr;
    std::int64_t count = 0;
  };
  std::vector<Waiting> waiting_pods(SimSample& now);
  /// Pods that ask for a place get none where sessions or replicas do.
  bool is_for_pods(const SimNode& node) const;
  /// It fits nowhere that it may go, but would on some node without pods of lower priority.
  bool is_inverted(const Waiting& waiting) const;
  void measure_fragmentation(const Waiting& first, std::size_t scarce);
  void thin_out_samples();

  SimState& state_;
  const SimPods& pods_;
  std::vector<ResourceGroup> session_nodes_;  ///< Of the load.
  std::int64_t cycles_with_evictions_ = 0;
};

}  // namespace makeway

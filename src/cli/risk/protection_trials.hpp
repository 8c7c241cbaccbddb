// What would protect a pod? Changes one thing at a time, asks the engine again, and changes it
// back.
//
// Asked is today's plan where there is a taker, else the made-up ask.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/risk/eviction_probe.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

struct ProtectionTrial {
  std::string change;  ///< "annotation makeway.dev/allow-preemption: \"false\""
  bool protects = false;
  std::string result;      ///< "stays; shop/other leaves instead"
  std::string stops_with;  ///< It is not evicted and stops with this unit; empty: it runs on.
};

/// What the trials are made with; `today` is the plan of the unchanged cluster.
struct TrialSettings {
  Cluster& cluster;
  PodIndex pod;
  const ConfigurationDocument& configuration;
  const Plan& today;
  const PlanAsk* taker =
      nullptr;  ///< Of `today`, the ask that evicts or stops it; null: none does.
  const EvictingAsk* smallest = nullptr;  ///< Counts where there is no taker; null: none evicts.
};

/// None of them is tried if no ask evicts the pod.
std::vector<ProtectionTrial> try_protections(const TrialSettings& settings, EvictionProbe& probe,
                                             PlanQuestions& questions);

}  // namespace makeway::cli

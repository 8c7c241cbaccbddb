// From a cluster to a plan that keeps the laws: decide, then check. What `plan` and its batches
// have in common.
//
// A plan with a breach is our bug: it is not handed out. Its case is written to a file in the
// current folder, so that it can be reported and run again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/plan/ask_name.hpp"
#include "codec/configuration_codec.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"

namespace makeway::cli {

/// What planning is made of; tests put something else in their place.
struct PlanTools {
  std::function<Decision(const Cluster&, const Configuration&, const PlanRequest&)> decide;
  std::function<std::vector<LawBreach>(const Cluster&, const Configuration&, const Plan&)> check;
  std::function<std::int64_t()> microseconds;  ///< Of a clock that only goes forward.
};

PlanTools real_tools();

/// Microseconds; sums over all cases.
struct PlanTiming {
  std::int64_t load = 0;      ///< Reading, parsing and building the cluster.
  std::int64_t snapshot = 0;  ///< Always 0: the cluster is decided on as it was loaded.
  std::int64_t decide = 0;
  std::int64_t check = 0;
  std::optional<std::int64_t> cases;  ///< Of a batch.
};

/// One JSON line.
std::string timing_line(const PlanTiming& timing);

/// Gives the configuration the name that plans call it by: its own, or "custom"; `changed` says
/// that knobs were set on the command line.
void name_configuration(ConfigurationDocument& document, bool changed);

struct PlanCase {
  const Cluster& cluster;
  const ConfigurationDocument& configuration;
  std::optional<WrittenAsk> ask;         ///< None: everything that is pending.
  std::string_view ask_field = "--ask";  ///< What problems call it, for whoever wrote it.
  std::optional<Time> now;               ///< None: the newest time in the cluster.
  std::vector<PodPlacement> placements;
  bool explain = true;
};

/// Exactly one of the three says something.
struct PlanAttempt {
  std::optional<Plan> plan;
  Problems problems;  ///< Of what was asked for.
  std::string bug;    ///< Lines for standard error.
};

PlanAttempt make_plan(const PlanCase& item, const PlanTools& tools, PlanTiming& timing);

}  // namespace makeway::cli

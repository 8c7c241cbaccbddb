// The text of `makeway risk`: whether today's plan evicts the pod, its eviction order, which
// asks would evict it, and what would protect it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/palette.hpp"
#include "cli/risk/eviction_probe.hpp"
#include "cli/risk/protection_trials.hpp"
#include "cli/risk/stopping_units.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// Where the pod stands among those of its node, least important first.
struct RiskLine {
  std::int64_t place = 0;
  std::int64_t count = 0;
  std::vector<std::string> before;  ///< "shop/batch (10)": the first few, with their priority.
};
RiskLine line_of(const Cluster& cluster, PodIndex pod);

struct RiskReport {
  const Cluster& cluster;
  PodIndex pod;
  RiskLine line;
  std::string chosen_from;  ///< Of several pods of one object; empty: the pod was named itself.
  const Plan& today;
  const PlanAsk* taker = nullptr;      ///< Of `today`; null: no ask evicts or stops the pod.
  const PlanVictim* victim = nullptr;  ///< The pod among its victims; null: see `stops_with`.
  std::string stops_with;              ///< The taker evicts others of this unit.
  std::vector<StoppingUnit> units;     ///< With which it may stop.
  std::string queue;                   ///< Empty: it is in none.
  QueueTrials other_queues;
  std::string resource;  ///< Of the made-up asks; empty: there are none.
  std::int64_t held = 0;
  std::int64_t free = 0;                ///< On its node.
  bool has_no_place = false;            ///< Its node has as many pods as it may.
  std::optional<EvictingAsk> smallest;  ///< None: no ask that was tried on its node evicts it.
  std::string why_it_stays;             ///< Then.
  std::string tried_on;                 ///< "today's plan"
  std::vector<ProtectionTrial> trials;
  bool time_is_known = true;
};

/// The other victims of the smallest ask.
std::vector<std::string> others_evicted(const RiskReport& report);

std::string risk_text(const RiskReport& report, const Palette& palette);

/// "Configuration makeway, time 2026-01-01T12:00:00Z, plan ed87780639b0f511."
std::string closing_line(const Plan& today, bool time_is_known, const Palette& palette);

}  // namespace makeway::cli

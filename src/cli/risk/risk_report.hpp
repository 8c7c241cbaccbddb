// The answers of `makeway risk`, for people and as JSON: of pods, and of sessions, replicas and
// their schedules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/plan/ask_name.hpp"
#include "cli/risk/risk_probe.hpp"
#include "cli/terminal.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

// The text of `makeway risk`: whether today's plan evicts the pod, its eviction order, which
// asks would evict it, and what would protect it.

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
  const PlanAsk* degrader = nullptr;   ///< Of `today`: its victims leave too few of its gang.
  std::vector<StoppingUnit> units;     ///< With which it may stop.
  std::string queue;                   ///< Empty: it is in none.
  QueueTrials other_queues;
  std::string resource;  ///< Of the made-up asks; empty: there are none.
  std::int64_t held = 0;
  std::int64_t free = 0;                ///< On its node.
  bool has_no_place = false;            ///< Its node has as many pods as it may.
  std::optional<EvictingAsk> smallest;  ///< None: no ask that was tried on its node evicts it.
  std::string why_it_stays;             ///< Then.
  /// Of a pod that can run on its node only, where that is lower than another ask's, or where no
  /// other ask evicts it.
  std::optional<std::int32_t> pinned_priority;
  std::string tried_on;  ///< "today's plan"
  std::vector<ProtectionTrial> trials;
  bool time_is_known = true;
};

/// The other victims of the smallest ask.
std::vector<std::string> others_evicted(const RiskReport& report);

std::string risk_text(const RiskReport& report, const Palette& palette);

/// "Configuration makeway, time 2026-01-01T12:00:00Z, plan ed87780639b0f511."
std::string closing_line(const Plan& today, bool time_is_known, const Palette& palette);

// Sessions, replicas and their schedules: what today's plan does to one of them.
//
// More is not asked. A session wants room on all nodes of its group at once, and replicas are taken
// plane by plane, so there is no line on one node, and no single number says which ask is the
// smallest that takes one.

/// An ask of today's plan that takes it or something of it.
struct OwnKindTaker {
  const PlanAsk* ask = nullptr;
  std::vector<std::string> evicted;  ///< Pods that leave, sorted; none of a session.
};

struct OwnKindRisk {
  std::string object;  ///< "Session team/notebook", "Pod shop/web-1 of plane east"
  const Plan* today = nullptr;
  std::vector<OwnKindTaker> takers;            ///< In the order of the plan.
  const PlanVictim* victim = nullptr;          ///< Of a session, or a pod that a pod takes.
  const PlanReplicaVictim* replica = nullptr;  ///< Of a pod that replicas take.
  std::string standing;      ///< Its state, or which asks may evict it; a sentence.
  std::string not_answered;  ///< A sentence.
  bool is_one = true;        ///< Not a schedule, which has many pods.
  bool time_is_known = true;

  std::vector<std::string> evicted() const;  ///< For all of them; sorted.
};

/// `today` must have explanations: then it lists all sessions. None: there is no such object, or it
/// does not run.
std::optional<OwnKindRisk> own_kind_risk(const WrittenAsk& written, const Cluster& cluster,
                                         const Plan& today);

/// Of a pod that is placed elsewhere: a replica of a schedule, or one in another plane. There are
/// no asks that would try its node.
bool is_placed_elsewhere(const Cluster& cluster, const Configuration& configuration, PodIndex pod);
OwnKindRisk replica_pod_risk(const Cluster& cluster, const Configuration& configuration,
                             PodIndex pod, const Plan& today);

/// Why nothing of the written name is at risk.
Problem no_own_kind(const WrittenAsk& written, const Cluster& cluster, Time now);

std::string own_kind_text(const OwnKindRisk& risk, const Palette& palette);

// The result of `makeway risk`, as a document for machines.

std::string risk_json(const RiskReport& report);
std::string risk_json(const OwnKindRisk& risk);

}  // namespace makeway::cli

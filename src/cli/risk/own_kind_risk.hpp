// Sessions, replicas and their schedules: what today's plan does to one of them.
//
// More is not asked. A session wants room on all nodes of its group at once, and replicas are taken
// plane by plane, so there is no line on one node, and no single number says which ask is the
// smallest that takes one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/palette.hpp"
#include "cli/plan/ask_name.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

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

}  // namespace makeway::cli

// A plan that a user has approved, decided again on the cluster of today.
//
// What was approved are places and victims, no more: scores and reasons were true when the plan was
// made. So the asks are decided again with their places given and no other pod allowed to leave
// (LiveViewOptions::may_leave), and the judge sees the result like any plan. Whatever comes out is
// then within what was approved and lawful today, or the ask has no place and falls out whole,
// with the reason; the others are decided without it. Of the approved victims only those leave
// that are still needed.
//
// Pure: the cluster and the asks say it all, so the same is asked before the first write, after
// every change, and by a process that starts again after a crash.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/request.hpp"

namespace makeway {

struct ApprovedPod {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string node;  ///< Where it goes, or where the victim runs.

  friend bool operator==(const ApprovedPod&, const ApprovedPod&) = default;
};

struct ApprovedAsk {
  AskName name;
  std::vector<ApprovedPod> places;  ///< At least one.
  std::vector<ApprovedPod> victims;

  friend bool operator==(const ApprovedAsk&, const ApprovedAsk&) = default;
};

/// What became of a pod that a plan names.
enum class PodFate : std::uint8_t {
  pending,
  runs_there,  ///< On the node that the plan names.
  runs_elsewhere,
  leaving,
  replaced,  ///< Another pod has its name.
  gone,
};
PodFate fate_of(const Cluster& cluster, const ApprovedPod& pod);

/// Why the ask cannot be carried out any more, whatever room there is; empty: it can, or is done.
/// Without schedulers pods of all of them may be placed.
std::string why_stale(const Cluster& cluster, std::span<const std::string> schedulers,
                      const ApprovedAsk& ask);

/// Uids of the pods that may be evicted.
std::set<std::string> approved_victims(std::span<const ApprovedAsk> asks);
/// "namespace/name" of the pods that may be placed.
std::set<std::string> approved_pods(std::span<const ApprovedAsk> asks);

using DecideFunction =
    std::function<Decision(const Cluster&, const Configuration&, const PlanRequest&)>;

struct ApprovedAnswer {
  Decision decision;
  std::map<std::size_t, std::string> dropped;  ///< Asks by position: why they fall out.
};

/// Decides about the asks at these positions; `request` says everything else. An ask of which
/// nothing is pending any more is no part of the plan, and neither is a member of a group as long
/// as the group itself asks.
ApprovedAnswer decide_approved(const Cluster& cluster, const Configuration& configuration,
                               const PlanRequest& request, std::span<const ApprovedAsk> asks,
                               const std::vector<std::size_t>& positions,
                               const DecideFunction& decide);

}  // namespace makeway

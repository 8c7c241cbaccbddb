// What a cycle is asked, and what it answers: the words between control and the policies.
//
// Control, the simulator and the command line know these values and no policy: `decide` is handed
// to them as a function.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

struct AskName {
  AskKind kind = AskKind::pod;
  std::string namespace_name;
  std::string name;

  friend auto operator<=>(const AskName&, const AskName&) = default;
};

AskName ask_name_of(const PlanAsk& ask);
ObjectRef ref_of(const AskName& ask);
/// Without its plane, as plans name an ask.
ObjectRef ref_of(const PlanAsk& ask);
/// None: no ask has such a kind.
std::optional<AskName> as_ask(const ObjectRef& ref);
/// "Pod default/urgent"
std::string ask_text(const AskName& ask);

struct PlanRequest {
  Time now;
  std::string preset;  ///< Only copied into the plan.
  /// Of the configuration, for callers that decide many times; empty: it is computed.
  std::string configuration_hash;
  std::vector<AskName> asks;  ///< None: everything that is pending. Their order means nothing.
  /// Taken as they are, for the pods of `asks`: only victims are chosen.
  std::vector<PodPlacement> placements;
  /// Fill the explanations, which may cost more than the decision. The decision is the same.
  bool explain = true;
  /// Law 14: they are not decided, and keep the room that they lawfully hold. A Queue stands for
  /// the whole queue stage. The plan lists them.
  std::vector<PlanLeftOut> left_out;
  /// Law 14: an ask inside whose decision a CHECK fails is left out; else the process stops.
  bool contain = false;
  /// The schedulerNames whose pods ask; none: all pods, as from files.
  std::span<const std::string> schedulers;
};

struct Decision {
  std::optional<Plan> plan;  ///< None: see `problems` and `failure`.
  Problems problems;         ///< Of the request: an ask that is not there, or already bound.
  /// The earliest time at which the same cluster could give another plan; none: time alone changes
  /// nothing. Until then all that changes are the time itself, waiting times and lost work.
  std::optional<Time> recheck_at = std::nullopt;
  /// The text of a CHECK that failed outside of any ask; only where that is contained.
  std::string failure;
};

/// The newest time of the cluster of something that has happened: `now` when the caller does not
/// say what time it is.
Time newest_time(const Cluster& cluster);

}  // namespace makeway

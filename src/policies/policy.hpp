// Policy: a part of a cycle that decides asks. registry.hpp lists them and says which stage
// comes when; decide.cpp runs them.
//
// In its stage a policy is made, lists its asks, and decides one ask after the other when it is its
// turn: each adds its entry to the plan and changes the world. When all stages are over, it closes,
// and then finishes the entry of each of its asks in the order of the plan.
//
// A folder of a policy includes itself, policies/policy.hpp, policies/shared, engine, model and
// base (tests/tidy/layering.cpp): policies meet in the World and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/problem.hpp"
#include "policies/asking.hpp"
#include "policies/shared/deciding.hpp"
#include "policies/shared/draft.hpp"
#include "policies/shared/plan_losses.hpp"

namespace makeway {

class Policy;

/// An ask of a stage. They take turns by priority, creation and the name of the pod; those without
/// one come last.
struct AskTurn {
  Policy* policy = nullptr;
  std::int32_t priority = 0;
  Time created;
  bool crosses = false;  ///< Pinned to a node of another regime: such asks precede the list.
  PodIndex pod;          ///< The pod that asks, or the first of the group by name.
  UnitIndex limited;     ///< The unit whose limits hold the ask (AskLimits); none: nothing does.
  PodIndex member;       ///< The one of the unit that asks for itself; none: the unit does.
  std::uint32_t number = 0;  ///< For the policy to know it by.
};

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  /// Adds its asks. A problem: a unit that is named in the request cannot ask.
  virtual std::optional<Problem> collect_turns(std::vector<AskTurn>& turns) = 0;
  virtual void decide(const AskTurn& turn) = 0;
  /// All asks of all policies are decided: what the plan says that belongs to no single ask.
  virtual void close() {}
  /// Adds to the plan what follows from one of its asks: losses, actions, statuses.
  virtual void finish(PlanAsk& ask, Losses& losses) = 0;
};

/// What a policy is made from.
struct PolicyContext {
  Draft& draft;
  const PlanRequest& request;
  const Asking& asking;  ///< Pods and groups.
  Deciding& deciding;    ///< Notified before every ask (law 14).
};

}  // namespace makeway

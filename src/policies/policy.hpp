// Policy: a part of a cycle that decides asks. `policies` lists them with their stages; decide.cpp
// runs them.
//
// In its stage a policy is made, lists its asks, and decides one ask after the other when it is its
// turn: each adds its entry to the plan and changes the world. When all stages are over, it closes,
// and then finishes the entry of each of its asks in the order of the plan.
//
// A folder of a policy includes itself, policies/policy.hpp, policies/shared, engine, model and
// base (tests/tidy/layering.cpp): policies meet in the World and nowhere else.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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

// ---- Which policies there are; null: it has nothing to do in this cycle
// --------------------------

std::unique_ptr<Policy> make_queue_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_required_node_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_workload_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_session_policy(const PolicyContext& context);
std::unique_ptr<Policy> make_replica_policy(const PolicyContext& context);

/// Of a cycle (SPEC section 1), in this order.
enum class Stage : std::uint8_t {
  before_asks,  ///< Queues divide the cluster and take back what is theirs.
  asks,         ///< All asks in one list; each is handled by exactly one policy.
  after_asks,   ///< Replicas whose placement is not ours get what is left.
};

struct PolicyRow {
  Stage stage;
  std::unique_ptr<Policy> (*make)(const PolicyContext& context);
};

/// In the order in which their asks are collected.
inline constexpr std::array policies = {
    PolicyRow{.stage = Stage::before_asks, .make = make_queue_policy},
    PolicyRow{.stage = Stage::asks, .make = make_required_node_policy},
    PolicyRow{.stage = Stage::asks, .make = make_workload_policy},
    PolicyRow{.stage = Stage::asks, .make = make_session_policy},
    PolicyRow{.stage = Stage::after_asks, .make = make_replica_policy},
};

}  // namespace makeway

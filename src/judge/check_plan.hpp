// check_plan: the independent judge between every plan and the world.
//
// It knows the laws of SPEC section 1 and nothing of how a plan was found: it recomputes
// feasibility from the objects in the most naive way that is fast enough, and shares no code with
// the search. A plan with a breach is never printed as a plan and never applied.
//
// The states it judges by. Asks are taken in the order of the plan; for the k-th
//   now:   everything that is bound, and what the asks before it bind;
//   after: the same without pods that are leaving (where the configuration credits their room) and
//          without the victims of the asks up to and including the k-th, but with what the asks
//          before it nominate, and beside pending pods that hold a nomination against it.
// `fits` must hold now and after; `waits` and `preempts` must hold after.
//
// With queues on, both hold for the ask's queue too (check_plan_walk.hpp), and what the queue
// stage says is computed once more (check_plan_queues.cpp).
//
// A group is judged by its members together: as many as it needs have a place, each fits beside all
// the others. That it needs no victims, or is feasible, is claimed only where that is proven
// (check_plan_groups.cpp says when).
#pragma once

#include <string>
#include <vector>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"
#include "model/request.hpp"

namespace makeway {

struct LawBreach {
  int law = 0;       ///< 1 to 10.
  std::string ask;   ///< "Pod default/urgent"
  std::string text;  ///< What is wrong, with the objects.
  /// Law 14: without these asks of the plan it would not be broken; of two asks that conflict, the
  /// later one. A queue stands for the queue stage. None: no ask can be named.
  std::vector<AskName> asks;

  friend bool operator==(const LawBreach&, const LawBreach&) = default;
};

/// Empty when the plan keeps every law that the configuration does not waive. A plan says nothing
/// about asks that are left out (law 14); a withheld plan says nothing at all.
std::vector<LawBreach> check_plan(const Cluster& cluster, const Configuration& configuration,
                                  const Plan& plan);

}  // namespace makeway

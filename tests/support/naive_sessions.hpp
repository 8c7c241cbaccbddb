// The sessions that one pending session preempts, by trying every set of sessions: SPEC section 6
// in its most naive form. For clusters with one ask, no pods, nothing leaving and no nominations.
#pragma once

#include <set>
#include <string>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway {

struct NaiveSessionAnswer {
  Outcome outcome = Outcome::infeasible;
  std::set<std::string> victims;  ///< "default/x"
  bool too_many = false;          ///< Candidates or kernels, so nothing was tried.
};

NaiveSessionAnswer naive_session(const Cluster& cluster, const Configuration& configuration,
                                 const Session& ask, Time now);

}  // namespace makeway

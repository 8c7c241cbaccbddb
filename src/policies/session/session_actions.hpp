// What the world is asked to do about sessions.
//
//   bind      a kernel starts on its node            resume   a suspended session runs on
//   nominate  room is kept for a kernel              wait     nothing yet
//   evict, requeue, suspend   a victim leaves and ends, leaves and comes back, gives up all but its
//             memory. With `until` it gets notice only; the same action without `until` follows in
//             the first cycle after that time and ends it.
#pragma once

#include <vector>

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

void add_session_actions(const Cluster& cluster, const PlanAsk& ask, Plan& plan);
/// The session got notice, with its fate, and its grace time is over at `plan.now`: it is to end.
void add_ended_grace(const Session& session, Plan& plan);

/// The sessions as they are when everything that the plan says about them is under way: started,
/// nominated, noticed, suspended, running on. What the world does later (`take_off_session`) is not
/// in it.
std::vector<Session> sessions_after(const Cluster& cluster, const Plan& plan);

}  // namespace makeway

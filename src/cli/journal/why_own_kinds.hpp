// What happened to a Session or a ReplicaSchedule between two of its versions, in sentences.
#pragma once

#include <string>
#include <vector>

#include "model/replica_schedule.hpp"
#include "model/session_objects.hpp"

namespace makeway::cli {

/// `before` is null when it was not there. Without the object's own name: "runs on n1".
std::vector<std::string> session_events(const Session* before, const Session& session, Time now);
std::vector<std::string> schedule_events(const ReplicaSchedule* before,
                                         const ReplicaSchedule& schedule);

/// How it stands: "pending", "runs on n1 since ...".
std::string session_state(const Session& session);
std::string schedule_state(const ReplicaSchedule& schedule);

/// Where its kernels run; sorted.
std::vector<std::string> session_nodes(const Session& session);

}  // namespace makeway::cli

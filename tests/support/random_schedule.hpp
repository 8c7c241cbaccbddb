// A random ReplicaSchedule, in canonical form.
#pragma once

#include <string>

#include "base/prng.hpp"
#include "model/replica_schedule.hpp"

namespace makeway {

/// Its deployment is named after it, so that no two schedules share one.
ReplicaSchedule random_schedule(Prng& random, const std::string& namespace_name,
                                const std::string& name);

}  // namespace makeway

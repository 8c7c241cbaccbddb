#include "model/replica_priority.hpp"

namespace makeway {

std::int32_t priority_of(const Cluster& cluster, const ReplicaSchedule& schedule) {
  if (schedule.priority) return *schedule.priority;
  const PriorityClass* const named = schedule.priority_class.empty()
                                         ? cluster.default_priority_class()
                                         : cluster.find_priority_class(schedule.priority_class);
  return named == nullptr ? 0 : named->value;
}

}  // namespace makeway

// The status of a ReplicaSchedule, as dumps and plans write it.
#pragma once

#include "codec/writer.hpp"
#include "model/replica_schedule.hpp"

namespace makeway {

void write_replica_status(DocumentWriter& writer, const ReplicaStatus& status);

}  // namespace makeway

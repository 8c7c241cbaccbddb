// The writer of ReplicaSchedule.
#include "codec/dump_parts.hpp"

namespace makeway {

void write_own(DocumentWriter& writer, const ReplicaSchedule& schedule) {
  begin_own(writer, schedule);
  writer.end_object();
}

}  // namespace makeway

// The decoder of ReplicaSchedule.
#include "codec/decoders.hpp"

namespace makeway {

void decode_own(ObjectCursor cursor, ReplicaSchedule& schedule) {
  const auto unknown = [](std::string_view, JsonCursor&, const FieldPath&) { return false; };
  Metadata metadata = decode_own_fields(cursor, ReplicaSchedule::is_namespaced, unknown, unknown);
  schedule.namespace_name = std::move(metadata.namespace_name);
  schedule.name = std::move(metadata.name);
  schedule.uid = std::move(metadata.uid);
}

}  // namespace makeway

// The decoders of ResourceGroup, Session and Partition.
#include "codec/decoders.hpp"

namespace makeway {
namespace {

constexpr auto unknown = [](std::string_view, JsonCursor&, const FieldPath&) { return false; };

}  // namespace

void decode_own(ObjectCursor cursor, ResourceGroup& group) {
  Metadata metadata = decode_own_fields(cursor, ResourceGroup::is_namespaced, unknown, unknown);
  group.name = std::move(metadata.name);
  group.uid = std::move(metadata.uid);
}

void decode_own(ObjectCursor cursor, Session& session) {
  Metadata metadata = decode_own_fields(cursor, Session::is_namespaced, unknown, unknown);
  session.namespace_name = std::move(metadata.namespace_name);
  session.name = std::move(metadata.name);
  session.uid = std::move(metadata.uid);
}

void decode_own(ObjectCursor cursor, Partition& partition) {
  Metadata metadata = decode_own_fields(cursor, Partition::is_namespaced, unknown, unknown);
  partition.name = std::move(metadata.name);
  partition.uid = std::move(metadata.uid);
}

}  // namespace makeway

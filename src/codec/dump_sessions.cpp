// The writers of ResourceGroup, Session and Partition.
#include "codec/dump_parts.hpp"

namespace makeway {

void write_own(DocumentWriter& writer, const ResourceGroup& group) {
  begin_own(writer, group);
  writer.end_object();
}

void write_own(DocumentWriter& writer, const Session& session) {
  begin_own(writer, session);
  writer.end_object();
}

void write_own(DocumentWriter& writer, const Partition& partition) {
  begin_own(writer, partition);
  writer.end_object();
}

}  // namespace makeway

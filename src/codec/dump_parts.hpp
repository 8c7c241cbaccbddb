// What the writers of all kinds share, and the writers of Makeway's own kinds.
#pragma once

#include <optional>
#include <string_view>

#include "codec/writer.hpp"
#include "model/objects.hpp"

namespace makeway {

/// Opens the object; whoever calls it closes it.
void begin_kind(DocumentWriter& writer, std::string_view version, std::string_view kind);
void text_if(DocumentWriter& writer, std::string_view key, std::string_view value);
void time_if(DocumentWriter& writer, std::string_view key, const std::optional<Time>& time);
void write_amounts(DocumentWriter& writer, const Amounts& amounts);
void write_identity(DocumentWriter& writer, std::string_view space, std::string_view name,
                    std::string_view uid);
void write_labels_if(DocumentWriter& writer, std::string_view key, const Labels& labels);

// dump_queue.cpp, dump_replica_schedule.cpp, dump_sessions.cpp
void write_own(DocumentWriter& writer, const Queue& queue);
void write_own(DocumentWriter& writer, const ReplicaSchedule& schedule);
void write_own(DocumentWriter& writer, const ResourceGroup& group);
void write_own(DocumentWriter& writer, const Session& session);
void write_own(DocumentWriter& writer, const Partition& partition);

/// Opens an object of one of Makeway's own kinds, with its metadata.
template <OwnObject Object>
void begin_own(DocumentWriter& writer, const Object& object) {
  begin_kind(writer, "makeway.dev/v1", Object::kind_name);
  const auto [space, name] = own_key(object);
  writer.key("metadata");
  writer.begin_object();
  write_identity(writer, space, name, object.uid);
  writer.end_object();
}

}  // namespace makeway

// The decoder of Queue.
#include <fmt/format.h>

#include "codec/decoders.hpp"

namespace makeway {
namespace {

constexpr std::int64_t weight_max = 1'000'000;

void read_weight(JsonReader& reader, JsonCursor& field, const FieldPath& at, Queue& queue) {
  if (!reader.read(field, at, queue.weight)) return;
  if (queue.weight >= 1 && queue.weight <= weight_max) return;
  reader.refuse(at, std::to_string(queue.weight),
                fmt::format("expected a weight from 1 to {}", weight_max));
  queue.weight = 1;
}

bool read_spec(JsonReader& reader, std::string_view key, JsonCursor& field, const FieldPath& at,
               Queue& queue) {
  if (key == "weight") {
    read_weight(reader, field, at, queue);
  } else if (key == "parent") {
    if (reader.read(field, at, queue.parent)) check_reference(reader, at, queue.parent);
  } else if (key == "priority") {
    reader.read(field, at, queue.priority);
  } else if (key == "reclaimable") {
    reader.read(field, at, queue.reclaimable);
  } else if (key == "guarantee") {
    decode_amounts(reader, field, at, queue.guarantee);
  } else if (key == "limit") {
    decode_quotas(reader, field, at, queue.limit);
  } else {
    return false;
  }
  return true;
}

}  // namespace

void decode_own(ObjectCursor cursor, Queue& queue) {
  JsonReader& reader = cursor.reader;
  Metadata metadata = decode_own_fields(
      cursor, Queue::is_namespaced,
      [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        return read_spec(reader, key, field, at, queue);
      },
      [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        if (key == "allocated") {
          decode_quotas(reader, field, at, queue.allocated);
        } else if (key == "preempting") {
          decode_amounts(reader, field, at, queue.preempting);
        } else {  // What was written for people; the next cycle computes it again.
          return key == "deserved" || key == "used";
        }
        return true;
      });
  queue.name = std::move(metadata.name);
  queue.uid = std::move(metadata.uid);
}

}  // namespace makeway

// The decoder of ReplicaSchedule.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "codec/decoders.hpp"

namespace makeway {
namespace {

/// Calls `known` for the fields of an object below; one that it does not know is refused.
template <class Known>
void each_known(JsonReader& reader, JsonCursor& value, const FieldPath& path, const Known& known) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (!known(key, field, at)) refuse_field(reader, at);
  });
}

void read_between(JsonReader& reader, JsonCursor& field, const FieldPath& at, std::int64_t lowest,
                  std::int64_t highest, std::int64_t& out) {
  std::int64_t value = 0;
  if (!reader.read(field, at, value)) return;
  if (value >= lowest && value <= highest) {
    out = value;
    return;
  }
  reader.refuse(at, std::to_string(value),
                fmt::format("expected a number from {} to {}", lowest, highest));
}

void read_name(JsonReader& reader, JsonCursor& field, const FieldPath& at, std::string& out) {
  if (reader.read(field, at, out)) check_reference(reader, at, out);
}

void read_time(JsonReader& reader, JsonCursor& field, const FieldPath& at,
               std::optional<Time>& out) {
  Time time;
  if (reader.read(field, at, time)) out = time;
}

void want_name(JsonReader& reader, const FieldPath& path, std::string_view field,
               std::string_view name) {
  if (name.empty()) reader.refuse(path.at(field), {}, "it is missing", "say which one");
}

void decode_plane(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                  ReplicaSchedule& schedule) {
  ReplicaPlane plane;
  const std::size_t problems = reader.problem_count();
  each_known(reader, item, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "name") {
      reader.read(field, at, plane.name);
    } else if (key == "committed") {
      read_between(reader, field, at, 0, replicas_max, plane.committed);
    } else if (key == "score") {
      read_between(reader, field, at, -plane_score_max, plane_score_max, plane.score);
    } else {
      return false;
    }
    return true;
  });
  if (reader.problem_count() == problems) want_name(reader, path, "name", plane.name);
  const bool twice =
      !plane.name.empty() &&
      std::ranges::find(schedule.planes, plane.name, &ReplicaPlane::name) != schedule.planes.end();
  if (twice) {
    reader.refuse(path.at("name"), plane.name, "the plane is listed twice",
                  "give each plane one entry");
  }
  schedule.planes.push_back(std::move(plane));
}

bool read_spec(JsonReader& reader, std::string_view key, JsonCursor& field, const FieldPath& at,
               ReplicaSchedule& schedule) {
  if (key == "deployment") {
    read_name(reader, field, at, schedule.deployment);
  } else if (key == "priorityClassName") {
    reader.read(field, at, schedule.priority_class);
  } else if (key == "priority") {
    std::int32_t priority = 0;
    if (reader.read(field, at, priority)) schedule.priority = priority;
  } else if (key == "resources") {
    decode_amounts(reader, field, at, schedule.requests);
  } else if (key == "unmet") {
    read_between(reader, field, at, 0, replicas_max, schedule.unmet);
  } else if (key == "planes") {
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      decode_plane(reader, item, to, schedule);
    });
  } else {
    return false;
  }
  return true;
}

void decode_victim(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                   ReplicaClaim& claim) {
  ClaimedVictim victim;
  each_known(reader, item, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "namespace") {
      read_name(reader, field, at, victim.namespace_name);
    } else if (key == "name") {
      read_name(reader, field, at, victim.name);
    } else if (key == "uid") {
      reader.read(field, at, victim.uid);
    } else if (key == "deployment") {
      read_name(reader, field, at, victim.deployment);
    } else if (key == "committed") {
      std::int64_t committed = 0;
      read_between(reader, field, at, 0, replicas_max, committed);
      victim.committed = committed;
    } else if (key == "forceDeleted") {
      read_time(reader, field, at, victim.force_deleted);
    } else {
      return false;
    }
    return true;
  });
  want_name(reader, path, "namespace", victim.namespace_name);
  want_name(reader, path, "name", victim.name);
  const bool twice = std::ranges::any_of(claim.victims, [&](const ClaimedVictim& other) {
    return !victim.name.empty() && other.name == victim.name &&
           other.namespace_name == victim.namespace_name;
  });
  if (twice) {
    reader.refuse(path.at("name"), victim.name, "the claim lists the victim twice",
                  "give each victim one entry");
  }
  claim.victims.push_back(std::move(victim));
}

void decode_claim(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                  ReplicaSchedule& schedule) {
  ReplicaClaim claim;
  std::optional<Time> since;
  each_known(reader, item, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "plane") {
      reader.read(field, at, claim.plane);
    } else if (key == "node") {
      read_name(reader, field, at, claim.node);
    } else if (key == "since") {
      read_time(reader, field, at, since);
    } else if (key == "victims") {
      reader.each_item(field, at, [&](JsonCursor& victim, const FieldPath& to) {
        decode_victim(reader, victim, to, claim);
      });
    } else {
      return false;
    }
    return true;
  });
  want_name(reader, path, "plane", claim.plane);
  want_name(reader, path, "node", claim.node);
  if (!since) reader.refuse(path.at("since"), {}, "it is missing", "say when the claim began");
  claim.since = since.value_or(Time{});
  schedule.status.claims.push_back(std::move(claim));
}

void decode_missed(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                   ReplicaSchedule& schedule) {
  MissedVictim missed;
  each_known(reader, item, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "plane") {
      reader.read(field, at, missed.plane);
    } else if (key == "node") {
      read_name(reader, field, at, missed.node);
    } else if (key == "namespace") {
      read_name(reader, field, at, missed.namespace_name);
    } else if (key == "deployment") {
      read_name(reader, field, at, missed.deployment);
    } else if (key == "committed") {
      read_between(reader, field, at, 0, replicas_max, missed.committed);
    } else {
      return false;
    }
    return true;
  });
  want_name(reader, path, "plane", missed.plane);
  want_name(reader, path, "node", missed.node);
  want_name(reader, path, "namespace", missed.namespace_name);
  want_name(reader, path, "deployment", missed.deployment);
  schedule.status.missed.push_back(std::move(missed));
}

void decode_surplus(JsonReader& reader, JsonCursor& item, const FieldPath& path,
                    ReplicaSchedule& schedule) {
  SurplusPod surplus;
  std::optional<Time> since;
  each_known(reader, item, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "name") {
      read_name(reader, field, at, surplus.name);
    } else if (key == "since") {
      read_time(reader, field, at, since);
    } else {
      return false;
    }
    return true;
  });
  want_name(reader, path, "name", surplus.name);
  if (!since) reader.refuse(path.at("since"), {}, "it is missing", "say since when it is surplus");
  surplus.since = since.value_or(Time{});
  schedule.status.surplus.push_back(std::move(surplus));
}

bool read_status(JsonReader& reader, std::string_view key, JsonCursor& field, const FieldPath& at,
                 ReplicaSchedule& schedule) {
  if (key == "claims") {
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      decode_claim(reader, item, to, schedule);
    });
  } else if (key == "missed") {
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      decode_missed(reader, item, to, schedule);
    });
  } else if (key == "surplus") {
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      decode_surplus(reader, item, to, schedule);
    });
  } else {
    return false;
  }
  return true;
}

}  // namespace

void decode_own(ObjectCursor cursor, ReplicaSchedule& schedule) {
  JsonReader& reader = cursor.reader;
  const std::size_t problems = reader.problem_count();
  Metadata metadata = decode_own_fields(
      cursor, ReplicaSchedule::is_namespaced,
      [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        return read_spec(reader, key, field, at, schedule);
      },
      [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
        return read_status(reader, key, field, at, schedule);
      });
  schedule.namespace_name = std::move(metadata.namespace_name);
  schedule.name = std::move(metadata.name);
  schedule.uid = std::move(metadata.uid);
  schedule.created = metadata.created;
  if (schedule.requests.empty() && reader.problem_count() == problems) {
    reader.refuse(cursor.path.at("spec").at("resources"), {}, "a replica needs something",
                  "say what one replica requests, as nvidia.com/gpu: 1");
  }
  normalize(schedule);
}

}  // namespace makeway

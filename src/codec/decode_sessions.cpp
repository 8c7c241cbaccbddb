// The decoders of ResourceGroup, Session and Partition.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "codec/decoders.hpp"
#include "model/normalize.hpp"
#include "model/session_names.hpp"

namespace makeway {
namespace {

constexpr std::int64_t priority_highest = 100;
constexpr std::int64_t tier_highest = 1'000'000;
/// Of one resource and one kernel: sums of thousands of them must not leave int64.
constexpr std::int64_t amount_highest = std::int64_t{1} << 50;

/// One field of an object, while it is read.
struct Field {
  JsonReader& reader;
  JsonCursor& value;
  const FieldPath& at;

  template <class T>
  void read(std::optional<T>& out) const {
    T found{};
    if (reader.read(value, at, found)) out = std::move(found);
  }

  template <class T>
  void read_between(std::int64_t lowest, std::int64_t highest, T& out) const {
    std::int64_t found = 0;
    if (!reader.read(value, at, found)) return;
    if (found >= lowest && found <= highest) {
      out = static_cast<typename std::decay_t<T>>(found);
      return;
    }
    reader.refuse(at, std::to_string(found),
                  fmt::format("expected an integer from {} to {}", lowest, highest));
  }

  template <class Choice, class Out>
  void read_choice(Out& out) const {
    std::string_view text;
    if (!reader.read(value, at, text)) return;
    const auto found = std::ranges::find(choice_names<Choice>, text);
    if (found != choice_names<Choice>.end()) {
      out = static_cast<Choice>(found - choice_names<Choice>.begin());
      return;
    }
    reader.refuse(at, shorten(text),
                  fmt::format("expected one of {}", fmt::join(choice_names<Choice>, ", ")));
  }

  void read_duration(Duration& out) const {
    std::string_view text;
    if (!reader.read(value, at, text)) return;
    const Result<Duration> found = parse_duration(text);
    if (found) {
      out = *found;
    } else {
      reader.refuse(at, shorten(text), found.error().message);
    }
  }

  void read_reference(std::string& out) const {
    if (reader.read(value, at, out)) check_reference(reader, at, out);
  }

  void read_references(std::vector<std::string>& out) const {
    reader.each_item(value, at, [&](JsonCursor& item, const FieldPath& to) {
      std::string name;
      if (!reader.read(item, to, name)) return;
      if (name.empty()) return reader.refuse(to, {}, "expected the name of a node");
      check_reference(reader, to, name);
      out.push_back(std::move(name));
    });
  }
};

void need(JsonReader& reader, const FieldPath& path, bool there, std::string_view field) {
  if (there) return;
  reader.refuse(path.at(field), {}, "the field is missing", fmt::format("set {}", field));
}

// ---- ResourceGroup ------------------------------------------------------------------------------

bool read_group_field(std::string_view key, const Field& field, ResourceGroup& group) {
  if (key == "nodes") {
    field.read_references(group.nodes);
  } else if (key == "nodeSelector") {
    decode_labels(field.reader, field.value, field.at, group.node_selector);
  } else if (key == "preemptiblePriority") {
    field.read_between(0, priority_highest, group.preemptible_priority.emplace(0));
  } else if (key == "preemptionOrder") {
    field.read_choice<PreemptionOrder>(group.preemption_order);
  } else {
    return false;
  }
  return true;
}

// ---- Partition ----------------------------------------------------------------------------------

bool read_partition_field(std::string_view key, const Field& field, Partition& partition) {
  if (key == "resourceGroup") {
    field.read_reference(partition.resource_group);
  } else if (key == "nodes") {
    field.read_references(partition.nodes);
  } else if (key == "tier") {
    field.read_between(0, tier_highest, partition.tier);
  } else if (key == "preemptible") {
    field.reader.read(field.value, field.at, partition.preemptible);
  } else if (key == "mode") {
    field.read_choice<PartitionMode>(partition.mode);
  } else if (key == "graceTime") {
    field.read_duration(partition.grace_time);
  } else if (key == "exemptTime") {
    field.read_duration(partition.exempt_time);
  } else {
    return false;
  }
  return true;
}

// ---- Session ------------------------------------------------------------------------------------

void read_kernel(JsonReader& reader, JsonCursor& value, const FieldPath& path, Session& session,
                 std::set<std::string>& names) {
  Kernel kernel;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& item, const FieldPath& at) {
    const Field field{.reader = reader, .value = item, .at = at};
    if (key == "name") {
      field.read_reference(kernel.name);
    } else if (key == "resources") {
      decode_amounts(reader, item, at, kernel.requests);
    } else if (key == "node") {
      field.read_reference(kernel.node);
    } else if (key == "nominatedNode") {
      field.read_reference(kernel.nominated_node);
    } else {
      refuse_field(reader, at);
    }
  });
  need(reader, path, !kernel.name.empty(), "name");
  for (Amount& amount : kernel.requests) {
    if (amount.amount <= amount_highest) continue;
    reader.refuse(path.at("resources").at(amount.resource), fmt::format("{}", amount.amount),
                  "no kernel asks for that much", fmt::format("at most {}", amount_highest));
    amount.amount = amount_highest;
  }
  if (!names.insert(kernel.name).second) {
    reader.refuse(path.at("name"), kernel.name, "another kernel has this name");
    return;
  }
  session.kernels.push_back(std::move(kernel));
}

bool read_session_field(std::string_view key, const Field& field, Session& session) {
  JsonReader& reader = field.reader;
  if (key == "resourceGroup") {
    field.read_reference(session.resource_group);
  } else if (key == "partition") {
    field.read_reference(session.partition);
  } else if (key == "priority") {
    field.read_between(0, priority_highest, session.priority.emplace(0));
  } else if (key == "type") {
    field.read_choice<SessionType>(session.type);
  } else if (key == "preemptible") {
    field.read(session.preemptible);
  } else if (key == "checkpointing") {
    reader.read(field.value, field.at, session.checkpointing);
  } else if (key == "requeue") {
    field.read(session.requeue);
  } else if (key == "autoscaler") {
    reader.read(field.value, field.at, session.autoscaler);
  } else if (key == "kernels") {
    std::set<std::string> names;
    reader.each_item(field.value, field.at, [&](JsonCursor& item, const FieldPath& to) {
      read_kernel(reader, item, to, session, names);
    });
  } else {
    return false;
  }
  return true;
}

bool read_status_field(std::string_view key, const Field& field, SessionStatus& status,
                       std::optional<SessionPhase>& phase) {
  constexpr std::int64_t preemptions_max = 1'000'000'000;
  if (key == "phase") {
    field.read_choice<SessionPhase>(phase);
  } else if (key == "started") {
    field.read(status.started);
  } else if (key == "lastCheckpoint") {
    field.read(status.last_checkpoint);
  } else if (key == "endsAt") {
    field.read(status.ends_at);
  } else if (key == "preemptions") {
    field.read_between(0, preemptions_max, status.preemptions);
  } else if (key == "preemptedBy") {
    field.reader.read(field.value, field.at, status.preempted_by);
  } else if (key == "preemptedAt") {
    field.read(status.preempted_at);
  } else if (key == "fate") {
    field.read_choice<SessionFate>(status.fate);
  } else if (key == "resumeAfter") {
    field.read(status.resume_after);
  } else {
    return false;
  }
  return true;
}

/// Without a word about its phase a session runs if its kernels have nodes.
void finish_phase(Session& session, const std::optional<SessionPhase>& phase) {
  const bool placed = !session.kernels.empty() && !session.kernels.front().node.empty();
  session.status.phase = phase.value_or(placed ? SessionPhase::running : SessionPhase::pending);
}

}  // namespace

void decode_own(ObjectCursor cursor, ResourceGroup& group) {
  JsonReader& reader = cursor.reader;
  Metadata metadata = decode_own_fields(
      cursor, ResourceGroup::is_namespaced,
      [&](std::string_view key, JsonCursor& value, const FieldPath& at) {
        return read_group_field(key, {.reader = reader, .value = value, .at = at}, group);
      },
      [](std::string_view, JsonCursor&, const FieldPath&) { return false; });
  group.name = std::move(metadata.name);
  group.uid = std::move(metadata.uid);
  normalize(group);
}

void decode_own(ObjectCursor cursor, Session& session) {
  JsonReader& reader = cursor.reader;
  std::optional<SessionPhase> phase;
  Metadata metadata = decode_own_fields(
      cursor, Session::is_namespaced,
      [&](std::string_view key, JsonCursor& value, const FieldPath& at) {
        return read_session_field(key, {.reader = reader, .value = value, .at = at}, session);
      },
      [&](std::string_view key, JsonCursor& value, const FieldPath& at) {
        return read_status_field(key, {.reader = reader, .value = value, .at = at}, session.status,
                                 phase);
      });
  session.namespace_name = std::move(metadata.namespace_name);
  session.name = std::move(metadata.name);
  session.uid = std::move(metadata.uid);
  session.labels = std::move(metadata.labels);
  for (const TextPair& each : metadata.annotations) {
    session.annotations.push_back({.key = std::string(each.key), .value = std::string(each.value)});
  }
  session.created = metadata.created;
  const FieldPath spec = cursor.path.at("spec");
  need(reader, spec, !session.resource_group.empty(), "resourceGroup");
  need(reader, spec, !session.kernels.empty(), "kernels");
  finish_phase(session, phase);
  normalize(session);
}

void decode_own(ObjectCursor cursor, Partition& partition) {
  JsonReader& reader = cursor.reader;
  Metadata metadata = decode_own_fields(
      cursor, Partition::is_namespaced,
      [&](std::string_view key, JsonCursor& value, const FieldPath& at) {
        return read_partition_field(key, {.reader = reader, .value = value, .at = at}, partition);
      },
      [](std::string_view, JsonCursor&, const FieldPath&) { return false; });
  partition.name = std::move(metadata.name);
  partition.uid = std::move(metadata.uid);
  need(reader, cursor.path.at("spec"), !partition.resource_group.empty(), "resourceGroup");
  normalize(partition);
}

}  // namespace makeway

#include "codec/object_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "codec/object_walk.hpp"

namespace makeway {
namespace {

constexpr std::array kept_conditions = {std::string_view("PodScheduled"),
                                        std::string_view("DisruptionTarget"),
                                        std::string_view("PodGroupInitiallyScheduled")};
constexpr std::string_view node_word = "node ";

bool is_of_scheduler(const SeenCondition& condition) {
  return condition.type.starts_with("makeway.dev/") ||
         std::ranges::find(kept_conditions, condition.type) != kept_conditions.end();
}

void read_condition(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                    KeepConditions keep, ObjectState& state) {
  SeenCondition condition;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "type") reader.read(field, at, condition.type);
    if (key == "status") reader.read(field, at, condition.status);
    if (key == "reason") reader.read(field, at, condition.reason);
    if (key == "message") reader.read(field, at, condition.message);
    if (key == "lastTransitionTime") reader.read(field, at, condition.changed);
    if (key == "observedGeneration") reader.read(field, at, condition.generation);
  });
  const bool kept = keep == KeepConditions::all || is_of_scheduler(condition);
  if (kept) state.conditions.push_back(std::move(condition));
}

void read_status(JsonReader& reader, JsonCursor& value, const FieldPath& path, KeepConditions keep,
                 ObjectState& state) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "phase") reader.read(field, at, state.phase);
    if (key == "reason") reader.read(field, at, state.reason);
    if (key == "nominatedNodeName") reader.read(field, at, state.nominated_node);
    if (key != "conditions") return;
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      read_condition(reader, item, to, keep, state);
    });
  });
}

void read_owner(JsonReader& reader, JsonCursor& value, const FieldPath& path, ObjectState& state) {
  std::string uid;
  std::string kind;
  bool is_controller = false;
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    if (key == "uid") reader.read(field, at, uid);
    if (key == "kind") reader.read(field, at, kind);
    if (key == "controller") reader.read(field, at, is_controller);
  });
  if (!is_controller) return;
  state.owner_uid = std::move(uid);
  state.owner_kind = std::move(kind);
}

void read_metadata(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                   ObjectState& state) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    std::string_view text;
    if (key == "name") reader.read(field, at, state.name);
    if (key == "namespace") reader.read(field, at, state.namespace_name);
    if (key == "uid") reader.read(field, at, state.uid);
    if (key == "resourceVersion") reader.read(field, at, state.version);
    if (key == "generation") reader.read(field, at, state.generation);
    if (key == "deletionTimestamp") state.leaving = reader.read(field, at, text);
    if (key != "ownerReferences") return;
    reader.each_item(field, at, [&](JsonCursor& item, const FieldPath& to) {
      read_owner(reader, item, to, state);
    });
  });
}

void read_part(JsonReader& reader, std::string_view key, JsonCursor& value, const FieldPath& path,
               KeepConditions keep, ObjectState& state) {
  if (key == "metadata") read_metadata(reader, value, path, state);
  if (key == "status") read_status(reader, value, path, keep, state);
  if (key != "spec") return;
  reader.each_field(value, path,
                    [&](std::string_view name, JsonCursor& field, const FieldPath& at) {
                      if (name == "nodeName") reader.read(field, at, state.node);
                      if (name == "schedulerName") reader.read(field, at, state.scheduler);
                    });
}

}  // namespace

const SeenCondition* ObjectState::condition(std::string_view type) const {
  const auto found = std::ranges::find(conditions, type, &SeenCondition::type);
  return found == conditions.end() ? nullptr : &*found;
}

std::vector<ObjectState> read_object_states(std::string_view padded_text, KeepConditions keep) {
  WalkedObjects<ObjectState> walked = walk_objects<ObjectState>(
      padded_text,
      [keep](JsonReader& reader, std::string_view key, JsonCursor& value, const FieldPath& path,
             ObjectState& state) { read_part(reader, key, value, path, keep, state); });
  if (!walked.is_list) walked.items.push_back(std::move(walked.whole));
  std::erase_if(walked.items, [](const ObjectState& state) { return state.name.empty(); });
  return std::move(walked.items);
}

std::string_view noted_node(std::string_view message) {
  if (!message.starts_with(node_word)) return {};
  message.remove_prefix(node_word.size());
  return message.substr(0, message.find(','));
}

std::string note_of(std::string_view node, std::string_view plan) {
  return fmt::format("{}{}, plan {}", node_word, node, plan);
}

}  // namespace makeway

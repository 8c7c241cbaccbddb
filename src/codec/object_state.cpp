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

void read_condition(const JsonField& value, KeepConditions keep, ObjectState& state) {
  SeenCondition condition;
  value.each_field([&](const JsonField& field) {
    if (field.key == "type") field.read(condition.type);
    if (field.key == "status") field.read(condition.status);
    if (field.key == "reason") field.read(condition.reason);
    if (field.key == "message") field.read(condition.message);
    if (field.key == "lastTransitionTime") field.read(condition.changed);
    if (field.key == "observedGeneration") field.read(condition.generation);
  });
  const bool kept = keep == KeepConditions::all || is_of_scheduler(condition);
  if (kept) state.conditions.push_back(std::move(condition));
}

void read_status(const JsonField& value, KeepConditions keep, ObjectState& state) {
  value.each_field([&](const JsonField& field) {
    if (field.key == "phase") field.read(state.phase);
    if (field.key == "reason") field.read(state.reason);
    if (field.key == "nominatedNodeName") field.read(state.nominated_node);
    if (field.key != "conditions") return;
    field.each_item([&](const JsonField& item) { read_condition(item, keep, state); });
  });
}

void read_owner(const JsonField& value, ObjectState& state) {
  std::string uid;
  std::string kind;
  bool is_controller = false;
  value.each_field([&](const JsonField& field) {
    if (field.key == "uid") field.read(uid);
    if (field.key == "kind") field.read(kind);
    if (field.key == "controller") field.read(is_controller);
  });
  if (!is_controller) return;
  state.owner_uid = std::move(uid);
  state.owner_kind = std::move(kind);
}

void read_metadata(const JsonField& value, ObjectState& state) {
  value.each_field([&](const JsonField& field) {
    std::string_view text;
    if (field.key == "name") field.read(state.name);
    if (field.key == "namespace") field.read(state.namespace_name);
    if (field.key == "uid") field.read(state.uid);
    if (field.key == "resourceVersion") field.read(state.version);
    if (field.key == "generation") field.read(state.generation);
    if (field.key == "deletionTimestamp") state.leaving = field.read(text);
    if (field.key != "ownerReferences") return;
    field.each_item([&](const JsonField& item) { read_owner(item, state); });
  });
}

void read_part(const JsonField& value, KeepConditions keep, ObjectState& state) {
  if (value.key == "metadata") read_metadata(value, state);
  if (value.key == "status") read_status(value, keep, state);
  if (value.key != "spec") return;
  value.each_field([&](const JsonField& field) {
    if (field.key == "nodeName") field.read(state.node);
    if (field.key == "schedulerName") field.read(state.scheduler);
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
      [keep](const JsonField& value, ObjectState& state) { read_part(value, keep, state); });
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

#include "support/fake_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "codec/writer.hpp"

namespace makeway::fake {

std::string text_of(const JsonValue& tree) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(tree, writer);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

JsonValue parsed(std::string_view json) {
  auto tree = parse_json_value(json);
  CHECK(tree.has_value(), "the test's own JSON");
  return std::move(*tree);
}

JsonValue string_value(std::string text) { return {.data = std::move(text)}; }

JsonValue& member(JsonValue& tree, std::string_view key) {
  if (tree.is_null()) tree.data = JsonValue::Object{};
  auto* const members = std::get_if<JsonValue::Object>(&tree.data);
  CHECK(members != nullptr);
  const auto found = std::ranges::find(*members, key, &JsonMember::key);
  if (found != members->end()) return found->value;
  return members->emplace_back(JsonMember{.key = std::string(key), .value = {}}).value;
}

void erase(JsonValue& tree, std::string_view key) {
  auto* const members = std::get_if<JsonValue::Object>(&tree.data);
  if (members == nullptr) return;
  std::erase_if(*members, [&](const JsonMember& each) { return each.key == key; });
}

const JsonValue* value_at(const JsonValue& tree, std::string_view path) {
  const JsonValue* value = &tree;
  while (!path.empty() && value != nullptr) {
    const std::string_view key = path.substr(0, path.find('.'));
    value = value->find(key);
    path.remove_prefix(std::min(key.size() + 1, path.size()));
  }
  return value;
}

std::string text_at(const JsonValue& tree, std::string_view path) {
  const JsonValue* const value = value_at(tree, path);
  return value == nullptr || value->as_string() == nullptr ? std::string{} : *value->as_string();
}

std::int64_t number_at(const JsonValue& tree, std::string_view path) {
  const JsonValue* const value = value_at(tree, path);
  return value == nullptr || value->as_integer() == nullptr ? 0 : *value->as_integer();
}

std::string key_in(const JsonValue& tree) {
  return fmt::format("{}/{}", text_at(tree, "metadata.namespace"), text_at(tree, "metadata.name"));
}

namespace {

void merge_conditions(JsonValue& list, const JsonValue& patch) {
  if (list.as_array() == nullptr) list.data = JsonValue::Array{};
  auto& conditions = std::get<JsonValue::Array>(list.data);
  for (const JsonValue& wanted : *patch.as_array()) {
    const std::string type = text_at(wanted, "type");
    const auto found = std::ranges::find_if(
        conditions, [&](const JsonValue& each) { return text_at(each, "type") == type; });
    if (found == conditions.end()) {
      conditions.push_back(wanted);
    } else {
      merge(*found, wanted);
    }
  }
}

}  // namespace

void merge(JsonValue& tree, const JsonValue& patch) {
  for (const JsonMember& each : *patch.as_object()) {
    if (each.value.is_null()) {
      erase(tree, each.key);
    } else if (each.key == "conditions" && each.value.as_array() != nullptr) {
      merge_conditions(member(tree, each.key), each.value);
    } else if (each.value.as_object() != nullptr) {
      merge(member(tree, each.key), each.value);
    } else {
      member(tree, each.key) = each.value;
    }
  }
}

}  // namespace makeway::fake

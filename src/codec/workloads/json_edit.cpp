#include "codec/workloads/json_edit.hpp"

#include <algorithm>

#include "codec/writer.hpp"

namespace makeway {

JsonValue text_value(std::string_view text) { return {.data = std::string(text)}; }

JsonValue object_value(std::initializer_list<std::pair<std::string_view, JsonValue>> members) {
  JsonValue::Object object;
  for (const auto& [key, value] : members) object.push_back({std::string(key), value});
  return {.data = std::move(object)};
}

JsonValue array_value(std::initializer_list<JsonValue> items) {
  return {.data = JsonValue::Array(items)};
}

JsonValue* member(JsonValue& object, std::string_view key) {
  if (object.is_null()) object.data = JsonValue::Object{};
  auto* const members = std::get_if<JsonValue::Object>(&object.data);
  if (members == nullptr) return nullptr;
  const auto found = std::ranges::find(*members, key, &JsonMember::key);
  if (found != members->end()) return &found->value;
  return &members->emplace_back(JsonMember{std::string(key), {}}).value;
}

void put(JsonValue& object, std::string_view key, JsonValue value) {
  if (JsonValue* const place = member(object, key)) *place = std::move(value);
}

void put_text(JsonValue& object, std::string_view key, std::string_view text) {
  put(object, key, text_value(text));
}

void remove(JsonValue& object, std::string_view key) {
  auto* const members = std::get_if<JsonValue::Object>(&object.data);
  if (members == nullptr) return;
  std::erase_if(*members, [key](const JsonMember& each) { return each.key == key; });
}

void append(JsonValue& array, JsonValue item) {
  if (array.is_null()) array.data = JsonValue::Array{};
  auto* const items = std::get_if<JsonValue::Array>(&array.data);
  if (items != nullptr) items->push_back(std::move(item));
}

std::string_view text_at(const JsonValue& value, std::initializer_list<std::string_view> path) {
  const JsonValue* here = &value;
  for (const std::string_view key : path) {
    here = here->find(key);
    if (here == nullptr) return {};
  }
  const std::string* const text = here->as_string();
  return text == nullptr ? std::string_view{} : std::string_view(*text);
}

std::string compact_text(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace makeway

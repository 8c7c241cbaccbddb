// Small edits of JSON trees, for making one object out of another.
//
// A tree comes from foreign text, so anything may be of the wrong type. Edits leave such a value as
// it is: the reader of the result reports it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "codec/json_value.hpp"

namespace makeway {

JsonValue text_value(std::string_view text);
JsonValue object_value(std::initializer_list<std::pair<std::string_view, JsonValue>> members);
JsonValue array_value(std::initializer_list<JsonValue> items);

/// The member of this name, made as null where there is none; null becomes an object first.
/// Nothing when `object` is something else.
JsonValue* member(JsonValue& object, std::string_view key);
void put(JsonValue& object, std::string_view key, JsonValue value);
void put_text(JsonValue& object, std::string_view key, std::string_view text);
void remove(JsonValue& object, std::string_view key);
/// Null becomes a list first.
void append(JsonValue& array, JsonValue item);

/// The text at the end of a path of keys; empty when there is none.
std::string_view text_at(const JsonValue& value, std::initializer_list<std::string_view> path);

/// As compact JSON.
std::string compact_text(const JsonValue& value);

}  // namespace makeway

// JSON trees that a FakeApiserver keeps and changes.
#pragma once

#include <string>
#include <string_view>

#include "codec/json_value.hpp"

namespace makeway::fake {

std::string text_of(const JsonValue& tree);
JsonValue parsed(std::string_view json);
JsonValue string_value(std::string text);
/// Of an object; it is made if it is not there. What is null becomes an object.
JsonValue& member(JsonValue& tree, std::string_view key);
void erase(JsonValue& tree, std::string_view key);
/// Null: there is none.
const JsonValue* value_at(const JsonValue& tree, std::string_view path);
/// The text at "status.phase"; empty: there is none.
std::string text_at(const JsonValue& tree, std::string_view path);
/// 0: there is none.
std::int64_t number_at(const JsonValue& tree, std::string_view path);
/// "shop/web"
std::string key_in(const JsonValue& tree);
/// As a merge patch: null deletes. Lists under `conditions` are merged by type, others replaced.
void merge(JsonValue& tree, const JsonValue& patch);

}  // namespace makeway::fake

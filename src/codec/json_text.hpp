// What small JSON documents say that others wrote: nothing is missing, it is only empty.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "codec/json_value.hpp"

namespace makeway {

/// The member of that name; empty: it is not there, or no text.
inline std::string text_in(const JsonValue& tree, std::string_view key) {
  const JsonValue* const value = tree.find(key);
  return value == nullptr || value->as_string() == nullptr ? std::string{} : *value->as_string();
}

/// The same of a list.
inline std::span<const JsonValue> items_in(const JsonValue& tree, std::string_view key) {
  const JsonValue* const value = tree.find(key);
  if (value == nullptr || value->as_array() == nullptr) return {};
  return *value->as_array();
}

}  // namespace makeway

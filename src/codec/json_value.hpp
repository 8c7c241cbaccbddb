// JsonValue: a JSON document as a tree, for small documents (configuration, Makeway's own kinds).
//
// Members keep the order of the input; a key that comes twice is refused. Numbers that are no int64
// keep their text, nothing is ever rounded. Large inputs do not come this way: see the loaders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/problem.hpp"

namespace makeway {

class DocumentWriter;
struct JsonMember;

/// A number that is no int64, as it was written.
struct JsonNumber {
  std::string text;

  friend bool operator==(const JsonNumber&, const JsonNumber&) = default;
};

struct JsonValue {
  using Array = std::vector<JsonValue>;
  using Object = std::vector<JsonMember>;

  std::variant<std::monostate, bool, std::int64_t, JsonNumber, std::string, Array, Object> data;

  bool is_null() const { return std::holds_alternative<std::monostate>(data); }
  // Each gives nothing when the value is of another type.
  const bool* as_boolean() const { return std::get_if<bool>(&data); }
  const std::int64_t* as_integer() const { return std::get_if<std::int64_t>(&data); }
  const JsonNumber* as_number() const { return std::get_if<JsonNumber>(&data); }
  const std::string* as_string() const { return std::get_if<std::string>(&data); }
  const Array* as_array() const { return std::get_if<Array>(&data); }
  const Object* as_object() const { return std::get_if<Object>(&data); }

  /// The member of this name; nothing when there is none or when this is no object.
  const JsonValue* find(std::string_view key) const;

  /// With its article, to finish the sentence "expected a string, found ...".
  std::string_view type_name() const;

  friend bool operator==(const JsonValue&, const JsonValue&);
};

struct JsonMember {
  std::string key;
  JsonValue value;

  friend bool operator==(const JsonMember&, const JsonMember&) = default;
};

inline constexpr std::size_t json_depth_max = 64;

/// Exactly one JSON value. The problem has the line, the field path and the remedy, but no source:
/// the caller knows it.
std::expected<JsonValue, Problem> parse_json_value(std::string_view text,
                                                   std::size_t depth_max = json_depth_max);

void write_value(const JsonValue& value, DocumentWriter& writer);

}  // namespace makeway

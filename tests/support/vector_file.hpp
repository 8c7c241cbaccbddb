// The peers' cases of tests/vectors: one JSON line each, see the README there.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "codec/json_value.hpp"

namespace makeway {

struct VectorCase {
  std::string id;
  JsonValue line;

  const JsonValue& snapshot() const { return *line.find("snapshot"); }
  const JsonValue& expect() const { return *line.find("expect"); }
  /// A string member of `line`, such as "ask".
  std::string_view text(std::string_view key) const { return *line.find(key)->as_string(); }
};

/// The folder of the repository, from MAKEWAY_SOURCE_DIR, else the current one.
std::string source_folder();

/// Calls `check` for each case of a file below tests/vectors, with the id in the trace; returns how
/// many there were. What cannot be read is a test failure.
std::size_t for_each_vector(std::string_view file,
                            const std::function<void(const VectorCase&)>& check);

/// As compact JSON.
std::string json_text(const JsonValue& value);

}  // namespace makeway

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "codec/decoders.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

constexpr std::size_t levels_max = 16;
constexpr std::size_t prefix_length_max = 253;
constexpr std::size_t label_name_length_max = 63;

bool is_letter_or_digit(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9');
}

bool is_prefix_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || byte == '-' || byte == '.';
}

/// As Kubernetes has it: "rack", "example.com/rack".
bool is_label_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    if (prefix.empty() || prefix.size() > prefix_length_max ||
        !std::ranges::all_of(prefix, is_prefix_byte)) {
      return false;
    }
    key.remove_prefix(slash + 1);
  }
  if (key.empty() || key.size() > label_name_length_max) return false;
  const auto is_name_byte = [](char byte) {
    return is_letter_or_digit(byte) || byte == '-' || byte == '_' || byte == '.';
  };
  return is_letter_or_digit(key.front()) && is_letter_or_digit(key.back()) &&
         std::ranges::all_of(key, is_name_byte);
}

/// One more level of a list that names each once.
void add_key(JsonReader& reader, const FieldPath& path, std::string_view key,
             std::vector<std::string>& keys) {
  if (!is_label_key(key)) {
    return reader.refuse(path, key, "expected the key of a node label",
                         "name a label that nodes carry, such as topology.kubernetes.io/zone");
  }
  if (std::ranges::find(keys, key) != keys.end()) {
    return reader.refuse(path, key, "the label is listed twice", "list it once");
  }
  if (keys.size() == levels_max) {
    return reader.refuse(path, key, fmt::format("expected at most {} levels", levels_max),
                         "leave out the levels that matter least");
  }
  keys.emplace_back(key);
}

}  // namespace

void decode_scheduling_constraints(const JsonField& value, GroupPolicy& policy) {
  value.each_field([&](const JsonField& field) {
    if (field.key != "topology") return;
    field.each_item([&](const JsonField& item) {
      std::string node_label;
      const std::size_t before = value.reader.problem_count();
      const auto constraint = [&](const JsonField& text) {
        if (text.key == "key") text.read(node_label);
      };
      item.each_field(constraint);
      if (value.reader.problem_count() > before) return;  // No text: one problem is enough.
      add_key(value.reader, item.path.at("key"), node_label, policy.topology_keys);
    });
  });
}

std::vector<std::string> read_preferred_topology(JsonReader& reader, const FieldPath& path,
                                                 const Metadata& metadata) {
  std::vector<std::string> keys;
  std::string_view rest = metadata.annotation(names::preferred_topology);
  const FieldPath at = path.at("metadata");
  const FieldPath annotations = at.at("annotations");
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    add_key(reader, annotations.at(names::preferred_topology), trimmed(rest.substr(0, comma)),
            keys);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) add_key(reader, annotations.at(names::preferred_topology), rest, keys);
  }
  return keys;
}

}  // namespace makeway

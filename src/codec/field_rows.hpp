// Rows of fields that know how to be read. Private to the decoders of Makeway's own kinds.
//
// A row is a Field and a function that reads it into the object; `read_fields` finds the row of
// every key and refuses keys without one, with the most similar row as remedy. The function gets a
// FieldValue, which knows its row: limits and choices are enforced from there.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/decoders.hpp"
#include "codec/fields.hpp"
#include "model/configuration.hpp"
#include "model/knobs.hpp"

namespace makeway {

/// The value of one field, while it is read. A null counts as absent: nothing is written.
struct FieldValue {
  JsonReader& reader;
  JsonCursor& value;
  const FieldPath& at;
  const Field& field;

  template <class T>
  void read(T& out) const {
    reader.read(value, at, out);
  }
  template <class T>
  void read(std::optional<T>& out) const {
    T found{};
    if (reader.read(value, at, found)) out = std::move(found);
  }

  /// Between the limits of the row.
  template <class Out>
  void read_integer(Out& out) const {
    std::int64_t found = 0;
    if (!reader.read(value, at, found)) return;
    if (found < field.lowest || found > field.highest) {
      reader.refuse(
          at, std::to_string(found),
          fmt::format("expected {} from {} to {}", field.noun, field.lowest, field.highest));
      found = std::clamp(found, field.lowest, field.highest);
    }
    if constexpr (requires { typename Out::value_type; }) {
      out = static_cast<typename Out::value_type>(found);
    } else {
      out = static_cast<Out>(found);
    }
  }

  /// One of the row's choices, which are the names of this enumeration.
  template <class Choice, class Out>
  void read_choice(Out& out) const {
    std::string_view text;
    if (!reader.read(value, at, text)) return;
    const auto found = std::ranges::find(field.choices, text);
    if (found == field.choices.end()) {
      return reader.refuse(at, shorten(text),
                           fmt::format("expected one of {}", fmt::join(field.choices, ", ")));
    }
    out = static_cast<Choice>(found - field.choices.begin());
  }

  void read_duration(Duration& out) const;
  void read_name(std::string& out) const;
  void read_names(std::vector<std::string>& out) const;
};

template <class Object>
struct FieldRow {
  Field field;
  void (*read)(const FieldValue& value, Object& object);
  /// Of a field with fields below it: those, with `prefix` before their keys.
  void (*list)(const std::string& prefix, const FieldVisit& visit) = nullptr;
};

/// Refuses the field at `path`, which none of `known` is.
void refuse_unknown(JsonReader& reader, const FieldPath& path, std::string_view key,
                    std::span<const std::string_view> known);

template <class Object>
void read_field(JsonReader& reader, std::span<const FieldRow<Object>> rows, std::string_view key,
                JsonCursor& value, const FieldPath& at, Object& object) {
  for (const FieldRow<Object>& row : rows) {
    if (row.field.key != key) continue;
    if (row.read != nullptr) {
      row.read({.reader = reader, .value = value, .at = at, .field = row.field}, object);
    }
    return;
  }
  std::vector<std::string_view> known;
  for (const FieldRow<Object>& row : rows) known.push_back(row.field.key);
  refuse_unknown(reader, at, key, known);
}

template <class Object>
void read_fields(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                 std::span<const FieldRow<Object>> rows, Object& object) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& field, const FieldPath& at) {
    read_field(reader, rows, key, field, at, object);
  });
}

/// Calls `visit` for the rows and what is below them.
template <class Object>
void list_rows(std::span<const FieldRow<Object>> rows, const std::string& prefix,
               const FieldVisit& visit) {
  for (const FieldRow<Object>& row : rows) {
    std::string path = prefix;
    path += row.field.key;
    visit(path, row.field);
    path += row.field.type == FieldType::objects ? "[]." : ".";
    if (row.list != nullptr) row.list(path, visit);
  }
}

/// `status.conditions`: what only the cluster shows, for users. Written, never read back.
inline constexpr Field conditions_field = {
    .key = "conditions",
    .type = FieldType::objects,
    .text =
        "What is wrong with the object in this cluster, in the words of `makeway check`; of a "
        "Session also why it waits.",
    .only_written = true};
void list_conditions(const std::string& prefix, const FieldVisit& visit);

/// The fields of a kind below `spec` and `status`.
template <class Object>
struct FieldTable {
  std::span<const FieldRow<Object>> spec;
  std::span<const FieldRow<Object>> status = {};

  void list(const FieldVisit& visit) const {
    list_rows(spec, "spec.", visit);
    list_rows(status, "status.", visit);
  }
};

/// Reads an object of one of Makeway's own kinds, except what the decoder makes of its metadata.
template <ClusterObject Kind, class Object>
Metadata read_object(ObjectCursor& cursor, const FieldTable<Object>& table, Object& object) {
  static constexpr std::array<std::string_view, 5> parts = {"apiVersion", "kind", "metadata",
                                                            "spec", "status"};
  Metadata metadata;
  metadata.all_annotations = true;
  const auto visit = [&](std::string_view key, JsonCursor& value, const FieldPath& at) {
    if (key == "spec") {
      read_fields(cursor.reader, value, at, table.spec, object);
    } else if (key == "status") {
      read_fields(cursor.reader, value, at, table.status, object);
    } else if (key != "apiVersion" && key != "kind") {
      refuse_unknown(cursor.reader, at, key, parts);
    }
  };
  return decode_fields<Kind>(cursor, visit, std::move(metadata));
}

}  // namespace makeway

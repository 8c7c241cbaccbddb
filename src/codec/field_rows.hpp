// Rows of fields that know how to be read and written. Private to the files of Makeway's own kinds.
//
//   using QueueRow = FieldRow<Queue>;
//   QueueRow::of<&Queue::weight>("weight", "Its part of ...", {.lowest = 1, .fallback = "1"})
//
// A row is a Field and the functions that read it into an object and write it again; `of` makes
// them, and the type of the field, from the member. `read_fields` finds the row of every key and
// refuses keys without one, with the most similar row as remedy. Limits and choices are enforced
// from the row. A member that has its initial value is not written, unless the row is required.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "codec/decoders.hpp"
#include "codec/dump_parts.hpp"
#include "codec/fields.hpp"
#include "model/configuration.hpp"
#include "model/knobs.hpp"

namespace makeway {

/// Of a member that may be optional.
template <class Member>
struct ValueType {
  using Type = Member;
};
template <class Member>
struct ValueType<std::optional<Member>> {
  using Type = Member;
};
template <class Member>
using ValueOf = typename ValueType<Member>::Type;

/// The value of one field, while it is read. A null counts as absent: nothing is written.
struct FieldValue : JsonField {
  const Field& field;

  /// Between the limits of the row.
  template <class Out>
  void read_integer(Out& out) const {
    std::int64_t found = 0;
    if (!read(found)) return;
    if (found < field.lowest || found > field.highest) {
      refuse(std::to_string(found),
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
    if (!read(text)) return;
    const auto found = std::ranges::find(field.choices, text);
    if (found == field.choices.end()) {
      return refuse(shorten(text),
                    fmt::format("expected one of {}", fmt::join(field.choices, ", ")));
    }
    out = static_cast<Choice>(found - field.choices.begin());
  }

  /// As the type of `out` and the row ask for.
  template <class Out>
  void read_member(Out& out) const {
    using Value = ValueOf<Out>;
    if constexpr (std::is_enum_v<Value>) {
      read_choice<Value>(out);
    } else if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      const bool any = field.lowest == std::numeric_limits<Value>::min() &&
                       field.highest == std::numeric_limits<Value>::max();
      if (any) {
        read(out);
      } else {
        read_integer(out);
      }
    } else if constexpr (std::is_same_v<Value, Duration>) {
      read_duration(out);
    } else if constexpr (std::is_same_v<Value, Labels>) {
      decode_labels(*this, out);
    } else if constexpr (std::is_same_v<Value, Amounts>) {
      decode_amounts(*this, out);
    } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
      read_names(out);
    } else if constexpr (std::is_same_v<Value, std::string>) {
      if (field.type == FieldType::name) return read_name(out);
      read(out);
    } else {
      read(out);
    }
  }

  void read_duration(Duration& out) const;
  void read_name(std::string& out) const;
  void read_names(std::vector<std::string>& out) const;
};

// The values of fields, as documents write them.
inline void write_member(DocumentWriter& writer, const std::string& text) { writer.string(text); }
inline void write_member(DocumentWriter& writer, bool value) { writer.boolean(value); }
inline void write_member(DocumentWriter& writer, std::int32_t value) { writer.integer(value); }
inline void write_member(DocumentWriter& writer, std::int64_t value) { writer.integer(value); }
inline void write_member(DocumentWriter& writer, Time time) { writer.string(to_text(time)); }
inline void write_member(DocumentWriter& writer, Duration time) { writer.string(to_text(time)); }
inline void write_member(DocumentWriter& writer, const Labels& labels) {
  write_labels(writer, labels);
}
inline void write_member(DocumentWriter& writer, const Amounts& amounts) {
  write_amounts(writer, amounts);
}
void write_member(DocumentWriter& writer, const std::vector<std::string>& texts);
template <class Choice>
  requires std::is_enum_v<Choice>
void write_member(DocumentWriter& writer, Choice choice) {
  writer.string(choice_name(choice));
}
template <class Value>
void write_member(DocumentWriter& writer, const std::optional<Value>& value) {
  write_member(writer, *value);
}

/// The member at the end of a path of pointers to members.
template <auto... Path>
constexpr auto& member_of(auto& object) {
  return (object.*....*Path);
}

template <class Value>
consteval FieldType field_type_of() {
  if constexpr (std::is_same_v<Value, bool>) return FieldType::boolean;
  if constexpr (std::is_integral_v<Value>) return FieldType::integer;
  if constexpr (std::is_enum_v<Value>) return FieldType::choice;
  if constexpr (std::is_same_v<Value, Time>) return FieldType::time;
  if constexpr (std::is_same_v<Value, Duration>) return FieldType::duration;
  if constexpr (std::is_same_v<Value, Labels>) return FieldType::labels;
  if constexpr (std::is_same_v<Value, Amounts>) return FieldType::quantities;
  if constexpr (std::is_same_v<Value, std::vector<std::string>>) return FieldType::names;
  return FieldType::text;
}

/// `Draft`: what is read instead of an Object, where some fields cannot be put into one at once.
template <class Object, class Draft = Object>
struct FieldRow {
  Field field;
  void (*read)(const FieldValue& value, Draft& object);
  /// Of a field with fields below it: those, with `prefix` before their keys.
  void (*list)(const std::string& prefix, const FieldVisit& visit) = nullptr;
  bool (*has)(const Object& object) = nullptr;  ///< Whether there is anything to write.
  void (*write)(DocumentWriter& writer, const Object& object) = nullptr;  ///< Null: never.

  /// The field that is the member at the end of the path: `&Session::status, &Status::phase`.
  template <auto... Path>
  static constexpr FieldRow of(std::string_view key, std::string_view text, Field field = {}) {
    using Value =
        ValueOf<std::remove_cvref_t<decltype(member_of<Path...>(std::declval<Object&>()))>>;
    field.key = key;
    field.text = text;
    if (field.type == FieldType::text) field.type = field_type_of<Value>();
    if constexpr (std::is_enum_v<Value>) field.choices = choice_names<Value>;
    if constexpr (std::is_integral_v<Value> && !std::is_same_v<Value, bool>) {
      field.lowest = std::max<std::int64_t>(field.lowest, std::numeric_limits<Value>::min());
      field.highest = std::min<std::int64_t>(field.highest, std::numeric_limits<Value>::max());
    }
    return {field,
            [](const FieldValue& value, Draft& object) {
              value.read_member(member_of<Path...>(object));
            },
            nullptr,
            [](const Object& object) {
              static const Object initial{};
              return member_of<Path...>(object) != member_of<Path...>(initial);
            },
            [](DocumentWriter& writer, const Object& object) {
              write_member(writer, member_of<Path...>(object));
            }};
  }

  /// A list of objects, whose fields are `Rows`.
  template <const auto& Rows, auto... Path>
  static constexpr FieldRow list_of(std::string_view key, std::string_view text,
                                    void (*read)(const FieldValue& value, Draft& object),
                                    bool required = false) {
    return {
        {.key = key, .type = FieldType::objects, .text = text, .required = required},
        read,
        [](const std::string& prefix, const FieldVisit& visit) { list_rows(Rows, prefix, visit); },
        [](const Object& object) { return !member_of<Path...>(object).empty(); },
        [](DocumentWriter& writer, const Object& object) {
          writer.begin_array();
          for (const auto& item : member_of<Path...>(object)) {
            writer.begin_object();
            write_rows(writer, Rows, item);
            writer.end_object();
          }
          writer.end_array();
        }};
  }

  /// The same, read otherwise than its type asks for.
  constexpr FieldRow read_by(void (*function)(const FieldValue& value, Draft& object)) const {
    FieldRow row = *this;
    row.read = function;
    return row;
  }
  /// The same, written where `condition` holds.
  constexpr FieldRow written_if(bool (*condition)(const Object& object)) const {
    FieldRow row = *this;
    row.has = condition;
    return row;
  }
  /// The same, written with its initial value, too.
  constexpr FieldRow always_written() const {
    return written_if([](const Object&) { return true; });
  }

  bool is_written(const Object& object) const {
    return write != nullptr && (field.required || has(object));
  }
};

/// Reads every item of a list with `Read`.
template <auto Read, class Draft>
void read_items(const FieldValue& value, Draft& draft) {
  value.each_item([&](const JsonField& item) { Read(item, draft); });
}

/// Refuses the field, which none of `known` is.
void refuse_unknown(const JsonField& field, std::span<const std::string_view> known);

template <class Rows, class Draft>
void read_field(const JsonField& field, const Rows& rows, Draft& object) {
  for (const auto& row : rows) {
    if (row.field.key != field.key) continue;
    if (row.read != nullptr) row.read({field, row.field}, object);
    return;
  }
  std::vector<std::string_view> known;
  known.reserve(std::size(rows));
  for (const auto& row : rows) known.push_back(row.field.key);
  refuse_unknown(field, known);
}

template <class Rows, class Draft>
void read_fields(const JsonField& value, const Rows& rows, Draft& object) {
  value.each_field([&](const JsonField& field) { read_field(field, rows, object); });
}

/// The fields of the object that is being written.
template <class Rows, class Object>
void write_rows(DocumentWriter& writer, const Rows& rows, const Object& object) {
  for (const auto& row : rows) {
    if (!row.is_written(object)) continue;
    writer.key(row.field.key);
    row.write(writer, object);
  }
}

/// Calls `visit` for the rows and what is below them.
template <class Rows>
void list_rows(const Rows& rows, const std::string& prefix, const FieldVisit& visit) {
  for (const auto& row : rows) {
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
template <class Object, class Draft = Object>
struct FieldTable {
  std::span<const FieldRow<Object, Draft>> spec;
  std::span<const FieldRow<Object, Draft>> status = {};

  void list(const FieldVisit& visit) const {
    list_rows(spec, "spec.", visit);
    list_rows(status, "status.", visit);
  }

  /// Both, the status only where it says anything.
  void write(DocumentWriter& writer, const Object& object) const {
    write_object(writer, "spec", [&] { write_rows(writer, spec, object); });
    const auto is_written = [&](const auto& row) { return row.is_written(object); };
    if (std::ranges::none_of(status, is_written)) return;
    write_object(writer, "status", [&] { write_rows(writer, status, object); });
  }
};

/// Reads an object of one of Makeway's own kinds, except what the decoder makes of its metadata.
template <ClusterObject Kind, class Draft>
Metadata read_object(ObjectCursor& cursor, const FieldTable<Kind, Draft>& table, Draft& object) {
  static constexpr std::array<std::string_view, 5> parts = {"apiVersion", "kind", "metadata",
                                                            "spec", "status"};
  Metadata metadata;
  metadata.all_annotations = true;
  const auto visit = [&](const JsonField& field) {
    if (field.key == "spec") {
      read_fields(field, table.spec, object);
    } else if (field.key == "status") {
      read_fields(field, table.status, object);
    } else if (field.key != "apiVersion" && field.key != "kind") {
      refuse_unknown(field, parts);
    }
  };
  return decode_fields<Kind>(cursor, visit, std::move(metadata));
}

}  // namespace makeway

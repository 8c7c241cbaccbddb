// Reading JSON on demand, with the field path and the value at hand when something is wrong.
//
// Private to the decoders: it is the one header that shows simdjson. Rules of on-demand parsing
// that every decoder keeps: a value is read once; texts live as long as the document's text and
// until the next document; what is not read is skipped and hardly checked. Texts without escapes,
// nearly all, are not copied.
#pragma once

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/problem.hpp"
#include "base/time.hpp"

namespace makeway {

using JsonCursor = simdjson::ondemand::value;
using JsonObjectCursor = simdjson::ondemand::object;

/// The way from the root to a value, kept on the stack; it becomes text only in a Problem.
struct FieldPath {
  static constexpr std::size_t no_index = SIZE_MAX;

  const FieldPath* parent = nullptr;
  std::string_view key;
  std::size_t index = no_index;

  FieldPath at(std::string_view name) const { return {.parent = this, .key = name}; }
  FieldPath at(std::size_t item) const { return {.parent = this, .index = item}; }
  std::string text() const;  ///< "spec.containers[0].name"
};

/// The text of a JSON string that begins at its opening quote, when it has no escapes. Finding the
/// structure of the document has made sure that the closing quote exists.
inline std::optional<std::string_view> plain_text(const char* quote) {
  const char* const begin = quote + 1;
  const char* end = begin;
  while (*end != '"') {
    if (*end == '\\') return std::nullopt;
    ++end;
  }
  return std::string_view(begin, static_cast<std::size_t>(end - begin));
}

/// Notices a key that comes twice among the first keys of an object. Larger objects are maps
/// (labels, resources, annotations); where their keys matter, their decoders look themselves.
class SeenKeys {
 public:
  bool repeats(std::string_view key) {
    const std::size_t mark = mark_of(key);
    const std::uint64_t bit = std::uint64_t{1} << mark;
    const bool maybe = (marks_ & bit) != 0;
    marks_ |= bit;
    const auto end = keys_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (maybe && std::find(keys_.begin(), end, key) != end) return true;
    if (count_ < keys_.size()) keys_[count_++] = key;
    return false;
  }

 private:
  /// 0 to 63, different for most keys of one object.
  static std::size_t mark_of(std::string_view key) {
    if (key.empty()) return 0;
    const std::size_t first = static_cast<unsigned char>(key.front());
    const std::size_t last = static_cast<unsigned char>(key.back());
    return (key.size() * 7 + first + last * 3) % 64;
  }

  std::uint64_t marks_ = 0;
  std::size_t count_ = 0;
  std::array<std::string_view, 40> keys_;
};

/// Where a document stands, so that a syntax error is reported with its line and column.
struct JsonText {
  std::string_view whole;  ///< With the documents before it; empty: unknown.
  std::string_view document;
  simdjson::ondemand::document* cursor = nullptr;  ///< Null: it could not even be begun.
};

class JsonReader;

/// A field of an object, or an item of a list, while it is read: see JsonReader.
struct JsonField {
  JsonReader& reader;
  JsonCursor& cursor;
  const FieldPath& path;
  std::string_view key;  ///< Empty: an item.

  template <class Value>
  bool read(Value& out) const;
  template <class Value>
  bool read(std::optional<Value>& out) const;
  bool read_token(std::string_view& out) const;
  bool is_null() const;
  template <class Visit>
  void each_field(const Visit& visit) const;
  template <class Visit>
  void each_item(const Visit& visit) const;
  void refuse(std::string_view value, std::string_view message, std::string_view remedy = {}) const;
  /// About a field below it.
  void refuse_at(std::string_view below, std::string_view value, std::string_view message,
                 std::string_view remedy = {}) const;
  void warn(std::string_view value, std::string_view message, std::string_view remedy = {}) const;
};

/// Typed reads that collect Problems. A null counts as absent: the read answers false.
class JsonReader {
 public:
  explicit JsonReader(Problems& problems, const JsonText& text = {})
      : problems_(&problems), text_(text) {}

  bool read(JsonCursor& value, const FieldPath& path, std::string_view& out) {
    const std::string_view token = value.raw_json_token();
    if (token.starts_with('"')) {
      if (const auto plain = plain_text(token.begin())) {
        out = *plain;
        return true;
      }
    }
    return read_slowly(value, path, out);
  }
  bool read(JsonCursor& value, const FieldPath& path, std::string& out);
  bool read(JsonCursor& value, const FieldPath& path, std::int64_t& out);
  /// One that is too large is refused, and `out` is what comes nearest to it.
  bool read(JsonCursor& value, const FieldPath& path, std::int32_t& out);
  bool read(JsonCursor& value, const FieldPath& path, bool& out);
  bool read(JsonCursor& value, const FieldPath& path, Time& out);
  /// A string or a number, as its text: quantities are written both ways.
  bool read_token(JsonCursor& value, const FieldPath& path, std::string_view& out);

  /// Does not consume the value.
  bool is_null(JsonCursor& value, const FieldPath& path) {
    bool answer = false;
    if (const auto error = value.is_null().get(answer)) broken(error, path);
    return answer;
  }

  /// Calls `visit(JsonField)` for each field; nothing for null.
  template <class Visit>
  void each_field(JsonCursor& value, const FieldPath& path, const Visit& visit) {
    JsonObjectCursor object;
    const simdjson::error_code error = value.get_object().get(object);
    if (error != simdjson::SUCCESS) {
      wrong_type(value, error, path, "a mapping");
      return;
    }
    each_field(object, path, visit);
  }

  template <class Visit>
  void each_field(JsonObjectCursor& object, const FieldPath& path, const Visit& visit) {
    SeenKeys seen;
    for (auto result : object) {
      simdjson::ondemand::field field;
      std::string_view key;
      if (const auto error = std::move(result).get(field)) return broken(error, path);
      if (const auto error = read_key(field, key)) return broken(error, path);
      if (seen.repeats(key)) refuse(path.at(key), {}, "the key appears twice");
      JsonCursor value = field.value();
      const FieldPath at = path.at(key);
      visit(JsonField{*this, value, at, key});
      if (is_broken_) return;
    }
  }

  /// Calls `visit(JsonField)` for each item; nothing for null.
  template <class Visit>
  void each_item(JsonCursor& value, const FieldPath& path, const Visit& visit) {
    simdjson::ondemand::array array;
    const simdjson::error_code type_error = value.get_array().get(array);
    if (type_error != simdjson::SUCCESS) {
      wrong_type(value, type_error, path, "a list");
      return;
    }
    std::size_t index = 0;
    for (auto result : array) {
      JsonCursor item;
      if (const auto error = std::move(result).get(item)) return broken(error, path);
      const FieldPath at = path.at(index++);
      visit(JsonField{*this, item, at, {}});
      if (is_broken_) return;
    }
  }

  void refuse(const FieldPath& path, std::string_view value, std::string_view message,
              std::string_view remedy = {}) {
    report(Severity::error, path, value, message, remedy);
  }
  /// The object is taken all the same.
  void warn(const FieldPath& path, std::string_view value, std::string_view message,
            std::string_view remedy = {}) {
    report(Severity::warning, path, value, message, remedy);
  }

  /// The text is no JSON here; nothing more can be read from this document.
  void broken(simdjson::error_code error, const FieldPath& path);
  bool is_broken() const { return is_broken_; }
  std::uint64_t problem_count() const { return problems_->count(); }

 private:
  static simdjson::error_code read_key(simdjson::ondemand::field& field, std::string_view& key) {
    const std::optional<std::string_view> plain = plain_text(field.key().raw() - 1);
    if (!plain) return field.unescaped_key().get(key);
    key = *plain;
    return simdjson::SUCCESS;
  }
  void report(Severity severity, const FieldPath& path, std::string_view value,
              std::string_view message, std::string_view remedy, std::uint64_t line = 0);
  bool read_slowly(JsonCursor& value, const FieldPath& path, std::string_view& out);
  bool wrong_type(JsonCursor& value, simdjson::error_code error, const FieldPath& path,
                  std::string_view expected);

  Problems* problems_;
  JsonText text_;
  bool is_broken_ = false;
};

template <class Value>
bool JsonField::read(Value& out) const {
  return reader.read(cursor, path, out);
}
template <class Value>
bool JsonField::read(std::optional<Value>& out) const {
  Value found{};
  if (!reader.read(cursor, path, found)) return false;
  out = std::move(found);
  return true;
}
inline bool JsonField::read_token(std::string_view& out) const {
  return reader.read_token(cursor, path, out);
}
inline bool JsonField::is_null() const { return reader.is_null(cursor, path); }
template <class Visit>
void JsonField::each_field(const Visit& visit) const {
  reader.each_field(cursor, path, visit);
}
template <class Visit>
void JsonField::each_item(const Visit& visit) const {
  reader.each_item(cursor, path, visit);
}
inline void JsonField::refuse(std::string_view value, std::string_view message,
                              std::string_view remedy) const {
  reader.refuse(path, value, message, remedy);
}
inline void JsonField::refuse_at(std::string_view below, std::string_view value,
                                 std::string_view message, std::string_view remedy) const {
  reader.refuse(path.at(below), value, message, remedy);
}
inline void JsonField::warn(std::string_view value, std::string_view message,
                            std::string_view remedy) const {
  reader.warn(path, value, message, remedy);
}

}  // namespace makeway

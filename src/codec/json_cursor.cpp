#include "codec/json_cursor.hpp"

#include <fmt/format.h>

#include <limits>
#include <new>

#include "base/ascii.hpp"

namespace makeway {
namespace {

using simdjson::ondemand::json_type;

std::string_view type_text(json_type type) {
  switch (type) {
    case json_type::array: return "a list";
    case json_type::object: return "a mapping";
    case json_type::number: return "a number";
    case json_type::string: return "a string";
    case json_type::boolean: return "a boolean";
    case json_type::null: return "null";
  }
  return "something else";
}

/// What the author can do when the type is wrong; quotes are the usual reason.
std::string type_remedy(std::string_view expected, json_type found, std::string_view token) {
  if (expected == "a string" && found == json_type::number) return "put it in quotes";
  if (expected == "a string" && found == json_type::boolean) {
    // What was written is gone by now, and it was hardly "true" or "false".
    if (token == "true")
      return "put it in quotes: YAML takes y, yes and on without quotes for true";
    if (token != "false") return {};  // It is not even a boolean.
    return "put it in quotes: YAML takes n, no and off without quotes for false";
  }
  if (found != json_type::string) return {};
  const bool is_number =
      !token.empty() && token.find_first_not_of("-0123456789") == std::string_view::npos;
  if (expected == "an integer" && is_number) return "write it without quotes";
  if (expected == "a boolean" && (token == "true" || token == "false")) {
    return "write it without quotes";
  }
  return {};
}

/// The first control character in a string, as JSON allows none there; or where a string begins
/// that is not closed. Behind that, quotes end strings that they should begin: it is the first one
/// that goes on in the next line, or else the last one.
std::size_t find_in_strings(std::string_view text, simdjson::error_code error) {
  bool quoted = false;
  std::size_t last_begin = text.size();
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_control = static_cast<unsigned char>(text[at]) < ' ';
    if (quoted && is_control) return error == simdjson::UNESCAPED_CHARS ? at : last_begin;
    if (text[at] == '"') {
      quoted = !quoted;
      if (quoted) last_begin = at;
    } else if (quoted && text[at] == '\\') {
      ++at;
    }
  }
  return last_begin;
}

/// No line feed is part of a longer character, so a line is good or bad by itself.
std::size_t first_line_not_utf8(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (!simdjson::validate_utf8(text.data() + begin, end - begin)) return begin;
    begin = end + 1;
  }
  return text.size();
}

/// From the beginning of the document; at most behind its last character.
std::size_t broken_at(const JsonText& text, simdjson::error_code error) {
  const std::string_view document =
      text.document.substr(0, text.document.find_last_not_of(" \t\r\n") + 1);
  switch (error) {
    case simdjson::UNCLOSED_STRING:
    case simdjson::UNESCAPED_CHARS: return find_in_strings(document, error);
    case simdjson::UTF8_ERROR: return first_line_not_utf8(document);
    case simdjson::EMPTY:
    case simdjson::INCOMPLETE_ARRAY_OR_OBJECT: return document.size();
    default: break;
  }
  const char* at = nullptr;
  const bool known = text.cursor != nullptr &&
                     text.cursor->current_location().get(at) == simdjson::SUCCESS &&
                     at >= document.data() && at <= document.data() + document.size();
  return known ? static_cast<std::size_t>(at - document.data()) : document.size();
}

struct JsonPlace {
  std::uint64_t line = 0;  ///< From 1, as the column is; 0: unknown.
  std::uint64_t column = 0;
};

JsonPlace place_of(const JsonText& text, simdjson::error_code error) {
  if (text.whole.empty()) return {};
  const auto begin = static_cast<std::size_t>(text.document.data() - text.whole.data());
  const std::string_view before = text.whole.substr(0, begin + broken_at(text, error));
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  // Bytes that go on with a character are no column of their own.
  const auto begins = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return {.line = 1 + static_cast<std::uint64_t>(std::ranges::count(before, '\n')),
          .column = 1 + static_cast<std::uint64_t>(std::ranges::count_if(line, begins))};
}

}  // namespace

std::string FieldPath::text() const {
  std::string before = parent == nullptr ? std::string() : parent->text();
  if (index != no_index) return before + fmt::format("[{}]", index);
  if (key.empty()) return before;
  // A key with dots is one step, not several: labels, resources.
  const bool plain = key.find_first_of("./ ") == std::string_view::npos;
  if (!plain) return before + fmt::format("[{}]", shorten(key));
  return before.empty() ? std::string(key) : before + "." + std::string(key);
}

void JsonReader::report(Severity severity, const FieldPath& path, std::string_view value,
                        std::string_view message, std::string_view remedy, std::uint64_t line) {
  // A text of nothing but mistakes: describing those that are not kept would take its time.
  if (problems_->is_full(severity)) return problems_->count_one(severity);
  problems_->push_back({.severity = severity,
                        .origin = {.line = line},
                        .field = path.text(),
                        .value = shorten(value),
                        .message = std::string(message),
                        .remedy = std::string(remedy)});
}

void JsonReader::broken(simdjson::error_code error, const FieldPath& path) {
  if (is_broken_) return;
  is_broken_ = true;
  if (error == simdjson::MEMALLOC) throw std::bad_alloc();
  if (error == simdjson::CAPACITY) {
    return refuse(path, {}, "one JSON document of more than 4 GiB", "split it");
  }
  const bool ends_early = error == simdjson::UNCLOSED_STRING || error == simdjson::EMPTY ||
                          error == simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
  const JsonPlace place = place_of(text_, error);
  const std::string where = place.line == 0 ? "here" : fmt::format("at column {}", place.column);
  report(Severity::error, path, {},
         fmt::format("the text is not valid JSON {} ({})", where, simdjson::error_message(error)),
         ends_early ? "is the file cut off?" : "", place.line);
}

bool JsonReader::wrong_type(JsonCursor& value, simdjson::error_code error, const FieldPath& path,
                            std::string_view expected) {
  json_type found{};
  if (const auto type_error = value.type().get(found)) {
    broken(type_error, path);
    return false;
  }
  if (found == json_type::null) {
    bool is_null = false;
    if (value.is_null().get(is_null) != simdjson::SUCCESS || !is_null)
      broken(simdjson::N_ATOM_ERROR, path);
    return false;
  }
  const bool wrong = error == simdjson::INCORRECT_TYPE || error == simdjson::NUMBER_ERROR ||
                     error == simdjson::NUMBER_OUT_OF_RANGE;
  if (!wrong) {
    broken(error, path);
    return false;
  }
  const bool scalar = found != json_type::array && found != json_type::object;
  std::string_view token = scalar ? trimmed(value.raw_json_token()) : std::string_view{};
  if (found == json_type::string && token.size() >= 2) {
    token = token.substr(1, token.size() - 2);
  }
  refuse(path, token, fmt::format("expected {}, found {}", expected, type_text(found)),
         type_remedy(expected, found, token));
  return false;
}

bool JsonReader::read_slowly(JsonCursor& value, const FieldPath& path, std::string_view& out) {
  const simdjson::error_code error = value.get_string().get(out);
  return error == simdjson::SUCCESS || wrong_type(value, error, path, "a string");
}

bool JsonReader::read(JsonCursor& value, const FieldPath& path, std::string& out) {
  std::string_view text;
  if (!read(value, path, text)) return false;
  out.assign(text);
  return true;
}

bool JsonReader::read(JsonCursor& value, const FieldPath& path, std::int64_t& out) {
  const simdjson::error_code error = value.get_int64().get(out);
  return error == simdjson::SUCCESS || wrong_type(value, error, path, "an integer");
}

bool JsonReader::read(JsonCursor& value, const FieldPath& path, std::int32_t& out) {
  std::int64_t wide = 0;
  if (!read(value, path, wide)) return false;
  if (wide < std::numeric_limits<std::int32_t>::min() ||
      wide > std::numeric_limits<std::int32_t>::max()) {
    refuse(path, fmt::format("{}", wide), "expected an integer of 32 bits");
    constexpr std::int64_t lowest = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t highest = std::numeric_limits<std::int32_t>::max();
    out = static_cast<std::int32_t>(std::clamp(wide, lowest, highest));
    return false;
  }
  out = static_cast<std::int32_t>(wide);
  return true;
}

bool JsonReader::read(JsonCursor& value, const FieldPath& path, bool& out) {
  const simdjson::error_code error = value.get_bool().get(out);
  return error == simdjson::SUCCESS || wrong_type(value, error, path, "a boolean");
}

bool JsonReader::read(JsonCursor& value, const FieldPath& path, Time& out) {
  std::string_view text;
  if (!read(value, path, text)) return false;
  const Result<Time> time = parse_time(text);
  if (!time) {
    refuse(path, text, "expected a time in RFC 3339, such as 2026-01-01T00:00:00Z");
    return false;
  }
  out = *time;
  return true;
}

bool JsonReader::read_token(JsonCursor& value, const FieldPath& path, std::string_view& out) {
  json_type type{};
  if (const auto error = value.type().get(type)) {
    broken(error, path);
    return false;
  }
  if (type == json_type::string) return read(value, path, out);
  if (type != json_type::number) {
    return wrong_type(value, simdjson::INCORRECT_TYPE, path, "a string or a number");
  }
  out = trimmed(value.raw_json_token());
  return true;
}

}  // namespace makeway

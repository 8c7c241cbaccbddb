#include "codec/json_value.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/ascii.hpp"
#include "base/check.hpp"
#include "codec/writer.hpp"

namespace makeway {
namespace {

namespace ondemand = simdjson::ondemand;

bool take(std::string_view& rest, std::string_view any_of) {
  if (rest.empty() || !any_of.contains(rest.front())) return false;
  rest.remove_prefix(1);
  return true;
}

/// RFC 8259's number, nothing more.
bool is_json_number(std::string_view rest) {
  take(rest, "-");
  if (!take(rest, "0") && take_digits(rest).empty()) return false;
  if (take(rest, ".") && take_digits(rest).empty()) return false;
  if (take(rest, "eE")) {
    take(rest, "+-");
    if (take_digits(rest).empty()) return false;
  }
  return rest.empty();
}

std::string_view trim_end(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

/// Returns the first key that comes twice.
std::optional<std::string_view> duplicate_key(const JsonValue::Object& object) {
  std::vector<std::string_view> keys;
  keys.reserve(object.size());
  for (const JsonMember& member : object) keys.push_back(member.key);
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  if (twice == keys.end()) return std::nullopt;
  return *twice;
}

/// Builds the tree; the first failure stops it and is remembered with its position.
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, std::size_t depth_max)
      : depth_max_(depth_max), length_(text.size() + 2) {
    // In brackets every text is an array, so a scalar needs no path of its own, and whatever
    // follows the value is seen as a second element or as something behind the end.
    padded_.reserve(length_ + simdjson::SIMDJSON_PADDING);
    padded_ += '[';
    padded_ += text;
    padded_ += ']';
  }

  std::expected<JsonValue, Problem> build() {
    ondemand::document document;
    const simdjson::padded_string_view view(padded_.data(), length_, padded_.capacity());
    if (const auto error = parser_.iterate(view).get(document)) return refuse(error, nullptr);
    JsonValue value;
    const bool done = root(document, value);
    const char* position = nullptr;
    const auto position_error = document.current_location().get(position);
    if (!done) return refuse_here(position_error == simdjson::SUCCESS ? position : nullptr);
    if (position_error != simdjson::OUT_OF_BOUNDS) {
      message_ = "something follows the end of the JSON value";
      return refuse_here(position);
    }
    return value;
  }

 private:
  bool root(ondemand::document& document, JsonValue& value) {
    ondemand::array array;
    if (!good(document.get_array().get(array))) return false;
    std::size_t count = 0;
    for (auto element : array) {
      if (++count > 1) return fail("expected one JSON value, found several");
      if (!any(element, value, 1)) return false;
    }
    return count == 1 || fail("expected a JSON value, found nothing");
  }

  bool any(simdjson::simdjson_result<ondemand::value> source, JsonValue& value, std::size_t depth) {
    ondemand::value input;
    ondemand::json_type type{};
    if (!good(std::move(source).get(input)) || !good(input.type().get(type))) return false;
    switch (type) {
      case ondemand::json_type::array: return array(input, value, depth);
      case ondemand::json_type::object: return object(input, value, depth);
      case ondemand::json_type::number: return number(input, value);
      case ondemand::json_type::string: return string(input, value);
      case ondemand::json_type::boolean: {
        bool truth = false;
        if (!good(input.get_bool().get(truth))) return false;
        value.data = truth;
        return true;
      }
      case ondemand::json_type::null: {
        if (trim_end(input.raw_json_token()) != "null") return fail("expected a JSON value");
        return true;
      }
    }
    return fail("expected a JSON value");
  }

  bool array(ondemand::value& input, JsonValue& value, std::size_t depth) {
    if (depth > depth_max_) return too_deep();
    ondemand::array elements;
    if (!good(input.get_array().get(elements))) return false;
    JsonValue::Array result;
    for (auto element : elements) {
      path_.push_back(fmt::format("[{}]", result.size()));
      if (!any(element, result.emplace_back(), depth + 1)) return false;
      path_.pop_back();
    }
    value.data = std::move(result);
    return true;
  }

  bool object(ondemand::value& input, JsonValue& value, std::size_t depth) {
    if (depth > depth_max_) return too_deep();
    ondemand::object members;
    if (!good(input.get_object().get(members))) return false;
    JsonValue::Object result;
    for (auto field : members) {
      std::string_view key;
      if (!good(field.unescaped_key().get(key))) return false;
      JsonMember& member = result.emplace_back(JsonMember{std::string(key), {}});
      path_.push_back((path_.empty() ? "" : ".") + member.key);
      if (!any(field.value(), member.value, depth + 1)) return false;
      path_.pop_back();
    }
    if (const auto twice = duplicate_key(result)) {
      value_ = shorten(*twice);
      remedy_ = "keep one of them";
      return fail("a key is given twice in one object");
    }
    value.data = std::move(result);
    return true;
  }

  bool number(ondemand::value& input, JsonValue& value) {
    const std::string_view text = trim_end(input.raw_json_token());
    if (!is_json_number(text)) {
      value_ = shorten(text);
      return fail("expected a JSON number");
    }
    std::int64_t integer = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), integer);
    if (error == std::errc{} && end == text.data() + text.size()) {
      value.data = integer;
    } else {
      value.data = JsonNumber{std::string(text)};
    }
    return true;  // The iteration steps over what was only looked at.
  }

  bool string(ondemand::value& input, JsonValue& value) {
    std::string_view text;
    if (!good(input.get_string().get(text))) return false;
    value.data = std::string(text);
    return true;
  }

  bool good(simdjson::error_code error) {
    if (error == simdjson::SUCCESS) return true;
    return fail(describe(error));
  }

  bool fail(std::string message) {
    if (message_.empty()) message_ = std::move(message);
    return false;
  }

  bool too_deep() {
    remedy_ = "flatten the document";
    return fail(fmt::format("nested more than {} levels deep", depth_max_));
  }

  static std::string describe(simdjson::error_code error) {
    return fmt::format("not valid JSON: {}", simdjson::error_message(error));
  }

  std::unexpected<Problem> refuse(simdjson::error_code error, const char* position) {
    message_ = describe(error);
    return refuse_here(position);
  }

  std::unexpected<Problem> refuse_here(const char* position) {
    Problem problem;
    if (position != nullptr && position >= padded_.data() && position <= padded_.data() + length_) {
      problem.origin.line = 1 + static_cast<std::uint64_t>(std::count(
                                    static_cast<const char*>(padded_.data()), position, '\n'));
    }
    for (const std::string& part : path_) problem.field += part;
    problem.value = value_;
    problem.message = message_;
    problem.remedy = remedy_;
    return std::unexpected(std::move(problem));
  }

  std::size_t depth_max_;
  std::size_t length_;
  std::string padded_;
  ondemand::parser parser_;
  std::vector<std::string> path_;
  std::string value_;
  std::string message_;
  std::string remedy_;
};

}  // namespace

bool operator==(const JsonValue& a, const JsonValue& b) { return a.data == b.data; }

const JsonValue* JsonValue::find(std::string_view key) const {
  const Object* object = as_object();
  if (object == nullptr) return nullptr;
  const auto found = std::ranges::find(*object, key, &JsonMember::key);
  return found == object->end() ? nullptr : &found->value;
}

std::string_view JsonValue::type_name() const {
  static constexpr std::array<std::string_view, 7> names = {
      "null", "a boolean", "an integer", "a number", "a string", "a list", "an object"};
  return names[data.index()];
}

std::expected<JsonValue, Problem> parse_json_value(std::string_view text, std::size_t depth_max) {
  return TreeBuilder(text, depth_max).build();
}

void write_value(const JsonValue& value, DocumentWriter& writer) {
  if (const auto* array = value.as_array()) {
    writer.begin_array();
    for (const JsonValue& element : *array) write_value(element, writer);
    writer.end_array();
  } else if (const auto* object = value.as_object()) {
    writer.begin_object();
    for (const JsonMember& member : *object) {
      writer.key(member.key);
      write_value(member.value, writer);
    }
    writer.end_object();
  } else if (const auto* string = value.as_string()) {
    writer.string(*string);
  } else if (const auto* integer = value.as_integer()) {
    writer.integer(*integer);
  } else if (const auto* number = value.as_number()) {
    writer.number(number->text);
  } else if (const auto* boolean = value.as_boolean()) {
    writer.boolean(*boolean);
  } else {
    writer.null();
  }
}

}  // namespace makeway

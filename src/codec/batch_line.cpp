#include "codec/batch_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "codec/json_cursor.hpp"
#include "codec/source.hpp"
#include "codec/workloads/json_edit.hpp"

namespace makeway {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::array<std::string_view, 8> other_fields = {
    "id", "ask", "asks", "askKind", "now", "placements", "expect", "configuration"};

constexpr std::array<std::string_view, 11> all_fields = {
    "id",         "ask",    "asks",          "askKind",  "snapshot", "now",
    "placements", "expect", "configuration", "breaches", "version"};

/// The fields that are read, as JSON text. Empty: not there.
struct RawFields {
  std::string_view snapshot;
  std::string_view kind;
  std::vector<std::string> unknown;
  std::array<std::string_view, other_fields.size()> others;
};

simdjson::error_code raw_text(JsonCursor& value, std::string_view& out) {
  ondemand::json_type type{};
  if (const auto error = value.type().get(type)) return error;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return error;
    return object.raw_json().get(out);
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return error;
    return array.raw_json().get(out);
  }
  out = value.raw_json_token();
  return simdjson::SUCCESS;
}

/// Whether a mapping begins and the line ends before it does.
bool is_cut_off(std::string_view line) {
  const std::size_t start = line.find_first_not_of(" \t\r");
  if (start == std::string_view::npos || line[start] != '{') return false;
  std::uint64_t depth = 0;
  bool in_text = false;
  for (std::size_t at = start; at < line.size(); ++at) {
    const char byte = line[at];
    if (in_text && byte == '\\') {
      ++at;
    } else if (byte == '"') {
      in_text = !in_text;
    } else if (!in_text && (byte == '{' || byte == '[')) {
      ++depth;
    } else if (!in_text && (byte == '}' || byte == ']') && --depth == 0) {
      return false;
    }
  }
  return true;
}

void find_fields(std::string& line, RawFields& fields, JsonReader& reader) {
  line.reserve(line.size() + text_padding);
  ondemand::parser parser;
  ondemand::document document;
  const FieldPath root;
  const simdjson::padded_string_view view(line.data(), line.size(), line.capacity());
  if (const auto error = parser.iterate(view).get(document)) return reader.broken(error, root);
  ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) {
    return reader.refuse(root, shorten(line, 20), "expected a mapping with a snapshot");
  }
  reader.each_field(object, root, [&](const JsonField& value) {
    const auto known = std::ranges::find(other_fields, value.key);
    std::string_view* target = nullptr;
    if (value.key == "snapshot") target = &fields.snapshot;
    if (value.key == "kind") target = &fields.kind;
    if (known != other_fields.end()) {
      target = &fields.others[static_cast<std::size_t>(known - other_fields.begin())];
    }
    if (std::ranges::find(all_fields, value.key) == all_fields.end()) {
      fields.unknown.emplace_back(value.key);
    }
    if (target == nullptr) return;
    if (const auto error = raw_text(value.cursor, *target)) value.reader.broken(error, value.path);
  });
  if (reader.is_broken()) return;
  const char* position = nullptr;
  if (document.current_location().get(position) != simdjson::OUT_OF_BOUNDS) {
    reader.refuse(root, {}, "something follows the end of the JSON value");
  }
}

/// The small fields as values.
class FieldReader {
 public:
  FieldReader(const RawFields& fields, Problems& problems)
      : fields_(&fields), problems_(&problems) {}

  /// Nothing when the field is missing, null or broken.
  std::optional<JsonValue> value(std::string_view name) {
    const auto known = std::ranges::find(other_fields, name);
    const std::string_view raw =
        fields_->others[static_cast<std::size_t>(known - other_fields.begin())];
    if (raw.empty()) return std::nullopt;
    std::expected<JsonValue, Problem> tree = parse_json_value(raw);
    if (!tree) {
      const std::string& below = tree.error().field;
      tree.error().field = fmt::format("{}{}{}", name, below.empty() ? "" : ".", below);
      problems_->push_back(std::move(tree.error()));
      return std::nullopt;
    }
    if (tree->is_null()) return std::nullopt;
    return std::move(*tree);
  }

  std::optional<std::string> text(std::string_view name) {
    std::optional<JsonValue> found = value(name);
    if (!found) return std::nullopt;
    if (const std::string* const string = found->as_string()) return *string;
    refuse(name, {}, fmt::format("expected a string, found {}", found->type_name()));
    return std::nullopt;
  }

  std::vector<std::string> texts(std::string_view name) {
    std::vector<std::string> all;
    const std::optional<JsonValue> found = value(name);
    if (!found) return all;
    const JsonValue::Array* const items = found->as_array();
    if (items == nullptr) {
      refuse(name, {}, fmt::format("expected a list, found {}", found->type_name()));
      return all;
    }
    for (const JsonValue& item : *items) {
      const std::string* const string = item.as_string();
      if (string != nullptr) {
        all.push_back(*string);
      } else {
        refuse(name, {}, fmt::format("expected strings, found {}", item.type_name()));
      }
    }
    return all;
  }

  std::optional<AskKind> ask_kind() {
    const std::optional<std::string> name = text("askKind");
    if (!name) return std::nullopt;
    const auto lower = [](unsigned char byte) { return std::tolower(byte); };
    for (std::size_t at = 0; at < choice_names<AskKind>.size(); ++at) {
      if (std::ranges::equal(*name, choice_names<AskKind>[at], {}, lower, lower)) {
        return static_cast<AskKind>(at);
      }
    }
    refuse("askKind", *name, "expected Pod or PodGroup");
    return std::nullopt;
  }

  std::optional<Time> time(std::string_view name) {
    const std::optional<std::string> written = text(name);
    if (!written) return std::nullopt;
    const Result<Time> parsed = parse_time(*written);
    if (parsed) return *parsed;
    refuse(name, *written, parsed.error().message);
    return std::nullopt;
  }

 private:
  void refuse(std::string_view field, std::string_view wrong, std::string message) {
    problems_->push_back(
        {.field = std::string(field), .value = shorten(wrong), .message = std::move(message)});
  }

  const RawFields* fields_;
  Problems* problems_;
};

/// "namespace/name": "node". Nothing that is empty can be meant.
PodPlacement placement_of(const JsonMember& member) {
  const std::size_t slash = member.key.find('/');
  const std::string* const node = member.value.as_string();
  if (slash == std::string::npos || node == nullptr) return {};
  return {.namespace_name = member.key.substr(0, slash),
          .name = member.key.substr(slash + 1),
          .node = *node};
}

}  // namespace

std::span<const std::string_view> batch_keys() { return all_fields; }

std::vector<PodPlacement> read_placements(const JsonValue& value, std::string_view field,
                                          Problems& problems) {
  std::vector<PodPlacement> placements;
  if (const JsonValue::Object* const object = value.as_object()) {
    for (const JsonMember& member : *object) placements.push_back(placement_of(member));
  } else if (const JsonValue::Array* const array = value.as_array()) {
    for (const JsonValue& item : *array) {
      placements.push_back({.namespace_name = std::string(text_at(item, {"namespace"})),
                            .name = std::string(text_at(item, {"name"})),
                            .node = std::string(text_at(item, {"node"}))});
    }
  } else {
    problems.push_back({.field = std::string(field),
                        .message = fmt::format("expected placements, found {}", value.type_name()),
                        .remedy = R"(write {"namespace/name": "node"})"});
  }
  const bool whole = std::ranges::none_of(placements, [](const PodPlacement& placement) {
    return placement.namespace_name.empty() || placement.name.empty() || placement.node.empty();
  });
  if (!whole) {
    problems.push_back({.field = std::string(field),
                        .message = "a placement lacks its namespace, name or node",
                        .remedy = R"(write {"namespace/name": "node"})"});
  }
  std::ranges::sort(placements);
  return placements;
}

BatchReading read_batch_line(std::string& line) {
  BatchReading reading;
  RawFields raw;
  JsonReader reader(reading.problems);
  find_fields(line, raw, reader);
  if (!reading.problems.empty() && is_cut_off(line)) {
    reading.problems.back().remedy = "the line may be cut off";
  }
  reading.unknown_keys = std::move(raw.unknown);
  FieldReader fields(raw, reading.problems);
  if (std::optional<JsonValue> id = fields.value("id")) reading.id = std::move(*id);
  if (!reading.problems.empty()) return reading;

  BatchCase item{.snapshot = raw.snapshot};
  if (raw.snapshot.empty() && !raw.kind.empty()) {
    item.snapshot = line;  // A bare List: its fields are its own.
    reading.id = {};
    reading.unknown_keys.clear();
    reading.item = std::move(item);
    return reading;
  }
  if (raw.snapshot.empty()) {
    reading.problems.push_back({.field = "snapshot",
                                .message = "the line has no snapshot",
                                .remedy = "give it a List of objects"});
  }
  item.asks = fields.texts("asks");
  if (std::optional<std::string> ask = fields.text("ask")) item.asks.push_back(*std::move(ask));
  item.ask_kind = fields.ask_kind();
  item.now = fields.time("now");
  if (const std::optional<JsonValue> placements = fields.value("placements")) {
    item.placements = read_placements(*placements, "placements", reading.problems);
  }
  item.expect = fields.value("expect");
  item.configuration = fields.value("configuration");
  if (reading.problems.empty()) reading.item = std::move(item);
  return reading;
}

}  // namespace makeway

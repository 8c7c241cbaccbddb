#include "codec/api_text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "codec/json_cursor.hpp"

namespace makeway {
namespace {

constexpr std::string_view initial_events_end = "k8s.io/initial-events-end";

struct EventName {
  std::string_view name;
  WatchEventType type;
};
constexpr std::array event_names = {
    EventName{"ADDED", WatchEventType::added},     EventName{"MODIFIED", WatchEventType::modified},
    EventName{"DELETED", WatchEventType::deleted}, EventName{"BOOKMARK", WatchEventType::bookmark},
    EventName{"ERROR", WatchEventType::error},
};

/// The first thing that is wrong with a text.
Problem first_of(const Problems& problems) {
  for (const Problem& problem : problems) {
    if (problem.severity == Severity::error) return problem;
  }
  return {.message = "it cannot be read"};
}

/// Calls `visit(key, value, path)` for each field of the one object that the text is.
template <class Visit>
std::optional<Problem> each_root_field(simdjson::ondemand::parser& parser, std::string_view text,
                                       const Visit& visit) {
  Problems problems;
  JsonReader reader(problems);
  const FieldPath root;
  simdjson::ondemand::document document;
  JsonObjectCursor object;
  if (const auto error =
          parser.iterate(text.data(), text.size(), text.size() + text_padding).get(document)) {
    reader.broken(error, root);
  } else if (const auto wrong = document.get_object().get(object)) {
    if (wrong != simdjson::INCORRECT_TYPE) reader.broken(wrong, root);
    if (problems.empty()) return Problem{.message = "expected a JSON object"};
  } else {
    reader.each_field(object, root,
                      [&](std::string_view key, JsonCursor& value, const FieldPath& path) {
                        visit(reader, key, value, path);
                      });
  }
  if (has_errors(problems)) return first_of(problems);
  return std::nullopt;
}

void read_text(JsonReader& reader, JsonCursor& value, const FieldPath& path, std::string& out) {
  std::string text;
  if (reader.read(value, path, text)) out = std::move(text);
}

}  // namespace

std::expected<ListPage, Problem> read_list_page(const PaddedText& text) {
  ListPage page;
  bool has_items = false;
  simdjson::ondemand::parser parser;
  const auto problem = each_root_field(
      parser, text.view(),
      [&](JsonReader& reader, std::string_view key, JsonCursor& value, const FieldPath& path) {
        if (key == "kind") read_text(reader, value, path, page.kind);
        if (key == "items") {
          has_items = true;
          reader.each_item(value, path, [&](JsonCursor& item, const FieldPath& at) {
            reader.each_field(
                item, at, [&](std::string_view name, JsonCursor& text_value, const FieldPath& to) {
                  if (name != "kind") return;
                  std::string kind;
                  read_text(reader, text_value, to, kind);
                  if (!kind.empty()) page.item_kinds.insert(std::move(kind));
                });
          });
        }
        if (key != "metadata") return;
        reader.each_field(value, path,
                          [&](std::string_view name, JsonCursor& text_value, const FieldPath& at) {
                            if (name == "resourceVersion") {
                              read_text(reader, text_value, at, page.resource_version);
                            } else if (name == "continue") {
                              read_text(reader, text_value, at, page.continue_token);
                            }
                          });
      });
  if (problem) return std::unexpected(*problem);
  if (!page.kind.ends_with("List") || !has_items) {
    return std::unexpected(Problem{
        .field = "kind", .value = shorten(page.kind), .message = "expected a list with items"});
  }
  return page;
}

namespace {

void read_metadata(JsonReader& reader, JsonCursor& value, const FieldPath& path,
                   WatchEvent& event) {
  reader.each_field(value, path, [&](std::string_view key, JsonCursor& inner, const FieldPath& at) {
    if (key == "name") read_text(reader, inner, at, event.name);
    if (key == "namespace") read_text(reader, inner, at, event.namespace_name);
    if (key == "uid") read_text(reader, inner, at, event.uid);
    if (key == "resourceVersion") {
      read_text(reader, inner, at, event.resource_version);
    }
    if (key != "annotations" || event.type != WatchEventType::bookmark) return;
    reader.each_field(inner, at, [&](std::string_view name, JsonCursor& mark, const FieldPath& to) {
      std::string text;
      if (name != initial_events_end || !reader.read(mark, to, text)) return;
      event.ends_initial_events = text == "true";
    });
  });
}

}  // namespace

std::expected<WatchEvent, Problem> read_watch_event(const PaddedText& line) {
  WatchEvent event;
  std::string type;
  simdjson::ondemand::parser parser;
  auto problem = each_root_field(
      parser, line.view(),
      [&](JsonReader& reader, std::string_view key, JsonCursor& value, const FieldPath& path) {
        if (key == "type") read_text(reader, value, path, type);
        if (key != "object") return;
        JsonObjectCursor object;
        if (const auto error = value.get_object().get(object)) {
          if (error != simdjson::INCORRECT_TYPE) return reader.broken(error, path);
          return reader.refuse(path, {}, "expected an object");
        }
        if (const auto error = object.raw_json().get(event.object)) reader.broken(error, path);
      });
  if (problem) return std::unexpected(*problem);
  const auto* const known =
      std::ranges::find(event_names, std::string_view(type), &EventName::name);
  if (known == event_names.end() || event.object.empty()) {
    return std::unexpected(Problem{.field = "type",
                                   .value = shorten(type),
                                   .message = "expected an event of a watch with its object"});
  }
  event.type = known->type;
  problem = each_root_field(
      parser, event.object,
      [&](JsonReader& reader, std::string_view key, JsonCursor& value, const FieldPath& path) {
        if (key == "kind") read_text(reader, value, path, event.kind);
        if (key == "metadata") read_metadata(reader, value, path, event);
      });
  if (problem) return std::unexpected(*problem);
  return event;
}

}  // namespace makeway

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

/// Calls `visit(JsonField)` for each field of the one object that the text is.
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
    reader.each_field(object, root, visit);
  }
  if (has_errors(problems)) return first_of(problems);
  return std::nullopt;
}

}  // namespace

std::expected<ListPage, Problem> read_list_page(const PaddedText& text) {
  ListPage page;
  bool has_items = false;
  simdjson::ondemand::parser parser;
  const auto problem = each_root_field(parser, text.view(), [&](const JsonField& value) {
    if (value.key == "kind") value.read(page.kind);
    if (value.key == "items") {
      has_items = true;
      value.each_item([&](const JsonField& item) {
        item.each_field([&](const JsonField& text_value) {
          if (text_value.key != "kind") return;
          std::string kind;
          text_value.read(kind);
          if (!kind.empty()) page.item_kinds.insert(std::move(kind));
        });
      });
    }
    if (value.key != "metadata") return;
    value.each_field([&](const JsonField& text_value) {
      if (text_value.key == "resourceVersion") text_value.read(page.resource_version);
      if (text_value.key == "continue") text_value.read(page.continue_token);
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

void read_metadata(const JsonField& value, WatchEvent& event) {
  value.each_field([&](const JsonField& inner) {
    if (inner.key == "name") inner.read(event.name);
    if (inner.key == "namespace") inner.read(event.namespace_name);
    if (inner.key == "uid") inner.read(event.uid);
    if (inner.key == "resourceVersion") {
      inner.read(event.resource_version);
    }
    if (inner.key != "annotations" || event.type != WatchEventType::bookmark) return;
    inner.each_field([&](const JsonField& mark) {
      std::string text;
      if (mark.key != initial_events_end || !mark.read(text)) return;
      event.ends_initial_events = text == "true";
    });
  });
}

}  // namespace

std::expected<WatchEvent, Problem> read_watch_event(const PaddedText& line) {
  WatchEvent event;
  std::string type;
  simdjson::ondemand::parser parser;
  auto problem = each_root_field(parser, line.view(), [&](const JsonField& value) {
    if (value.key == "type") value.read(type);
    if (value.key != "object") return;
    JsonObjectCursor object;
    if (const auto error = value.cursor.get_object().get(object)) {
      if (error != simdjson::INCORRECT_TYPE) return value.reader.broken(error, value.path);
      return value.refuse({}, "expected an object");
    }
    if (const auto error = object.raw_json().get(event.object))
      value.reader.broken(error, value.path);
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
  problem = each_root_field(parser, event.object, [&](const JsonField& value) {
    if (value.key == "kind") value.read(event.kind);
    if (value.key == "metadata") read_metadata(value, event);
  });
  if (problem) return std::unexpected(*problem);
  return event;
}

}  // namespace makeway

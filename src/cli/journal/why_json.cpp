#include "cli/journal/why_json.hpp"

#include "codec/writer.hpp"

namespace makeway::cli {
namespace {

void write_eviction(JsonWriter& writer, const WhyEviction& eviction) {
  writer.begin_object();
  writer.string_field("time", to_text(eviction.when));
  writer.integer_field("cycle", static_cast<std::int64_t>(eviction.cycle));
  writer.string_field("plan", eviction.plan);
  writer.strings_field("objects", eviction.pods);
  writer.strings_field("nodes", eviction.nodes);
  writer.string_field("for", eviction.ask);
  writer.string_field("reason", eviction.reason);
  if (eviction.claimed) writer.boolean_field("byController", true);
  if (!eviction.alternative.empty()) {
    writer.string_field("alternative", eviction.alternative);
    writer.string_field("key", eviction.key);
  }
  if (!eviction.spared.empty()) writer.strings_field("spared", eviction.spared);
  if (eviction.back) {
    writer.string_field("backSince", to_text(*eviction.back));
    writer.string_field("backOn", eviction.back_on);
  }
  writer.end_object();
}

}  // namespace

std::string why_json(std::string_view object, std::string_view summary, const WhyStory& story) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object();
  writer.string_field("apiVersion", "makeway.dev/v1");
  writer.string_field("kind", "Story");
  writer.string_field("object", object);
  writer.string_field("summary", summary);
  writer.key("evictions");
  writer.begin_array();
  for (const WhyEviction& eviction : story.evictions()) write_eviction(writer, eviction);
  writer.end_array();
  writer.key("waiting");
  writer.begin_array();
  for (const AskName& ask : story.pending()) writer.string(ask_text(ask));
  writer.end_array();
  writer.key("events");
  writer.begin_array();
  for (const WhyEvent& event : story.events()) {
    writer.begin_object();
    writer.string_field("time", to_text(event.when));
    writer.string_field("text", event.text);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return text;
}

}  // namespace makeway::cli

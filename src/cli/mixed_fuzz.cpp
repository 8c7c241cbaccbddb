// Any bytes, read as a cluster in which pods, groups, queues, sessions and replicas meet: it is
// loaded with --keep-going, planned, judged and printed, and nothing of that fails or breaks a law.
//
// The first byte selects the preset and which marks count. If its highest bit is set, the others
// are edits of the document below, three bytes each: two for the place, one for what is done there;
// so most inputs are readable and mixed. Otherwise they are the text of a manifest.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.hpp"
#include "cli/plan/plan_maker.hpp"
#include "cli/plan/plan_text.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/load.hpp"
#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "codec/writer.hpp"
#include "model/trust.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view mixed_document = R"({"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8",
 "memory":"16Gi","pods":"20"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"},"status":{"allocatable":{"cpu":"4",
 "memory":"8Gi","pods":"20"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"p1","labels":{"makeway.dev/plane":"east"}},
 "status":{"allocatable":{"cpu":"4","pods":"20"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"s1"},"status":{"allocatable":{"cpu":"4",
 "memory":"8Gi","pods":"20"}}},
{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"low"},"value":1},
{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},
 "value":100},
{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"b",
 "namespace":"default"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"r"}}}},
{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{"name":"g",
 "namespace":"default"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}},
 "priorityClassName":"high"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"g1","namespace":"default",
 "labels":{"queue":"qa"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"2"}}}],"priority":100,"schedulingGroup":{"podGroupName":"g"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"g2","namespace":"default",
 "labels":{"queue":"qa"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"2"}}}],"priority":100,"schedulingGroup":{"podGroupName":"g"}}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"r1","namespace":"default",
 "labels":{"app":"r","queue":"qa"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"2","memory":"1Gi"}}}],"priority":0,"nodeName":"n1"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"r2","namespace":"default",
 "labels":{"app":"r","queue":"qb"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"3"}}}],"priority":0,"nodeName":"n1"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"r3","namespace":"default",
 "labels":{"queue":"qb"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"4"}}}],"priority":0,"nodeName":"n2"}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"hi","namespace":"default",
 "labels":{"queue":"qb"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"3"}}}],"priority":50}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"pin","namespace":"kube-system",
 "annotations":{"makeway.dev/required-node":"n2"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"2"}}}],"priority":60}},
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"d1","namespace":"default",
 "labels":{"makeway.dev/deployment":"d"}},"spec":{"containers":[{"name":"c",
 "resources":{"requests":{"cpu":"2"}}}],"priority":3,"nodeName":"p1"}},
{"apiVersion":"makeway.dev/v1","kind":"Queue","metadata":{"name":"qa"},"spec":{"weight":2,
 "guarantee":{"cpu":"1"},"namespaces":["default"]}},
{"apiVersion":"makeway.dev/v1","kind":"Queue","metadata":{"name":"qb"},"spec":{"weight":1,
 "limit":{"cpu":"6"},"namespaces":["prod"]}},
{"apiVersion":"makeway.dev/v1","kind":"ResourceGroup","metadata":{"name":"rg"},
 "spec":{"nodes":["s1"]}},
{"apiVersion":"makeway.dev/v1","kind":"Session","metadata":{"name":"sa","namespace":"default"},
 "spec":{"resourceGroup":"rg","priority":1,"kernels":[{"name":"k","resources":{"cpu":"3"},
 "node":"s1"}]},"status":{"phase":"running","started":"2026-01-01T00:00:00Z"}},
{"apiVersion":"makeway.dev/v1","kind":"Session","metadata":{"name":"sb","namespace":"default"},
 "spec":{"resourceGroup":"rg","priority":9,"kernels":[{"name":"k","resources":{"cpu":"3"}}]}},
{"apiVersion":"makeway.dev/v1","kind":"ReplicaSchedule","metadata":{"name":"d",
 "namespace":"default"},"spec":{"priority":3,"resources":{"cpu":"2"},"planes":[{"name":"east",
 "committed":1}]}},
{"apiVersion":"makeway.dev/v1","kind":"ReplicaSchedule","metadata":{"name":"e",
 "namespace":"default"},"spec":{"priority":10,"resources":{"cpu":"3"},"unmet":1,
 "planes":[{"name":"east"}]}}
]})";

/// What an edit writes: numbers, names of the document, marks, and what is no value at all.
constexpr std::array<std::string_view, 44> edit_values = {"0",
                                                          "1",
                                                          "2",
                                                          "3",
                                                          "5",
                                                          "100",
                                                          "-1",
                                                          "2147483647",
                                                          "2147483648",
                                                          "9223372036854775807",
                                                          "\"0\"",
                                                          "\"1\"",
                                                          "\"3\"",
                                                          "\"5\"",
                                                          "\"1Ei\"",
                                                          "\"2Ei\"",
                                                          "\"500m\"",
                                                          "\"-1\"",
                                                          "\"x\"",
                                                          "\"\"",
                                                          "\"n1\"",
                                                          "\"n2\"",
                                                          "\"p1\"",
                                                          "\"s1\"",
                                                          "\"g\"",
                                                          "\"qa\"",
                                                          "\"qb\"",
                                                          "\"rg\"",
                                                          "\"d\"",
                                                          "\"low\"",
                                                          "\"high\"",
                                                          "\"east\"",
                                                          "\"true\"",
                                                          "\"false\"",
                                                          "\"default\"",
                                                          "\"1125899906842624\"",
                                                          "\"2026-01-01T00:00:00Z\"",
                                                          "\"kube-system\"",
                                                          "null",
                                                          "true",
                                                          "[]",
                                                          "{}",
                                                          "[\"n1\",\"s1\"]",
                                                          "{\"cpu\":\"1Ei\"}"};

JsonValue json_value(std::string_view text) {
  auto value = parse_json_value(text);
  CHECK(value.has_value(), "what this file writes is JSON");
  return std::move(*value);
}

/// A value, and the list that it is an item of.
struct Place {
  JsonValue* value = nullptr;
  JsonValue::Array* list = nullptr;
};

void find_places(JsonValue& value, JsonValue::Array* list, std::vector<Place>& places) {
  places.push_back({.value = &value, .list = list});
  if (auto* const items = std::get_if<JsonValue::Array>(&value.data)) {
    for (JsonValue& item : *items) find_places(item, items, places);
  }
  if (auto* const members = std::get_if<JsonValue::Object>(&value.data)) {
    for (JsonMember& member : *members) find_places(member.value, nullptr, places);
  }
}

void edit(JsonValue& document, std::size_t number, std::uint8_t what) {
  std::vector<Place> places;
  find_places(document, nullptr, places);
  const Place place = places[1 + number % (places.size() - 1)];
  if (what < edit_values.size()) {
    *place.value = json_value(edit_values.at(what));
  } else if (place.list != nullptr && place.list->size() < 64) {
    JsonValue copy = *place.value;  // The list moves.
    place.list->push_back(std::move(copy));
  } else {
    const std::size_t other = (number + what) % (places.size() - 1);
    JsonValue copy = *places[1 + other].value;
    *place.value = std::move(copy);
  }
}

std::string edited_document(std::span<const std::uint8_t> edits) {
  constexpr std::size_t bytes_max = 1'000'000;
  JsonValue document = json_value(mixed_document);
  std::string text;
  for (; edits.size() >= 3 && text.size() < bytes_max; edits = edits.subspan(3)) {
    edit(document, edits[0] * std::size_t{256} + edits[1], edits[2]);
    text.clear();
    JsonWriter writer(text, JsonStyle::compact);
    write_value(document, writer);
  }
  return text.empty() ? std::string(mixed_document) : text;
}

void plan_and_print(Loaded& loaded, const ConfigurationDocument& document) {
  const Configuration& configuration = document.configuration;
  honour_marks(loaded, configuration, {}, true);
  keep_going_beyond_caps(loaded, configuration);
  static_cast<void>(plan_doubts(loaded, configuration));
  PlanTools tools = real_tools();
  tools.contain = false;
  const PlanRequest request{
      .now = newest_time(loaded.cluster), .preset = document.name, .explain = true};
  const LawfulPlan made = make_lawful_plan(loaded.cluster, configuration, request, tools);
  for (const RefusedPlan& refused : made.refused) {
    for (const LawBreach& breach : refused.breaches) {
      fmt::print(stderr, "law {}: {}\n", breach.law, breach.text);
    }
  }
  CHECK(made.refused.empty(), "the plan breaks a law");
  if (!made.plan) return;
  const std::string text = plan_text(
      *made.plan, {.explain = true, .cluster = &loaded.cluster, .configuration = &configuration});
  CHECK(!text.empty());
}

}  // namespace
}  // namespace makeway::cli

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr std::uint8_t edits_bit = 0x80;
  constexpr std::uint8_t live_bit = 0x40;
  const std::span<const std::uint8_t> rest(data + 1, size - 1);
  const std::string text =
      (*data & edits_bit) != 0
          ? makeway::cli::edited_document(rest)
          : std::string(reinterpret_cast<const char*>(rest.data()), rest.size());
  makeway::LoadResult result = makeway::load_text(text, "fuzz", {}, {.keep_going = true});
  if (!result.loaded) return 0;
  const std::vector<std::string_view> presets = makeway::preset_names();
  const std::string_view preset = presets[*data % 0x10 % presets.size()];
  makeway::ConfigurationDocument document{.name = std::string(preset),
                                          .configuration = *makeway::load_preset(preset)};
  if ((*data & live_bit) != 0) {
    document.configuration.trust.mode = makeway::TrustMode::cluster;
  }
  makeway::cli::plan_and_print(*result.loaded, document);
  return 0;
}

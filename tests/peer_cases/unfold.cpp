#include "peer_cases/unfold.hpp"

#include <string>
#include <utility>
#include <vector>

namespace makeway {
namespace {

JsonValue* find(JsonValue& value, std::string_view key) {
  return const_cast<JsonValue*>(std::as_const(value).find(key));  // Owned by the caller.
}

JsonValue::Object& object_of(JsonValue& value) { return std::get<JsonValue::Object>(value.data); }

JsonValue text_value(std::string text) { return {.data = std::move(text)}; }

JsonValue amounts(Prng& random) {
  static const std::vector<std::string> cpu = {"250m", "0.5", "1", "1500m", "2"};
  static const std::vector<std::string> memory = {"1Gi", "512Mi", "2e9", "3G"};
  JsonValue::Object result{{.key = "cpu", .value = text_value(random.pick(cpu))}};
  if (random.chance(30)) {
    result.push_back({.key = "memory", .value = text_value(random.pick(memory))});
  }
  return {.data = std::move(result)};
}

JsonValue container(Prng& random, const std::string& name, bool restarts) {
  JsonValue::Object resources{{.key = "requests", .value = amounts(random)}};
  JsonValue::Object result{{.key = "name", .value = text_value(name)},
                           {.key = "resources", .value = {.data = std::move(resources)}}};
  if (restarts) result.push_back({.key = "restartPolicy", .value = text_value("Always")});
  return {.data = std::move(result)};
}

void unfold(Prng& random, JsonValue& spec) {
  if (random.chance(40)) {
    std::get<JsonValue::Array>(find(spec, "containers")->data)
        .push_back(container(random, "second", false));
  }
  JsonValue::Array first;
  while (random.chance(40)) {
    const std::string name = "init-" + std::to_string(first.size());
    first.push_back(container(random, name, random.chance(40)));
  }
  if (!first.empty()) {
    object_of(spec).push_back({.key = "initContainers", .value = {.data = std::move(first)}});
  }
  if (random.chance(10)) {
    JsonValue::Object of_pod{{.key = "requests", .value = amounts(random)}};
    object_of(spec).push_back({.key = "resources", .value = {.data = std::move(of_pod)}});
  }
  if (random.chance(20)) {
    object_of(spec).push_back({.key = "overhead", .value = amounts(random)});
  }
}

}  // namespace

void unfold_requests(Prng& random, JsonValue& list) {
  if (random.chance(60)) return;
  for (JsonValue& item : std::get<JsonValue::Array>(find(list, "items")->data)) {
    const std::string* const kind = item.find("kind")->as_string();
    if (*kind == "Pod" && random.chance(25)) unfold(random, *find(item, "spec"));
  }
}

}  // namespace makeway

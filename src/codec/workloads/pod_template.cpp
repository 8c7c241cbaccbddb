#include "codec/workloads/pod_template.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ranges>

#include "codec/workloads/json_edit.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

constexpr std::array<std::string_view, 4> container_fields = {"name", "resources", "ports",
                                                              "restartPolicy"};

/// Leaves images, commands, environments and probes out.
void slim_containers(JsonValue& spec, std::string_view list) {
  auto* const members = std::get_if<JsonValue::Object>(&spec.data);
  if (members == nullptr) return;
  const auto found = std::ranges::find(*members, list, &JsonMember::key);
  if (found == members->end()) return;
  auto* const containers = std::get_if<JsonValue::Array>(&found->value.data);
  if (containers == nullptr) return;
  for (JsonValue& container : *containers) {
    auto* const fields = std::get_if<JsonValue::Object>(&container.data);
    if (fields == nullptr) continue;
    std::erase_if(*fields, [](const JsonMember& each) {
      return std::ranges::find(container_fields, each.key) == container_fields.end();
    });
  }
}

const JsonValue* first_of(const JsonValue& item, std::string_view resource,
                          std::initializer_list<std::string_view> lists) {
  for (const std::string_view list : lists) {
    const JsonValue* const amounts = item.find(list);
    const JsonValue* const amount = amounts == nullptr ? nullptr : amounts->find(resource);
    if (amount != nullptr && !amount->is_null()) return amount;
  }
  return nullptr;
}

/// A LimitRange may name more; no pod asks for so many resources.
constexpr std::size_t limit_range_resources_max = 256;
constexpr std::size_t limit_range_items_max = 64;

/// The defaults of one LimitRange entry for one container, where it says nothing itself.
void default_requests(const JsonValue& item, JsonValue& container) {
  JsonValue* const resources = member(container, "resources");
  if (resources == nullptr) return;
  for (const std::string_view list : {"defaultRequest", "default", "max", "min"}) {
    const JsonValue* const amounts = item.find(list);
    const JsonValue::Object* const named = amounts == nullptr ? nullptr : amounts->as_object();
    if (named == nullptr) continue;
    for (const JsonMember& each : *named | std::views::take(limit_range_resources_max)) {
      if (first_of(*resources, each.key, {"requests", "limits"}) != nullptr) continue;
      const JsonValue* const amount =
          first_of(item, each.key, {"defaultRequest", "default", "max", "min"});
      JsonValue* const requests = member(*resources, "requests");
      if (amount != nullptr && requests != nullptr) put(*requests, each.key, *amount);
    }
  }
}

void apply_limit_range(const JsonValue& range, JsonValue& spec) {
  const JsonValue* const limits = range.find("spec");
  const JsonValue* const items = limits == nullptr ? nullptr : limits->find("limits");
  if (items == nullptr || items->as_array() == nullptr) return;
  for (const JsonValue& item : *items->as_array() | std::views::take(limit_range_items_max)) {
    if (text_at(item, {"type"}) != "Container") continue;
    for (const std::string_view list : {"containers", "initContainers"}) {
      if (spec.find(list) == nullptr) continue;
      auto* const containers = std::get_if<JsonValue::Array>(&member(spec, list)->data);
      if (containers == nullptr) continue;
      for (JsonValue& container : *containers) {
        if (container.as_object() != nullptr) default_requests(item, container);
      }
    }
  }
}

/// Overhead, node selector and tolerations.
void apply_runtime_class(const JsonValue& runtime, JsonValue& spec) {
  const JsonValue* const overhead = runtime.find("overhead");
  const JsonValue* const fixed = overhead == nullptr ? nullptr : overhead->find("podFixed");
  if (fixed != nullptr && spec.find("overhead") == nullptr) put(spec, "overhead", *fixed);
  const JsonValue* const scheduling = runtime.find("scheduling");
  if (scheduling == nullptr) return;
  if (const JsonValue* const selector = scheduling->find("nodeSelector")) {
    JsonValue* const own = member(spec, "nodeSelector");
    if (own != nullptr && selector->as_object() != nullptr) {
      for (const JsonMember& each : *selector->as_object()) put(*own, each.key, each.value);
    }
  }
  if (const JsonValue* const tolerations = scheduling->find("tolerations")) {
    JsonValue* const own = member(spec, "tolerations");
    if (own != nullptr && tolerations->as_array() != nullptr) {
      for (const JsonValue& each : *tolerations->as_array()) append(*own, each);
    }
  }
}

bool tolerates(const JsonValue& toleration, std::string_view key, std::string_view effect) {
  const std::string_view own_effect = text_at(toleration, {"effect"});
  const std::string_view own_key = text_at(toleration, {"key"});
  return (own_key == key || own_key.empty()) && (own_effect == effect || own_effect.empty());
}

}  // namespace

PodTemplate read_template(const ManifestField& field) {
  PodTemplate pods{.problems = &field.problems(), .path = field.path()};
  if (!field.is_present()) {
    field.refuse("expected the template of its pods", fmt::format("set {}", field.path()));
    return pods;
  }
  const ManifestField metadata = field.at("metadata");
  const ManifestField spec = field.at("spec");
  pods.labels = metadata.at("labels").value();
  pods.annotations = metadata.at("annotations").value();
  pods.spec = spec.value();
  if (!spec.is_present()) {
    spec.refuse("expected the spec of a pod", fmt::format("set {}", spec.path()));
  } else if (!spec.at("containers").is_present()) {
    spec.at("containers").refuse("expected at least one container");
  }
  for (const std::string_view list : {"containers", "initContainers"}) {
    slim_containers(pods.spec, list);
  }
  return pods;
}

void admit(const Admission& admission, JsonValue& spec) {
  // As the plugin DefaultTolerationSeconds; for how long does not matter to a place.
  tolerate(spec, "node.kubernetes.io/not-ready", "NoExecute");
  tolerate(spec, "node.kubernetes.io/unreachable", "NoExecute");
  if (admission.runtime_class != nullptr) apply_runtime_class(*admission.runtime_class, spec);
  for (const JsonValue* const range : admission.limit_ranges) apply_limit_range(*range, spec);
}

void tolerate(JsonValue& spec, std::string_view key, std::string_view effect) {
  JsonValue* const tolerations = member(spec, "tolerations");
  if (tolerations == nullptr) return;
  if (const JsonValue::Array* const all = tolerations->as_array()) {
    if (std::ranges::any_of(*all,
                            [&](const JsonValue& each) { return tolerates(each, key, effect); })) {
      return;
    }
  }
  append(*tolerations, object_value({{"key", text_value(key)},
                                     {"operator", text_value("Exists")},
                                     {"effect", text_value(effect)}}));
}

void add_container(JsonValue& spec, std::string_view list, std::string_view name,
                   const JsonValue& requests) {
  if (JsonValue* const containers = member(spec, list)) {
    append(*containers, object_value({{"name", text_value(name)},
                                      {"resources", object_value({{"requests", requests}})}}));
  }
}

JsonValue cpu_and_memory(std::string_view cpu, std::string_view memory) {
  return object_value({{"cpu", text_value(cpu)}, {"memory", text_value(memory)}});
}

JsonValue requirement(std::string_view key, std::string_view operation,
                      std::initializer_list<std::string_view> values) {
  JsonValue result = object_value({{"key", text_value(key)}, {"operator", text_value(operation)}});
  for (const std::string_view value : values) append(*member(result, "values"), text_value(value));
  return result;
}

void add_pod_term(JsonValue& spec, std::string_view affinity, std::string_view topology_key,
                  Namespaces namespaces, std::initializer_list<JsonValue> requirements) {
  JsonValue term = object_value(
      {{"labelSelector", object_value({{"matchExpressions", array_value(requirements)}})},
       {"topologyKey", text_value(topology_key)}});
  if (namespaces == Namespaces::all) {
    put(term, "namespaceSelector", {.data = JsonValue::Object{}});
  }
  JsonValue* const all = member(spec, "affinity");
  JsonValue* const kind = all == nullptr ? nullptr : member(*all, affinity);
  JsonValue* const required = kind == nullptr ? nullptr : member(*kind, names::required_terms);
  if (required != nullptr) append(*required, std::move(term));
}

void pin_to_node(JsonValue& spec, std::string_view node) {
  JsonValue* const all = member(spec, "affinity");
  JsonValue* const kind = all == nullptr ? nullptr : member(*all, "nodeAffinity");
  if (kind == nullptr) return;
  put(*kind, names::required_terms,
      object_value(
          {{"nodeSelectorTerms",
            array_value({object_value(
                {{"matchFields", array_value({requirement("metadata.name", "In", {node})})}})})}}));
}

}  // namespace makeway

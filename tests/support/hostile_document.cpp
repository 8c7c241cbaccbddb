#include "support/hostile_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/prng.hpp"
#include "codec/dump.hpp"
#include "codec/json_value.hpp"
#include "codec/writer.hpp"
#include "support/random_objects.hpp"
#include "support/random_world.hpp"
#include "support/screen_text.hpp"

namespace makeway {
namespace {

using JsonArray = JsonValue::Array;
using JsonObject = JsonValue::Object;

JsonValue text_value(std::string text) { return {.data = std::move(text)}; }

JsonValue parsed(std::string_view text) {
  auto value = parse_json_value(text);
  CHECK(value.has_value(), "what this file writes is JSON");
  return std::move(*value);
}

// ---- Finding things -----------------------------------------------------------------------------

void collect(JsonValue& value, std::vector<JsonValue*>& found) {
  found.push_back(&value);
  if (auto* const items = std::get_if<JsonArray>(&value.data)) {
    for (JsonValue& item : *items) collect(item, found);
  }
  if (auto* const members = std::get_if<JsonObject>(&value.data)) {
    for (JsonMember& member : *members) collect(member.value, found);
  }
}

/// The member; made where it is missing. Whatever stood there instead of an object goes.
JsonValue& member_of(JsonValue& value, std::string_view key) {
  if (!std::holds_alternative<JsonObject>(value.data)) value.data = JsonObject{};
  auto& members = std::get<JsonObject>(value.data);
  const auto found = std::ranges::find(members, key, &JsonMember::key);
  if (found != members.end()) return found->value;
  members.push_back({.key = std::string(key), .value = {}});
  return members.back().value;
}

JsonArray& array_of(JsonValue& value) {
  if (!std::holds_alternative<JsonArray>(value.data)) value.data = JsonArray{};
  return std::get<JsonArray>(value.data);
}

std::string text_of(const JsonValue& object, std::string_view key) {
  const JsonValue* const found = object.find(key);
  return found == nullptr || found->as_string() == nullptr ? std::string() : *found->as_string();
}

std::string name_of(const JsonValue& object) {
  const JsonValue* const metadata = object.find("metadata");
  return metadata == nullptr ? std::string() : text_of(*metadata, "name");
}

// ---- Hostile values -----------------------------------------------------------------------------

std::string hostile_number(Prng& random) {
  return random.pick<std::string>(
      {"1Ei",     "2Ei",
       "1",       "0",
       "-1",      "9223372036854775807",
       "-0",      "9223372036854775808",
       "1e18",    "18446744073709551616",
       "1e400",   "-9223372036854775808",
       "1E",      "1152921504606846976",
       "NaN",     "1152921504606846975",
       "1e-400",  "2147483647",
       "1n",      "2147483648",
       "0.0001m", "1125899906842624",
       "1_000",   "99999999999999999999999999999999999999999999999999"});
}

std::string run_of(char byte, std::size_t length) {
  std::string text;
  text.assign(length, byte);
  return text;
}

std::string hostile_text(Prng& random) {
  switch (random.below(12)) {
    case 0: return {};
    case 1: return run_of('a', random.below(100'000));
    case 2: return {"\0nul", 4};
    case 3: return "../../etc/passwd";
    case 4: return "{{.}} %s %n ${HOME} $(reboot)";
    case 5: return hostile_number(random);
    case 6: return random.pick<std::string>({"true", "false", "null", "~", "maybe", "*", "-"});
    case 7:
      return random.pick<std::string>({"2026-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
                                       "0000-00-00T00:00:00Z", "-292277026596-01-01"});
    case 8: return run_of('/', random.below(500));
    case 9: return "\xF0\x9F\x92\xA9\xCC\x81\xCC\x81";
    default: return std::string(screen_payload);
  }
}

JsonValue hostile_value(Prng& random) {
  switch (random.below(9)) {
    case 0: return {};
    case 1: return {.data = random.chance(50)};
    case 2: return {.data = static_cast<std::int64_t>(random.next())};
    case 3:
      return {.data = JsonNumber{random.pick<std::string>(
                  {"1e400", "-1e400", "1.5", "9223372036854775808", "1e-400", "-0.0"})}};
    case 4: return {.data = JsonArray{}};
    case 5: return {.data = JsonObject{}};
    case 6: return parsed(R"([{"a":1,"b":[2]},[[]],null,""])");
    default: return text_value(hostile_text(random));
  }
}

// ---- Edits --------------------------------------------------------------------------------------

/// A List with something in it.
struct Draft {
  JsonValue& list;
  Prng& random;

  JsonArray& items() const { return array_of(member_of(list, "items")); }
  JsonValue& item() const {
    JsonArray& all = items();
    if (all.empty()) all.push_back(parsed(R"({"apiVersion":"v1","kind":"Pod"})"));
    return all[random.below(all.size())];
  }
  JsonValue& value() const {
    std::vector<JsonValue*> all;
    collect(item(), all);
    return *all[random.below(all.size())];
  }
  /// Of that kind; null where there is none.
  JsonValue* of_kind(std::string_view kind) const {
    std::vector<JsonValue*> found;
    for (JsonValue& each : items()) {
      if (text_of(each, "kind") == kind) found.push_back(&each);
    }
    return found.empty() ? nullptr : random.pick(found);
  }
  std::string any_name() const { return name_of(item()); }
};

void edit_text(const Draft& draft) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    auto* const text = std::get_if<std::string>(&draft.value().data);
    if (text == nullptr) continue;
    const bool behind = draft.random.chance(30);
    *text = (behind ? *text : std::string()) + hostile_text(draft.random);
    return;
  }
}

void edit_key(const Draft& draft) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    auto* const members = std::get_if<JsonObject>(&draft.value().data);
    if (members == nullptr || members->empty()) continue;
    (*members)[draft.random.below(members->size())].key = hostile_text(draft.random);
    return;
  }
}

/// A number that is there, or a text that begins like one.
void edit_number(const Draft& draft) {
  std::vector<JsonValue*> all;
  collect(draft.item(), all);
  std::erase_if(all, [](const JsonValue* value) {
    const std::string* const text = value->as_string();
    return value->as_integer() == nullptr &&
           (text == nullptr || text->empty() || text->front() < '0' || text->front() > '9');
  });
  if (all.empty()) return;
  const std::string number = hostile_number(draft.random);
  JsonValue& chosen = *draft.random.pick(all);
  if (chosen.as_string() == nullptr && parse_json_value(number)) {
    chosen = parsed(number);
  } else {
    chosen = text_value(number);
  }
}

void edit_type(const Draft& draft) {
  JsonValue fresh = hostile_value(draft.random);
  draft.value() = std::move(fresh);
}

void repeat_key(const Draft& draft) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    auto* const members = std::get_if<JsonObject>(&draft.value().data);
    if (members == nullptr || members->empty()) continue;
    JsonMember copy = (*members)[draft.random.below(members->size())];
    if (draft.random.chance(50)) copy.value = hostile_value(draft.random);
    members->push_back(std::move(copy));
    return;
  }
}

void drop_member(const Draft& draft) {
  for (int attempt = 0; attempt < 8; ++attempt) {
    auto* const members = std::get_if<JsonObject>(&draft.value().data);
    if (members == nullptr || members->empty()) continue;
    members->erase(members->begin() +
                   static_cast<std::ptrdiff_t>(draft.random.below(members->size())));
    return;
  }
}

void repeat_item(const Draft& draft) {
  JsonValue copy = draft.item();
  if (draft.random.chance(50)) {
    member_of(copy, "kind") = text_value(text_of(draft.item(), "kind"));
    member_of(copy, "apiVersion") = text_value(text_of(draft.item(), "apiVersion"));
  }
  draft.items().push_back(std::move(copy));
}

void copy_part(const Draft& draft) {
  JsonValue part = draft.value();
  draft.value() = std::move(part);
}

/// References that lead elsewhere.
void swap_names(const Draft& draft) {
  const std::string name = draft.any_name();
  for (int attempt = 0; attempt < 8; ++attempt) {
    auto* const text = std::get_if<std::string>(&draft.value().data);
    if (text == nullptr) continue;
    *text = name;
    return;
  }
}

void owners_in_a_circle(const Draft& draft) {
  const std::size_t length = 1 + draft.random.below(5);
  std::vector<JsonValue*> chosen(length);
  for (JsonValue*& each : chosen) each = &draft.item();
  for (std::size_t number = 0; number < length; ++number) {
    const JsonValue& owner = *chosen[(number + 1) % length];
    JsonValue reference = parsed(R"({"controller":true})");
    member_of(reference, "apiVersion") = text_value(text_of(owner, "apiVersion"));
    member_of(reference, "kind") = text_value(
        draft.random.chance(70) ? text_of(owner, "kind")
                                : draft.random.pick<std::string>({"DaemonSet", "Node", "Session"}));
    member_of(reference, "name") = text_value(name_of(owner));
    member_of(reference, "uid") = text_value("uid-of-" + name_of(owner));
    JsonValue& metadata = member_of(*chosen[number], "metadata");
    array_of(member_of(metadata, "ownerReferences")).push_back(std::move(reference));
  }
}

void queues_in_a_circle(const Draft& draft) {
  JsonValue* const one = draft.of_kind("Queue");
  JsonValue* const other = draft.of_kind("Queue");
  if (one == nullptr || other == nullptr) return;
  member_of(member_of(*one, "spec"), "parent") = text_value(name_of(*other));
  member_of(member_of(*other, "spec"), "parent") = text_value(name_of(*one));
  for (JsonValue* const each : {one, other}) {
    member_of(member_of(*each, "spec"), "namespaces") = parsed(R"(["default","default","prod"])");
  }
}

void many_labels(const Draft& draft) {
  JsonValue& metadata = member_of(draft.item(), "metadata");
  JsonValue& labels =
      member_of(metadata, draft.random.pick<std::string>({"labels", "labels", "annotations"}));
  const std::uint64_t count = draft.random.below(2'000);
  if (!std::holds_alternative<JsonObject>(labels.data)) labels.data = JsonObject{};
  for (std::uint64_t number = 0; number < count; ++number) {
    std::get<JsonObject>(labels.data)
        .push_back({.key = fmt::format("key-{}", number), .value = text_value("value")});
  }
}

void many_parts(const Draft& draft) {
  JsonValue* const pod = draft.of_kind("Pod");
  if (pod == nullptr) return;
  struct Part {
    std::string_view field;
    std::string_view text;
  };
  constexpr std::array parts = {
      Part{"containers", R"({"name":"c","resources":{"requests":{"cpu":"1m"}}})"},
      Part{"containers", R"({"name":"c","ports":[{"hostPort":1,"containerPort":1}]})"},
      Part{"initContainers", R"({"name":"i","restartPolicy":"Always","resources":{"requests":
        {"memory":"1Ei"}}})"},
      Part{"tolerations", R"({"key":"k","operator":"Exists","effect":"NoSchedule"})"},
      Part{"topologySpreadConstraints", R"({"maxSkew":1,"topologyKey":"kubernetes.io/hostname",
        "whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}}})"},
      Part{"volumes", R"({"name":"v","persistentVolumeClaim":{"claimName":"claim"}})"},
      Part{"schedulingGates", R"({"name":"gate"})"}};
  const Part& part = parts.at(draft.random.below(parts.size()));
  JsonArray& all = array_of(member_of(member_of(*pod, "spec"), part.field));
  const std::uint64_t count = draft.random.below(1'500);
  const JsonValue value = parsed(part.text);
  for (std::uint64_t number = 0; number < count; ++number) all.push_back(value);
}

void many_selectors(const Draft& draft) {
  JsonValue* const pod = draft.of_kind("Pod");
  if (pod == nullptr) return;
  const JsonValue expression = parsed(draft.random.pick<std::string>(
      {R"({"key":"a","operator":"NotIn","values":["b","c"]})",
       R"({"key":"zone","operator":"Exists"})", R"({"key":"n","operator":"Gt","values":["1"]})"}));
  JsonValue term;
  JsonArray& expressions = array_of(member_of(term, "matchExpressions"));
  expressions.assign(draft.random.below(500), expression);
  JsonValue& affinity = member_of(member_of(*pod, "spec"), "affinity");
  constexpr std::string_view required = "requiredDuringSchedulingIgnoredDuringExecution";
  if (draft.random.chance(50)) {
    JsonValue& terms =
        member_of(member_of(member_of(affinity, "nodeAffinity"), required), "nodeSelectorTerms");
    array_of(terms).push_back(std::move(term));
    return;
  }
  JsonValue pods;
  member_of(pods, "topologyKey") = text_value("zone");
  member_of(pods, "labelSelector") = std::move(term);
  JsonValue& side =
      member_of(affinity, draft.random.chance(50) ? "podAffinity" : "podAntiAffinity");
  array_of(member_of(side, required)).push_back(std::move(pods));
}

void nest_deeply(const Draft& draft) {
  // Beyond 64 levels the text is refused, whatever is in it.
  const std::uint64_t levels = draft.random.below(draft.random.chance(90) ? 40 : 400);
  JsonValue nested = hostile_value(draft.random);
  const bool arrays = draft.random.chance(50);
  for (std::uint64_t level = 0; level < levels; ++level) {
    JsonValue outer;
    if (arrays) {
      array_of(outer).push_back(std::move(nested));
    } else {
      member_of(outer, "spec") = std::move(nested);
    }
    nested = std::move(outer);
  }
  draft.value() = std::move(nested);
}

/// Amounts that are allowed one by one; their sum is not.
void huge_amounts(const Draft& draft) {
  const std::string amount =
      draft.random.pick<std::string>({"1Ei", "1152921504606846976", "1125899906842624", "1e15"});
  for (JsonValue& each : draft.items()) {
    std::vector<JsonValue*> all;
    collect(each, all);
    for (JsonValue* const value : all) {
      auto* const members = std::get_if<JsonObject>(&value->data);
      if (members == nullptr) continue;
      for (JsonMember& member : *members) {
        const bool counts = member.key == "cpu" || member.key == "memory" ||
                            member.key.ends_with("/gpu") || member.key == "ephemeral-storage";
        if (counts && member.value.as_string() != nullptr && draft.random.chance(70)) {
          member.value = text_value(amount);
        }
      }
    }
  }
}

constexpr std::array<std::string_view, 16> workload_texts = {
    R"({"apiVersion":"batch/v1","kind":"Job","spec":{"parallelism":@N,"completions":@N,
        "completionMode":"Indexed","template":@T}})",
    R"({"apiVersion":"batch/v1","kind":"CronJob","spec":{"schedule":"* * * * *","jobTemplate":
        {"spec":{"parallelism":@N,"template":@T}}}})",
    R"({"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":@N,"template":@T}})",
    R"({"apiVersion":"apps/v1","kind":"ReplicaSet","spec":{"replicas":@N,"template":@T}})",
    R"({"apiVersion":"apps/v1","kind":"StatefulSet","spec":{"replicas":@N,"serviceName":"s",
        "volumeClaimTemplates":[{"metadata":{"name":"data"}}],"template":@T}})",
    R"({"apiVersion":"apps/v1","kind":"DaemonSet","spec":{"template":@T}})",
    R"({"apiVersion":"v1","kind":"PodTemplate","template":@T})",
    R"({"apiVersion":"v1","kind":"ReplicationController","spec":{"replicas":@N,"template":@T}})",
    R"({"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","spec":{"replicatedJobs":[{"name":
        "a","replicas":@N,"template":{"spec":{"parallelism":2,"template":@T}}}]}})",
    R"({"apiVersion":"leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","spec":{"replicas":@N,
        "leaderWorkerTemplate":{"size":@N,"workerTemplate":@T}}})",
    R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","spec":{"pytorchReplicaSpecs":{"Worker":
        {"replicas":@N,"template":@T}}}})",
    R"({"apiVersion":"ray.io/v1","kind":"RayCluster","spec":{"headGroupSpec":{"template":@T},
        "workerGroupSpecs":[{"groupName":"w","replicas":@N,"template":@T}]}})",
    R"({"apiVersion":"ray.io/v1","kind":"RayJob","spec":{"rayClusterSpec":{"headGroupSpec":
        {"template":@T}}}})",
    R"({"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","spec":{"runtimeRef":{"name":
        "r"},"trainer":{"numNodes":@N}}})",
    R"({"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainingRuntime","spec":{"template":
        {"spec":{"replicatedJobs":[{"name":"node","template":{"spec":{"template":@T}}}]}}}})",
    R"({"apiVersion":"v1","kind":"LimitRange","spec":{"limits":[{"type":"Container",
        "defaultRequest":{"cpu":"1Ei"}}]}})"};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

void add_workload(const Draft& draft) {
  constexpr std::string_view plain =
      R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","resources":
        {"requests":{"cpu":"100m"}}}]}})";
  std::string text(workload_texts.at(draft.random.below(workload_texts.size())));
  replace_all(text, "@N",
              draft.random.pick<std::string>({"0", "1", "2", "3", "7", "40", "-1", "2147483647",
                                              "9223372036854775807", "\"3\"", "null"}));
  replace_all(text, "@T", draft.random.chance(80) ? plain : R"({"spec":[]})");
  JsonValue workload = parsed(text);
  JsonValue& metadata = member_of(workload, "metadata");
  member_of(metadata, "name") = text_value(draft.random.chance(80) ? "w" : draft.any_name());
  member_of(metadata, "namespace") = text_value("default");
  draft.items().push_back(std::move(workload));
}

void add_many(const Draft& draft) {
  const std::string text = draft.random.pick<std::string>(
      {R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"many-@I","namespace":"many"},"spec":
        {"priority":@I,"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}})",
       R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"many-@I"},"status":{"allocatable":
        {"cpu":"1","pods":"3"}}})",
       R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"many-@I"}})",
       R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"many-@I"},
        "value":@I,"globalDefault":true})",
       R"({"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"many-@I",
        "namespace":"default"},"spec":{"minAvailable":"100%","selector":{}}})",
       R"({"apiVersion":"makeway.dev/v1","kind":"Queue","metadata":{"name":"many-@I"},"spec":
        {"weight":1000000,"namespaces":["default"]}})",
       R"({"apiVersion":"makeway.dev/v1","kind":"Session","metadata":{"name":"many-@I","namespace":
        "default"},"spec":{"resourceGroup":"group-0","kernels":[{"name":"k","resources":
        {"cpu":"1"}}]}})",
       R"({"apiVersion":"@I","kind":"Kind@I","metadata":{"name":"many-@I"}})"});
  const std::uint64_t count = draft.random.below(draft.random.chance(80) ? 50 : 600);
  for (std::uint64_t number = 0; number < count; ++number) {
    std::string one = text;
    replace_all(one, "@I", fmt::format("{}", number));
    draft.items().push_back(parsed(one));
  }
}

void add_marks(const Draft& draft) {
  JsonValue& metadata = member_of(draft.item(), "metadata");
  JsonValue& marks = member_of(metadata, draft.random.pick<std::string>({"annotations", "labels"}));
  constexpr std::array<std::string_view, 17> keys = {"allow-preemption",
                                                     "protected",
                                                     "owner",
                                                     "required-node",
                                                     "queue",
                                                     "deployment",
                                                     "key-plane",
                                                     "plane",
                                                     "held",
                                                     "reserved-since",
                                                     "promised",
                                                     "evicted-for",
                                                     "plan",
                                                     "trusted",
                                                     "preemption-cost",
                                                     "last-checkpoint",
                                                     "preemption-priority-class"};
  for (std::uint64_t count = 1 + draft.random.below(4); count > 0; --count) {
    const std::string key = fmt::format("makeway.dev/{}", keys.at(draft.random.below(keys.size())));
    member_of(marks, key) = text_value(draft.random.chance(50)   ? draft.any_name()
                                       : draft.random.chance(50) ? hostile_text(draft.random)
                                                                 : "true");
  }
}

void add_configuration(const Draft& draft) {
  draft.items().push_back(parsed(draft.random.pick<std::string>(
      {R"({"apiVersion":"makeway.dev/v1","kind":"Configuration","metadata":{"name":"c"}})",
       R"({"apiVersion":"makeway.dev/v1","kind":"Configuration","spec":{"engine":{"x":1}}})",
       R"({"apiVersion":"makeway.dev/v1","kind":"Plan","metadata":{"name":"p"}})",
       R"({"apiVersion":"makeway.dev/v2","kind":"Queue","metadata":{"name":"q"}})",
       R"({"apiVersion":"v1","kind":"List","items":[{"kind":"List","items":[]}]})"})));
}

struct Edit {
  std::string_view name;
  void (*apply)(const Draft& draft);
};

constexpr std::array edits = {Edit{"text", edit_text},
                              Edit{"key", edit_key},
                              Edit{"number", edit_number},
                              Edit{"type", edit_type},
                              Edit{"repeated key", repeat_key},
                              Edit{"dropped member", drop_member},
                              Edit{"repeated item", repeat_item},
                              Edit{"copied part", copy_part},
                              Edit{"swapped name", swap_names},
                              Edit{"owners in a circle", owners_in_a_circle},
                              Edit{"queues in a circle", queues_in_a_circle},
                              Edit{"many labels", many_labels},
                              Edit{"many parts", many_parts},
                              Edit{"many selectors", many_selectors},
                              Edit{"deep nesting", nest_deeply},
                              Edit{"huge amounts", huge_amounts},
                              Edit{"workload", add_workload},
                              Edit{"many objects", add_many},
                              Edit{"marks", add_marks},
                              Edit{"configuration", add_configuration}};

// ---- Texts --------------------------------------------------------------------------------------

std::string listed_text(const JsonValue& value) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  write_value(value, writer);
  return text;
}

std::string yaml_text(const JsonValue& list) {
  std::string text;
  const JsonValue* const items = list.find("items");
  for (const JsonValue& item : *items->as_array()) {
    text += "---\n";
    YamlWriter writer(text);
    write_value(item, writer);
    if (!text.ends_with('\n')) text += '\n';
  }
  return text;
}

/// Anchors that grow, that lead to themselves, that are never used.
std::string anchors(Prng& random) {
  std::string text = "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: anchored\n  labels:\n";
  text += "    l0: &a0 x\nspec:\n  anchors:\n    - &b0 [x, x]\n";
  const std::uint64_t count = random.below(random.chance(80) ? 6 : 40);
  for (std::uint64_t number = 1; number <= count; ++number) {
    text += fmt::format("    - &b{} [*b{}, *b{}, *b{}]\n", number, number - 1, number - 1,
                        random.below(number));
  }
  if (random.chance(20)) text += "    - &self [*self]\n";
  if (random.chance(20)) text += "    - {<<: *b0, <<: *a0}\n";
  if (random.chance(20)) text += "    - *missing\n";
  text += "  containers: [{name: *a0}]\n";
  return text;
}

void break_bytes(std::string& text, Prng& random) {
  if (text.empty()) return;
  if (random.chance(30)) text.resize(random.below(text.size()));
  for (std::uint64_t count = random.below(6); count > 0 && !text.empty(); --count) {
    text[random.below(text.size())] = static_cast<char>(random.below(256));
  }
  if (random.chance(20)) text.insert(0, "\xEF\xBB\xBF");
}

JsonValue random_list(Prng& random) {
  const std::vector<Change> objects = random.chance(30)
                                          ? random_objects(random, random_options(random))
                                          : random_world_case(random).objects;
  return parsed(dump(cluster_of(objects), DumpFormat::json));
}

}  // namespace

HostileDocument hostile_document(std::uint64_t seed) {
  Prng random(seed);
  HostileDocument document;
  JsonValue list = random_list(random);
  for (std::uint64_t count = 1 + random.below(random.chance(70) ? 4 : 20); count > 0; --count) {
    const Edit& edit = edits.at(random.below(edits.size()));
    edit.apply({.list = list, .random = random});
    document.edits.emplace_back(edit.name);
  }
  if (random.chance(25)) {
    document.extension = "yaml";
    document.text = yaml_text(list);
    if (random.chance(50)) {
      document.text += anchors(random);
      document.edits.emplace_back("anchors");
    }
  } else {
    document.extension = "json";
    document.text = listed_text(list);
  }
  if (random.chance(7)) {
    break_bytes(document.text, random);
    document.edits.emplace_back("broken bytes");
  }
  return document;
}

}  // namespace makeway

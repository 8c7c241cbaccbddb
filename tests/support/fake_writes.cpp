#include "support/fake_writes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "support/fake_json.hpp"

namespace makeway {
namespace {

using fake::member;
using fake::number_at;
using fake::string_value;
using fake::text_at;

struct Failing {
  int code = 500;
  std::string reason;
  std::string details_kind;
  std::string message = "fake";
  std::string cause;  ///< Reason of a cause.
  std::string field;  ///< Of a cause.
};

FakeAnswer failed(const Failing& failing) {
  const std::string causes =
      failing.cause.empty()
          ? std::string{}
          : fmt::format(R"(,"causes":[{{"reason":"{}","message":"fake","field":"{}"}}])",
                        failing.cause, failing.field);
  return {failing.code,
          fmt::format(R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Failure",)"
                      R"("message":"{}"{},"details":{{"kind":"{}"{}}},"code":{}}})",
                      failing.message,
                      failing.reason.empty() ? std::string{}
                                             : fmt::format(R"(,"reason":"{}")", failing.reason),
                      failing.details_kind, causes, failing.code)};
}

FakeAnswer succeeded(int code) {
  return {code, fmt::format(R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},)"
                            R"("status":"Success","code":{}}})",
                            code)};
}

FakeAnswer not_found(std::string_view kind) {
  return failed({.code = 404, .reason = "NotFound", .details_kind = std::string(kind)});
}

FakeAnswer conflict(std::string_view kind, std::string message) {
  return failed({.code = 409,
                 .reason = "Conflict",
                 .details_kind = std::string(kind),
                 .message = std::move(message)});
}

/// Whether uid and resourceVersion of a guard are the object's, where it names them.
bool meets(const JsonValue& object, std::string_view uid, std::string_view version) {
  return (uid.empty() || uid == text_at(object, "metadata.uid")) &&
         (version.empty() || version == text_at(object, "metadata.resourceVersion"));
}

JsonValue condition(std::string_view type, std::string_view status, std::string_view reason,
                    Time now) {
  JsonValue value;
  member(value, "type") = string_value(std::string(type));
  member(value, "status") = string_value(std::string(status));
  if (!reason.empty()) member(value, "reason") = string_value(std::string(reason));
  member(value, "lastTransitionTime") = string_value(to_text(now));
  return value;
}

void set_condition(JsonValue& object, JsonValue wanted) {
  JsonValue patch;
  member(patch, "conditions").data = JsonValue::Array{std::move(wanted)};
  fake::merge(member(object, "status"), patch);
}

struct KindOfPath {
  std::string_view prefix;
  std::string_view plural;
  std::string_view kind;
  bool is_everywhere = false;  ///< It has no namespace.
};
constexpr std::array written_kinds = {
    KindOfPath{"/api/v1", "pods", "Pod"},
    KindOfPath{"/api/v1", "persistentvolumeclaims", "PersistentVolumeClaim"},
    KindOfPath{"/apis/scheduling.k8s.io/v1beta1", "podgroups", "PodGroup"},
    KindOfPath{"/apis/events.k8s.io/v1", "events", "Event"},
    KindOfPath{"/apis/coordination.k8s.io/v1", "leases", "Lease"},
    KindOfPath{"/apis/makeway.dev/v1", "queues", "Queue", true},
    KindOfPath{"/apis/apps/v1", "deployments", "Deployment"},
    KindOfPath{"/apis/makeway.dev/v1", "replicaschedules", "ReplicaSchedule"},
};

/// As GET of its `scale` shows a Deployment.
std::string scale_text(const JsonValue& deployment) {
  return fmt::format(
      R"({{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{{"name":"{}",)"
      R"("namespace":"{}","uid":"{}","resourceVersion":"{}"}},"spec":{{"replicas":{}}}}})",
      text_at(deployment, "metadata.name"), text_at(deployment, "metadata.namespace"),
      text_at(deployment, "metadata.uid"), text_at(deployment, "metadata.resourceVersion"),
      number_at(deployment, "spec.replicas"));
}

std::string_view next_part(std::string_view& path) {
  path.remove_prefix(std::min<std::size_t>(1, path.size()));
  const std::string_view part = path.substr(0, path.find('/'));
  path.remove_prefix(part.size());
  return part;
}

}  // namespace

std::optional<FakeWrites::Place> FakeWrites::place_of(std::string_view path) {
  for (const KindOfPath& each : written_kinds) {
    if (!path.starts_with(each.prefix)) continue;
    std::string_view rest = path.substr(each.prefix.size());
    Place place{.kind = std::string(each.kind)};
    if (!each.is_everywhere) {
      if (next_part(rest) != "namespaces") continue;
      place.namespace_name = next_part(rest);
    }
    if (next_part(rest) != each.plural) continue;
    place.name = next_part(rest);
    place.part = next_part(rest);
    return place;
  }
  return std::nullopt;
}

std::optional<FakeAnswer> FakeWrites::get(std::string_view path) const {
  const auto place = place_of(path);
  if (!place || place->name.empty()) return std::nullopt;
  const JsonValue* const object = objects_.find(place->kind, place->namespace_name, place->name);
  if (object == nullptr) return not_found(place->kind == "Pod" ? "pods" : place->kind);
  return FakeAnswer{200, place->part == "scale" ? scale_text(*object) : fake::text_of(*object)};
}

std::optional<FakeAnswer> FakeWrites::handle(const FakeWrite& write, Time now) {
  const auto place = place_of(write.path);
  if (!place) return std::nullopt;
  auto body = parse_json_value(write.body);
  if (!body || body->as_object() == nullptr) return failed({.code = 400, .reason = "BadRequest"});
  if (place->kind == "Event" && write.method == "POST") return take_event(*body);
  if (place->kind == "Lease") return write_lease(write, *place, std::move(*body));
  if (write.method == "PATCH" && place->part == "status") return patch_status(*place, *body);
  if (place->kind == "PersistentVolumeClaim" && write.method == "PATCH") {
    return patch_claim(*place, *body);
  }
  if (write.method == "PATCH" && place->part == "scale") return scale(*place, *body);
  if (place->kind != "Pod") return std::nullopt;
  if (write.method == "POST" && place->part == "binding") return bind(*place, *body, now);
  if (write.method == "POST" && place->part == "eviction") return evict(*place, *body, now);
  if (write.method == "DELETE" && place->part.empty()) return erase(*place, *body, now);
  return std::nullopt;
}

FakeAnswer FakeWrites::bind(const Place& place, const JsonValue& body, Time now) {
  const JsonValue* const found = objects_.find(place.kind, place.namespace_name, place.name);
  if (text_at(body, "target.kind") != "Node") return failed({.code = 500});
  if (found == nullptr) return not_found("pods");
  if (!meets(*found, text_at(body, "metadata.uid"), text_at(body, "metadata.resourceVersion"))) {
    return conflict("pods", "StorageError: invalid object, Code: 4");
  }
  if (!text_at(*found, "metadata.deletionTimestamp").empty()) {
    return conflict("pods/binding", "is being deleted, cannot be assigned to a host");
  }
  if (!text_at(*found, "spec.nodeName").empty()) {
    return conflict("pods/binding", "is already assigned to node");
  }
  const JsonValue* const gates = fake::value_at(*found, "spec.schedulingGates");
  if (gates != nullptr && gates->as_array() != nullptr && !gates->as_array()->empty()) {
    return conflict("pods/binding", "has non-empty .spec.schedulingGates");
  }
  JsonValue pod = *found;
  const std::string node = text_at(body, "target.name");
  member(member(pod, "spec"), "nodeName") = string_value(node);
  fake::erase(member(pod, "status"), "nominatedNodeName");
  if (const JsonValue* const notes = fake::value_at(body, "metadata.annotations")) {
    fake::merge(member(member(pod, "metadata"), "annotations"), *notes);
  }
  set_condition(pod, condition("PodScheduled", "True", {}, now));
  if (kubelet_runs_) {
    member(member(pod, "status"), "phase") = string_value("Running");
    member(member(pod, "status"), "startTime") = string_value(to_text(now));
    set_condition(pod, condition("Ready", "True", {}, now));
  }
  objects_.put_tree(std::move(pod));
  deeds_.push_back({"bind", fmt::format("{}/{}", place.namespace_name, place.name), node});
  return succeeded(201);
}

FakeAnswer FakeWrites::patch_claim(const Place& place, const JsonValue& body) {
  const JsonValue* const found = objects_.find(place.kind, place.namespace_name, place.name);
  if (found == nullptr) return not_found("persistentvolumeclaims");
  if (!meets(*found, text_at(body, "metadata.uid"), text_at(body, "metadata.resourceVersion"))) {
    return conflict("persistentvolumeclaims", "the object has been modified");
  }
  JsonValue claim = *found;
  const JsonValue* const notes = fake::value_at(body, "metadata.annotations");
  if (notes == nullptr) return failed({.code = 400, .reason = "BadRequest"});
  fake::merge(member(member(claim, "metadata"), "annotations"), *notes);
  const JsonValue* const node = notes->find("volume.kubernetes.io/selected-node");
  deeds_.push_back({"select node", fmt::format("{}/{}", place.namespace_name, place.name),
                    node == nullptr || node->as_string() == nullptr ? "" : *node->as_string()});
  FakeAnswer answer{200, fake::text_of(claim)};
  objects_.put_tree(std::move(claim));
  return answer;
}

FakeAnswer FakeWrites::scale(const Place& place, const JsonValue& body) {
  const JsonValue* const found = objects_.find(place.kind, place.namespace_name, place.name);
  if (found == nullptr) return not_found("deployments");
  if (!meets(*found, text_at(body, "metadata.uid"), text_at(body, "metadata.resourceVersion"))) {
    return conflict("deployments", "the object has been modified");
  }
  JsonValue deployment = *found;
  const std::int64_t replicas = number_at(body, "spec.replicas");
  member(member(deployment, "spec"), "replicas").data = replicas;
  deeds_.push_back({"scale", fmt::format("{}/{}", place.namespace_name, place.name),
                    fmt::format("{}", replicas)});
  objects_.put_tree(std::move(deployment));
  return {200, scale_text(*objects_.find(place.kind, place.namespace_name, place.name))};
}

FakeAnswer FakeWrites::patch_status(const Place& place, const JsonValue& body) {
  const JsonValue* const found = objects_.find(place.kind, place.namespace_name, place.name);
  if (found == nullptr) return not_found(place.kind);
  const std::string uid = text_at(body, "metadata.uid");
  if (!uid.empty() && uid != text_at(*found, "metadata.uid")) {
    return failed({.code = 422,
                   .reason = "Invalid",
                   .details_kind = place.kind,
                   .cause = "FieldValueInvalid",
                   .field = "metadata.uid"});
  }
  if (!meets(*found, {}, text_at(body, "metadata.resourceVersion"))) {
    return conflict(place.kind, "the object has been modified");
  }
  const bool nominates = !text_at(body, "status.nominatedNodeName").empty();
  if (nominates && !text_at(*found, "spec.nodeName").empty()) {
    return failed({.code = 422,
                   .reason = "Invalid",
                   .details_kind = place.kind,
                   .cause = "FieldValueForbidden",
                   .field = "status.nominatedNodeName"});
  }
  JsonValue object = *found;
  const JsonValue* const notes = fake::value_at(body, "metadata.annotations");
  if (notes != nullptr && place.kind == "Pod") {
    fake::merge(member(member(object, "metadata"), "annotations"), *notes);
  }
  if (const JsonValue* const status = body.find("status")) {
    fake::merge(member(object, "status"), *status);
  }
  const std::string key = fmt::format("{}/{}", place.namespace_name, place.name);
  const bool marks = fake::text_of(body).find("DisruptionTarget") != std::string::npos;
  if (nominates) deeds_.push_back({"nominate", key, text_at(body, "status.nominatedNodeName")});
  if (marks) deeds_.push_back({"mark", key, {}});
  if (!nominates && !marks) deeds_.push_back({"patch", key, {}});
  // What changes nothing is not written, as by the real one.
  if (object != *found) objects_.put_tree(std::move(object));
  return {200, fake::text_of(*objects_.find(place.kind, place.namespace_name, place.name))};
}

FakeAnswer FakeWrites::start_leaving(JsonValue pod, std::optional<std::int64_t> grace, Time now) {
  constexpr std::int64_t default_grace = 30;
  const std::string space = text_at(pod, "metadata.namespace");
  const std::string name = text_at(pod, "metadata.name");
  const JsonValue* const own = fake::value_at(pod, "spec.terminationGracePeriodSeconds");
  std::int64_t seconds =
      own != nullptr && own->as_integer() != nullptr ? *own->as_integer() : default_grace;
  seconds = grace.value_or(seconds);
  const bool waits = !text_at(pod, "spec.nodeName").empty() && seconds > 0 && !kubelet_lets_go_;
  JsonValue& metadata = member(pod, "metadata");
  if (text_at(pod, "metadata.deletionTimestamp").empty() || seconds == 0) {
    member(metadata, "deletionTimestamp") =
        string_value(to_text(Time{now.ms / 1'000 * 1'000} + Duration{seconds * 1'000}));
    member(metadata, "deletionGracePeriodSeconds").data = seconds;
    member(metadata, "generation").data = number_at(pod, "metadata.generation") + 1;
    objects_.put_tree(pod);
  }
  if (!waits) objects_.remove("Pod", space, name);
  return {200, fake::text_of(pod)};
}

FakeAnswer FakeWrites::erase(const Place& place, const JsonValue& body, Time now) {
  const JsonValue* const found = objects_.find(place.kind, place.namespace_name, place.name);
  if (found == nullptr) return not_found("pods");
  if (!meets(*found, text_at(body, "preconditions.uid"),
             text_at(body, "preconditions.resourceVersion"))) {
    return conflict("Pod", "the UID in the precondition does not match the UID in record");
  }
  std::optional<std::int64_t> grace;
  if (body.find("gracePeriodSeconds") != nullptr) grace = number_at(body, "gracePeriodSeconds");
  deeds_.push_back({"delete", fmt::format("{}/{}", place.namespace_name, place.name), {}});
  return start_leaving(*found, grace, now);
}

std::optional<FakeAnswer> FakeWrites::spend_budget(const JsonValue& pod) {
  if (text_at(pod, "status.phase") == "Pending") return std::nullopt;
  const JsonValue* const labels = fake::value_at(pod, "metadata.labels");
  std::vector<JsonValue> governing;
  for (const JsonValue& budget : objects_.all("PodDisruptionBudget")) {
    const JsonValue* const wanted = fake::value_at(budget, "spec.selector.matchLabels");
    if (text_at(budget, "metadata.namespace") != text_at(pod, "metadata.namespace")) continue;
    if (wanted == nullptr || labels == nullptr) continue;
    const bool all = std::ranges::all_of(*wanted->as_object(), [&](const JsonMember& each) {
      const JsonValue* const own = labels->find(each.key);
      return own != nullptr && *own == each.value;
    });
    if (all) governing.push_back(budget);
  }
  if (governing.empty()) return std::nullopt;
  if (governing.size() > 1) {
    return failed({.code = 500, .message = "This pod has more than one PodDisruptionBudget"});
  }
  JsonValue budget = governing.front();
  const std::int64_t allowed = number_at(budget, "status.disruptionsAllowed");
  if (allowed <= 0) {
    return failed({.code = 429,
                   .reason = "TooManyRequests",
                   .message = "Cannot evict pod as it would violate the pod's disruption budget.",
                   .cause = "DisruptionBudget"});
  }
  member(member(budget, "status"), "disruptionsAllowed").data = allowed - 1;
  objects_.put_tree(std::move(budget));
  return std::nullopt;
}

FakeAnswer FakeWrites::evict(const Place& place, const JsonValue& body, Time now) {
  const JsonValue* const found = objects_.find(place.kind, place.namespace_name, place.name);
  if (found == nullptr) return not_found("pods");
  JsonValue pod = *found;
  if (!text_at(pod, "metadata.deletionTimestamp").empty()) return succeeded(201);
  // The budget is spent before the uid is looked at.
  if (auto refused = spend_budget(pod)) return *refused;
  if (!meets(pod, text_at(body, "deleteOptions.preconditions.uid"),
             text_at(body, "deleteOptions.preconditions.resourceVersion"))) {
    return conflict("Pod", "Precondition failed");
  }
  set_condition(pod, condition("DisruptionTarget", "True", "EvictionByEvictionAPI", now));
  deeds_.push_back({"evict", fmt::format("{}/{}", place.namespace_name, place.name), {}});
  start_leaving(std::move(pod), std::nullopt, now);
  return succeeded(201);
}

FakeAnswer FakeWrites::write_lease(const FakeWrite& write, const Place& place, JsonValue body) {
  const std::string name = place.name.empty() ? text_at(body, "metadata.name") : place.name;
  const JsonValue* const found = objects_.find("Lease", place.namespace_name, name);
  if (write.method == "POST") {
    if (found != nullptr) return failed({.code = 409, .reason = "AlreadyExists"});
    member(member(body, "metadata"), "uid") = string_value("lease-" + name);
  } else if (write.method == "PUT") {
    const std::string version = text_at(body, "metadata.resourceVersion");
    if (version.empty()) return failed({.code = 422, .reason = "Invalid"});
    if (found == nullptr) return conflict("leases", "Precondition failed");
    if (!meets(*found, text_at(body, "metadata.uid"), version)) {
      return conflict("leases", "the object has been modified");
    }
    // The annotations of others stay where the writer does not know of them.
  } else {
    return failed({.code = 405, .reason = "MethodNotAllowed"});
  }
  objects_.put_tree(std::move(body));
  return {write.method == "POST" ? 201 : 200,
          fake::text_of(*objects_.find("Lease", place.namespace_name, name))};
}

FakeAnswer FakeWrites::take_event(const JsonValue& body) {
  constexpr std::size_t note_bytes_max = 1'024;
  for (const std::string_view field :
       {"eventTime", "type", "reason", "action", "reportingController", "reportingInstance"}) {
    if (text_at(body, field).empty()) return failed({.code = 422, .reason = "Invalid"});
  }
  if (text_at(body, "note").size() > note_bytes_max) {
    return failed({.code = 422, .reason = "Invalid"});
  }
  deeds_.push_back(
      {"event " + text_at(body, "reason"),
       fmt::format("{}/{}", text_at(body, "regarding.namespace"), text_at(body, "regarding.name")),
       text_at(body, "note")});
  return {201, fake::text_of(body)};
}

std::size_t FakeWrites::let_go() {
  std::vector<std::pair<std::string, std::string>> leaving;
  for (const JsonValue& pod : objects_.all("Pod")) {
    if (text_at(pod, "metadata.deletionTimestamp").empty()) continue;
    leaving.emplace_back(text_at(pod, "metadata.namespace"), text_at(pod, "metadata.name"));
  }
  for (const auto& [space, name] : leaving) objects_.remove("Pod", space, name);
  return leaving.size();
}

}  // namespace makeway

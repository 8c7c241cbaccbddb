#include "kube/write_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "codec/json_text.hpp"
#include "codec/writer.hpp"
#include "kube/api_client.hpp"
#include "kube/resources.hpp"
#include "model/kinds.hpp"
#include "model/names.hpp"
#include "model/plan.hpp"

namespace makeway::kube {

namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view merge_type = "application/strategic-merge-patch+json";
/// Of kinds of ours: the API server does not know how their lists merge.
constexpr std::string_view plain_merge_type = "application/merge-patch+json";

/// One line, without its end.
template <class Write>
std::string document(const Write& write) {
  std::string text;
  JsonWriter writer(text, JsonStyle::compact);
  writer.begin_object();
  write(writer);
  writer.end_object();
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

template <class Write>
void object_field(JsonWriter& writer, std::string_view name, const Write& write) {
  writer.key(name);
  writer.begin_object();
  write();
  writer.end_object();
}

/// In whole seconds, as Kubernetes keeps it.
std::string second_text(Time time) {
  constexpr std::int64_t second_ms = 1'000;
  return to_text(Time{time.ms / second_ms * second_ms});
}

/// "2026-01-01T00:00:00.250000Z"
std::string micro_text(Time time) {
  constexpr std::int64_t second_ms = 1'000;
  std::string text = second_text(time);
  text.pop_back();
  return fmt::format("{}.{:03}000Z", text, time.ms % second_ms);
}

std::string query_of(const WriteOptions& options) {
  return fmt::format("?timeout={}&fieldManager={}", to_text(options.timeout),
                     percent_encoded(options.manager));
}

std::string group_path(const WriteOptions& options, const ObjectState& group) {
  return fmt::format("/apis/scheduling.k8s.io/{}/namespaces/{}/podgroups/{}", options.group_version,
                     percent_encoded(group.namespace_name), percent_encoded(group.name));
}

std::string_view status_word(bool value) { return value ? "True" : "False"; }

/// The old time if the status stays, else the given one or now.
std::string changed_at(const ConditionUpdate& update, const ObjectState& object, Time now) {
  if (update.since) return second_text(*update.since);
  const SeenCondition* const seen = object.condition(update.type);
  const bool stays = seen != nullptr && seen->status == status_word(update.value);
  return stays && !seen->changed.empty() ? seen->changed : second_text(now);
}

void write_condition(JsonWriter& writer, const ConditionUpdate& update, const ObjectState& object,
                     Time now) {
  writer.begin_object();
  writer.string_field("type", update.type);
  writer.string_field("status", status_word(update.value));
  writer.string_field("reason", update.reason);
  writer.string_field("message", update.message);
  if (object.generation > 0) writer.integer_field("observedGeneration", object.generation);
  writer.string_field("lastTransitionTime", changed_at(update, object, now));
  writer.end_object();
}

std::string patch_body(const ObjectState& object, const StatusPatch& patch, Time now) {
  return document([&](JsonWriter& writer) {
    object_field(writer, "metadata", [&] {
      writer.string_field("uid", object.uid);
      if (patch.annotations.empty()) return;
      object_field(writer, "annotations", [&] {
        for (const auto& [key, value] : patch.annotations) writer.string_field(key, value);
      });
    });
    object_field(writer, "status", [&] {
      if (patch.nominated_node) {
        writer.key("nominatedNodeName");
        if (patch.nominated_node->empty()) {
          writer.null();
        } else {
          writer.string(*patch.nominated_node);
        }
      }
      if (!patch.phase.empty()) writer.string_field("phase", patch.phase);
      if (patch.conditions.empty()) return;
      writer.key("conditions");
      writer.begin_array();
      for (const ConditionUpdate& update : patch.conditions) {
        write_condition(writer, update, object, now);
      }
      writer.end_array();
    });
  });
}

void guard(JsonWriter& writer, const ObjectState& object, bool with_version) {
  object_field(writer, "preconditions", [&] {
    writer.string_field("uid", object.uid);
    if (with_version) writer.string_field("resourceVersion", object.version);
  });
}

/// "podgroup"
std::string kind_word(RefKind kind) {
  std::string word(choice_name(kind));
  std::ranges::transform(word, word.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return word;
}

constexpr std::size_t own_message_max = 1'024;  // As deploy/crds has it.

/// At most that many bytes, and no half of a character.
std::string cut_to(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  constexpr unsigned char continuation_mask = 0xC0;
  constexpr unsigned char continuation = 0x80;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & continuation_mask) == continuation) {
    --end;
  }
  return std::string(text.substr(0, end));
}

}  // namespace

/// As `resources` names it: "queues".
std::string_view own_plural(ObjectKind kind) {
  const std::string_view name = row_of_kind(kind).name;
  const auto found = std::ranges::find(resources(), name, &Resource::kind);
  return found == resources().end() ? std::string_view{} : found->plural;
}

std::string own_path(ObjectKind kind, std::string_view namespace_name, std::string_view name) {
  const std::string place = namespace_name.empty()
                                ? std::string()
                                : fmt::format("namespaces/{}/", percent_encoded(namespace_name));
  return fmt::format("/apis/{}/{}{}/{}", own_api_version, place, own_plural(kind),
                     percent_encoded(name));
}

std::string pod_path(std::string_view namespace_name, std::string_view name) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", percent_encoded(namespace_name),
                     percent_encoded(name));
}

std::string scale_path(std::string_view namespace_name, std::string_view name) {
  return fmt::format("/apis/apps/v1/namespaces/{}/deployments/{}/scale",
                     percent_encoded(namespace_name), percent_encoded(name));
}

// ---- What to patch ------------------------------------------------------------------------------

StatusPatch nomination(std::string_view node, std::string_view plan, std::string_view unscheduled) {
  StatusPatch patch{.nominated_node = std::string(node)};
  if (!unscheduled.empty()) {
    patch.conditions.push_back({.type = std::string(scheduled_condition),
                                .value = false,
                                .reason = "Unschedulable",
                                .message = std::string(unscheduled)});
  }
  patch.conditions.push_back({.type = std::string(nominated_condition),
                              .value = true,
                              .reason = "Nominated",
                              .message = note_of(node, plan)});
  return patch;
}

StatusPatch cleared_nomination(std::string_view plan) {
  StatusPatch patch{.nominated_node = std::string()};
  patch.conditions.push_back({.type = std::string(nominated_condition),
                              .value = false,
                              .reason = "Cleared",
                              .message = fmt::format("plan {}", plan)});
  return patch;
}

StatusPatch reservation(std::string_view node, std::string_view plan, Time since, bool promised) {
  StatusPatch patch;
  patch.conditions.push_back({.type = std::string(reserved_condition),
                              .value = true,
                              .reason = promised ? "Promised" : "Reserved",
                              .message = note_of(node, plan),
                              .since = since});
  return patch;
}

StatusPatch ended_reservation(std::string_view plan) {
  StatusPatch patch;
  patch.conditions.push_back({.type = std::string(reserved_condition),
                              .value = false,
                              .reason = "Ended",
                              .message = fmt::format("plan {}", plan)});
  return patch;
}

std::string eviction_message(const CauseOf& cause, bool names_causes) {
  if (cause.ask.kind == RefKind::queue) {
    const std::string name =
        names_causes ? fmt::format(" {}", name_text(cause.ask)) : std::string();
    return fmt::format("makeway: preempting so that queues get what they deserve: queue{}, uid {}",
                       name, cause.uid);
  }
  if (!cause.own_gang.empty()) return fmt::format("makeway: {}", cause.own_gang);
  std::string text = fmt::format("makeway: preempting to accommodate a higher priority {}",
                                 kind_word(cause.ask.kind));
  if (names_causes) text += fmt::format(" {}", name_text(cause.ask));
  if (!cause.uid.empty()) text += fmt::format(", uid {}", cause.uid);
  return text;
}

StatusPatch eviction_mark(const CauseOf& cause, std::string_view plan, bool names_causes) {
  StatusPatch patch;
  patch.conditions.push_back({.type = std::string(disrupted_condition),
                              .value = true,
                              .reason = "PreemptionByScheduler",
                              .message = eviction_message(cause, names_causes)});
  const std::string by = names_causes
                             ? ref_text(cause.ask)
                             : fmt::format("{} {}", choice_name(cause.ask.kind), cause.uid);
  patch.annotations = {{std::string(names::evicted_for), by},
                       {std::string(names::plan), std::string(plan)}};
  return patch;
}

EventRequest preempted_event(const ObjectState& pod, const CauseOf& cause, std::string_view node,
                             bool names_causes) {
  std::string by = kind_word(cause.ask.kind);
  if (names_causes) by += " " + name_text(cause.ask);
  return {.regarding = pod,
          .reason = "Preempted",
          .action = "Preempting",
          .note = cause.own_gang.empty()
                      ? fmt::format("Preempted by {} {} on node {}", by, cause.uid, node)
                      : eviction_message(cause, names_causes)};
}

StatusPatch joined(StatusPatch first, const StatusPatch& second) {
  if (second.nominated_node) first.nominated_node = second.nominated_node;
  if (!second.phase.empty()) first.phase = second.phase;
  for (const ConditionUpdate& update : second.conditions) {
    std::erase_if(first.conditions,
                  [&](const ConditionUpdate& earlier) { return earlier.type == update.type; });
    first.conditions.push_back(update);
  }
  for (const auto& [key, value] : second.annotations) {
    std::erase_if(first.annotations, [&](const auto& earlier) { return earlier.first == key; });
    first.annotations.emplace_back(key, value);
  }
  return first;
}

bool changes(const StatusPatch& patch, const ObjectState& object) {
  if (patch.nominated_node && *patch.nominated_node != object.nominated_node) return true;
  if (!patch.phase.empty() && patch.phase != object.phase) return true;
  return std::ranges::any_of(patch.conditions, [&](const ConditionUpdate& update) {
    const SeenCondition* const seen = object.condition(update.type);
    if (seen == nullptr) return true;
    // The first one names the plan; that another plan says the same changes nothing.
    const bool is_note = update.type == nominated_condition || update.type == reserved_condition;
    const bool same_message = is_note ? noted_node(update.message) == noted_node(seen->message)
                                      : update.message == seen->message;
    const bool same_time = !update.since || second_text(*update.since) == seen->changed;
    return seen->status != status_word(update.value) || seen->reason != update.reason ||
           !same_message || !same_time;
  });
}

// ---- Calls --------------------------------------------------------------------------------------

WriteCall bind_call(const WriteOptions& options, const ObjectState& pod, std::string_view node,
                    std::string_view plan) {
  const std::string path = pod_path(pod.namespace_name, pod.name);
  std::string body = document([&](JsonWriter& writer) {
    writer.string_field("apiVersion", "v1");
    writer.string_field("kind", "Binding");
    object_field(writer, "metadata", [&] {
      writer.string_field("name", pod.name);
      writer.string_field("namespace", pod.namespace_name);
      writer.string_field("uid", pod.uid);
      writer.string_field("resourceVersion", pod.version);
      object_field(writer, "annotations", [&] { writer.string_field(names::plan, plan); });
    });
    object_field(writer, "target", [&] {
      writer.string_field("apiVersion", "v1");
      writer.string_field("kind", "Node");
      writer.string_field("name", node);
    });
  });
  return {.kind = WriteKind::bind,
          .path = path + "/binding" + query_of(options),
          .write = {"POST", std::string(json_type), std::move(body)},
          .read_path = path};
}

WriteCall patch_pod_call(const WriteOptions& options, const ObjectState& pod,
                         const StatusPatch& patch, Time now) {
  const std::string path = pod_path(pod.namespace_name, pod.name);
  return {.kind = WriteKind::patch_pod,
          .path = path + "/status" + query_of(options),
          .write = {"PATCH", std::string(merge_type), patch_body(pod, patch, now)},
          .read_path = path};
}

WriteCall patch_group_call(const WriteOptions& options, const ObjectState& group,
                           const StatusPatch& patch, Time now) {
  const std::string path = group_path(options, group);
  return {.kind = WriteKind::patch_group,
          .path = path + "/status" + query_of(options),
          .write = {"PATCH", std::string(merge_type), patch_body(group, patch, now)},
          .read_path = path};
}

WriteCall select_node_call(const WriteOptions& options, const ObjectState& claim,
                           std::string_view node) {
  const std::string path =
      fmt::format("/api/v1/namespaces/{}/persistentvolumeclaims/{}",
                  percent_encoded(claim.namespace_name), percent_encoded(claim.name));
  std::string body = document([&](JsonWriter& writer) {
    object_field(writer, "metadata", [&] {
      writer.string_field("uid", claim.uid);
      writer.string_field("resourceVersion", claim.version);
      object_field(writer, "annotations", [&] { writer.string_field(names::selected_node, node); });
    });
  });
  return {.kind = WriteKind::select_node,
          .path = path + query_of(options),
          .write = {"PATCH", std::string(merge_type), std::move(body)},
          .read_path = path};
}

std::string queue_status_patch(const PlanQueueStatus& next, const Queue& before) {
  return document([&](JsonWriter& writer) {
    const auto amounts = [&](std::string_view key, const Quotas& now, const auto& was) {
      object_field(writer, key, [&] {
        for (const Amount& each : now) {
          writer.string_field(each.resource, exact_amount(each.resource, each.amount));
        }
        for (const Amount& each : was) {
          if (std::ranges::find(now, each.resource, &Amount::resource) != now.end()) continue;
          writer.key(each.resource);
          writer.null();
        }
      });
    };
    amounts("deserved", next.deserved, before.deserved);
    amounts("allocated", next.allocated, before.allocated);
    amounts("used", next.used, before.used);
    amounts("preempting", next.preempting, before.preempting);
  });
}

StatusPatch acceptance(const OwnFinding* finding) {
  ConditionUpdate update{
      .type = std::string(accepted_condition), .value = true, .reason = "Accepted"};
  if (finding != nullptr) {
    update.message = cut_to(finding->text, own_message_max);
    update.value = finding->level == OwnFinding::Level::doubtful;
    switch (finding->level) {
      case OwnFinding::Level::doubtful: update.reason = "Doubtful"; break;
      case OwnFinding::Level::cannot_work: update.reason = "CannotWork"; break;
      case OwnFinding::Level::quarantined: update.reason = "Quarantined"; break;
    }
  }
  StatusPatch patch;
  patch.conditions.push_back(std::move(update));
  return patch;
}

ConditionUpdate session_word(bool has_places, std::string reason, std::string_view message) {
  return {.type = std::string(session_condition),
          .value = has_places,
          .reason = std::move(reason),
          .message = cut_to(message, own_message_max)};
}

namespace {

void write_own_conditions(JsonWriter& writer, const ObjectState& object, const StatusPatch& patch,
                          Time now) {
  writer.key("conditions");
  writer.begin_array();
  for (const SeenCondition& seen : object.conditions) {
    const auto same = std::ranges::find(patch.conditions, seen.type, &ConditionUpdate::type);
    if (same != patch.conditions.end()) continue;
    writer.begin_object();
    writer.string_field("type", seen.type);
    writer.string_field("status", seen.status);
    for (const auto& [field, value] : {std::pair("reason", &seen.reason),
                                       {"message", &seen.message},
                                       {"lastTransitionTime", &seen.changed}}) {
      if (!value->empty()) writer.string_field(field, *value);
    }
    if (seen.generation > 0) writer.integer_field("observedGeneration", seen.generation);
    writer.end_object();
  }
  for (const ConditionUpdate& update : patch.conditions)
    write_condition(writer, update, object, now);
  writer.end_array();
}

}  // namespace

std::string own_status(const ObjectState& object, const std::string& status,
                       const StatusPatch& patch, Time now) {
  if (patch.conditions.empty()) return status;
  std::string said = document([&](JsonWriter& writer) {
    if (!patch.phase.empty()) writer.string_field("phase", patch.phase);
    write_own_conditions(writer, object, patch, now);
  });
  if (status.empty()) return said;
  // Both are objects with something in them: one object of both.
  return fmt::format("{},{}", status.substr(0, status.size() - 1), said.substr(1));
}

WriteCall patch_own_call(const WriteOptions& options, const ObjectState& object,
                         std::string_view status) {
  const std::string path = own_path(object.kind, object.namespace_name, object.name);
  const std::string metadata = document([&](JsonWriter& writer) {
    writer.string_field("uid", object.uid);
    writer.string_field("resourceVersion", object.version);
  });
  return {.kind = WriteKind::patch_own,
          .path = path + "/status" + query_of(options),
          .write = {"PATCH", std::string(plain_merge_type),
                    fmt::format(R"({{"metadata":{},"status":{}}})", metadata, status)},
          .read_path = path,
          .own_resource = fmt::format("{}/status", own_plural(object.kind))};
}

WriteCall read_scale_call(const ObjectState& deployment) {
  std::string path = scale_path(deployment.namespace_name, deployment.name);
  return {.kind = WriteKind::read_scale, .path = path, .read_path = path};
}

WriteCall scale_call(const WriteOptions& options, const ObjectState& deployment,
                     std::int64_t replicas) {
  const std::string path = scale_path(deployment.namespace_name, deployment.name);
  std::string body = document([&](JsonWriter& writer) {
    object_field(writer, "metadata", [&] {
      writer.string_field("uid", deployment.uid);
      writer.string_field("resourceVersion", deployment.version);
    });
    object_field(writer, "spec", [&] { writer.integer_field("replicas", replicas); });
  });
  return {.kind = WriteKind::scale,
          .path = path + query_of(options),
          .write = {"PATCH", std::string(plain_merge_type), std::move(body)},
          .read_path = path};
}

WriteCall delete_call(const WriteOptions& options, const ObjectState& pod,
                      std::optional<std::int64_t> grace_seconds) {
  const std::string path = pod_path(pod.namespace_name, pod.name);
  std::string body = document([&](JsonWriter& writer) {
    writer.string_field("apiVersion", "v1");
    writer.string_field("kind", "DeleteOptions");
    if (grace_seconds) writer.integer_field("gracePeriodSeconds", *grace_seconds);
    guard(writer, pod, false);
  });
  return {.kind = WriteKind::erase,
          .path = path + query_of(options),
          .write = {"DELETE", std::string(json_type), std::move(body)},
          .read_path = path};
}

WriteCall create_pod_call(const WriteOptions& options, const ObjectState& pod, std::string body) {
  return {.kind = WriteKind::create_pod,
          .path = fmt::format("/api/v1/namespaces/{}/pods{}", percent_encoded(pod.namespace_name),
                              query_of(options)),
          .write = {"POST", std::string(json_type), std::move(body)},
          .read_path = pod_path(pod.namespace_name, pod.name)};
}

WriteCall eviction_call(const WriteOptions& options, const ObjectState& pod) {
  const std::string path = pod_path(pod.namespace_name, pod.name);
  std::string body = document([&](JsonWriter& writer) {
    writer.string_field("apiVersion", "policy/v1");
    writer.string_field("kind", "Eviction");
    object_field(writer, "metadata", [&] {
      writer.string_field("name", pod.name);
      writer.string_field("namespace", pod.namespace_name);
    });
    object_field(writer, "deleteOptions", [&] { guard(writer, pod, true); });
  });
  return {.kind = WriteKind::evict,
          .path = path + "/eviction" + query_of(options),
          .write = {"POST", std::string(json_type), std::move(body)},
          .read_path = path};
}

WriteCall event_call(const WriteOptions& options, const EventRequest& event, Time now,
                     std::uint64_t stamp) {
  constexpr std::size_t note_bytes_max = 1'024;
  constexpr std::size_t name_bytes_max = 230;
  const ObjectState& about = event.regarding;
  const std::string version = event.regarding_kind == "Pod" ? std::string("v1")
                              : event.regarding_kind == "Session"
                                  ? std::string(own_api_version)
                                  : "scheduling.k8s.io/" + options.group_version;
  std::string body = document([&](JsonWriter& writer) {
    writer.string_field("apiVersion", "events.k8s.io/v1");
    writer.string_field("kind", "Event");
    object_field(writer, "metadata", [&] {
      writer.string_field("name",
                          fmt::format("{}.{:016x}", cut_to(about.name, name_bytes_max), stamp));
      writer.string_field("namespace", about.namespace_name);
    });
    writer.string_field("eventTime", micro_text(now));
    writer.string_field("type", event.is_warning ? "Warning" : "Normal");
    writer.string_field("reason", event.reason);
    writer.string_field("action", event.action);
    writer.string_field("note", cut_to(event.note, note_bytes_max));
    writer.string_field("reportingController", options.manager);
    writer.string_field("reportingInstance", options.instance);
    object_field(writer, "regarding", [&] {
      writer.string_field("apiVersion", version);
      writer.string_field("kind", event.regarding_kind);
      writer.string_field("namespace", about.namespace_name);
      writer.string_field("name", about.name);
      writer.string_field("uid", about.uid);
    });
  });
  return {.kind = WriteKind::event,
          .path = fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events{}",
                              percent_encoded(about.namespace_name), query_of(options)),
          .write = {"POST", std::string(json_type), std::move(body)}};
}

// ---- Answers ------------------------------------------------------------------------------------

namespace {

constexpr int unauthorized = 401;
constexpr int not_found = 404;
constexpr int too_many = 429;
constexpr int internal_error = 500;
constexpr std::string_view budget_cause = "DisruptionBudget";

bool is_success(int status) { return status >= 200 && status < 300; }

bool has_cause(std::string_view body, std::string_view wanted) {
  const auto tree = parse_json_value(body);
  if (!tree) return false;
  const JsonValue* const details = tree->find("details");
  if (details == nullptr) return false;
  return std::ranges::any_of(items_in(*details, "causes"), [&](const JsonValue& cause) {
    return text_in(cause, "reason") == wanted;
  });
}

/// Nothing was sent, so the same may be sent again.
bool was_never_sent(Failure failure) {
  return failure == Failure::dns || failure == Failure::refused || failure == Failure::tls ||
         failure == Failure::proxy || failure == Failure::credentials;
}

WriteAnswer without_answer(const ApiError& error) {
  return {.verdict = was_never_sent(error.failure) ? Verdict::again : Verdict::unknown,
          .status = 0,
          .reason = error.problem.message};
}

Verdict verdict_of(WriteKind kind, const ApiError& error, std::string_view body) {
  if (error.status == unauthorized) return Verdict::again;
  if (error.status == too_many) {
    return has_cause(body, budget_cause) ? Verdict::refused : Verdict::again;
  }
  if (error.status == internal_error) {
    const bool two_budgets = kind == WriteKind::evict && error.reason.empty();
    return kind == WriteKind::bind || two_budgets ? Verdict::refused : Verdict::unknown;
  }
  return error.status >= 400 && error.status < 500 ? Verdict::refused : Verdict::unknown;
}

bool is_of_scale(WriteKind kind) {
  return kind == WriteKind::read_scale || kind == WriteKind::scale;
}

std::optional<std::int64_t> replicas_in(std::string_view body) {
  const auto tree = parse_json_value(body);
  const JsonValue* const spec = tree ? tree->find("spec") : nullptr;
  if (spec == nullptr) return std::nullopt;
  const JsonValue* const replicas = spec->find("replicas");
  if (replicas == nullptr) return 0;  // As JSON leaves out a zero.
  return replicas->as_integer() == nullptr ? std::nullopt : std::optional(*replicas->as_integer());
}

WriteAnswer refused_reading(std::string reason) {
  return {.verdict = Verdict::refused, .status = 0, .reason = std::move(reason)};
}

}  // namespace

WriteAnswer judge_answer(WriteKind kind, const ApiResult<HttpAnswer>& result) {
  if (!result) return without_answer(result.error());
  const HttpAnswer& answer = *result;
  if (is_success(answer.status)) {
    WriteAnswer done{.verdict = Verdict::done, .status = answer.status};
    const bool is_own = kind == WriteKind::patch_own;
    if (kind != WriteKind::patch_pod && !is_own && !is_of_scale(kind)) return done;
    if (is_of_scale(kind)) done.replicas = replicas_in(answer.body.view());
    std::vector<ObjectState> objects_seen = read_object_states(
        answer.body.view(), is_own ? KeepConditions::all : KeepConditions::of_schedulers);
    if (!objects_seen.empty()) done.object = std::move(objects_seen.front());
    return done;
  }
  const ApiError error = refusal({}, answer.status, answer.body.view(), answer.retry_after);
  return {.verdict = verdict_of(kind, error, answer.body.view()),
          .status = answer.status,
          .reason = error.problem.message,
          .retry_after = error.retry_after};
}

WriteAnswer judge_reading(const WriteGoal& goal, const ApiResult<HttpAnswer>& result) {
  const bool erases = goal.kind == WriteKind::erase || goal.kind == WriteKind::evict;
  if (!result) {
    WriteAnswer nothing = without_answer(result.error());
    nothing.verdict = Verdict::unknown;
    return nothing;
  }
  WriteAnswer answer{
      .verdict = Verdict::unknown, .status = result->status, .retry_after = result->retry_after};
  if (result->status == not_found) {
    if (!erases) return refused_reading("it is gone");
    answer.verdict = Verdict::done;
    return answer;
  }
  std::vector<ObjectState> objects_seen = is_success(result->status)
                                              ? read_object_states(result->body.view())
                                              : std::vector<ObjectState>();
  if (objects_seen.empty()) return answer;
  ObjectState& seen = objects_seen.front();
  if (goal.kind == WriteKind::create_pod) {
    if (seen.owner_uid != goal.uid)
      return refused_reading("a pod of that name belongs to another owner");
    if (seen.leaving) return refused_reading("the pod of that name is leaving");
    answer.verdict = Verdict::done;
    return answer;
  }
  if (seen.uid != goal.uid) {
    if (!erases) return refused_reading("another object has its name");
    answer.verdict = Verdict::done;
    return answer;
  }
  bool shown = false;
  if (erases) {
    shown = seen.leaving;
  } else if (goal.kind == WriteKind::bind) {
    if (!seen.node.empty() && seen.node != goal.node) {
      return refused_reading(fmt::format("it is bound to {}", seen.node));
    }
    shown = !seen.node.empty();
  } else if (is_of_scale(goal.kind)) {
    answer.replicas = replicas_in(result->body.view());
    shown = answer.replicas == goal.replicas;
  } else {
    shown = !changes(goal.patch, seen);
  }
  if (!shown && !erases && seen.leaving) return refused_reading("it is leaving");
  if (shown) answer.verdict = Verdict::done;
  answer.object = std::move(seen);
  return answer;
}

}  // namespace makeway::kube

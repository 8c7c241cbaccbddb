// What is written to the API server, call by call (SPEC section 8, "What is written").
//
// Pure: an object as it was seen and what it should become, in; the request, byte for byte, out.
// Every call carries a deadline for the server (`timeout`), our name (`fieldManager`) and a guard:
// binds, evictions and claims uid and version, everything else the uid.
//
// Our memory is in conditions of types makeway.dev/*; annotations are for people. A message names
// the kind and the uid of the ask it is for; its name only if `names_causes`, since it may belong
// to another tenant.
//
// What an answer to a write means (SPEC section 8, "Every write carries timeout=5s").
//
//   2xx                                                         done
//   429 without the cause DisruptionBudget                      again: overload, nothing was tried
//   no connection came about, or our credentials were not read  again: nothing was sent
//   401                                                         again, with new credentials
//   400 to 499 otherwise                                        refused
//   500 of a bind; 500 without a reason of an eviction          refused (two budgets), never again
//   other 5xx, cut, timeout, an answer that cannot be read      unknown: the object is read
//
// Decisions look at the code, the reason and the causes, never at a message. No answer is not "no":
// after an unknown one the object is read. What it shows may be too early: the server may go on
// until its deadline has passed, so "not there" counts only after that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.hpp"
#include "codec/object_state.hpp"
#include "control/own_findings.hpp"
#include "kube/api_error.hpp"
#include "kube/http_client.hpp"
#include "model/object_ref.hpp"
#include "model/plan_queue.hpp"
#include "model/queue.hpp"

namespace makeway::kube {

inline constexpr std::string_view nominated_condition = "makeway.dev/Nominated";
inline constexpr std::string_view reserved_condition = "makeway.dev/Reserved";
inline constexpr std::string_view scheduled_condition = "PodScheduled";
inline constexpr std::string_view disrupted_condition = "DisruptionTarget";
/// Of a kind of ours: false where something is wrong with it in this cluster.
inline constexpr std::string_view accepted_condition = "makeway.dev/Accepted";
/// Of a Session: whether its kernels have places, and if not, why.
inline constexpr std::string_view session_condition = "makeway.dev/Scheduled";
inline constexpr std::string_view group_condition = "PodGroupInitiallyScheduled";

enum class WriteKind : std::uint8_t {
  bind,
  patch_pod,
  erase,
  evict,
  patch_group,
  event,
  select_node,  ///< Of a claim: where its volume is to be made.
  patch_own,    ///< The status of an object of a kind of ours.
  read_scale,   ///< No write: how many replicas a Deployment has, right before they are changed.
  scale,        ///< Of a Deployment.
  create_pod,   ///< Of a kernel of a session.
  await,        ///< No call: it ends when what it needs is done, and nothing was placed.
};

struct WriteOptions {
  std::string manager = "makeway";           ///< fieldManager, and the reporter of events.
  std::string instance = "makeway-unknown";  ///< With the host's name.
  Duration timeout{5'000};
  bool names_causes = false;
  std::string group_version = "v1beta1";  ///< Of scheduling.k8s.io.
};

struct WriteCall {
  WriteKind kind = WriteKind::bind;
  std::string path;       ///< With its query.
  HttpWrite write;        ///< Without a method: it is a reading.
  std::string read_path;  ///< Where the object is read when the answer is unknown; empty: nowhere.
  std::string own_resource;  ///< Of a kind of ours: "queues/status".
};

struct ConditionUpdate {
  std::string type;
  bool value = false;
  std::string reason;
  std::string message;
  /// When it became so; none: as long as it was so already, else now.
  std::optional<Time> since = std::nullopt;
};

/// What a status should show; what it does not name stays.
struct StatusPatch {
  std::optional<std::string> nominated_node = std::nullopt;  ///< Empty: it is taken back.
  std::string phase;                                         ///< Empty: it stays.
  std::vector<ConditionUpdate> conditions;
  std::vector<std::pair<std::string, std::string>> annotations;
};

/// The ask that a victim makes room for.
struct CauseOf {
  ObjectRef ask;
  std::string uid;       ///< Empty: it is not known.
  std::string own_gang;  ///< Why its own gang leaves, if that is the cause.
};

struct EventRequest {
  ObjectState regarding;
  std::string regarding_kind = "Pod";
  bool is_warning = false;
  std::string reason;  ///< "Scheduled"
  std::string action;  ///< "Binding"
  std::string note;    ///< Cut to 1,024 bytes.
};

// ---- What to patch ------------------------------------------------------------------------------

/// With the word for autoscalers in the same call; empty: it stays as it is.
StatusPatch nomination(std::string_view node, std::string_view plan, std::string_view unscheduled);
StatusPatch cleared_nomination(std::string_view plan);
StatusPatch reservation(std::string_view node, std::string_view plan, Time since, bool promised);
StatusPatch ended_reservation(std::string_view plan);
StatusPatch eviction_mark(const CauseOf& cause, std::string_view plan, bool names_causes);
/// "makeway: preempting to accommodate a higher priority pod, uid 0-1"
std::string eviction_message(const CauseOf& cause, bool names_causes);
/// Of a victim: "Preempted by pod 0-1 on node n1"
EventRequest preempted_event(const ObjectState& pod, const CauseOf& cause, std::string_view node,
                             bool names_causes);
/// Of both; where they differ, the second.
StatusPatch joined(StatusPatch first, const StatusPatch& second);
/// A merge patch (JSON) that turns the status of `before` into the next one: what is not listed any
/// more is null.
std::string queue_status_patch(const PlanQueueStatus& next, const Queue& before);
/// Of an object of ours; null: there is nothing to say about it.
StatusPatch acceptance(const OwnFinding* finding);
/// What a Session says of its places; the message is cut to what its definition allows.
ConditionUpdate session_word(bool has_places, std::string reason, std::string_view message);
/// A status (JSON; empty: none) with what the patch says. Conditions of other types that the object
/// has stay: a merge patch replaces lists.
std::string own_status(const ObjectState& object, const std::string& status,
                       const StatusPatch& patch, Time now);
/// Whether the object does not show it yet.
bool changes(const StatusPatch& patch, const ObjectState& object);

// ---- Calls --------------------------------------------------------------------------------------

WriteCall bind_call(const WriteOptions& options, const ObjectState& pod, std::string_view node,
                    std::string_view plan);
WriteCall patch_pod_call(const WriteOptions& options, const ObjectState& pod,
                         const StatusPatch& patch, Time now);
WriteCall patch_group_call(const WriteOptions& options, const ObjectState& group,
                           const StatusPatch& patch, Time now);
WriteCall select_node_call(const WriteOptions& options, const ObjectState& claim,
                           std::string_view node);
/// Of a kind of ours, guarded by uid and version; `status` is a JSON object, merged into what is
/// there.
WriteCall patch_own_call(const WriteOptions& options, const ObjectState& object,
                         std::string_view status);
WriteCall read_scale_call(const ObjectState& deployment);
/// Guarded by uid and version.
WriteCall scale_call(const WriteOptions& options, const ObjectState& deployment,
                     std::int64_t replicas);
/// None: the pod's own grace.
WriteCall delete_call(const WriteOptions& options, const ObjectState& pod,
                      std::optional<std::int64_t> grace_seconds);
/// `body` is the whole pod; what is read where the name is taken is the pod of that name.
WriteCall create_pod_call(const WriteOptions& options, const ObjectState& pod, std::string body);
WriteCall eviction_call(const WriteOptions& options, const ObjectState& pod);
/// The stamp distinguishes events of one object.
WriteCall event_call(const WriteOptions& options, const EventRequest& event, Time now,
                     std::uint64_t stamp);

/// Of a kind of ours: "queues".
std::string_view own_plural(ObjectKind kind);
/// The same: "/apis/makeway.dev/v1/queues/research"
std::string own_path(ObjectKind kind, std::string_view namespace_name, std::string_view name);
/// "/apis/apps/v1/namespaces/shop/deployments/web/scale"
std::string scale_path(std::string_view namespace_name, std::string_view name);
/// "/api/v1/namespaces/shop/pods/web"
std::string pod_path(std::string_view namespace_name, std::string_view name);

enum class Verdict : std::uint8_t { done, refused, again, unknown };

struct WriteAnswer {
  Verdict verdict = Verdict::unknown;
  int status = 0;      ///< 0: there was none.
  std::string reason;  ///< For people.
  std::optional<Duration> retry_after;
  std::optional<ObjectState> object;                    ///< As the server shows it after a patch.
  std::optional<std::int64_t> replicas = std::nullopt;  ///< Of a Deployment's scale.
};

WriteAnswer judge_answer(WriteKind kind, const ApiResult<HttpAnswer>& result);

/// What a write wanted, for the reading of the object afterwards.
struct WriteGoal {
  WriteKind kind = WriteKind::bind;
  std::string uid;            ///< Of a create: of the controller.
  std::string node;           ///< Of a bind.
  StatusPatch patch;          ///< Of a patch.
  std::int64_t replicas = 0;  ///< Of a scale.
};

/// Done, refused (it cannot come about any more), or unknown (it is not there yet).
WriteAnswer judge_reading(const WriteGoal& goal, const ApiResult<HttpAnswer>& result);

}  // namespace makeway::kube

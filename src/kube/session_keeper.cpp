#include "kube/session_keeper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "codec/session_status.hpp"
#include "codec/workloads/json_edit.hpp"
#include "control/session_pods.hpp"
#include "kube/tenant_text.hpp"
#include "model/kinds.hpp"
#include "model/names.hpp"
#include "model/request.hpp"
#include "model/session_lifecycle.hpp"
#include "model/session_names.hpp"

namespace makeway::kube {
namespace {

JsonValue metadata_of(const Session& session, const Kernel& kernel, const JsonValue& pod,
                      std::string_view plan) {
  JsonValue metadata;
  put_text(metadata, "name",
           kernel_pod_name(session.name, kernel.name, session.status.preemptions));
  put_text(metadata, "namespace", session.namespace_name);
  const JsonValue* const given = pod.find("metadata");
  for (const std::string_view key : {"labels", "annotations"}) {
    const JsonValue* const marks = given == nullptr ? nullptr : given->find(key);
    if (marks != nullptr && marks->as_object() != nullptr) put(metadata, key, *marks);
  }
  if (!plan.empty()) put_text(*member(metadata, "annotations"), names::plan, plan);
  JsonValue owner = object_value({{"apiVersion", text_value(own_api_version)},
                                  {"kind", text_value("Session")},
                                  {"name", text_value(session.name)},
                                  {"uid", text_value(session.uid)}});
  put(owner, "controller", JsonValue{.data = true});
  put(metadata, "ownerReferences", array_value({std::move(owner)}));
  return metadata;
}

/// The pod that runs a kernel of a session, made from the kernel's template, as JSON: with its
/// name, the Session as its controller, and its node, so that nothing else places it. What the
/// template says about these does not count. Empty: the kernel has no template.
std::string kernel_pod(const Session& session, const Kernel& kernel, std::string_view scheduler,
                       std::string_view plan) {
  const auto pod = parse_json_value(kernel.pod_template);
  const JsonValue* const given = pod ? pod->find("spec") : nullptr;
  if (given == nullptr) return {};
  JsonValue spec = *given;
  put_text(spec, "nodeName", kernel.node);
  put_text(spec, "schedulerName", scheduler);
  // A batch session ends when its work is done; a pod that is always started again never is.
  const bool ends = session.type == SessionType::batch && spec.find("restartPolicy") == nullptr;
  if (ends) put_text(spec, "restartPolicy", "Never");
  // The taint that keeps other pods off the nodes of a group.
  JsonValue toleration = object_value(
      {{"key", text_value(names::resource_group)}, {"operator", text_value("Exists")}});
  append(*member(spec, "tolerations"), std::move(toleration));
  const JsonValue whole = object_value({{"apiVersion", text_value("v1")},
                                        {"kind", text_value("Pod")},
                                        {"metadata", metadata_of(session, kernel, *pod, plan)},
                                        {"spec", std::move(spec)}});
  return compact_text(whole);
}

// What a Session says of its places, in its condition makeway.dev/Scheduled: for users that ask
// `kubectl get sessions` why nothing happens. It is never read back.

/// What becomes of it when its pods have left.
std::string then_text(const Session& session) {
  const SessionStatus& status = session.status;
  switch (status.fate.value_or(SessionFate::ends)) {
    case SessionFate::requeues:
      return status.resume_after
                 ? fmt::format("it is in the queue again from {} on", to_text(*status.resume_after))
                 : "it is in the queue again";
    case SessionFate::on_request:
      return fmt::format("`makeway session resume {}/{}` brings it back", session.namespace_name,
                         session.name);
    case SessionFate::to_autoscaler: return "it ends, and its autoscaler starts another one";
    case SessionFate::suspends:
    case SessionFate::ends: break;
  }
  return "it ends";
}

ConditionUpdate started_word() { return session_word(true, "Scheduled", {}); }

/// It has no place yet, or its room is not free yet. `brake`: what holds it back, if anything. An
/// object of another namespace has a name in it only if `names_causes`.
ConditionUpdate waiting_word(const PlanAsk& ask, const BrakeAnswer& brake, bool names_causes) {
  const bool has_room = ask.outcome == Outcome::preempts || ask.outcome == Outcome::waits;
  const auto shown = [&](const std::string& text, const Mentions& mentions) {
    return names_causes ? text : tenant_text(text, mentions, ask.namespace_name);
  };
  std::string message = shown(ask.reason, ask.reason_mentions);
  if (!brake.why.empty()) message += fmt::format(" ({})", shown(brake.why, brake.mentions));
  return session_word(false, has_room ? "WaitsForRoom" : "Unschedulable", message);
}

/// It leaves; the session is as its next status says, so that what follows can be reported.
ConditionUpdate ending_word(std::string reason, std::string_view why, const Session& session) {
  return session_word(false, std::move(reason), fmt::format("{}; {}", why, then_text(session)));
}

constexpr std::string_view pod_succeeded = "Succeeded";
constexpr std::string_view pod_failed = "Failed";
constexpr Duration unseen_max{60'000};  ///< How long our last write may take to be shown.
constexpr Duration making_max{30'000};  ///< The same of a pod that was created, or deleted.
constexpr Duration again_after{1'000};
constexpr int refusals_max = 3;  ///< Of a pod in a row; then the session is pending again.

ObjectRef session_ref(const std::string& namespace_name, const std::string& name) {
  return {.kind = RefKind::session, .namespace_name = namespace_name, .name = name};
}

bool is_finished(const ObjectState& pod) {
  return pod.phase == pod_succeeded || pod.phase == pod_failed;
}

/// Nothing that the session did itself: a kubelet or a controller ended the pod, and said why.
bool was_lost(const ObjectState& pod) {
  const SeenCondition* const disrupted = pod.condition(disrupted_condition);
  const bool is_disrupted = disrupted != nullptr && disrupted->status == "True";
  return is_disrupted || (!pod.reason.empty() && pod.reason != "DeadlineExceeded");
}

bool is_of(const CachedObject* pod, const Session& session) {
  return pod != nullptr && pod->object.owner_uid == session.uid;
}

/// What a merge of our status would leave as it is.
bool is_same_status(const Session& one, const Session& other) {
  return session_status_patch(one) == session_status_patch(other);
}

std::vector<KernelPlace> places_in(const PlanAsk& ask) {
  std::vector<KernelPlace> places;
  places.reserve(ask.placements.size());
  for (const PodPlacement& place : ask.placements) {
    places.push_back({.kernel = place.name.substr(place.name.find('/') + 1), .node = place.node});
  }
  return places;
}

/// All its pods leave, and then it goes on like this. Its count of preemptions stays: this is none.
Session leave_by_itself(Session session, SessionFate fate, Time now, Duration restart_after) {
  session.status.ends_at = now;
  session.status.fate = fate;
  session.status.resume_after =
      fate == SessionFate::requeues ? std::optional(now + restart_after) : std::nullopt;
  return session;
}

Session end_session(Session session) {
  session.status.fate = SessionFate::ends;
  session = take_off_session(std::move(session));
  session.status.fate.reset();
  session.status.resume_after.reset();
  return session;
}

EventRequest session_event(const CachedObject& seen, std::string reason, std::string note) {
  return {.regarding = seen.object,
          .regarding_kind = "Session",
          .is_warning = true,
          .reason = std::move(reason),
          .action = "Tending",
          .note = std::move(note)};
}

}  // namespace

// ---- What was seen ------------------------------------------------------------------------------

void SessionKeeper::forget_pod(const Key& pod, bool has_finished) {
  if (!has_finished) erasing_.erase(pod);
  const auto owner = owners_.find(pod);
  if (owner == owners_.end()) return;
  Entry* const entry = find(owner->second);
  if (entry != nullptr) {
    if (!has_finished) {
      entry->pods.erase(pod.second);
      entry->vanished.insert(pod.second);
    }
    dirty_.insert({entry->object.namespace_name, entry->object.name});
  }
  if (!has_finished) owners_.erase(owner);
}

SessionKeeper::Entry* SessionKeeper::find(const std::string& uid) {
  const auto key = by_uid_.find(uid);
  return key == by_uid_.end() ? nullptr : &sessions_.at(key->second);
}

/// Another one of that name has asked for nothing yet.
void SessionKeeper::forget_session(const Key& key, const Entry& entry) {
  by_uid_.erase(entry.object.uid);
  std::erase_if(making_, [&](const auto& each) { return each.second.session == key; });
}

void SessionKeeper::saw(const std::vector<Change>& changes,
                        const std::vector<ObjectState>& objects_seen) {
  std::set<Key> finished;
  for (const ObjectState& seen_object : objects_seen) {
    if (seen_object.kind == ObjectKind::pod && is_finished(seen_object)) {
      finished.insert({seen_object.namespace_name, seen_object.name});
    }
  }
  for (const Change& change : changes) {
    if (const auto* const session = std::get_if<Session>(&change)) {
      const Key key(session->namespace_name, session->name);
      Entry& entry = sessions_[key];
      if (entry.object.uid != session->uid) {
        forget_session(key, entry);
        entry = {};
        by_uid_[session->uid] = key;
        for (const auto& [pod, owner] : owners_) {
          if (owner == session->uid) entry.pods.insert(pod.second);
        }
      }
      entry.object = *session;
      dirty_.insert(key);
    }
    const auto* const gone = std::get_if<Removal>(&change);
    if (gone == nullptr) continue;
    const Key key(gone->namespace_name, gone->name);
    if (gone->kind == ObjectKind::session) {
      const auto found = sessions_.find(key);
      if (found == sessions_.end()) continue;
      forget_session(key, found->second);
      sessions_.erase(found);
    } else if (gone->kind == ObjectKind::pod) {
      forget_pod(key, finished.contains(key));
    } else if (gone->kind == ObjectKind::node) {
      for (const auto& [session, entry] : sessions_) dirty_.insert(session);
    }
  }
  for (const ObjectState& seen_object : objects_seen) {
    if (seen_object.kind != ObjectKind::pod || seen_object.owner_kind != "Session") continue;
    const Key pod(seen_object.namespace_name, seen_object.name);
    owners_[pod] = seen_object.owner_uid;
    making_.erase(pod);
    const auto erasing = erasing_.find(pod);
    const bool is_over = erasing != erasing_.end() &&
                         (seen_object.leaving || erasing->second.uid != seen_object.uid);
    if (is_over) erasing_.erase(erasing);
    Entry* const entry = find(seen_object.owner_uid);
    if (entry == nullptr) continue;
    entry->pods.insert(seen_object.name);
    entry->vanished.erase(seen_object.name);
    dirty_.insert({entry->object.namespace_name, entry->object.name});
  }
}

void SessionKeeper::refused(const Receipt& receipt) {
  if (!receipt.object.plane.empty()) return;  // Sessions have no pods in planes.
  const Key key(receipt.object.namespace_name, receipt.object.name);
  if (receipt.object.kind == RefKind::session) {
    const auto found = sessions_.find(key);
    if (found == sessions_.end() || !found->second.written) return;
    found->second.written.reset();
    wake(key, now_ + again_after);
    return;
  }
  if (receipt.object.kind != RefKind::pod) return;
  const auto making = making_.find(key);
  if (making != making_.end() && making->second.is_under_way) {
    making->second.is_under_way = false;
    making->second.refusals += 1;
    making->second.since = now_;
    making->second.reason = receipt.reason;
    wake(making->second.session, now_ + again_after);
  }
  if (erasing_.erase(key) == 0) return;
  const auto owner = owners_.find(key);
  const auto session = owner == owners_.end() ? by_uid_.end() : by_uid_.find(owner->second);
  if (session != by_uid_.end()) wake(session->second, now_ + again_after);
}

/// At the latest then.
void SessionKeeper::wake(const Key& session, Time at) {
  const auto [found, is_new] = wakes_.try_emplace(session, at);
  if (!is_new) found->second = std::min(found->second, at);
}

/// Whether our last write about it is shown, or will not be.
bool SessionKeeper::is_settled(Entry& entry, Time now) {
  if (!entry.written) return true;
  const bool is_over = entry.written_at + unseen_max <= now;
  if (!is_over && !is_same_status(*entry.written, entry.object)) return false;
  entry.written.reset();
  return true;
}

// ---- What there is to do ------------------------------------------------------------------------

PlanJobs SessionKeeper::repairs(const VersionCache& cache, Time now) {
  now_ = now;
  PlanJobs jobs;
  std::set<Key> due = std::move(dirty_);
  dirty_.clear();
  std::erase_if(wakes_, [&](const auto& wake) {
    if (wake.second > now) return false;
    due.insert(wake.first);
    return true;
  });
  for (const Key& key : due) {
    if (sessions_.contains(key)) repair(key, cache, now, jobs);
  }
  return jobs;
}

void SessionKeeper::repair(const Key& key, const VersionCache& cache, Time now, PlanJobs& jobs) {
  Entry& entry = sessions_.at(key);
  const CachedObject* const seen = cache.own(ObjectKind::session, key.first, key.second);
  if (seen == nullptr || seen->object.leaving) return;  // Its pods go with it.
  if (!is_settled(entry, now)) {
    wake(key, entry.written_at + unseen_max);
    return;
  }
  const SessionStatus& status = entry.object.status;
  if (status.phase == SessionPhase::running && status.ends_at) {
    return go_on_leaving(key, entry, cache, now, jobs);
  }
  if (status.phase == SessionPhase::running) return keep_running(key, entry, cache, now, jobs);
  entry.vanished.clear();
  std::set<std::string> earlier;
  for (const Kernel& kernel : entry.object.kernels) {
    for (std::int64_t count = 0; count < std::min<std::int64_t>(status.preemptions, 100); ++count) {
      earlier.insert(kernel_pod_name(key.second, kernel.name, status.preemptions - 1 - count));
    }
  }
  for (const std::string& name : entry.pods) {
    const CachedObject* const pod = cache.pod(key.first, name);
    if (!earlier.contains(name) || !is_of(pod, entry.object) || is_finished(pod->object)) continue;
    if (erase(entry.object, *pod, now, jobs)) wake(key, now + making_max);
  }
}

bool SessionKeeper::has_succeeded(const Entry& entry, const VersionCache& cache,
                                  std::int64_t preemptions) const {
  const Session& session = entry.object;
  return std::ranges::all_of(session.kernels, [&](const Kernel& kernel) {
    const CachedObject* const pod =
        cache.pod(session.namespace_name, kernel_pod_name(session.name, kernel.name, preemptions));
    return is_of(pod, session) && pod->object.phase == pod_succeeded;
  });
}

/// Why a running session does not go on; none: it does.
std::optional<SessionKeeper::Ending> SessionKeeper::ending_of(const Entry& entry,
                                                              const VersionCache& cache) const {
  const Session& session = entry.object;
  std::optional<Ending> ending;
  for (const Kernel& kernel : session.kernels) {
    const std::string name = kernel_pod_name(session.name, kernel.name, session.status.preemptions);
    const auto lost = [&](std::string why) {
      return Ending{.fate = SessionFate::requeues, .why = std::move(why)};
    };
    if (cache.node(kernel.node) == NodeState::gone) {
      return lost(fmt::format("node {} of kernel {} is gone", kernel.node, kernel.name));
    }
    const CachedObject* const pod = cache.pod(session.namespace_name, name);
    if (!is_of(pod, session)) {
      if (entry.vanished.contains(name)) return lost(fmt::format("pod {} was deleted", name));
      const auto making = making_.find({session.namespace_name, name});
      if (making == making_.end() || making->second.refusals < refusals_max) continue;
      return lost(fmt::format("pod {} cannot be created: {}", name, making->second.reason));
    }
    const ObjectState& seen = pod->object;
    if (seen.phase == pod_succeeded) continue;
    if (seen.phase == pod_failed && !was_lost(seen)) {
      ending = {.fate = SessionFate::ends, .why = fmt::format("pod {} has failed", name)};
    } else if (seen.phase == pod_failed) {
      return lost(fmt::format("pod {} was ended: {}", name,
                              seen.reason.empty() ? "it was disrupted" : seen.reason));
    } else if (seen.leaving) {
      return lost(fmt::format("pod {} is being deleted", name));
    }
  }
  return ending;
}

void SessionKeeper::keep_running(const Key& key, Entry& entry, const VersionCache& cache, Time now,
                                 PlanJobs& jobs) {
  const Session& session = entry.object;
  if (has_succeeded(entry, cache, session.status.preemptions)) {
    write(entry, end_session(session), cache, now, jobs);
    return;
  }
  if (const std::optional<Ending> ending = ending_of(entry, cache)) {
    const bool ends = ending->fate == SessionFate::ends;
    const std::string reason = ends ? "KernelFailed" : "KernelLost";
    Session next = leave_by_itself(session, ending->fate, now, rules_.restart_after);
    ConditionUpdate word = ending_word(reason, ending->why, next);
    const std::size_t job = write(entry, std::move(next), cache, now, jobs, std::move(word));
    jobs.jobs[job].event =
        session_event(*cache.own(ObjectKind::session, key.first, key.second), reason, ending->why);
    return;
  }
  for (const Kernel& kernel : session.kernels) {
    const std::string name = kernel_pod_name(key.second, kernel.name, session.status.preemptions);
    const CachedObject* const pod = cache.pod(key.first, name);
    if (!is_of(pod, session)) create(key, session, kernel, {}, {}, now, jobs);
  }
}

void SessionKeeper::go_on_leaving(const Key& key, Entry& entry, const VersionCache& cache, Time now,
                                  PlanJobs& jobs) {
  const Session& session = entry.object;
  const SessionFate fate = session.status.fate.value_or(SessionFate::ends);
  if (fate == SessionFate::suspends) return;  // Not done here.
  const bool returns = fate == SessionFate::requeues || fate == SessionFate::on_request;
  std::set<std::string> next;  // Names that the next start needs.
  for (const Kernel& kernel : session.kernels) {
    next.insert(kernel_pod_name(key.second, kernel.name, session.status.preemptions));
  }
  bool is_off = true;
  for (const std::string& name : entry.pods) {
    const CachedObject* const pod = cache.pod(key.first, name);
    if (!is_of(pod, session)) continue;
    if (is_finished(pod->object) && !(returns && next.contains(name))) continue;
    is_off = false;
    if (erase(session, *pod, now, jobs)) wake(key, now + making_max);
  }
  for (const Kernel& kernel : session.kernels) {
    for (const std::int64_t count : {session.status.preemptions, session.status.preemptions - 1}) {
      const auto making =
          making_.find({key.first, kernel_pod_name(key.second, kernel.name, count)});
      if (making == making_.end() || !making->second.is_under_way) continue;
      if (making->second.since + making_max <= now) continue;
      is_off = false;  // It may come yet.
      wake(key, now + again_after);
    }
  }
  if (!is_off) return;
  std::erase_if(making_, [&](const auto& each) {
    return each.first.first == key.first && next.contains(each.first.second);
  });
  const bool is_done = has_succeeded(entry, cache, session.status.preemptions - 1);
  entry.vanished.clear();
  write(entry, is_done ? end_session(session) : take_off_session(session), cache, now, jobs);
}

void SessionKeeper::create(const Key& key, const Session& session, const Kernel& kernel,
                           std::string_view plan, std::vector<std::size_t> needs, Time now,
                           PlanJobs& jobs) {
  const std::string name = kernel_pod_name(key.second, kernel.name, session.status.preemptions);
  Making& making = making_[{key.first, name}];
  const bool is_late = making.since + making_max <= now;
  if (making.is_under_way && !is_late) {
    wake(key, making.since + making_max);
    return;
  }
  if (making.refusals > 0 && making.since + again_after > now) {
    wake(key, making.since + again_after);
    return;
  }
  std::string body = kernel_pod(session, kernel, rules_.scheduler, plan);
  if (body.empty()) return;  // No template: nothing of ours ran it.
  making.session = key;
  making.since = now;
  making.is_under_way = true;
  wake(key, now + making_max);
  ObjectState seen_object;
  seen_object.namespace_name = key.first;
  seen_object.name = name;
  seen_object.owner_uid = session.uid;
  WriteStep step{.kind = WriteKind::create_pod};
  step.pod = std::move(body);
  jobs.jobs.push_back({.object = pod_ref(key.first, name),
                       .seen = {.object = std::move(seen_object)},
                       .steps = {std::move(step)},
                       .needs = std::move(needs)});
}

/// The status of the session; the job's position.
std::size_t SessionKeeper::write(Entry& entry, Session next, const VersionCache& cache, Time now,
                                 PlanJobs& jobs, ConditionUpdate word) {
  const Session& session = entry.object;
  WriteStep step{.kind = WriteKind::patch_own};
  step.status = session_status_patch(next);
  if (!word.type.empty()) step.patch.conditions.push_back(std::move(word));
  jobs.jobs.push_back(
      {.object = session_ref(session.namespace_name, session.name),
       .seen = *cache.own(ObjectKind::session, session.namespace_name, session.name),
       .steps = {std::move(step)}});
  entry.written = std::move(next);
  entry.written_at = now;
  wake({session.namespace_name, session.name}, now + unseen_max);
  return jobs.jobs.size() - 1;
}

/// With the grace time that is left; without any: the pod's own. False: it is on its way out.
bool SessionKeeper::erase(const Session& session, const CachedObject& pod, Time now,
                          PlanJobs& jobs) {
  if (pod.object.leaving) return false;
  const Key key(pod.object.namespace_name, pod.object.name);
  const auto erasing = erasing_.find(key);
  const bool is_under_way = erasing != erasing_.end() && erasing->second.uid == pod.object.uid &&
                            erasing->second.since + making_max > now;
  if (is_under_way) return false;
  erasing_[key] = {.uid = pod.object.uid, .since = now};
  WriteStep step{.kind = WriteKind::erase};
  constexpr std::int64_t second_ms = 1'000;
  const std::optional<Time>& ends_at = session.status.ends_at;
  if (is_finished(pod.object)) {
    step.grace_seconds = 0;
  } else if (ends_at && *ends_at > now) {
    step.grace_seconds = ((*ends_at - now).ms + second_ms - 1) / second_ms;
  }
  jobs.jobs.push_back({.object = pod_ref(session.namespace_name, pod.object.name),
                       .seen = pod,
                       .steps = {std::move(step)}});
  return true;
}

// ---- Plans --------------------------------------------------------------------------------------

class SessionKeeper::PlanBuilder {
 public:
  PlanBuilder(SessionKeeper& keeper, const Plan& plan, const VersionCache& cache, PlanJobs& jobs)
      : keeper_(keeper), plan_(plan), cache_(cache), now_(plan.now), jobs_(jobs) {}

  void build(const EvictionBrake& brake) {
    for (const PlanAction& action : plan_.actions) {
      const auto ask = is_about_session(action) ? action.ask : std::nullopt;
      if (ask && !has_notice(session_of(action))) victims_[*ask].push_back(&action);
    }
    for (const PlanAsk& ask : plan_.asks) {
      if (ask.kind == AskKind::session) add_ask(ask, brake);
    }
    for (const PlanAction& action : plan_.actions) {
      if (is_about_session(action)) add_action(action);
    }
  }

 private:
  void refuse(const Key& session, std::string reason, std::optional<ObjectRef> ask,
              std::optional<Time> again_at = std::nullopt) {
    jobs_.refused.push_back({.plan = plan_.id,
                             .object = session_ref(session.first, session.second),
                             .reason = std::move(reason),
                             .ask = std::move(ask),
                             .again_at = again_at});
  }

  /// Empty: the session may be written. Otherwise why not.
  std::string obstacle(const Key& key, const std::string& uid) {
    const auto found = keeper_.sessions_.find(key);
    const CachedObject* const seen = cache_.own(ObjectKind::session, key.first, key.second);
    if (found == keeper_.sessions_.end() || seen == nullptr) return "it is gone";
    if (!uid.empty() && found->second.object.uid != uid) return "it is gone";
    if (seen->object.leaving) return "it is being deleted";
    if (!keeper_.is_settled(found->second, now_)) {
      return "its last status write is not visible in the watch yet";
    }
    return {};
  }

  void add_ask(const PlanAsk& ask, const EvictionBrake& brake) {
    const Key key(ask.namespace_name, ask.name);
    const ObjectRef ref = ref_of(ask);
    BrakeAnswer held{.why = obstacle(key, {})};
    const auto victims = victims_.find(ref);
    if (held.why.empty() && victims != victims_.end() && brake) held = brake(ask, victims->second);
    if (!held.why.empty()) {
      const bool has_requests = !ask.placements.empty() || victims != victims_.end();
      if (has_requests) refuse(key, held.why, {}, held.until);
      // What follows in a moment says it as well.
      constexpr Duration soon{10'000};
      if (held.until && *held.until > now_ + soon) say(key, waiting(ask, held));
      blocked_[ref] = std::move(held);
      return;
    }
    Entry& entry = keeper_.sessions_.at(key);
    const std::vector<KernelPlace> places = places_in(ask);
    if (ask.session && ask.session->runs_on) return;
    if (ask.outcome == Outcome::fits && !places.empty()) return start(key, entry, places);
    Session next = nominate_session(entry.object, places);
    ConditionUpdate word = waiting(ask, {});
    if (is_same_status(next, entry.object)) return say(key, std::move(word));
    relied_on_[ref] = {keeper_.write(entry, std::move(next), cache_, now_, jobs_, std::move(word))};
  }

  ConditionUpdate waiting(const PlanAsk& ask, const BrakeAnswer& brake) const {
    return waiting_word(ask, brake, keeper_.rules_.names_causes);
  }

  /// Rule 7, by itself. A session that was never written shows no phase yet.
  void say(const Key& key, ConditionUpdate word) {
    const CachedObject& seen = *cache_.own(ObjectKind::session, key.first, key.second);
    StatusPatch patch;
    if (seen.object.phase.empty()) patch.phase = choice_name(SessionPhase::pending);
    patch.conditions.push_back(std::move(word));
    if (!changes(patch, seen.object)) return;
    jobs_.jobs.push_back({.urgency = Urgency::condition,
                          .object = session_ref(key.first, key.second),
                          .seen = seen,
                          .steps = {{.kind = WriteKind::patch_own, .patch = std::move(patch)}}});
  }

  void start(const Key& key, Entry& entry, const std::vector<KernelPlace>& places) {
    if (entry.object.status.phase == SessionPhase::running) return refuse(key, "it runs", {});
    Session next = start_session(entry.object, places, plan_.now);
    const bool is_complete = std::ranges::none_of(
        next.kernels, [](const Kernel& kernel) { return kernel.pod_template.empty(); });
    if (!is_complete) return refuse(key, "a kernel has no template to make a pod from", {});
    entry.vanished.clear();
    const Session started = next;
    const std::size_t status =
        keeper_.write(entry, std::move(next), cache_, now_, jobs_, started_word());
    for (const Kernel& kernel : started.kernels) {
      keeper_.create(key, started, kernel, plan_.id, {status}, now_, jobs_);
    }
  }

  static Key session_of(const PlanAction& action) {
    return {action.namespace_name, action.name.substr(0, action.name.find('/'))};
  }

  /// It leaves, or has left; a plan repeats that until it is gone, and `repairs` sees to it.
  bool has_notice(const Key& key) const {
    const auto known = keeper_.sessions_.find(key);
    if (known == keeper_.sessions_.end()) return false;
    const Entry& entry = known->second;
    const SessionStatus& status = (entry.written ? *entry.written : entry.object).status;
    return status.phase != SessionPhase::running || status.ends_at.has_value();
  }

  void add_action(const PlanAction& action) {
    const Key key = session_of(action);
    switch (action.type) {
      case ActionType::suspend:
      case ActionType::resume: return refuse(key, "Kubernetes cannot suspend a pod", action.ask);
      case ActionType::evict:
      case ActionType::requeue: return add_notice(key, action);
      default: return;  // Places are those of the ask.
    }
  }

  void add_notice(const Key& key, const PlanAction& action) {
    if (has_notice(key)) return;
    const std::optional<ObjectRef>& ask = action.ask;
    const auto blocked = ask ? blocked_.find(*ask) : blocked_.end();
    if (blocked != blocked_.end()) {
      return refuse(key, blocked->second.why, ask, blocked->second.until);
    }
    std::string reason = obstacle(key, action.uid);
    const PlanSessionVictim* const victim = session_victim(plan_, action);
    if (victim == nullptr) reason = "the plan does not say what becomes of it";
    if (!reason.empty()) return refuse(key, std::move(reason), ask);
    Entry& entry = keeper_.sessions_.at(key);
    const Session before = entry.object;
    Session next = notice_session(before, {.by = cause_shown_in(key.first, *ask),
                                           .fate = victim->fate,
                                           .now = plan_.now,
                                           .ends_at = victim->ends_at,
                                           .resume_after = victim->resume_after});
    const Session noticed = next;
    ConditionUpdate word =
        ending_word("Preempted", "it makes room for a session of higher priority or tier", noticed);
    const std::size_t status =
        keeper_.write(entry, std::move(next), cache_, now_, jobs_, std::move(word));
    WriteJob& job = jobs_.jobs[status];
    job.ask = ask;
    job.unit = job.object;
    job.is_eviction = true;
    const auto relied_on = relied_on_.find(*ask);
    if (relied_on != relied_on_.end()) job.needs = relied_on->second;
    for (const std::string& name : entry.pods) {
      const CachedObject* const pod = cache_.pod(key.first, name);
      if (is_of(pod, before) && !is_finished(pod->object)) evict_pod(noticed, *pod, *ask, status);
    }
  }

  void evict_pod(const Session& session, const CachedObject& pod, const ObjectRef& ask,
                 std::size_t status) {
    if (!keeper_.erase(session, pod, now_, jobs_)) return;
    WriteJob& job = jobs_.jobs.back();
    const CauseOf cause = cause_of(ask);
    StatusPatch mark = eviction_mark(cause, plan_.id, keeper_.rules_.names_causes);
    job.steps.insert(job.steps.begin(), {.kind = WriteKind::patch_pod, .patch = std::move(mark)});
    job.ask = ask;
    job.unit = session_ref(session.namespace_name, session.name);
    job.needs = {status};
    job.is_eviction = true;
    job.event = preempted_event(pod.object, cause, pod.object.node, keeper_.rules_.names_causes);
  }

  /// Rule 8.
  std::string cause_shown_in(const std::string& namespace_name, const ObjectRef& ask) const {
    const bool is_own = ask.namespace_name == namespace_name;
    if (is_own || keeper_.rules_.names_causes) return ref_text(ask);
    const CauseOf cause = cause_of(ask);
    return fmt::format("{} {}", choice_name(ask.kind),
                       cause.uid.empty() ? "of another namespace" : cause.uid);
  }

  CauseOf cause_of(const ObjectRef& ask) const {
    CauseOf cause{.ask = ask};
    const CachedObject* const seen = cache_.own(ObjectKind::session, ask.namespace_name, ask.name);
    if (seen != nullptr) cause.uid = seen->object.uid;
    return cause;
  }

  SessionKeeper& keeper_;
  const Plan& plan_;
  const VersionCache& cache_;
  Time now_;
  PlanJobs& jobs_;
  std::map<ObjectRef, std::vector<const PlanAction*>> victims_;  ///< By ask.
  std::map<ObjectRef, BrakeAnswer> blocked_;                     ///< By ask: why.
  std::map<ObjectRef, std::vector<std::size_t>> relied_on_;      ///< By ask: its nomination.
};

void SessionKeeper::add_jobs(const Plan& plan, const VersionCache& cache,
                             const EvictionBrake& brake, PlanJobs& jobs) {
  PlanBuilder(*this, plan, cache, jobs).build(brake);
}

}  // namespace makeway::kube

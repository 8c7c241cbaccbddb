#include "control/in_flight.hpp"

#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>

#include "control/session_pods.hpp"
#include "model/normalize.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr Duration assumed_grace{30'000};     // What Kubernetes gives a pod that names none.
constexpr Duration forgotten_after{300'000};  // Of a bind or an eviction: rule 1.

/// Kubernetes keeps the times of conditions in whole seconds.
bool same_second(const std::optional<Time>& one, const std::optional<Time>& other) {
  constexpr std::int64_t second_ms = 1'000;
  if (!one || !other) return one == other;
  return one->ms / second_ms == other->ms / second_ms;
}

bool pod_shows(const PlanAction& action, const Pod& pod) {
  if (pod.deletion) return true;
  switch (action.type) {
    case ActionType::bind: return !pod.node.empty();
    case ActionType::nominate: return !pod.node.empty() || pod.nominated_node == action.node;
    case ActionType::reserve:
      return !pod.node.empty() || (same_second(pod.notes.reserved_since, action.since) &&
                                   pod.notes.promised == action.promised);
    case ActionType::evict: return false;
    default: return true;
  }
}

void lay_over_pod(const PlanAction& action, Time sent, Pod& pod) {
  switch (action.type) {
    case ActionType::bind:
      pod.node = action.node;
      pod.nominated_node.clear();
      break;
    case ActionType::nominate: pod.nominated_node = action.node; break;
    case ActionType::reserve:
      pod.notes.reserved_since = action.since;
      pod.notes.promised = action.promised;
      break;
    case ActionType::evict:
      pod.deletion = sent + assumed_grace;
      pod.deletion_grace_seconds = static_cast<std::int32_t>(assumed_grace.ms / 1'000);
      pod.disrupted_by_preemption = true;
      pod.ready = false;
      pod.notes.evicted_for = ref_text(action.ask);
      break;
    default: break;
  }
  // As everywhere (normalize): what was sent first may have been refused.
  if (!pod.node.empty() || pod.deletion) pod.nominated_node.clear();
}

/// Null: the session has no such kernel. A kernel is called "train/main".
template <class SessionObject>
auto* kernel_of(const PlanAction& action, SessionObject& session) {
  const std::string name = action.name.substr(action.name.find('/') + 1);
  const auto found = std::ranges::find(session.kernels, name, &Kernel::name);
  return found == session.kernels.end() ? nullptr : &*found;
}

bool session_shows(const PlanAction& action, const Session& session) {
  const bool runs = session.status.phase == SessionPhase::running;
  switch (action.type) {
    case ActionType::bind: return runs;
    case ActionType::nominate: {
      const Kernel* const kernel = kernel_of(action, session);
      return runs || kernel == nullptr || kernel->nominated_node == action.node;
    }
    case ActionType::evict:
    case ActionType::requeue:
    case ActionType::suspend: return !runs || session.status.ends_at.has_value();
    case ActionType::resume: return session.status.phase != SessionPhase::suspended;
    default: return true;
  }
}

void lay_over_session(const PlanAction& action, const std::optional<SessionNotice>& notice,
                      Time sent, Session& session) {
  Kernel* const kernel = kernel_of(action, session);
  switch (action.type) {
    case ActionType::bind:
      if (kernel != nullptr) kernel->node = action.node;
      if (kernel != nullptr) kernel->nominated_node.clear();
      session = run_on_session(std::move(session));
      session.status.started = sent;
      session.status.ends_at.reset();
      break;
    case ActionType::nominate:
      if (kernel != nullptr) kernel->nominated_node = action.node;
      break;
    case ActionType::resume: session = run_on_session(std::move(session)); break;
    default:
      if (notice) session = notice_session(std::move(session), *notice);
  }
}

ObjectRef deployment_ref(std::string namespace_name, std::string name, std::string plane) {
  return {.kind = RefKind::deployment,
          .namespace_name = std::move(namespace_name),
          .name = std::move(name),
          .plane = std::move(plane)};
}

}  // namespace

// ---- Effects ------------------------------------------------------------------------------------

bool InFlight::Effect::is_late(Time now) const {
  const auto* const of_action = std::get_if<ActionSent>(&what);
  const bool happened =
      of_action != nullptr && !is_about_session(of_action->action) &&
      (of_action->action.type == ActionType::bind || of_action->action.type == ActionType::evict);
  // Without it the same room would be given away twice.
  return awaited + (happened ? forgotten_after : unseen_max) <= now;
}

/// Whether the object shows the effect; `before` is how it was shown the last time.
template <class Object>
bool InFlight::shows(const Effect& effect, const Object& before, const Object& object) {
  if constexpr (std::is_same_v<Object, Pod>) {
    return pod_shows(std::get<ActionSent>(effect.what).action, object);
  } else if constexpr (std::is_same_v<Object, Session>) {
    return session_shows(std::get<ActionSent>(effect.what).action, object);
  } else if constexpr (std::is_same_v<Object, Queue>) {
    Queue laid = object;
    lay(effect, laid);
    return laid == object;
  } else if constexpr (std::is_same_v<Object, ReplicaSchedule>) {
    return object.status != before.status;  // Brakes may have written less than was decided.
  } else if constexpr (std::is_same_v<Object, DisruptionBudget>) {
    // A status that has changed counts every victim that was sent before.
    return object.disruptions_allowed != before.disruptions_allowed ||
           object.disrupted_pods != before.disrupted_pods;
  } else {
    return true;
  }
}

template <class Object>
void InFlight::lay(const Effect& effect, Object& object) {
  if constexpr (std::is_same_v<Object, Pod>) {
    lay_over_pod(std::get<ActionSent>(effect.what).action, effect.sent, object);
  } else if constexpr (std::is_same_v<Object, Session>) {
    const auto& [action, notice] = std::get<ActionSent>(effect.what);
    lay_over_session(action, notice, effect.sent, object);
  } else if constexpr (std::is_same_v<Object, Queue>) {
    const auto& next = std::get<PlanQueueStatus>(effect.what);
    object.deserved = next.deserved;
    object.allocated = next.allocated;
    object.used = next.used;
    object.preempting = next.preempting;
    normalize(object);
  } else if constexpr (std::is_same_v<Object, ReplicaSchedule>) {
    object.status = std::get<ReplicaStatus>(effect.what);
  } else if constexpr (std::is_same_v<Object, DisruptionBudget>) {
    if (object.disruptions_allowed) {
      object.disruptions_allowed = std::max(*object.disruptions_allowed - 1, 0);
    }
  }
}

Change InFlight::Overlay::laid_over() const {
  Change object = shown;
  std::visit(
      [&](auto& each) {
        for (const Effect& effect : effects) lay(effect, each);
      },
      object);
  return object;
}

/// The newest of a sort is what the port will show; charges add up.
void InFlight::add(Change object, Effect effect) {
  ChangeKey key = key_of_change(object);
  const auto at = overlays_.try_emplace(std::move(key), Overlay{.shown = std::move(object)}).first;
  Overlay& overlay = at->second;
  std::erase_if(overlay.effects, [&](const Effect& earlier) {
    if (earlier.what.index() != effect.what.index()) return false;
    if (std::holds_alternative<Charge>(effect.what)) return false;
    const auto* const newer = std::get_if<ActionSent>(&effect.what);
    const auto* const older = std::get_if<ActionSent>(&earlier.what);
    return newer == nullptr ||
           (older->action.type == newer->action.type && older->action.name == newer->action.name);
  });
  const bool is_shown =
      std::visit([&](const auto& shown) { return shows(effect, shown, shown); }, overlay.shown);
  if (!is_shown) overlay.effects.push_back(std::move(effect));
  if (overlay.effects.empty() && !overlay.laid) {
    overlays_.erase(at);
  } else {
    overlay.laid = false;
  }
}

// ---- What is sent -------------------------------------------------------------------------------

void InFlight::sent(const Plan& plan, const Cluster& cluster, Time now) {
  for (const PlanAction& action : plan.actions) {
    if (action.scale) {
      scales_.insert_or_assign(
          deployment_ref(action.namespace_name, action.name, action.scale->plane),
          ScaleSent{.plan = plan.id, .committed = action.scale->committed_after, .sent = now});
    } else if (!is_about_session(action)) {
      send_pod(plan, action, cluster, now);
    }
  }
  send_sessions(plan, cluster, now);
  send_statuses(plan, cluster, now);
  clear_nominations(plan, cluster, now);
}

void InFlight::send_pod(const Plan& plan, const PlanAction& action, const Cluster& cluster,
                        Time now) {
  // The room of a pod that is deleted by force is free when the port shows that it is gone.
  if (action.type == ActionType::wait || action.type == ActionType::force_delete) return;
  const auto row = cluster.find_pod(action.namespace_name, action.name, action.plane);
  if (!row) return;
  Pod pod = cluster.pod(*row);
  if (action.type == ActionType::evict) charge_budgets(plan, pod, cluster, now);
  add(std::move(pod), {.plan = plan.id, .what = ActionSent{action}, .sent = now});
}

/// A pod that has no place any more loses its nomination; no action says so.
void InFlight::clear_nominations(const Plan& plan, const Cluster& cluster, Time now) {
  std::set<PodIndex> placed;
  for (const PlanAsk& ask : plan.asks) {
    for (const PodPlacement& place : ask.placements) {
      const auto pod = cluster.find_pod(place.namespace_name, place.name);
      if (pod) placed.insert(*pod);
    }
  }
  const auto clear = [&](PodIndex pod) {
    if (!cluster.pods().nominated[pod].exists() || placed.contains(pod)) return;
    const Pod object = cluster.pod(pod);
    const PlanAction action{
        .type = ActionType::nominate, .namespace_name = object.namespace_name, .name = object.name};
    send_pod(plan, action, cluster, now);
  };
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind == AskKind::pod && !ask.reservation) {
      const auto pod = cluster.find_pod(ask.namespace_name, ask.name);
      if (pod) clear(*pod);
    }
    const auto group = ask.kind == AskKind::pod_group
                           ? cluster.find_group(ask.namespace_name, ask.name)
                           : std::nullopt;
    if (!group) continue;
    for (const PodIndex member : cluster.groups()[*group].members) clear(member);
  }
}

void InFlight::charge_budgets(const Plan& plan, const Pod& pod, const Cluster& cluster, Time now) {
  if (!pod.plane.empty() || pod.deletion) return;  // The budgets count a leaving pod already.
  for (const DisruptionBudget* const budget : cluster.budgets()) {
    const bool known = std::ranges::binary_search(budget->disrupted_pods, pod.name);
    if (!budget->plane.empty() || known || !governs(*budget, pod.namespace_name, pod.labels)) {
      continue;
    }
    add(*budget, {.plan = plan.id, .what = Charge{key_of_change(pod)}, .sent = now});
  }
}

void InFlight::send_sessions(const Plan& plan, const Cluster& cluster, Time now) {
  const ObjectMap<Session>& sessions = cluster.own<Session>();
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind != AskKind::session) continue;
    const auto session = sessions.find(ObjectKeyView{ask.namespace_name, ask.name, {}});
    if (session != sessions.end()) send_session(plan, ask, session->second, now);
  }
  for (const PlanAction& action : plan.actions) {
    const bool is_place = action.type == ActionType::bind || action.type == ActionType::nominate;
    if (!is_about_session(action) || !action.plane.empty() || is_place) continue;
    const auto session = sessions.find(ObjectKeyView{action.namespace_name, action.name, {}});
    if (session == sessions.end() || session->second.uid != action.uid) continue;
    ActionSent what{.action = action};
    if (const PlanSessionVictim* const victim = session_victim(plan, action)) {
      what.notice = SessionNotice{.by = ref_text(action.ask),
                                  .fate = victim->fate,
                                  .now = plan.now,
                                  .ends_at = victim->ends_at,
                                  .resume_after = victim->resume_after};
    }
    add(session->second, {.plan = plan.id, .what = std::move(what), .sent = now});
  }
}

/// All its kernels start, or each is nominated to its node, or to none any more.
void InFlight::send_session(const Plan& plan, const PlanAsk& ask, const Session& session,
                            Time now) {
  if (session.status.phase == SessionPhase::running || (ask.session && ask.session->runs_on)) {
    return;
  }
  const bool starts =
      ask.outcome == Outcome::fits && ask.placements.size() == session.kernels.size();
  for (const Kernel& kernel : session.kernels) {
    PlanAction action{.type = starts ? ActionType::bind : ActionType::nominate,
                      .namespace_name = session.namespace_name,
                      .name = session.name + "/" + kernel.name,
                      .uid = session.uid};
    const auto place = std::ranges::find(ask.placements, action.name, &PodPlacement::name);
    if (place != ask.placements.end()) action.node = place->node;
    if (!starts && action.node == kernel.nominated_node) continue;
    add(session, {.plan = plan.id, .what = ActionSent{std::move(action)}, .sent = now});
  }
}

void InFlight::send_statuses(const Plan& plan, const Cluster& cluster, Time now) {
  for (const PlanQueueStatus& next : plan.queue_status) {
    const auto found = cluster.own<Queue>().find(ObjectKeyView{{}, next.name, {}});
    if (found == cluster.own<Queue>().end()) continue;
    add(found->second, {.plan = plan.id, .what = next, .sent = now});
  }
  for (const PlanReplicaStatus& next : plan.replica_status) {
    const auto found = cluster.own<ReplicaSchedule>().find({next.namespace_name, next.name});
    if (found == cluster.own<ReplicaSchedule>().end()) continue;
    add(found->second, {.plan = plan.id, .what = next.status, .sent = now});
  }
}

// ---- What is shown ------------------------------------------------------------------------------

void InFlight::see_scales(const ReplicaSchedule& schedule) {
  std::erase_if(scales_, [&](const auto& scale) {
    const ObjectRef& deployment = scale.first;
    if (deployment.name != schedule.deployment) return false;
    if (deployment.namespace_name != schedule.namespace_name) return false;
    const auto found = std::ranges::find(schedule.planes, deployment.plane, &ReplicaPlane::name);
    return found == schedule.planes.end() || found->committed == scale.second.committed;
  });
}

Change InFlight::seen(Change change) {
  if (empty()) return change;
  const ChangeKey key = key_of_change(change);
  if (const Removal* const gone = std::get_if<Removal>(&change)) {
    overlays_.erase(key);
    if (gone->kind != ObjectKind::replica_schedule) return change;
    std::erase_if(scales_, [&](const auto& scale) {  // Its Deployments have its name, as a rule.
      return scale.first.namespace_name == gone->namespace_name && scale.first.name == gone->name;
    });
    return change;
  }
  if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) see_scales(*schedule);
  const auto found = overlays_.find(key);
  if (found == overlays_.end()) return change;
  Overlay& overlay = found->second;
  std::visit(
      [&]<class Object>(const Object& object) {
        const Object* const before = std::get_if<Object>(&overlay.shown);
        bool is_another = before == nullptr;
        if constexpr (requires { object.uid; }) {
          is_another = is_another || before->uid != object.uid;
        }
        std::erase_if(overlay.effects, [&](const Effect& effect) {
          return is_another || shows(effect, *before, object);
        });
      },
      change);
  if (overlay.effects.empty()) {
    overlays_.erase(found);
    return change;
  }
  overlay.shown = std::move(change);
  overlay.laid = true;
  return overlay.laid_over();
}

std::optional<Change> InFlight::refused(const Receipt& receipt) {
  if (const auto scale = scales_.find(receipt.object); scale != scales_.end()) {
    if (scale->second.plan == receipt.plan) scales_.erase(scale);
    return std::nullopt;
  }
  const std::optional<ChangeKey> key = store_key(receipt.object);
  if (!key) return std::nullopt;
  if (receipt.object.kind == RefKind::pod) {
    for (auto& [budget, overlay] : overlays_) {
      const std::size_t refused = std::erase_if(overlay.effects, [&](const Effect& effect) {
        const Charge* const charge = std::get_if<Charge>(&effect.what);
        return charge != nullptr && effect.plan == receipt.plan && charge->pod == *key;
      });
      if (refused > 0) overlay.laid = false;  // `unseen` returns it.
    }
  }
  const auto found = overlays_.find(*key);
  if (found == overlays_.end()) return std::nullopt;
  Overlay& overlay = found->second;
  const std::size_t refused = std::erase_if(
      overlay.effects, [&](const Effect& effect) { return effect.plan == receipt.plan; });
  if (refused == 0) return std::nullopt;
  std::optional<Change> before;
  if (overlay.laid) before = overlay.laid_over();
  if (overlay.effects.empty()) overlays_.erase(found);
  return before;
}

std::vector<Change> InFlight::unseen(Time now, std::optional<Time> sending_since) {
  const auto await = [&](auto& each) {
    if (sending_since && each.sent >= *sending_since) each.awaited = now;
  };
  for (auto& [deployment, scale] : scales_) await(scale);
  std::erase_if(scales_,
                [now](const auto& each) { return each.second.awaited + unseen_max <= now; });
  std::vector<Change> changes;
  for (auto at = overlays_.begin(); at != overlays_.end();) {
    Overlay& overlay = at->second;
    for (Effect& effect : overlay.effects) await(effect);
    const std::size_t late =
        std::erase_if(overlay.effects, [now](const Effect& effect) { return effect.is_late(now); });
    if (late > 0 || !overlay.laid) changes.push_back(overlay.laid_over());
    overlay.laid = true;
    at = overlay.effects.empty() ? overlays_.erase(at) : std::next(at);
  }
  return changes;
}

// ---- Questions ----------------------------------------------------------------------------------

std::size_t InFlight::size() const {
  const auto counts = std::ranges::count_if(overlays_, [](const auto& each) {
    const ObjectKind kind = std::get<ObjectKind>(each.first);
    return kind == ObjectKind::pod || kind == ObjectKind::session ||
           kind == ObjectKind::replica_schedule;
  });
  return static_cast<std::size_t>(counts) + scales_.size();
}

bool InFlight::has_pod(std::string_view namespace_name, std::string_view name) const {
  return !overlays_.empty() &&
         overlays_.contains({ObjectKind::pod, {}, std::string(namespace_name), std::string(name)});
}

std::optional<Time> InFlight::hold_until(AskKind kind, Time now) const {
  std::optional<Time> until;
  const auto hold = [&](Time awaited) {
    const Time end = awaited + unseen_max;
    if (end > now && (!until || end > *until)) until = end;
  };
  const bool of_schedules = kind == AskKind::replica_schedule;
  if (!of_schedules && kind != AskKind::session) return until;
  const ObjectKind held = of_schedules ? ObjectKind::replica_schedule : ObjectKind::session;
  for (const auto& [key, overlay] : overlays_) {
    if (std::get<ObjectKind>(key) != held) continue;
    for (const Effect& effect : overlay.effects) hold(effect.awaited);
  }
  if (!of_schedules) return until;
  for (const auto& [deployment, scale] : scales_) hold(scale.awaited);
  return until;
}

}  // namespace makeway

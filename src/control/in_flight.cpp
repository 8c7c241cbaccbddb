#include "control/in_flight.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

#include "control/session_pods.hpp"
#include "model/normalize.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr Duration assumed_grace{30'000};  // What Kubernetes gives whoever says nothing.
constexpr std::string_view queue_prefix = "Queue ";
constexpr std::string_view schedule_prefix = "ReplicaSchedule ";
constexpr std::string_view session_prefix = "Session ";
constexpr std::string_view pod_prefix = "Pod ";
constexpr Duration forgotten_after{300'000};  // Of what happened and is not shown: see `unseen`.

std::string flight_key(const std::string& namespace_name, const std::string& name) {
  return namespace_name + "/" + name;
}

/// "Pod default/web": the key behind the kind.
std::string flight_key(const std::string& object) {
  const std::size_t space = object.find(' ');
  return space == std::string::npos ? object : object.substr(space + 1);
}

std::string session_object(const std::string& namespace_name, const std::string& name) {
  return std::string(session_prefix) + flight_key(namespace_name, name);
}

/// Kubernetes keeps the times of conditions in whole seconds.
bool same_second(const std::optional<Time>& one, const std::optional<Time>& other) {
  constexpr std::int64_t second_ms = 1'000;
  if (!one || !other) return one == other;
  return one->ms / second_ms == other->ms / second_ms;
}

}  // namespace

bool InFlight::has_pod(std::string_view namespace_name, std::string_view name) const {
  return !pods_.empty() &&
         pods_.contains(flight_key(std::string(namespace_name), std::string(name)));
}

void InFlight::sent(const Plan& plan, const Cluster& cluster, Time now) {
  for (const PlanAction& action : plan.actions) {
    if (action.type == ActionType::evict) charge({plan.id, action}, cluster, now);
    if (action.type != ActionType::wait) add({plan.id, action}, cluster, now);
  }
  send_statuses(plan, cluster, now);
  send_schedules(plan, cluster, now);
  // Whoever has no place any more loses the nomination; no action says so.
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
    add({plan.id,
         {.type = ActionType::nominate,
          .namespace_name = object.namespace_name,
          .name = object.name}},
        cluster, now);
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

void InFlight::add(Sent sent, const Cluster& cluster, Time now) {
  const PlanAction& action = sent.action;
  const std::string key = flight_key(action.namespace_name, action.name);
  // Its room is free when the port shows that it is gone, and not before.
  if (action.type == ActionType::force_delete) return;
  if (action.scale) return send_scale(sent, now);
  const auto row = cluster.find_pod(action.namespace_name, action.name, action.plane);
  const bool kernel = row && cluster.pods().flags[*row].kernel;
  if (kernel) {
    // A nomination that stands is not shown again.
    const NodeIndex kept = cluster.pods().nominated[*row];
    const bool stands = action.type == ActionType::nominate && kept.exists() &&
                        cluster.text(cluster.nodes().name[kept]) == action.node;
    if (stands) return;
  }
  if (is_about_session(action)) {
    const std::string name = action.name.substr(0, action.name.find('/'));
    // Who was told to leave and has not left is told so by every plan; nothing new is shown then.
    const auto session = cluster.own<Session>().find({action.namespace_name, name});
    const bool is_session = session != cluster.own<Session>().end() && action.plane.empty() &&
                            session->second.uid == action.uid;
    if (is_session && action.type != ActionType::nominate && shows(action, session->second)) return;
    return send_other(session_object(action.namespace_name, name), action, now);
  }
  if (!row || !action.plane.empty()) return send_other(std::string(pod_prefix) + key, action, now);
  Effects& effects = pods_[key];
  effects.sent = now;
  effects.awaited = now;
  effects.laid = false;
  if (effects.uid.empty()) effects.uid = action.uid;
  // The newest of a kind is what the port will show.
  std::erase_if(effects.actions,
                [&](const Sent& earlier) { return earlier.action.type == action.type; });
  effects.actions.push_back(std::move(sent));
}

void InFlight::send_other(const std::string& object, const PlanAction& action, Time now) {
  Other& other = others_[object];
  other.sent = now;
  other.actions.push_back(action);
}

// ---- Budgets ------------------------------------------------------------------------------------

DisruptionBudget InFlight::Charged::laid_over() const {
  DisruptionBudget budget = shown;
  if (budget.disruptions_allowed) {
    const std::int64_t left = *budget.disruptions_allowed - std::ssize(charges);
    budget.disruptions_allowed = static_cast<std::int32_t>(std::max<std::int64_t>(left, 0));
  }
  return budget;
}

void InFlight::charge(const Sent& sent, const Cluster& cluster, Time now) {
  if (is_about_session(sent.action) || !sent.action.plane.empty()) return;
  const auto row = cluster.find_pod(sent.action.namespace_name, sent.action.name);
  if (!row) return;
  if (cluster.pods().deletion[*row] != no_time) return;  // They know.
  const Pod pod = cluster.pod(*row);
  for (const DisruptionBudget* const budget : cluster.budgets()) {
    const bool known = std::ranges::binary_search(budget->disrupted_pods, pod.name);
    if (!budget->plane.empty() || known || !governs(*budget, pod.namespace_name, pod.labels)) {
      continue;
    }
    const auto [at, is_new] =
        budgets_.try_emplace(flight_key(budget->namespace_name, budget->name));
    if (is_new) at->second.shown = *budget;
    at->second.laid = false;
    at->second.charges.push_back({sent.plan, flight_key(pod.namespace_name, pod.name), now, now});
  }
}

/// A status that has changed counts everybody who was sent before.
Change InFlight::seen_budget(DisruptionBudget budget) {
  const auto found = budgets_.find(flight_key(budget.namespace_name, budget.name));
  if (found == budgets_.end()) return budget;
  Charged& charged = found->second;
  const bool same = charged.shown.disruptions_allowed == budget.disruptions_allowed &&
                    charged.shown.disrupted_pods == budget.disrupted_pods;
  if (!same) {
    budgets_.erase(found);
    return budget;
  }
  charged.shown = std::move(budget);
  charged.laid = true;
  return charged.laid_over();
}

void InFlight::unseen_budgets(Time now, std::vector<Change>& changes) {
  for (auto at = budgets_.begin(); at != budgets_.end();) {
    Charged& charged = at->second;
    const std::size_t over = std::erase_if(
        charged.charges, [&](const Charge& charge) { return charge.awaited + unseen_max <= now; });
    if (over > 0 || !charged.laid) changes.emplace_back(charged.laid_over());
    charged.laid = true;
    at = charged.charges.empty() ? budgets_.erase(at) : std::next(at);
  }
}

// ---- Queues -------------------------------------------------------------------------------------

void InFlight::send_statuses(const Plan& plan, const Cluster& cluster, Time now) {
  for (const PlanQueueStatus& status : plan.queue_status) {
    const auto found = cluster.own<Queue>().find(ObjectKeyView{{}, status.name, {}});
    if (found == cluster.own<Queue>().end()) continue;
    // What was laid over it until now is not what the port has shown.
    const auto earlier = queues_.find(status.name);
    Queue shown = earlier == queues_.end() ? found->second : earlier->second.shown;
    queues_.insert_or_assign(status.name, QueueSent{.plan = plan.id,
                                                    .next = status,
                                                    .shown = std::move(shown),
                                                    .sent = now,
                                                    .awaited = now});
  }
}

Queue InFlight::QueueSent::laid_over() const {
  Queue queue = shown;
  queue.deserved = next.deserved;
  queue.allocated = next.allocated;
  queue.used = next.used;
  queue.preempting = next.preempting;
  normalize(queue);
  return queue;
}

Change InFlight::seen_queue(Queue queue) {
  const auto found = queue.plane.empty() ? queues_.find(queue.name) : queues_.end();
  if (found == queues_.end()) return queue;
  QueueSent& sent = found->second;
  const bool another = !sent.next.uid.empty() && sent.next.uid != queue.uid;
  sent.shown = queue;
  Queue laid = sent.laid_over();
  if (another || laid == queue) {
    queues_.erase(found);
    return queue;
  }
  sent.laid = true;
  return laid;
}

std::optional<Change> InFlight::refused_queue(const Receipt& receipt) {
  const auto found = queues_.find(receipt.object.substr(queue_prefix.size()));
  if (found == queues_.end() || found->second.plan != receipt.plan) return std::nullopt;
  Change before = std::move(found->second.shown);
  queues_.erase(found);
  return before;
}

void InFlight::unseen_queues(Time now, std::vector<Change>& changes) {
  for (auto at = queues_.begin(); at != queues_.end();) {
    QueueSent& sent = at->second;
    const bool late = sent.awaited + unseen_max <= now;
    if (late) {
      changes.emplace_back(std::move(sent.shown));
    } else if (!sent.laid) {
      changes.emplace_back(sent.laid_over());
    }
    sent.laid = true;
    at = late ? queues_.erase(at) : std::next(at);
  }
}

// ---- Schedules ----------------------------------------------------------------------------------

void InFlight::send_schedules(const Plan& plan, const Cluster& cluster, Time now) {
  for (const PlanReplicaStatus& next : plan.replica_status) {
    const auto found = cluster.own<ReplicaSchedule>().find({next.namespace_name, next.name});
    if (found == cluster.own<ReplicaSchedule>().end()) continue;
    schedules_.insert_or_assign(
        flight_key(next.namespace_name, next.name),
        StatusSent{.plan = plan.id, .before = found->second.status, .sent = now, .awaited = now});
  }
}

void InFlight::send_scale(const Sent& sent, Time now) {
  const PlanAction& action = sent.action;
  scales_.insert_or_assign(
      ScaleName(flight_key(action.namespace_name, action.name), action.scale->plane),
      ScaleSent{.plan = sent.plan,
                .committed = action.scale->committed_after,
                .sent = now,
                .awaited = now});
}

void InFlight::seen_schedule(const ReplicaSchedule& schedule) {
  const auto sent = schedules_.find(flight_key(schedule.namespace_name, schedule.name));
  if (sent != schedules_.end() && sent->second.before != schedule.status) schedules_.erase(sent);
  const std::string deployment = flight_key(schedule.namespace_name, schedule.deployment);
  std::erase_if(scales_, [&](const auto& scale) {
    const auto& [name, plane] = scale.first;
    if (name != deployment) return false;
    const auto found = std::ranges::find(schedule.planes, plane, &ReplicaPlane::name);
    return found == schedule.planes.end() || found->committed == scale.second.committed;
  });
}

/// Its Deployments have its name, as a rule.
void InFlight::forget_schedule(const Removal& gone) {
  const std::string key = flight_key(gone.namespace_name, gone.name);
  schedules_.erase(key);
  std::erase_if(scales_, [&](const auto& scale) { return scale.first.first == key; });
}

// ---- What is shown ------------------------------------------------------------------------------

bool InFlight::shows(const PlanAction& action, const Pod& pod) {
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

bool InFlight::shows(const PlanAction& action, const Session& session) {
  const bool runs = session.status.phase == SessionPhase::running;
  switch (action.type) {
    case ActionType::bind: return runs;
    case ActionType::nominate: {
      const std::string name = action.name.substr(action.name.find('/') + 1);
      const auto kernel = std::ranges::find(session.kernels, name, &Kernel::name);
      return runs || kernel == session.kernels.end() || kernel->nominated_node == action.node;
    }
    case ActionType::evict:
    case ActionType::requeue:
    case ActionType::suspend: return !runs || session.status.ends_at.has_value();
    case ActionType::resume: return session.status.phase != SessionPhase::suspended;
    default: return true;
  }
}

void InFlight::seen_session(const Session& session) {
  const auto found = others_.find(session_object(session.namespace_name, session.name));
  if (found == others_.end()) return;
  std::erase_if(found->second.actions,
                [&](const PlanAction& action) { return shows(action, session); });
  if (found->second.actions.empty()) others_.erase(found);
}

void InFlight::lay(const Effects& effects, Pod& pod) {
  for (const Sent& sent : effects.actions) {
    const PlanAction& action = sent.action;
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
        pod.deletion = effects.sent + assumed_grace;
        pod.deletion_grace_seconds = static_cast<std::int32_t>(assumed_grace.ms / 1'000);
        pod.disrupted_by_preemption = true;
        pod.ready = false;
        pod.notes.evicted_for = action.ask;
        break;
      default: break;
    }
  }
  // As everywhere (normalize): what was sent first may have been refused.
  if (!pod.node.empty() || pod.deletion) pod.nominated_node.clear();
}

Change InFlight::seen(Change change) {
  if (empty()) return change;
  if (const Removal* const gone = std::get_if<Removal>(&change)) {
    const std::string key = flight_key(gone->namespace_name, gone->name);
    if (gone->kind == ObjectKind::disruption_budget) {
      budgets_.erase(key);
    } else if (gone->kind == ObjectKind::queue) {
      if (gone->plane.empty()) queues_.erase(gone->name);
    } else if (gone->kind == ObjectKind::session) {
      others_.erase(session_object(gone->namespace_name, gone->name));
    } else if (gone->kind == ObjectKind::replica_schedule) {
      forget_schedule(*gone);
    } else if (gone->kind == ObjectKind::pod && gone->plane.empty()) {
      pods_.erase(key);
    }
    return change;
  }
  if (auto* const budget = std::get_if<DisruptionBudget>(&change)) {
    return seen_budget(std::move(*budget));
  }
  if (auto* const queue = std::get_if<Queue>(&change)) return seen_queue(std::move(*queue));
  Pod* const pod = std::get_if<Pod>(&change);
  if (pod == nullptr) {
    if (const auto* const session = std::get_if<Session>(&change)) {
      seen_session(*session);
    } else if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) {
      seen_schedule(*schedule);
    }
    return change;
  }
  const auto found =
      pod->plane.empty() ? pods_.find(flight_key(pod->namespace_name, pod->name)) : pods_.end();
  if (found == pods_.end()) return change;
  Effects& effects = found->second;
  const bool another = !effects.uid.empty() && effects.uid != pod->uid;
  std::erase_if(effects.actions, [&](const Sent& sent) { return shows(sent.action, *pod); });
  if (another || effects.actions.empty()) {
    pods_.erase(found);
    return change;
  }
  effects.shown = *pod;
  effects.laid = true;
  lay(effects, *pod);
  return change;
}

std::optional<Change> InFlight::refused(const Receipt& receipt) {
  if (receipt.object.starts_with(queue_prefix)) return refused_queue(receipt);
  const std::string key = flight_key(receipt.object);
  if (!receipt.plane.empty()) {
    // Whoever has that name at home is another one.
    const auto scale = scales_.find({key, receipt.plane});
    if (scale != scales_.end() && scale->second.plan == receipt.plan) scales_.erase(scale);
    return std::nullopt;
  }
  if (receipt.object.starts_with(schedule_prefix)) {
    // Of its status alone: what was scaled has the name of a Deployment.
    const auto sent = schedules_.find(key);
    if (sent != schedules_.end() && sent->second.plan == receipt.plan) schedules_.erase(sent);
    return std::nullopt;
  }
  if (receipt.object.starts_with(session_prefix)) {
    others_.erase(receipt.object);
    return std::nullopt;
  }
  // A claim, say: a pod that has its name is on its way all the same.
  if (!receipt.object.starts_with(pod_prefix)) return std::nullopt;
  for (auto& [name, charged] : budgets_) {
    const std::size_t refused = std::erase_if(charged.charges, [&](const Charge& charge) {
      return charge.plan == receipt.plan && charge.pod == key;
    });
    if (refused > 0) charged.laid = false;  // `unseen` tells.
  }
  const auto found = pods_.find(key);
  if (found == pods_.end()) return std::nullopt;
  Effects& effects = found->second;
  std::erase_if(effects.actions, [&](const Sent& sent) { return sent.plan == receipt.plan; });
  std::optional<Change> before;
  if (effects.shown) {
    Pod pod = *effects.shown;
    lay(effects, pod);
    before = std::move(pod);
  }
  if (effects.actions.empty()) pods_.erase(found);
  return before;
}

/// Whatever is not on its way yet cannot be late.
void InFlight::await(Time sending_since, Time now) {
  for (auto& [key, effects] : pods_) {
    if (effects.sent >= sending_since) effects.awaited = now;
  }
  for (auto& [key, charged] : budgets_) {
    for (Charge& charge : charged.charges) {
      if (charge.sent >= sending_since) charge.awaited = now;
    }
  }
  for (auto& [name, queue] : queues_) {
    if (queue.sent >= sending_since) queue.awaited = now;
  }
  for (auto& [name, status] : schedules_) {
    if (status.sent >= sending_since) status.awaited = now;
  }
  // It goes out after the status that it relies on.
  for (auto& [name, scale] : scales_) {
    if (scale.sent >= sending_since) scale.awaited = now;
  }
}

std::vector<Change> InFlight::unseen(const Cluster& cluster, Time now,
                                     std::optional<Time> sending_since) {
  if (sending_since) await(*sending_since, now);
  // They hold nobody any more.
  const auto is_late = [now](const auto& each) { return each.second.awaited + unseen_max <= now; };
  std::erase_if(others_, [now](const auto& each) { return each.second.sent + unseen_max <= now; });
  std::erase_if(schedules_, is_late);
  std::erase_if(scales_, is_late);
  // A bind or an eviction that is not carried out has a receipt; without one it has happened, and
  // the watch is behind. To forget it would give the same room away twice. A nomination is the
  // newest of several patches, and may have been overwritten.
  const auto is_over = [now](const Effects& effects) {
    const bool happened = std::ranges::any_of(effects.actions, [](const Sent& sent) {
      return sent.action.type == ActionType::bind || sent.action.type == ActionType::evict ||
             sent.action.type == ActionType::force_delete;
    });
    return happened ? effects.awaited + forgotten_after <= now : effects.is_late(now);
  };
  std::vector<std::string> late;
  for (const auto& [key, effects] : pods_) {
    if (!effects.laid || is_over(effects)) late.push_back(key);
  }
  std::ranges::sort(late);
  std::vector<Change> changes;
  changes.reserve(late.size());
  for (const std::string& key : late) {
    Effects& effects = pods_.at(key);
    const PlanAction& first = effects.actions.front().action;
    const auto row = cluster.find_pod(first.namespace_name, first.name);
    if (!row || is_over(effects)) {
      if (row && effects.shown) changes.emplace_back(std::move(*effects.shown));
      pods_.erase(key);
    } else {
      changes.push_back(seen(effects.shown ? *effects.shown : cluster.pod(*row)));
    }
  }
  unseen_budgets(now, changes);
  unseen_queues(now, changes);
  return changes;
}

std::optional<Time> InFlight::hold_until(Time now) const {
  std::optional<Time> until;
  const auto hold = [&](Time sent) {
    const Time end = sent + unseen_max;
    if (end > now && (!until || end > *until)) until = end;
  };
  for (const auto& [key, other] : others_) hold(other.sent);
  for (const auto& [key, status] : schedules_) hold(status.sent);
  return until;
}

std::optional<Time> InFlight::hold_schedules_until(Time now) const {
  std::optional<Time> until;
  const auto hold = [&](Time awaited) {
    const Time end = awaited + unseen_max;
    if (end > now && (!until || end > *until)) until = end;
  };
  for (const auto& [key, status] : schedules_) hold(status.awaited);
  for (const auto& [key, scale] : scales_) hold(scale.awaited);
  return until;
}

}  // namespace makeway

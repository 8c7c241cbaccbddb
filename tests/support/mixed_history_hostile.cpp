// The part of MixedHistory that is about hostile worlds.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "codec/dump.hpp"
#include "model/names.hpp"
#include "model/planes.hpp"
#include "model/queue_membership.hpp"
#include "model/regime.hpp"
#include "model/session_lifecycle.hpp"
#include "policies/decide.hpp"
#include "support/history.hpp"
#include "support/mixed_history.hpp"
#include "support/random_fleet.hpp"

namespace makeway {

/// What others have written.
void MixedHistory::carry_out(const HostileWorld& hostile) {
  for (const Change& change : hostile.changes()) world_.happens(change);
  const bool queues = has_queues(loop_->cluster());
  for (const HostileEvent& event : hostile.events()) {
    log(event.text);
    if (event.everywhere || queues) ledger_.happened_everywhere();
    for (const std::string& node : event.nodes) ledger_.happened_on(node);
  }
}

bool MixedHistory::has_queues(const Cluster& cluster) const {
  return configuration_.queue.enabled && !cluster.own<Queue>().empty();
}

/// Half of the stuck pods leave after all.
void MixedHistory::calm() {
  calm_ = true;
  if (options_.hostility == nullptr) return;
  options_.hostility->calm();
  const Cluster cluster = seen();
  std::erase_if(stuck_, [&](const Key& key) {
    if (!random_.chance(50)) return false;
    if (!cluster.find_pod(key.first, key.second)) return true;
    world_.happens(
        Removal{.kind = ObjectKind::pod, .namespace_name = key.first, .name = key.second});
    return true;
  });
  std::erase_if(stuck_sessions_, [&](const Key& key) {
    if (!random_.chance(50)) return false;
    const auto found = cluster.own<Session>().find({key.first, key.second});
    const bool leaves = found != cluster.own<Session>().end() && found->second.status.ends_at;
    if (leaves) world_.happens(take_off_session(found->second));
    return true;
  });
}

// ---- A pod that will not leave ------------------------------------------------------------------

bool MixedHistory::is_stuck(const Pod& pod) {
  if (options_.hostility == nullptr) return random_.chance(options_.stuck_percent);
  if (!options_.hostility->strikes(HostileAct::will_not_leave)) return false;
  options_.hostility->happened(HostileAct::will_not_leave);
  log(fmt::format("HOSTILE: {}/{} will not leave", pod.namespace_name, pod.name));
  if (options_.hostility->random().chance(50)) {
    finalizers_.insert({pod.namespace_name, pod.name});
  }
  return true;
}

/// The API server accepts the force-deletion of a pod that a finalizer holds: it stays, and there
/// is no grace any more.
void MixedHistory::hold_by_finalizers(const Plan& plan) {
  const Cluster cluster = seen();
  for (const PlanAction& action : plan.actions) {
    const bool held = action.type == ActionType::force_delete &&
                      finalizers_.contains({action.namespace_name, action.name});
    const auto index = cluster.find_pod(action.namespace_name, action.name);
    if (!held || !index) continue;
    Pod pod = cluster.pod(*index);
    log(fmt::format("the force-deletion of {} is accepted, and it stays", pod.name));
    pod.deletion = *pod.deletion + Duration{std::int64_t{-1'000} * pod.deletion_grace_seconds};
    pod.deletion_grace_seconds = 0;
    world_.happens(pod);
  }
}

// ---- What a plan writes -------------------------------------------------------------------------

/// What others rely on first.
std::vector<MixedHistory::Effect> MixedHistory::effects_of(const Plan& plan,
                                                           const Cluster& cluster) const {
  std::vector<Effect> effects;
  effects.reserve(plan.queue_status.size() + plan.replica_status.size() + plan.actions.size());
  for (const PlanQueueStatus& status : plan.queue_status) {
    effects.push_back({.relied_on = true, .queue = &status});
  }
  for (const PlanReplicaStatus& status : plan.replica_status) {
    effects.push_back({.relied_on = true, .replica = &status});
  }
  for (const PlanAction& action : plan.actions) {
    const auto index = cluster.find_pod(action.namespace_name, action.name);
    const bool pod = index && !cluster.pods().flags[*index].kernel;
    if (action.type == ActionType::wait || (!action.scale && !pod)) continue;
    effects.push_back(
        {.relied_on = action.type == ActionType::nominate || action.type == ActionType::reserve,
         .ask = ref_text(action.ask),
         .nodes = {action.node, pod ? cluster.pod(*index).nominated_node : ""},
         .makes_leave = action.type == ActionType::evict,
         .object = fmt::format("{} {}/{}", pod ? "Pod" : "ReplicaSchedule", action.namespace_name,
                               action.name),
         .actions = {&action}});
  }
  add_session_effects(plan, cluster, effects);
  std::ranges::stable_partition(effects, &Effect::relied_on);
  return effects;
}

/// A session is written as one.
void MixedHistory::add_session_effects(const Plan& plan, const Cluster& cluster,
                                       std::vector<Effect>& effects) const {
  std::map<Key, std::vector<const PlanAction*>> actions;
  for (const PlanAction& action : plan.actions) {
    const Key key(action.namespace_name, action.name.substr(0, action.name.find('/')));
    const auto found = cluster.own<Session>().find({key.first, key.second});
    const bool is_it = found != cluster.own<Session>().end() && found->second.uid == action.uid;
    if (is_it && action.type != ActionType::wait) actions[key].push_back(&action);
  }
  for (const auto& [key, own] : actions) {
    const PlanAction& first = *own.front();
    const bool leaves = first.ask.has_value();
    const std::string name = fmt::format("Session {}/{}", key.first, key.second);
    const std::vector<Kernel>& kernels = cluster.own<Session>().at({key.first, key.second}).kernels;
    std::vector<std::string> nodes;
    nodes.reserve(own.size() + 2 * kernels.size());
    for (const PlanAction* const action : own) nodes.push_back(action->node);
    for (const Kernel& kernel : kernels) {
      nodes.push_back(kernel.node);
      nodes.push_back(kernel.nominated_node);
    }
    std::ranges::stable_partition(nodes, [](const std::string& node) { return !node.empty(); });
    effects.push_back({.relied_on = first.type == ActionType::nominate,
                       .ask = leaves ? ref_text(first.ask) : name,
                       .nodes = std::move(nodes),
                       .makes_leave = leaves,
                       .object = name,
                       .actions = own});
  }
}

// ---- The wrong pod ------------------------------------------------------------------------------

void MixedHistory::drop(const Effect& effect) {
  if (effect.ask.empty() && effect.nodes.empty()) return ledger_.happened_everywhere();
  ledger_.left_undone(effect.ask);
  for (const std::string& node : effect.nodes) ledger_.happened_on(node);
}

/// One victim is not touched, and another pod goes instead. Returns how many effects are dropped.
std::size_t MixedHistory::mistake_victim(const Plan& plan, std::vector<Effect>& effects) {
  std::vector<std::size_t> evictions;
  for (std::size_t index = 0; index < effects.size(); ++index) {
    if (effects[index].makes_leave) evictions.push_back(index);
  }
  Hostility& hostility = *options_.hostility;
  if (evictions.empty() || !hostility.strikes(HostileAct::wrong_removed)) return 0;
  std::set<Key> named;
  for (const PlanAction& action : plan.actions) named.insert({action.namespace_name, action.name});
  for (const PlanAsk& ask : plan.asks) {
    named.insert({ask.namespace_name, ask.name});
    if (!ask.session) continue;
    for (const PlanSessionVictim& victim : ask.session->victims) {
      named.insert({victim.namespace_name, victim.name});
    }
  }
  const std::size_t spared = hostility.random().pick(evictions);
  HostileWorld hostile(seen(), hostility, now());
  if (!hostile.remove_another(named, effects[spared].nodes.front())) return 0;
  carry_out(hostile);
  drop(effects[spared]);
  receipts_.push_back({.plan = plan.id,
                       .object = parse_ref(effects[spared].object).value(),
                       .reason = "another pod is removed",
                       .ask = parse_ref(effects[spared].ask)});
  effects.erase(effects.begin() + static_cast<std::ptrdiff_t>(spared));
  return 1;
}

namespace {

/// The pods that claims count on.
std::set<std::pair<std::string, std::string>> claimed_pods(const Cluster& cluster) {
  std::set<std::pair<std::string, std::string>> claimed;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    for (const ReplicaClaim& claim : schedule.status.claims) {
      for (const ClaimedVictim& victim : claim.victims) {
        claimed.insert({victim.namespace_name, victim.name});
      }
    }
  }
  return claimed;
}

}  // namespace

/// One that claims count on, or exactly another one; of several the first in that order.
std::size_t MixedHistory::removes_claimed(const std::vector<const Pod*>& pods,
                                          const std::vector<std::size_t>& order) {
  if (options_.hostility == nullptr || calm_) return order.front();
  const std::set<Key> named = claimed_pods(seen());
  const auto claimed = [&](std::size_t at) {
    return named.contains({pods[at]->namespace_name, pods[at]->name});
  };
  const std::int64_t count = std::ranges::count_if(order, claimed);
  if (count == 0 || count == std::ssize(order)) return order.front();
  const bool wrong = options_.hostility->strikes(HostileAct::wrong_removed);
  if (wrong) {
    options_.hostility->happened(HostileAct::wrong_removed);
    log("HOSTILE: Kubernetes removes another replica than " +
        pods[*std::ranges::find_if(order, claimed)]->name);
  }
  return *std::ranges::find_if(order, [&](std::size_t at) { return claimed(at) != wrong; });
}

/// Also where others were faster: a pod of another scheduler may overfill a node.
void MixedHistory::take_room(const std::string& node, const Amounts& room) {
  const Cluster cluster = seen();
  const auto index = cluster.find_node(node);
  if (node.empty() || !index || !cluster.nodes().flags[*index].exists) return;
  if (!options_.hostility->strikes(HostileAct::room_taken)) return;
  HostileWorld hostile(seen(), *options_.hostility, now());
  hostile.take_room(node, room);
  carry_out(hostile);
}

// ---- Half-executed plans ------------------------------------------------------------------------

/// Statuses and nominations come first, one after the other; then all others at once, so that any
/// of them may be missing, except that writes to one object keep their order. Returns how many
/// effects are dropped.
std::size_t MixedHistory::crash_halfway(std::vector<Effect>& effects) {
  Hostility& hostility = *options_.hostility;
  if (effects.empty() || !hostility.strikes(HostileAct::half_executed)) return 0;
  Prng& random = hostility.random();
  const std::size_t cut = random.below(effects.size());
  std::vector<Effect> done;
  std::set<std::string> missing;
  for (std::size_t index = 0; index < effects.size(); ++index) {
    const bool early = effects[cut].relied_on || effects[index].relied_on;
    const bool lucky = early ? index < cut : index != cut && random.chance(50);
    if (lucky && !missing.contains(effects[index].object)) {
      done.push_back(std::move(effects[index]));
    } else {
      if (!effects[index].object.empty()) missing.insert(effects[index].object);
      drop(effects[index]);
    }
  }
  const std::size_t dropped = effects.size() - done.size();
  log(fmt::format("HOSTILE: crash, {} of {} effects are missing", dropped, effects.size()));
  hostility.happened(HostileAct::half_executed);
  crashed_ = true;
  effects = std::move(done);
  return dropped;
}

// ---- No pod leaves twice ------------------------------------------------------------------------

namespace {

using Names = std::set<std::string>;

/// The pods that a queue's claim evicts.
Names claimed_by(const PlanAsk& ask) {
  Names names;
  for (const PlanVictim& victim : ask.victims) {
    names.insert(fmt::format("{}/{}", victim.namespace_name, victim.name));
  }
  return names;
}

/// Of each replica that is to come: the pods that other deployments lose for it.
std::vector<Names> losses_for(const PlanReplicas& replicas) {
  std::vector<Names> losses;
  for (const PlanReplicaClaim& claim : replicas.claims) {
    Names names;
    for (const PlanReplicaVictim& victim : claim.victims) {
      if (victim.action != ReplicaAction::scale_down) continue;
      names.insert(fmt::format("{}/{}", victim.namespace_name, victim.name));
    }
    if (!names.empty()) losses.push_back(std::move(names));
  }
  return losses;
}

/// No other pod for the same claim, and no more than one loss for each replica.
bool takes_more(const PlanAsk& before, const PlanAsk& again) {
  if (again.kind == AskKind::queue)
    return !std::ranges::includes(claimed_by(before), claimed_by(again));
  if (!again.replicas) return false;  // The ledger knows.
  Names taken;
  const std::vector<Names> losses = losses_for(*before.replicas);
  for (const Names& names : losses) taken.insert(names.begin(), names.end());
  std::int64_t more = 0;
  for (const Names& names : losses_for(*again.replicas)) {
    more += std::ranges::includes(taken, names) ? 0 : 1;
  }
  return more > 0 && more + std::ssize(losses) > before.replicas->unmet;
}

}  // namespace

/// A pod outside queues gets a place: what queues divide becomes less.
bool MixedHistory::places_outside(const Plan& plan, const Cluster& cluster) const {
  const QueueMembership membership(cluster, configuration_);
  return std::ranges::any_of(plan.asks, [&](const PlanAsk& ask) {
    return ask.reservation || std::ranges::any_of(ask.placements, [&](const PodPlacement& place) {
             const auto pod = cluster.find_pod(place.namespace_name, place.name);
             return pod && !membership.of(*pod).exists();
           });
  });
}

/// Lowering the commit may not remove the pod that the claim counts on: fewer replicas run than are
/// committed, or some on another node, which Kubernetes may remove instead. Then the claim is over
/// at once, and the next cycle takes another one.
bool MixedHistory::may_scale_in_vain(const PlanAsk& ask, const Cluster& cluster) const {
  if (!ask.replicas) return false;
  const auto runs_in = [&](const Pod& pod, const std::string& plane) {
    const auto node = find_node_in_plane(cluster, plane, pod.node);
    const auto key = cluster.strings().find(names::plane);
    const auto value = node ? replica_plane(cluster, *node, key) : std::nullopt;
    return value && cluster.text(*value) == plane;
  };
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    for (const PlanReplicaVictim& victim : claim.victims) {
      for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
        const bool loser = schedule.namespace_name == victim.namespace_name &&
                           schedule.deployment == victim.deployment;
        if (!loser || !victim.committed_after) continue;
        std::vector<Pod> running;
        cluster.each<Pod>([&](const Pod& pod) {
          if (is_replica_of(pod, schedule) && runs_in(pod, claim.plane)) running.push_back(pod);
        });
        const auto elsewhere = [&](const Pod& pod) { return pod.node != claim.node; };
        const bool fewer = std::ssize(running) <= *victim.committed_after;
        if (fewer || std::ranges::any_of(running, elsewhere)) return true;
      }
    }
  }
  return false;
}

/// The plan is carried out exactly and nothing else has happened: an ask that got its victims by it
/// gets no others.
void MixedHistory::decide_once_more(const Plan& plan, const Cluster& before) {
  const auto has_victims = [](const PlanAsk& ask) { return ask.outcome == Outcome::preempts; };
  if (std::ranges::none_of(plan.asks, has_victims)) return;
  const Cluster cluster = seen();
  const Decision again = decide(cluster, configuration_, {.now = now(), .preset = "history"});
  EvictionLedger ledger = ledger_;
  const bool queues_differ = places_outside(plan, before);
  std::vector<std::string> complaints = ledger.judge(cluster, *again.plan);
  const bool replicas_differ = std::ranges::any_of(
      plan.asks, [&](const PlanAsk& ask) { return may_scale_in_vain(ask, cluster); });
  for (const PlanAsk& ask : again.plan->asks) {
    const auto served = std::ranges::find_if(
        plan.asks, [&](const PlanAsk& each) { return ask_text(each) == ask_text(ask); });
    if (served == plan.asks.end() || !has_victims(*served) || !takes_more(*served, ask)) continue;
    if (ask.kind == AskKind::queue ? queues_differ : replicas_differ) continue;
    complaints.push_back(ask_text(ask) + ": others have to leave for it as well");
  }
  if (complaints.empty()) return;
  for (const std::string& complaint : complaints) {
    complaints_.push_back(fmt::format("{} decided once more, {}", to_text(now()), complaint));
  }
  log("once more:\n" + short_text(*again.plan));
  last_world_ = dump(cluster, DumpFormat::json);
}

std::map<MixedHistory::Key, std::int64_t> MixedHistory::replica_totals(const Cluster& cluster) {
  std::map<Key, std::int64_t> totals;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    std::int64_t& total = totals[{schedule.namespace_name, schedule.name}];
    total = schedule.unmet;
    for (const ReplicaPlane& plane : schedule.planes) total += plane.committed;
  }
  return totals;
}

// ---- Every ask is accounted for -----------------------------------------------------------------

std::vector<std::string> MixedHistory::unaccounted() const {
  std::vector<std::string> complaints;
  const Cluster cluster = seen();
  judge_pending(cluster, complaints);
  judge_asks(complaints);
  judge_sessions(cluster, complaints);
  cluster.each<Pod>([&](const Pod& pod) {
    const bool stays = !pod.deletion || stuck_.contains({pod.namespace_name, pod.name});
    if (!stays) complaints.push_back(pod.name + " could be gone");
  });
  return complaints;
}

/// A pod that waits for a place is an ask of the last plan, or its group is.
void MixedHistory::judge_pending(const Cluster& cluster,
                                 std::vector<std::string>& complaints) const {
  std::set<std::tuple<AskKind, std::string, std::string>> asked;
  for (const PlanAsk& ask : plan_.asks) asked.insert({ask.kind, ask.namespace_name, ask.name});
  const Regimes regimes(cluster, configuration_);
  for (const PodIndex index : cluster.pending_pods()) {
    if (regimes.of(index) != Regime::pods) continue;
    const Pod pod = cluster.pod(index);
    if (asked.contains({AskKind::pod, pod.namespace_name, pod.name})) continue;
    if (asked.contains({AskKind::pod_group, pod.namespace_name, pod.group})) continue;
    complaints.push_back(fmt::format("no policy decides about pod {}", pod.name));
  }
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    const bool wants = configuration_.replica.enabled && schedule.unmet > 0;
    if (!wants ||
        asked.contains({AskKind::replica_schedule, schedule.namespace_name, schedule.name})) {
      continue;
    }
    complaints.push_back(fmt::format("no policy decides about schedule {}", schedule.name));
  }
  for (const auto& [key, session] : cluster.own<Session>()) {
    const SessionPhase phase = session.status.phase;
    const bool waits = phase == SessionPhase::pending || phase == SessionPhase::suspended;
    if (!configuration_.session.enabled || !waits) continue;
    if (asked.contains({AskKind::session, session.namespace_name, session.name})) continue;
    complaints.push_back(fmt::format("no policy decides about session {}", session.name));
  }
}

/// An ask without a place has a reason, and waits only for stuck pods.
void MixedHistory::judge_asks(std::vector<std::string>& complaints) const {
  const bool stuck = !stuck_sessions_.empty() || !stuck_.empty();
  for (const PlanAsk& ask : plan_.asks) {
    if (ask.kind == AskKind::queue) continue;
    const bool knows = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
    if (knows && !ask.reason.empty()) continue;
    // Where leaving room is not credited, stuck pods are victims again and again.
    if (stuck && (ask.outcome == Outcome::waits || ask.outcome == Outcome::preempts)) continue;
    complaints.push_back(fmt::format("at rest {} has the answer: {} {}", ask_text(ask),
                                     choice_name(ask.outcome), ask.reason));
  }
}

/// A session that is off its nodes has a way back, or has ended.
void MixedHistory::judge_sessions(const Cluster& cluster,
                                  std::vector<std::string>& complaints) const {
  for (const auto& [key, session] : cluster.own<Session>()) {
    const SessionStatus& status = session.status;
    const bool by_itself = status.fate == SessionFate::requeues && status.resume_after;
    if (status.phase == SessionPhase::preempted && !by_itself &&
        status.fate != SessionFate::on_request) {
      complaints.push_back(fmt::format("session {} has no way back", session.name));
    }
    if (status.phase == SessionPhase::running && status.ends_at && *status.ends_at <= now() &&
        !stuck_sessions_.contains({session.namespace_name, session.name})) {
      complaints.push_back(fmt::format("session {} could be gone", session.name));
    }
  }
}

}  // namespace makeway

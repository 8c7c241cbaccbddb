// The part of MixedHistory that is about hostile worlds.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "codec/dump.hpp"
#include "model/queue_membership.hpp"
#include "model/regime.hpp"
#include "policies/decide.hpp"
#include "support/history.hpp"
#include "support/mixed_history.hpp"

namespace makeway {

void MixedHistory::note(const HostileWorld& world) {
  for (const HostileEvent& event : world.events()) {
    tell(event.text);
    if (event.everywhere || has_queues()) ledger_.happened_everywhere();
    for (const std::string& node : event.nodes) ledger_.happened_on(node);
  }
}

bool MixedHistory::has_queues() const {
  return configuration_.queue.enabled && !cluster_.own<Queue>().empty();
}

/// Half of those who would not leave think better of it.
void MixedHistory::calm() {
  calm_ = true;
  if (options_.hostility == nullptr) return;
  options_.hostility->calm();
  for (auto& [key, when] : gone_) {
    if (!when && random_.chance(50)) when = now_;
  }
  std::erase_if(stuck_sessions_, [&](const Key&) { return random_.chance(50); });
}

// ---- A pod that will not leave ------------------------------------------------------------------

bool MixedHistory::is_stuck(const Pod& pod) {
  if (options_.hostility == nullptr) return random_.chance(options_.stuck_percent);
  if (!options_.hostility->strikes(HostileAct::will_not_leave)) return false;
  options_.hostility->happened(HostileAct::will_not_leave);
  tell(fmt::format("HOSTILE: {}/{} will not leave", pod.namespace_name, pod.name));
  if (options_.hostility->random().chance(50)) {
    finalizers_.insert({pod.namespace_name, pod.name});
  }
  return true;
}

/// A finalizer holds it. The API server accepts the force-deletion, and there is no grace any more.
void MixedHistory::stay_for_ever(Pod pod) {
  tell(fmt::format("the force-deletion of {} is accepted, and it stays", pod.name));
  pod.deletion = *pod.deletion + Duration{std::int64_t{-1'000} * pod.deletion_grace_seconds};
  pod.deletion_grace_seconds = 0;
  cluster_.apply(pod);
}

// ---- The wrong pod ------------------------------------------------------------------------------

void MixedHistory::drop(const Effect& effect) {
  if (effect.ask.empty() && effect.nodes.empty()) return ledger_.happened_everywhere();
  ledger_.left_undone(effect.ask);
  for (const std::string& node : effect.nodes) ledger_.happened_on(node);
}

/// One victim is not touched, and somebody else goes instead. Returns how many effects are dropped.
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
  HostileWorld world(cluster_, hostility, now_);
  if (!world.remove_another(named, effects[spared].nodes.front())) return 0;
  note(world);
  drop(effects[spared]);
  effects.erase(effects.begin() + static_cast<std::ptrdiff_t>(spared));
  return 1;
}

bool MixedHistory::is_claimed(const Pod& pod) const {
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    for (const ReplicaClaim& claim : schedule.status.claims) {
      const bool found = std::ranges::any_of(claim.victims, [&](const ClaimedVictim& victim) {
        return victim.namespace_name == pod.namespace_name && victim.name == pod.name;
      });
      if (found) return true;
    }
  }
  return false;
}

/// Whoever is last goes first: the pods that claims count on, or exactly the others.
void MixedHistory::choose_claimed(std::vector<Pod>& running) {
  if (options_.hostility == nullptr || calm_) return;
  const std::int64_t claimed =
      std::ranges::count_if(running, [this](const Pod& pod) { return is_claimed(pod); });
  if (claimed == 0 || claimed == std::ssize(running)) return;
  const bool wrong = options_.hostility->strikes(HostileAct::wrong_removed);
  std::ranges::stable_partition(running, [&](const Pod& pod) { return is_claimed(pod) == wrong; });
  if (!wrong) return;
  options_.hostility->happened(HostileAct::wrong_removed);
  tell("HOSTILE: Kubernetes removes another replica than " + running.front().name);
}

void MixedHistory::take_room(const std::string& node, const Amounts& room) {
  if (options_.hostility == nullptr || node.empty()) return;
  const auto index = cluster_.find_node(node);
  if (!index || !cluster_.nodes().flags[*index].exists) return;
  if (!options_.hostility->strikes(HostileAct::room_taken)) return;
  HostileWorld world(cluster_, *options_.hostility, now_);
  world.take_room(node, room);
  note(world);
}

// ---- Half-executed plans ------------------------------------------------------------------------

/// Statuses and nominations come first, one after the other; then all others at once, so that any
/// of them may be missing. Returns how many effects are dropped.
std::size_t MixedHistory::crash_halfway(std::vector<Effect>& effects) {
  Hostility& hostility = *options_.hostility;
  if (effects.empty() || !hostility.strikes(HostileAct::half_executed)) return 0;
  Prng& random = hostility.random();
  const std::size_t cut = random.below(effects.size());
  std::vector<Effect> done;
  for (std::size_t index = 0; index < effects.size(); ++index) {
    const bool early = effects[cut].relied_on || effects[index].relied_on;
    const bool kept = early ? index < cut : index != cut && random.chance(50);
    if (kept) {
      done.push_back(std::move(effects[index]));
    } else {
      drop(effects[index]);
    }
  }
  const std::size_t dropped = effects.size() - done.size();
  tell(fmt::format("HOSTILE: crash, {} of {} effects are missing", dropped, effects.size()));
  hostility.happened(HostileAct::half_executed);
  effects = std::move(done);
  return dropped;
}

// ---- Nobody leaves twice ------------------------------------------------------------------------

namespace {

using Names = std::set<std::string>;

/// Whom a queue's claim makes leave.
Names claimed_by(const PlanAsk& ask) {
  Names names;
  for (const PlanVictim& victim : ask.victims) {
    names.insert(fmt::format("{}/{}", victim.namespace_name, victim.name));
  }
  return names;
}

/// Of each replica that is to come: whom other deployments lose for it.
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

/// Nobody else for the same claim, and no more than one loss for each replica.
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

/// Somebody outside queues gets a place: what queues divide becomes less.
bool MixedHistory::places_outside(const Plan& plan) const {
  const QueueMembership membership(cluster_, configuration_);
  return std::ranges::any_of(plan.asks, [&](const PlanAsk& ask) {
    return ask.reservation || std::ranges::any_of(ask.placements, [&](const PodPlacement& place) {
             const auto pod = cluster_.find_pod(place.namespace_name, place.name);
             return pod && !membership.of(*pod).exists();
           });
  });
}

/// Lowering the commit may not remove the pod that the claim counts on: fewer replicas run than are
/// committed, or some on another node, which Kubernetes may remove instead. Then the claim is over
/// at once, and the next cycle takes another one.
bool MixedHistory::may_scale_in_vain(const PlanAsk& ask) const {
  if (!ask.replicas) return false;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    for (const PlanReplicaVictim& victim : claim.victims) {
      for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
        const bool loser = schedule.namespace_name == victim.namespace_name &&
                           schedule.deployment == victim.deployment;
        if (!loser || !victim.committed_after) continue;
        const std::vector<Pod> running = replicas(schedule, claim.plane);
        const auto elsewhere = [&](const Pod& pod) { return pod.node != claim.node; };
        const bool fewer = std::ssize(running) <= *victim.committed_after;
        if (fewer || std::ranges::any_of(running, elsewhere)) return true;
      }
    }
  }
  return false;
}

/// The plan is carried out to the letter and nothing has happened: whoever got its victims by it
/// gets no others.
void MixedHistory::decide_once_more(const Plan& plan) {
  const auto has_victims = [](const PlanAsk& ask) { return ask.outcome == Outcome::preempts; };
  if (std::ranges::none_of(plan.asks, has_victims)) return;
  const Decision again = decide(cluster_, configuration_, {.now = now_, .preset = "history"});
  EvictionLedger ledger = ledger_;
  const bool queues_differ = places_outside(plan);
  std::vector<std::string> complaints = ledger.judge(cluster_, *again.plan);
  const bool replicas_differ =
      std::ranges::any_of(plan.asks, [this](const PlanAsk& ask) { return may_scale_in_vain(ask); });
  for (const PlanAsk& ask : again.plan->asks) {
    const auto before = std::ranges::find_if(
        plan.asks, [&](const PlanAsk& each) { return ask_text(each) == ask_text(ask); });
    if (before == plan.asks.end() || !has_victims(*before) || !takes_more(*before, ask)) continue;
    if (ask.kind == AskKind::queue ? queues_differ : replicas_differ) continue;
    complaints.push_back(ask_text(ask) + ": others have to leave for it as well");
  }
  if (complaints.empty()) return;
  for (const std::string& complaint : complaints) {
    complaints_.push_back(fmt::format("{} decided once more, {}", to_text(now_), complaint));
  }
  tell("once more:\n" + short_text(*again.plan));
  last_world_ = dump(cluster_, DumpFormat::json);
}

std::map<MixedHistory::Key, std::int64_t> MixedHistory::replica_totals() const {
  std::map<Key, std::int64_t> totals;
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    std::int64_t& total = totals[{schedule.namespace_name, schedule.name}];
    total = schedule.unmet;
    for (const ReplicaPlane& plane : schedule.planes) total += plane.committed;
  }
  return totals;
}

// ---- Everybody is accounted for -----------------------------------------------------------------

std::vector<std::string> MixedHistory::unaccounted() const {
  std::vector<std::string> complaints;
  judge_pending(complaints);
  judge_asks(complaints);
  judge_sessions(complaints);
  for (const Pod& pod : pods()) {
    const auto when = gone_.find({pod.namespace_name, pod.name});
    if (pod.deletion && when != gone_.end() && when->second) {
      complaints.push_back(pod.name + " could be gone");
    }
  }
  return complaints;
}

/// Whoever waits for a place is an ask of the last plan, or its group is.
void MixedHistory::judge_pending(std::vector<std::string>& complaints) const {
  std::set<std::tuple<AskKind, std::string, std::string>> asked;
  for (const PlanAsk& ask : plan_.asks) asked.insert({ask.kind, ask.namespace_name, ask.name});
  const Regimes regimes(cluster_, configuration_);
  for (const PodIndex index : cluster_.pending_pods()) {
    if (regimes.of(index) != Regime::pods) continue;
    const Pod pod = cluster_.pod(index);
    if (asked.contains({AskKind::pod, pod.namespace_name, pod.name})) continue;
    if (asked.contains({AskKind::pod_group, pod.namespace_name, pod.group})) continue;
    complaints.push_back(fmt::format("nobody decides about pod {}", pod.name));
  }
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    const bool wants = configuration_.replica.enabled && schedule.unmet > 0;
    if (!wants ||
        asked.contains({AskKind::replica_schedule, schedule.namespace_name, schedule.name})) {
      continue;
    }
    complaints.push_back(fmt::format("nobody decides about schedule {}", schedule.name));
  }
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const SessionPhase phase = session.status.phase;
    const bool waits = phase == SessionPhase::pending || phase == SessionPhase::suspended;
    if (!configuration_.session.enabled || !waits) continue;
    if (asked.contains({AskKind::session, session.namespace_name, session.name})) continue;
    complaints.push_back(fmt::format("nobody decides about session {}", session.name));
  }
}

/// Whoever has no place knows why, and waits only for those who will not leave.
void MixedHistory::judge_asks(std::vector<std::string>& complaints) const {
  const bool stuck = !stuck_sessions_.empty() || std::ranges::any_of(gone_, [](const auto& entry) {
    return !entry.second.has_value();
  });
  for (const PlanAsk& ask : plan_.asks) {
    if (ask.kind == AskKind::queue) continue;
    const bool knows = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
    if (knows && !ask.reason.empty()) continue;
    // Where leaving room is not credited, those who will not leave are victims again and again.
    if (stuck && (ask.outcome == Outcome::waits || ask.outcome == Outcome::preempts)) continue;
    complaints.push_back(fmt::format("at rest {} is told: {} {}", ask_text(ask),
                                     choice_name(ask.outcome), ask.reason));
  }
}

/// Whoever is off its nodes has a way back, or has ended.
void MixedHistory::judge_sessions(std::vector<std::string>& complaints) const {
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const SessionStatus& status = session.status;
    const bool by_itself = status.fate == SessionFate::requeues && status.resume_after;
    if (status.phase == SessionPhase::preempted && !by_itself &&
        status.fate != SessionFate::on_request) {
      complaints.push_back(fmt::format("session {} has no way back", session.name));
    }
    if (status.phase == SessionPhase::running && status.ends_at && *status.ends_at <= now_ &&
        !stuck_sessions_.contains({session.namespace_name, session.name})) {
      complaints.push_back(fmt::format("session {} could be gone", session.name));
    }
  }
}

}  // namespace makeway

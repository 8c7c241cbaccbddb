#include "support/mixed_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.hpp"
#include "codec/dump.hpp"
#include "judge/check_plan.hpp"
#include "model/names.hpp"
#include "model/session_lifecycle.hpp"
#include "model/validation/validation.hpp"
#include "policies/decide.hpp"
#include "policies/session/session_actions.hpp"
#include "support/history.hpp"
#include "support/random_fleet.hpp"

namespace makeway {
namespace {

constexpr Duration calm_step{300'000};
constexpr std::uint64_t brisk_cycles = 10;

Removal gone_pod(const Pod& pod) {
  return {.kind = ObjectKind::pod, .namespace_name = pod.namespace_name, .name = pod.name};
}

std::string plane_label(const Node& node) {
  const auto found = std::ranges::find(node.labels, names::plane, &Label::key);
  return found == node.labels.end() ? std::string{} : found->value;
}

bool changes_the_world(const PlanAction& action) {
  return action.type != ActionType::wait && action.type != ActionType::nominate &&
         action.type != ActionType::reserve;
}

}  // namespace

MixedHistory::MixedHistory(Cluster cluster, Configuration configuration, Time now,
                           MixedHistoryOptions options)
    : cluster_(std::move(cluster)),
      configuration_(std::move(configuration)),
      now_(now),
      options_(options),
      random_(options.seed),
      ledger_(configuration_) {}

void MixedHistory::tell(std::string line) {
  story_.push_back(fmt::format("{} {}", to_text(now_), std::move(line)));
}

std::string MixedHistory::story() const {
  return fmt::format("{}\n{}\nthe world before the last cycle:\n{}\n", fmt::join(complaints_, "\n"),
                     fmt::join(story_, "\n"), last_world_);
}

// ---- One cycle ----------------------------------------------------------------------------------

const Plan& MixedHistory::step() {
  if (options_.hostility != nullptr) last_world_ = dump(cluster_, DumpFormat::json);
  Decision decision = decide(cluster_, configuration_, {.now = now_, .preset = "history"});
  CHECK(decision.plan.has_value(), "a request for everybody is a good one");
  plan_ = *std::move(decision.plan);
  tell("cycle\n" + short_text(plan_));
  for (const LawBreach& breach : check_plan(cluster_, configuration_, plan_)) {
    complaints_.push_back(
        fmt::format("{} law {}: {}: {}", to_text(now_), breach.law, breach.ask, breach.text));
  }
  if (options_.hostility != nullptr) {
    std::ranges::copy(ledger_.judge(cluster_, plan_), std::back_inserter(complaints_));
    if (has_queues() && places_outside(plan_)) ledger_.happened_everywhere();
  }
  if (!complaints_.empty()) return plan_;
  carry_out(plan_);
  expect_sound();
  pass();
  still_ = calm_cycles_ > brisk_cycles && last_world_ == dump(cluster_, DumpFormat::json);
  return plan_;
}

void MixedHistory::carry_out(const Plan& plan) {
  const std::map<Key, std::int64_t> replicas = replica_totals();
  clear_nominations(plan);
  std::vector<Effect> effects = effects_of(plan);
  std::size_t dropped = 0;
  if (options_.hostility != nullptr) {
    dropped = mistake_victim(plan, effects) + crash_halfway(effects);
  }
  for (const Effect& effect : effects) effect.act();
  if (options_.hostility == nullptr) return;
  if (replica_totals() != replicas) {
    complaints_.emplace_back("replicas are lost or made up: committed and unmet no longer add up");
  }
  if (dropped == 0) decide_once_more(plan);
}

/// Who is not nominated any more loses its nomination: only the newest plan counts.
void MixedHistory::clear_nominations(const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind != AskKind::pod || !ask.placements.empty() || ask.reservation) continue;
    const auto index = cluster_.find_pod(ask.namespace_name, ask.name);
    if (!index || cluster_.pod(*index).nominated_node.empty()) continue;
    Pod pod = cluster_.pod(*index);
    pod.nominated_node.clear();
    cluster_.apply(pod);
  }
}

/// What the plan writes, what others rely on first.
std::vector<MixedHistory::Effect> MixedHistory::effects_of(const Plan& plan) {
  std::vector<Effect> effects;
  for (const Queue& queue : queues_after(cluster_, plan)) {
    effects.push_back({.relied_on = true, .act = [this, queue] { cluster_.apply(queue); }});
  }
  for (const PlanReplicaStatus& next : plan.replica_status) {
    effects.push_back({.relied_on = true, .act = [this, &next] {
                         ReplicaSchedule schedule =
                             cluster_.own<ReplicaSchedule>().at({next.namespace_name, next.name});
                         schedule.status = next.status;
                         cluster_.apply(schedule);
                       }});
  }
  acted_ = false;
  for (const PlanAction& action : plan.actions) {
    acted_ = acted_ || changes_the_world(action);
    ++done_[action.type];
    const std::optional<Pod> pod = find(action);
    if (action.type == ActionType::wait || (!action.scale && !pod)) continue;
    effects.push_back(
        {.relied_on = action.type == ActionType::nominate || action.type == ActionType::reserve,
         .ask = action.ask,
         .nodes = {action.node, pod ? pod->nominated_node : ""},
         .makes_leave = action.type == ActionType::evict,
         .act = [this, &action] { act(action); }});
  }
  add_session_effects(plan, effects);
  std::ranges::stable_partition(effects, &Effect::relied_on);
  return effects;
}

void MixedHistory::add_session_effects(const Plan& plan, std::vector<Effect>& effects) {
  std::map<Key, std::string> victims;  // And for whom they leave.
  std::set<Key> starting;
  for (const PlanAsk& ask : plan.asks) {
    if (!ask.session) continue;
    if (ask.outcome == Outcome::fits) starting.insert({ask.namespace_name, ask.name});
    for (const PlanSessionVictim& victim : ask.session->victims) {
      victims[{victim.namespace_name, victim.name}] = ask_text(ask);
    }
  }
  for (const Session& session : sessions_after(cluster_, plan)) {
    const Key key(session.namespace_name, session.name);
    const auto victim = victims.find(key);
    const bool leaves = victim != victims.end();
    std::vector<std::string> nodes;
    nodes.reserve(session.kernels.size() * 2);
    for (const Kernel& kernel : session.kernels) nodes.push_back(kernel.node);
    for (const Kernel& kernel : cluster_.own<Session>().at({key.first, key.second}).kernels) {
      nodes.push_back(kernel.nominated_node);
    }
    effects.push_back(
        {.relied_on = !leaves && !starting.contains(key),
         .ask = leaves ? victim->second : fmt::format("Session {}/{}", key.first, key.second),
         .nodes = std::move(nodes),
         .makes_leave = leaves,
         .act = [this, session] { cluster_.apply(session); }});
  }
}

/// The pod that an action is about; none: it is about a session or a deployment.
std::optional<Pod> MixedHistory::find(const PlanAction& action) const {
  const auto index = cluster_.find_pod(action.namespace_name, action.name);
  if (!index || cluster_.pods().flags[*index].kernel) return std::nullopt;
  return cluster_.pod(*index);
}

void MixedHistory::act(const PlanAction& action) {
  if (action.scale) return scale(action);
  std::optional<Pod> pod = find(action);
  if (!pod) return;
  switch (action.type) {
    case ActionType::bind:
      pod->node = action.node;
      pod->nominated_node.clear();
      pod->started = now_;
      pod->ready = true;
      break;
    case ActionType::nominate: pod->nominated_node = action.node; break;
    case ActionType::reserve:
      pod->notes.reserved_since = action.since;
      pod->notes.promised = action.promised;
      break;
    case ActionType::evict:
      pod->disrupted_by_preemption = true;
      pod->notes.evicted_for = action.ask;
      if (!pod->deletion) return leave(*std::move(pod));
      break;
    case ActionType::force_delete:
      if (finalizers_.contains({pod->namespace_name, pod->name})) return stay_for_ever(*pod);
      tell(fmt::format("{} is force-deleted", pod->name));
      gone_[{pod->namespace_name, pod->name}] = now_;
      return;
    default: return;
  }
  cluster_.apply(*pod);
}

void MixedHistory::scale(const PlanAction& action) {
  for (const auto& [key, found] : cluster_.own<ReplicaSchedule>()) {
    if (found.namespace_name != action.namespace_name || found.deployment != action.name) continue;
    ReplicaSchedule schedule = found;
    const auto plane = std::ranges::find(schedule.planes, action.scale->plane, &ReplicaPlane::name);
    if (plane == schedule.planes.end() || plane->committed != action.scale->committed_before) {
      return;
    }
    const std::int64_t more = action.scale->committed_after - plane->committed;
    plane->committed += more;
    schedule.unmet = std::max<std::int64_t>(0, schedule.unmet - more);
    tell(fmt::format("{} {} in {}: now {}", choice_name(action.type), action.name, plane->name,
                     plane->committed));
    cluster_.apply(schedule);
    return;
  }
}

void MixedHistory::leave(Pod pod) {
  start_leaving(pod, now_, random_, options_.grace_max_s);
  cluster_.apply(pod);
}

/// What was decided must be input that the next cycle accepts.
void MixedHistory::expect_sound() {
  for (const Problem& problem : find_errors(cluster_)) {
    if (options_.hostility != nullptr && problem.severity == Severity::warning) continue;
    complaints_.push_back(fmt::format("{} {}", to_text(now_), to_text(problem)));
  }
}

// ---- Time ---------------------------------------------------------------------------------------

void MixedHistory::pass() {
  if (options_.happenings && !calm_) something_happens();
  // A hostile world goes on at its old pace for a while: much is decided within a timeout.
  const bool slow = calm_ && (options_.hostility == nullptr || ++calm_cycles_ > brisk_cycles);
  now_ = now_ + (slow ? calm_step : Duration{random_.between(1'000, options_.step_max.ms)});
  let_pods_go();
  let_sessions_go();
  if (configuration_.replica.enabled) control_replicas();
  if (options_.hostility == nullptr) return;
  HostileWorld world(cluster_, *options_.hostility, now_);
  world.change();
  note(world);
}

std::vector<Pod> MixedHistory::pods() const {
  std::vector<Pod> result;
  for (const PodIndex index : cluster_.pods_by_name()) {
    if (!cluster_.pods().flags[index].kernel) result.push_back(cluster_.pod(index));
  }
  return result;
}

void MixedHistory::let_pods_go() {
  for (const Pod& pod : pods()) {
    if (!pod.deletion) continue;
    const Key key(pod.namespace_name, pod.name);
    if (!gone_.contains(key)) {
      const Duration late{1'000 * random_.between(0, options_.late_max_s)};
      gone_[key] = is_stuck(pod) ? std::nullopt : std::optional(*pod.deletion + late);
    }
    const std::optional<Time> when = gone_.at(key);
    if (!when || *when > now_) continue;
    tell(fmt::format("{}/{} is gone", pod.namespace_name, pod.name));
    gone_.erase(key);
    cluster_.apply(gone_pod(pod));
    take_room(pod.node, pod.requests);
    if (options_.recreate) recreate(pod);
  }
}

void MixedHistory::recreate(const Pod& gone) {
  if (gone.mirror || std::ranges::none_of(gone.owners, &OwnerReference::controller)) return;
  Pod again = gone;
  again.name = fmt::format("{}-again-{}", gone.name.substr(0, gone.name.find("-again-")), ++made_);
  again.uid = "uid-" + again.name;
  again.node.clear();
  again.created = now_;
  again.started.reset();
  again.deletion.reset();
  again.deletion_grace_seconds = 0;
  again.ready = false;
  again.disrupted_by_preemption = false;
  again.notes.evicted_for.clear();
  tell(fmt::format("{} is submitted again as {}", gone.name, again.name));
  if (has_queues()) ledger_.happened_everywhere();
  cluster_.apply(again);
}

void MixedHistory::let_sessions_go() {
  std::vector<Session> over;
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const SessionStatus& status = session.status;
    const bool ends = status.phase == SessionPhase::running && status.ends_at;
    if (!ends || *status.ends_at > now_) continue;
    const Key name(session.namespace_name, session.name);
    if (stuck_sessions_.contains(name)) continue;
    if (options_.hostility != nullptr && options_.hostility->strikes(HostileAct::will_not_leave)) {
      options_.hostility->happened(HostileAct::will_not_leave);
      stuck_sessions_.insert(name);
      tell(fmt::format("HOSTILE: session {} will not leave", session.name));
      continue;
    }
    if (options_.late_max_s > 0 && !calm_ && random_.chance(30)) continue;
    over.push_back(session);
  }
  for (const Session& session : over) {
    tell(fmt::format("session {} leaves", session.name));
    const Session left = take_off_session(session);
    cluster_.apply(left);
    const Kernel& first = session.kernels.front();
    if (left.kernels.front().node.empty()) take_room(first.node, first.requests);
  }
}

// ---- Deployments --------------------------------------------------------------------------------

std::string MixedHistory::plane_of(const Pod& pod) const {
  const auto node = cluster_.find_node(pod.node);
  if (pod.node.empty() || !node || !cluster_.nodes().flags[*node].exists) return {};
  return plane_label(cluster_.node(*node));
}

/// Those that run there and are not leaving.
std::vector<Pod> MixedHistory::replicas(const ReplicaSchedule& schedule,
                                        const std::string& plane) const {
  std::vector<Pod> own = pods();
  std::erase_if(
      own, [&](const Pod& pod) { return !is_replica_of(pod, schedule) || plane_of(pod) != plane; });
  return own;
}

/// As many as are committed: somebody leaves, or somebody comes. In planes that a schedule does not
/// list, nobody stays.
void MixedHistory::control_replicas() {
  std::set<std::string> planes;
  for (const NodeIndex index : cluster_.nodes_by_name()) {
    planes.insert(plane_label(cluster_.node(index)));
  }
  planes.erase("");
  const auto schedules = cluster_.own<ReplicaSchedule>();  // A copy: what follows changes them.
  for (const auto& [key, schedule] : schedules) {
    for (const std::string& plane : planes) {
      const auto listed = std::ranges::find(schedule.planes, plane, &ReplicaPlane::name);
      const std::int64_t committed = listed == schedule.planes.end() ? 0 : listed->committed;
      std::vector<Pod> running = replicas(schedule, plane);
      random_.shuffle(running);
      if (std::ssize(running) > committed) choose_claimed(running);
      while (std::ssize(running) > committed) {
        ledger_.happened_on(running.back().node);
        leave(running.back());
        running.pop_back();
      }
      for (std::int64_t count = std::ssize(running); count < committed; ++count) {
        place(schedule, plane);
      }
    }
  }
}

/// On a node of the plane with room for it; none: it stays away.
void MixedHistory::place(const ReplicaSchedule& schedule, const std::string& plane) {
  std::map<std::string, std::map<std::string, std::int64_t>> used;
  for (const PodIndex index : cluster_.pods_by_name()) {
    const Pod pod = cluster_.pod(index);
    const std::string& where = pod.node.empty() ? pod.nominated_node : pod.node;
    ++used[where]["pods"];
    for (const Amount& amount : pod.requests) used[where][amount.resource] += amount.amount;
  }
  std::vector<std::string> fitting;
  for (const NodeIndex index : cluster_.nodes_by_name()) {
    const Node node = cluster_.node(index);
    const auto fits = [&](const Amount& amount) {
      return used[node.name][amount.resource] + amount.amount <=
             amount_of(node.allocatable, amount.resource);
    };
    const bool room = fits({"pods", 1}) && std::ranges::all_of(schedule.requests, fits);
    if (plane_label(node) == plane && !node.unschedulable && room) fitting.push_back(node.name);
  }
  if (fitting.empty()) return;
  const std::string name = fmt::format("{}-made-{}", schedule.name, ++made_);
  const Pod pod = fleet_pod(schedule, name, random_.pick(fitting), now_);
  tell(fmt::format("{} lands on {}", name, pod.node));
  ledger_.happened_on(pod.node);
  cluster_.apply(pod);
}

// ---- What else happens --------------------------------------------------------------------------

void MixedHistory::something_happens() {
  const std::vector<Pod> all = pods();
  if (!all.empty() && random_.chance(25)) {
    const Pod& pod = random_.pick(all);
    if (!pod.deletion && !pod.node.empty()) leave(pod);
  }
  if (!cluster_.nodes_by_name().empty() && random_.chance(10)) {
    Node node = cluster_.node(random_.pick(cluster_.nodes_by_name()));
    node.unschedulable = !node.unschedulable;
    tell(fmt::format("{} is {}", node.name, node.unschedulable ? "cordoned" : "open"));
    cluster_.apply(node);
  }
  std::vector<Session> running;
  for (const auto& [key, session] : cluster_.own<Session>()) {
    if (session.status.phase == SessionPhase::running && !session.status.ends_at) {
      running.push_back(session);
    }
  }
  if (running.empty() || !random_.chance(15)) return;
  Session done = random_.pick(running);
  done.status.phase = SessionPhase::ended;
  for (Kernel& kernel : done.kernels) kernel.node.clear();
  tell(fmt::format("session {} finishes", done.name));
  cluster_.apply(done);
}

}  // namespace makeway

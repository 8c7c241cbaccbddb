#include "support/mixed_history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.hpp"
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
      random_(options.seed) {}

void MixedHistory::tell(std::string line) {
  story_.push_back(fmt::format("{} {}", to_text(now_), std::move(line)));
}

std::string MixedHistory::story() const {
  return fmt::format("{}\n{}\n", fmt::join(complaints_, "\n"), fmt::join(story_, "\n"));
}

// ---- One cycle ----------------------------------------------------------------------------------

const Plan& MixedHistory::step() {
  Decision decision = decide(cluster_, configuration_, {.now = now_, .preset = "history"});
  CHECK(decision.plan.has_value(), "a request for everybody is a good one");
  plan_ = *std::move(decision.plan);
  tell("cycle\n" + short_text(plan_));
  for (const LawBreach& breach : check_plan(cluster_, configuration_, plan_)) {
    complaints_.push_back(
        fmt::format("{} law {}: {}: {}", to_text(now_), breach.law, breach.ask, breach.text));
  }
  if (!complaints_.empty()) return plan_;
  carry_out(plan_);
  expect_sound();
  pass();
  return plan_;
}

void MixedHistory::carry_out(const Plan& plan) {
  for (const Queue& queue : queues_after(cluster_, plan)) cluster_.apply(queue);
  for (const PlanReplicaStatus& next : plan.replica_status) {
    ReplicaSchedule schedule = cluster_.own<ReplicaSchedule>().at({next.namespace_name, next.name});
    schedule.status = next.status;
    cluster_.apply(schedule);
  }
  // Who is not nominated any more loses its nomination: only the newest plan counts.
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind != AskKind::pod || !ask.placements.empty() || ask.reservation) continue;
    const auto index = cluster_.find_pod(ask.namespace_name, ask.name);
    if (!index || cluster_.pod(*index).nominated_node.empty()) continue;
    Pod pod = cluster_.pod(*index);
    pod.nominated_node.clear();
    cluster_.apply(pod);
  }
  const std::vector<Session> sessions = sessions_after(cluster_, plan);
  acted_ = false;
  for (const PlanAction& action : plan.actions) {
    acted_ = acted_ || changes_the_world(action);
    ++done_[action.type];
    act(action);
  }
  for (const Session& session : sessions) cluster_.apply(session);
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
    case ActionType::nominate:
    case ActionType::reserve:
      pod->nominated_node = action.node;
      if (action.since) pod->notes.reserved_since = action.since;
      break;
    case ActionType::evict:
      pod->disrupted_by_preemption = true;
      pod->notes.evicted_for = action.ask;
      if (!pod->deletion) return leave(*std::move(pod));
      break;
    case ActionType::force_delete:
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
    complaints_.push_back(fmt::format("{} {}", to_text(now_), to_text(problem)));
  }
}

// ---- Time ---------------------------------------------------------------------------------------

void MixedHistory::pass() {
  if (options_.happenings && !calm_) something_happens();
  now_ = now_ + (calm_ ? calm_step : Duration{random_.between(1'000, options_.step_max.ms)});
  let_pods_go();
  let_sessions_go();
  if (configuration_.replica.enabled) control_replicas();
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
      const bool stuck = random_.chance(options_.stuck_percent);
      gone_[key] = stuck ? std::nullopt : std::optional(*pod.deletion + late);
    }
    const std::optional<Time> when = gone_.at(key);
    if (!when || *when > now_) continue;
    tell(fmt::format("{}/{} is gone", pod.namespace_name, pod.name));
    gone_.erase(key);
    cluster_.apply(gone_pod(pod));
  }
}

void MixedHistory::let_sessions_go() {
  std::vector<Session> over;
  for (const auto& [key, session] : cluster_.own<Session>()) {
    const SessionStatus& status = session.status;
    const bool ends = status.phase == SessionPhase::running && status.ends_at;
    if (!ends || *status.ends_at > now_) continue;
    if (options_.late_max_s > 0 && !calm_ && random_.chance(30)) continue;
    over.push_back(session);
  }
  for (const Session& session : over) {
    tell(fmt::format("session {} leaves", session.name));
    cluster_.apply(take_off_session(session));
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

/// As many as are committed: somebody leaves, or somebody comes.
void MixedHistory::control_replicas() {
  const auto schedules = cluster_.own<ReplicaSchedule>();  // A copy: what follows changes them.
  for (const auto& [key, schedule] : schedules) {
    for (const ReplicaPlane& plane : schedule.planes) {
      std::vector<Pod> running = replicas(schedule, plane.name);
      random_.shuffle(running);
      while (std::ssize(running) > plane.committed) {
        leave(running.back());
        running.pop_back();
      }
      for (std::int64_t count = std::ssize(running); count < plane.committed; ++count) {
        place(schedule, plane.name);
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

#include "sim/sim_replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

constexpr Duration controller_takes{1'000};
constexpr Duration replica_leaves{30'000};

ObjectKey pod_key(const Pod& pod) { return {pod.namespace_name, pod.name, pod.plane}; }

bool runs(const Pod& pod) { return !pod.node.empty() && !pod.deletion; }

/// Its own, else what its label says; empty: it is in no plane.
std::string plane_of(const Node& node) {
  if (!node.plane.empty()) return node.plane;
  const auto found = std::ranges::find(node.labels, names::plane, &Label::key);
  return found == node.labels.end() ? std::string() : found->value;
}

}  // namespace

SimReplicas::SimReplicas(SimState& state, SimWork& work) : state_(state), work_(work) {
  std::set<std::string> planes;
  for (const std::string& name : state.nodes.names()) {
    const Node& node = state.nodes.at(name).object;
    planes.insert(plane_of(node));
    if (!node.plane.empty()) clusters_.insert(node.plane);
  }
  planes.erase("");
  planes_.assign(planes.begin(), planes.end());
}

// ---- Tables -------------------------------------------------------------------------------------

void SimReplicas::list(std::vector<Change>& objects) const {
  for (const auto& [key, entry] : schedules_) objects.emplace_back(entry.object);
  for (const auto& [key, replica] : pods_) objects.emplace_back(replica.object);
}

/// Those that are not leaving.
std::vector<ObjectKey> SimReplicas::pods_of(const Key& schedule, const std::string& plane) const {
  std::vector<ObjectKey> own;
  for (const auto& [key, replica] : pods_) {
    const bool is_own = replica.schedule == schedule && replica.plane == plane;
    if (is_own && !replica.object.deletion) own.push_back(key);
  }
  return own;
}

void SimReplicas::expect_reconcile(const Entry& entry) {
  const auto& takes = state_.options.behaviour.reconciles;
  state_.agenda.expect({.when = state_.now + (takes ? takes() : controller_takes),
                        .what = EventKind::reconcile,
                        .subject = entry.runner,
                        .life = work_[entry.runner].life});
}

/// What the runner counts is one replica; here are the others.
void SimReplicas::count_use(Entry& entry) {
  const std::int64_t others = std::max<std::int64_t>(0, entry.running - 1);
  const std::int64_t span = (state_.now - entry.counted).ms;
  entry.counted = state_.now;
  if (work_[entry.runner].task == no_task) return;  // As of pods of a snapshot.
  for (const Amount& item : entry.object.requests) {
    state_.metrics.resources[item.resource].useful += Wide{span} * others * item.amount;
  }
}

void SimReplicas::change_running(const Key& schedule, std::int64_t more) {
  const auto found = schedules_.find(schedule);
  if (found == schedules_.end()) return;
  Entry& entry = found->second;
  count_use(entry);
  const bool works = entry.running > 0;
  entry.running += more;
  if (!works && entry.running > 0) work_.start(entry.runner);
  if (works && entry.running == 0) work_.stop(entry.runner, {.saved = true});
}

void SimReplicas::finish() {
  for (auto& [key, entry] : schedules_) count_use(entry);
}

// ---- A snapshot --------------------------------------------------------------------------------

void SimReplicas::adopt(const ReplicaSchedule& schedule) {
  const Key key(schedule.namespace_name, schedule.name);
  const RunnerId runner = work_.add(no_task, 1, 1);
  by_runner_[runner] = key;
  schedules_[key] = {.object = schedule, .runner = runner, .counted = state_.now};
  expect_reconcile(schedules_[key]);
}

bool SimReplicas::adopt(const Pod& pod) {
  const auto label = std::ranges::find(pod.labels, names::deployment, &Label::key);
  const bool ours = state_.options.behaviour.scales_deployments;
  if (label == pod.labels.end() || !ours) return false;
  const auto own = std::ranges::find_if(schedules_, [&](const auto& each) {
    return each.first.first == pod.namespace_name && each.second.object.deployment == label->value;
  });
  if (own == schedules_.end()) return false;
  const ObjectKey key = pod_key(pod);
  by_number_[++numbers_] = key;
  pods_[key] = {.object = pod,
                .plane = plane_for(pod, own->first),
                .number = numbers_,
                .schedule = own->first};
  state_.occupy(pod, 1);
  if (runs(pod)) {
    change_running(own->first, 1);
  } else if (pod.deletion) {
    expect_gone(pods_[key], state_.adopted_gone_at(pod));
  }
  return true;
}

void SimReplicas::expect_gone(const Replica& replica, const std::optional<Time>& when) {
  if (!when) return;
  state_.agenda.expect({.when = *when, .what = EventKind::replica_gone, .subject = replica.number});
}

/// Where it runs; of a pending pod, the plane that it names, or one that lacks a replica.
std::string SimReplicas::plane_for(const Pod& pod, const Key& schedule) const {
  const SimNode* const node = state_.nodes.find(place_of(pod));
  if (node != nullptr) return plane_of(node->object);
  if (!pod.plane.empty()) return pod.plane;
  const auto label = std::ranges::find(pod.labels, names::plane, &Label::key);
  if (label != pod.labels.end()) return label->value;
  for (const ReplicaPlane& plane : schedules_.at(schedule).object.planes) {
    const auto there = static_cast<std::int64_t>(pods_of(schedule, plane.name).size());
    if (there < plane.committed) return plane.name;
  }
  return {};
}

// ---- Deployments --------------------------------------------------------------------------------

void SimReplicas::arrive(std::uint32_t index) {
  const SimTask& task = state_.load.tasks[index];
  ReplicaSchedule schedule{.namespace_name = task.namespace_name, .name = task.name};
  schedule.uid = "uid-" + task.name;
  schedule.created = state_.now;
  schedule.deployment = task.name;
  schedule.priority = task.priority;
  schedule.requests = task.requests;
  schedule.selector = {{std::string(names::deployment), task.name}};
  schedule.unmet = task.pods;
  for (const std::string& plane : planes_) schedule.planes.push_back({.name = plane});
  normalize(schedule);
  const Key key(task.namespace_name, task.name);
  const RunnerId runner = work_.add(index, 1, task.pods);
  by_runner_[runner] = key;
  schedules_[key] = {.object = schedule, .runner = runner, .counted = state_.now};
  state_.show(std::move(schedule));
}

void SimReplicas::run_ends(RunnerId id) {
  const Key key = by_runner_.at(id);
  count_use(schedules_.at(key));
  work_.end(id);
  work_.free(id);
  by_runner_.erase(id);
  schedules_.erase(key);
  state_.show(Removal{
      .kind = ObjectKind::replica_schedule, .namespace_name = key.first, .name = key.second});
  std::vector<ObjectKey> pending;
  for (auto& [name, replica] : pods_) {
    if (replica.schedule != key || replica.object.deletion) continue;
    if (replica.object.node.empty()) {
      pending.push_back(name);
    } else {
      make_leave(replica);
    }
  }
  for (const ObjectKey& name : pending) drop(name);
}

void SimReplicas::reconcile(RunnerId id) {
  const auto found = by_runner_.find(id);
  if (found == by_runner_.end() || !state_.options.behaviour.scales_deployments) return;
  const Key key = found->second;
  std::map<std::string, std::int64_t> committed;
  for (const std::string& plane : planes_) committed[plane] = 0;  // Also where none is committed.
  for (const ReplicaPlane& plane : schedules_.at(key).object.planes) {
    committed[plane.name] = plane.committed;
  }
  for (const auto& [plane, count] : committed) {
    remove_surplus(key, plane, count);
    for (std::int64_t there = std::ssize(pods_of(key, plane)); there < count; ++there) {
      add_pod(key, plane);
    }
  }
  place_pending();
}

/// Which of them goes.
std::vector<ObjectKey>::iterator SimReplicas::choose(std::vector<ObjectKey>& own) {
  if (state_.options.behaviour.removes) {
    std::vector<const Pod*> pods;
    pods.reserve(own.size());
    for (const ObjectKey& key : own) pods.push_back(&pods_.at(key).object);
    return own.begin() + static_cast<std::ptrdiff_t>(state_.options.behaviour.removes(pods));
  }
  std::map<std::string, int> siblings;
  for (const ObjectKey& key : own) ++siblings[pods_.at(key).object.node];
  const auto rank = [&](const ObjectKey& key) {
    const Pod& pod = pods_.at(key).object;
    return std::tuple(pod.node.empty(), siblings[pod.node], pod.created.value_or(Time{}).ms,
                      pod.name);
  };
  return std::ranges::max_element(own, {}, rank);
}

void SimReplicas::remove_surplus(const Key& schedule, const std::string& plane,
                                 std::int64_t committed) {
  std::vector<ObjectKey> own = pods_of(schedule, plane);
  while (static_cast<std::int64_t>(own.size()) > committed) {
    const auto chosen = choose(own);
    Replica& replica = pods_.at(*chosen);
    if (replica.object.node.empty()) {
      drop(*chosen);
    } else {
      make_leave(replica);
    }
    own.erase(chosen);
  }
}

void SimReplicas::add_pod(const Key& schedule, const std::string& plane) {
  Entry& entry = schedules_.at(schedule);
  Pod pod{.namespace_name = schedule.first,
          .name = fmt::format("{}-{:03}", schedule.second, ++entry.pods_made),
          .labels = {{std::string(names::deployment), entry.object.deployment}},
          .priority = entry.object.priority,
          .requests = entry.object.requests,
          .created = state_.now};
  pod.uid = "uid-" + pod.name;
  if (clusters_.contains(plane)) pod.plane = plane;
  pod.owners.push_back({.kind = "ReplicaSet",
                        .name = schedule.second,
                        .uid = "uid-of-" + schedule.second,
                        .controller = true});
  normalize(pod);
  const ObjectKey key = pod_key(pod);
  by_number_[++numbers_] = key;
  state_.show(pod);
  pods_[key] = {.object = std::move(pod), .plane = plane, .number = numbers_, .schedule = schedule};
}

void SimReplicas::make_leave(Replica& replica) {
  change_running(replica.schedule, -1);
  Pod& pod = replica.object;
  state_.count_running(pod, -1);
  const auto& grace = state_.options.behaviour.grace;
  const Duration takes = grace ? grace(pod) : replica_leaves;
  pod.deletion = state_.now + takes;
  pod.deletion_grace_seconds = static_cast<std::int32_t>(takes.ms / 1'000);
  pod.ready = false;
  state_.show(pod);
  expect_gone(replica, state_.gone_at(pod));
}

void SimReplicas::take_out(const ObjectKey& key) {
  const Replica& replica = pods_.at(key);
  const Pod& pod = replica.object;
  state_.occupy(pod, -1);
  if (runs(pod)) {
    change_running(replica.schedule, -1);
    state_.count_running(pod, -1);
  }
  by_number_.erase(replica.number);
  pods_.erase(key);
}

void SimReplicas::drop(const ObjectKey& key) {
  state_.show(Removal{.kind = ObjectKind::pod,
                      .namespace_name = key.namespace_name,
                      .name = key.name,
                      .plane = key.plane});
  take_out(key);
}

void SimReplicas::pod_is_gone(const Event& event) {
  const auto found = by_number_.find(event.subject);
  if (found == by_number_.end()) return;
  drop(ObjectKey(found->second));
  place_pending();
}

// ---- Kubernetes ---------------------------------------------------------------------------------

void SimReplicas::place_pending() {
  std::vector<std::tuple<std::int64_t, std::int64_t, ObjectKeyView>> pending;
  for (const auto& [key, replica] : pods_) {
    const Pod& pod = replica.object;
    if (!pod.node.empty() || pod.deletion || replica.plane.empty()) continue;
    pending.emplace_back(-std::int64_t{pod.priority.value_or(0)}, pod.created.value_or(Time{}).ms,
                         view_of_key(key));
  }
  std::ranges::sort(pending);
  for (const auto& [priority, created, key] : pending) place(pods_.find(key)->second);
}

/// Open ones of its plane where it fits.
std::vector<std::string> SimReplicas::nodes_for(const Replica& replica) const {
  const ResourceVector wanted = state_.nodes.pod_row(replica.object.requests);
  std::vector<std::string> nodes;
  for (const std::string& name : state_.nodes.names()) {
    const SimNode* const node = state_.nodes.find(name);
    if (node == nullptr || plane_of(node->object) != replica.plane) continue;
    if (node->object.plane != replica.object.plane) continue;
    if (node->object.unschedulable || !fits(wanted, node->used, node->room)) continue;
    nodes.push_back(name);
  }
  return nodes;
}

void SimReplicas::place(Replica& replica) {
  Pod& pod = replica.object;
  const std::size_t scarce = state_.nodes.column(state_.metrics.scarce);
  const std::vector<std::string> nodes = nodes_for(replica);
  if (nodes.empty()) return;
  const auto left = [&](const std::string& name) {
    const SimNode& node = state_.nodes.at(name);
    return scarce < node.room.size() ? node.room[scarce] - node.used[scarce] : 0;
  };
  const auto& lands = state_.options.behaviour.lands;
  const std::string& place =
      lands ? nodes[lands(pod, nodes)] : *std::ranges::max_element(nodes, {}, left);
  pod.node = state_.nodes.at(place).object.name;
  state_.faults.touch(place, state_.now);  // Placed by another scheduler.
  pod.started = state_.now;
  pod.ready = true;
  state_.occupy(pod, 1);
  state_.show(pod);
  change_running(replica.schedule, 1);
  state_.count_running(pod, 1);
}

void SimReplicas::written(const ReplicaSchedule& schedule) {
  const auto found = schedules_.find({schedule.namespace_name, schedule.name});
  if (found == schedules_.end()) {
    adopt(schedule);
  } else {
    found->second.object = schedule;
    expect_reconcile(found->second);
  }
  state_.show(schedule);
}

bool SimReplicas::written(const Pod& pod) {
  const ObjectKey key = pod_key(pod);
  if (pods_.contains(key)) take_out(key);
  if (!adopt(pod)) return false;
  state_.show(pod);
  if (runs(pod)) state_.count_running(pod, 1);
  expect_reconcile(schedules_.at(pods_.at(key).schedule));
  return true;
}

bool SimReplicas::removed(const Removal& gone) {
  const ObjectKey key{gone.namespace_name, gone.name, gone.plane};
  const auto found = pods_.find(key);
  if (found == pods_.end()) return false;
  const auto schedule = schedules_.find(found->second.schedule);
  drop(key);
  if (schedule != schedules_.end()) expect_reconcile(schedule->second);
  place_pending();
  return true;
}

void SimReplicas::node_is_lost(const std::string& place) {
  std::vector<ObjectKey> lost;
  for (const auto& [key, replica] : pods_) {
    const Pod& pod = replica.object;
    if (!pod.node.empty() && place_of(pod) == place) lost.push_back(key);
  }
  for (const ObjectKey& key : lost) {
    state_.faults.touch(sim_name(pods_.at(key).object), state_.now);
    const auto schedule = schedules_.find(pods_.at(key).schedule);
    drop(key);
    if (schedule != schedules_.end()) expect_reconcile(schedule->second);
  }
}

bool SimReplicas::second_writer() {
  std::vector<ObjectKey> running;
  for (const auto& [key, replica] : pods_) {
    if (runs(replica.object)) running.push_back(key);
  }
  if (running.empty()) return false;
  Replica& replica = pods_.at(state_.faults.random().pick(running));
  ++state_.faults.counts().second_writes;
  state_.faults.touch(sim_name(replica.object), state_.now);
  make_leave(replica);
  const auto schedule = schedules_.find(replica.schedule);
  if (schedule != schedules_.end()) expect_reconcile(schedule->second);
  return true;
}

// ---- Plans --------------------------------------------------------------------------------------

void SimReplicas::write_statuses(const Plan& plan) {
  for (const PlanReplicaStatus& next : plan.replica_status) {
    const auto found = schedules_.find({next.namespace_name, next.name});
    if (found == schedules_.end()) continue;
    found->second.object.status = next.status;
    state_.show(found->second.object);
  }
}

SimReplicas::PodMap::iterator SimReplicas::find_pod(const PlanAction& action) {
  return pods_.find(ObjectKeyView{action.namespace_name, action.name, action.plane});
}

void SimReplicas::force_delete(const ObjectKey& key) {
  const Replica& replica = pods_.at(key);
  if (!replica.object.deletion) return;
  if (const auto& forced = state_.options.behaviour.forced) {
    const std::optional<Duration> takes = forced(replica.object);
    if (takes) expect_gone(replica, state_.now + *takes);
    return;
  }
  drop(key);
  place_pending();
}

/// It leaves with a group that it is a member of.
void SimReplicas::evict(Replica& replica, const PlanAction& action) {
  Pod& pod = replica.object;
  pod.disrupted_by_preemption = true;
  pod.notes.evicted_for = ref_text(action.ask);
  if (!runs(pod)) return state_.show(pod);
  ++state_.metrics.victims;
  make_leave(replica);
  const auto schedule = schedules_.find(replica.schedule);
  if (schedule != schedules_.end()) expect_reconcile(schedule->second);
}

bool SimReplicas::carry_out(const PlanAction& action, const std::string& plan) {
  if (action.type == ActionType::force_delete || action.type == ActionType::evict) {
    const auto found = find_pod(action);
    if (found == pods_.end()) return false;
    if (action.type == ActionType::evict) {
      evict(found->second, action);
    } else {
      force_delete(ObjectKey(found->first));
    }
    return true;
  }
  if (!action.scale) return false;
  const auto found = std::ranges::find_if(schedules_, [&](const auto& each) {
    const ReplicaSchedule& schedule = each.second.object;
    return schedule.namespace_name == action.namespace_name && schedule.deployment == action.name;
  });
  if (found == schedules_.end()) return false;
  scale(found->second, action, plan);
  return true;
}

void SimReplicas::scale(Entry& entry, const PlanAction& action, const std::string& plan) {
  ReplicaSchedule& schedule = entry.object;
  const auto plane = std::ranges::find(schedule.planes, action.scale->plane, &ReplicaPlane::name);
  const std::string name = sim_name(action.namespace_name, action.name);
  if (plane == schedule.planes.end() || plane->committed != action.scale->committed_before) {
    return state_.refuse({.plan = plan,
                          .object = {.kind = RefKind::replica_schedule,
                                     .namespace_name = action.namespace_name,
                                     .name = action.name},
                          .reason = "its commit is another one by now",
                          .ask = action.ask},
                         state_.faults.touched(name) ||
                             state_.watch.holds_back(ObjectKind::replica_schedule,
                                                     schedule.namespace_name, schedule.name));
  }
  const std::int64_t more = action.scale->committed_after - plane->committed;
  plane->committed += more;
  schedule.unmet -= more;
  if (more < 0) {
    state_.metrics.victims -= more;
    state_.metrics.replica_victims -= more;
  }
  state_.show(schedule);
  expect_reconcile(entry);
}

}  // namespace makeway

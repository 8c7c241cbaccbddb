#include "sim/sim_pods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/workloads/workload_names.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

constexpr Duration default_leave{30'000};
constexpr Duration foreign_run{600'000};

std::string_view owner_kind(TaskKind kind) {
  switch (kind) {
    case TaskKind::service: return "ReplicaSet";
    case TaskKind::daemon: return "DaemonSet";
    case TaskKind::job:
    case TaskKind::gang:
    case TaskKind::session:
    case TaskKind::replicas: break;
  }
  return "Job";
}

/// Pods of these go on where others of them are.
bool is_service(const Pod& pod) {
  return std::ranges::any_of(pod.owners, [](const OwnerReference& owner) {
    return owner.controller && pods_run_for_ever(owner.kind);
  });
}

PodGroup group_of(const SimTask& task, Time now) {
  PodGroup group{.namespace_name = task.namespace_name, .name = task.name};
  group.uid = "uid-" + task.name;
  group.created = now;
  group.policy = {.minimum = static_cast<std::int32_t>(task.minimum),
                  .gang = true,
                  .mode = task.whole ? DisruptionMode::all : DisruptionMode::single};
  group.priority.priority = task.priority;
  return group;
}

}  // namespace

// ---- Tables -------------------------------------------------------------------------------------

SimPodId SimPods::add(SimPod pod) {
  auto id = static_cast<SimPodId>(pods_.size());
  if (free_.empty()) {
    pods_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  pod.life = pods_[id].life + 1;
  pod.there = true;
  pods_[id] = std::move(pod);
  const Pod& object = pods_[id].object;
  by_name_[sim_name(object)] = id;
  if (!object.nominated_node.empty()) nominated_.insert(id);
  work_[pods_[id].runner].pods.push_back(id);
  return id;
}

/// Its budgets hear whether it runs and is not leaving.
void SimPods::count(SimPod& pod, bool runs) {
  if (pod.counted == runs) return;
  pod.counted = runs;
  state_.count_running(pod.object, runs ? 1 : -1);
}

void SimPods::remove(SimPodId id) {
  SimPod& pod = pods_[id];
  count(pod, false);
  state_.occupy(pod.object, -1);
  state_.show(Removal{.kind = ObjectKind::pod,
                      .namespace_name = pod.object.namespace_name,
                      .name = pod.object.name,
                      .plane = pod.object.plane});
  by_name_.erase(sim_name(pod.object));
  nominated_.erase(id);
  std::erase(work_[pod.runner].pods, id);
  pod.there = false;
  free_.push_back(id);
}

std::optional<SimPodId> SimPods::find(const std::string& name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

void SimPods::list(std::vector<Change>& objects) const {
  for (const auto& [name, group] : groups_) objects.emplace_back(group);
  for (const SimPod& pod : pods_) {
    if (pod.there) objects.emplace_back(pod.object);
  }
}

// ---- Controllers --------------------------------------------------------------------------------

void SimPods::adopt(const Pod& pod) {
  const RunnerId runner = work_.add(no_task, 1, 1);
  const SimPodId id = add({.object = pod, .runner = runner});
  state_.occupy(pod, 1);
  if (pod.deletion) {
    expect_gone(id, state_.adopted_gone_at(pod));
  } else if (!pod.node.empty()) {
    work_[runner].running = 1;
    pods_[id].counted = true;  // The status of its budgets knows.
  }
}

void SimPods::expect_gone(SimPodId id, const std::optional<Time>& when) {
  if (!when) return;
  state_.agenda.expect(
      {.when = *when, .what = EventKind::gone, .subject = id, .life = pods_[id].life});
}

void SimPods::arrive(std::uint32_t index) {
  const SimTask& task = state_.load.tasks[index];
  if (task.kind != TaskKind::gang) {
    for (std::int64_t member = 0; member < task.pods; ++member) {
      make(work_.add(index, 1, 1), member, 0);
    }
    return;
  }
  const PodGroup group = group_of(task, state_.now);
  groups_[sim_name(group.namespace_name, group.name)] = group;
  state_.show(group);
  const RunnerId runner = work_.add(index, task.minimum, task.pods);
  for (std::int64_t member = 0; member < task.pods; ++member) make(runner, member, 0);
}

Pod SimPods::pod_of(const SimTask& task, std::int64_t member, std::int64_t attempt) const {
  Pod pod{.namespace_name = task.namespace_name,
          .name = task.pods == 1 ? task.name : fmt::format("{}-{}", task.name, member)};
  if (attempt > 0) pod.name += fmt::format("-r{}", attempt);
  pod.uid = "uid-" + pod.name;
  if (task.kind == TaskKind::gang) pod.group = task.name;
  if (!task.application.empty()) {
    pod.labels.push_back({std::string(application_label), task.application});
  }
  if (!task.queue.empty()) pod.labels.push_back({std::string(names::queue), task.queue});
  pod.priority = task.priority;
  pod.requests = task.requests;
  pod.shape = task.shape;
  pod.owners.push_back({.kind = std::string(owner_kind(task.kind)),
                        .name = task.name,
                        .uid = "uid-of-" + task.name,
                        .controller = true});
  pod.created = state_.now;
  normalize(pod);
  return pod;
}

void SimPods::make(RunnerId runner, std::int64_t member, std::int64_t attempt) {
  const SimPodId id = add({.object = pod_of(work_.task_of(work_[runner]), member, attempt),
                           .runner = runner,
                           .member = member,
                           .attempt = attempt});
  state_.show(pods_[id].object);
}

void SimPods::comes_back(const Event& event) {
  if (work_[event.subject].life == event.life) make(event.subject, event.member, event.attempt);
}

void SimPods::gone(const Event& event) {
  const SimPod& pod = pods_[event.subject];
  if (!pod.there || pod.life != event.life) return;
  stops(pod, false);
  is_gone(event.subject);
}

void SimPods::is_gone(SimPodId id) {
  const SimPod pod = pods_[id];
  const Runner& runner = work_[pod.runner];
  remove(id);
  if (runner.task == no_task) return again_without_task(pod);
  state_.agenda.expect({.when = state_.now + work_.task_of(runner).recreate,
                        .what = EventKind::comes_back,
                        .subject = pod.runner,
                        .life = runner.life,
                        .member = pod.member,
                        .attempt = pod.attempt + 1});
}

void SimPods::again_without_task(const SimPod& pod) {
  const bool owned = state_.options.behaviour.recreate &&
                     std::ranges::any_of(pod.object.owners, &OwnerReference::controller);
  if (!owned || pod.object.mirror) return work_.free(pod.runner);
  Pod again = pod.object;
  const std::size_t mark = again.name.rfind("-again-");
  again.name = fmt::format("{}-again-{}", again.name.substr(0, mark), pod.attempt + 1);
  again.uid = "uid-" + again.name;
  again.node.clear();
  again.nominated_node.clear();
  again.created = state_.now;
  again.started.reset();
  again.deletion.reset();
  again.deletion_grace_seconds = 0;
  again.ready = false;
  again.disrupted_by_preemption = false;
  again.notes.reserved_since.reset();
  again.notes.promised = false;
  again.notes.evicted_for.clear();
  again.notes.plan.clear();
  add({.object = again, .runner = pod.runner, .attempt = pod.attempt + 1});
  state_.show(again);
}

void SimPods::run_ends(RunnerId id) {
  work_.end(id);
  const SimTask& task = work_.task_of(work_[id]);
  const std::vector<SimPodId> pods = work_[id].pods;
  for (const SimPodId pod : pods) remove(pod);
  if (task.kind == TaskKind::gang) {
    groups_.erase(sim_name(task.namespace_name, task.name));
    state_.show(Removal{
        .kind = ObjectKind::pod_group, .namespace_name = task.namespace_name, .name = task.name});
  }
  work_.free(id);
}

// ---- Plans --------------------------------------------------------------------------------------

void SimPods::clear_nominations(const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind == AskKind::pod_group) clear_members(ask);
    if (ask.kind != AskKind::pod || !ask.placements.empty() || ask.reservation) continue;
    const std::optional<SimPodId> id = find(sim_name(ask.namespace_name, ask.name));
    if (id) clear_nomination(*id);
  }
}

void SimPods::clear_nomination(SimPodId id) {
  Pod& pod = pods_[id].object;
  if (pod.nominated_node.empty()) return;
  pod.nominated_node.clear();
  nominated_.erase(id);
  state_.show(pod);
}

/// A group has the places that the plan gives it: other members lose theirs.
void SimPods::clear_members(const PlanAsk& ask) {
  std::vector<SimPodId> without;
  for (const SimPodId id : nominated_) {
    const Pod& pod = pods_[id].object;
    if (pod.group != ask.name || pod.namespace_name != ask.namespace_name) continue;
    if (std::ranges::find(ask.placements, pod.name, &PodPlacement::name) == ask.placements.end()) {
      without.push_back(id);
    }
  }
  for (const SimPodId id : without) clear_nomination(id);
}

void SimPods::refuse(const PlanAction& action, const std::string& plan, std::string reason) {
  const bool by_fault =
      state_.faults.touched(place_name(action.plane, action.node)) ||
      state_.is_unseen(ObjectKind::pod, action.namespace_name, action.name, action.plane);
  state_.refuse({.plan = plan,
                 .object = pod_ref(action.namespace_name, action.name, action.plane),
                 .reason = std::move(reason),
                 .ask = action.ask},
                by_fault);
}

bool SimPods::carry_out(const PlanAction& action, const std::string& plan) {
  const std::optional<SimPodId> id =
      find(sim_name(action.namespace_name, action.name, action.plane));
  if (!id) return false;
  Pod& pod = pods_[*id].object;
  const bool places = action.type == ActionType::nominate || action.type == ActionType::reserve;
  if (places && (!pod.node.empty() || pod.deletion)) {
    refuse(action, plan, pod.node.empty() ? "it is leaving" : "it is bound");
    return true;
  }
  switch (action.type) {
    case ActionType::bind: bind(*id, action, plan); break;
    case ActionType::nominate:
      if (pod.nominated_node == action.node) break;
      pod.nominated_node = action.node;
      nominated_.insert(*id);
      state_.show(pod);
      break;
    case ActionType::reserve:
      pod.notes.reserved_since = action.since;
      pod.notes.promised = action.promised;
      state_.show(pod);
      break;
    case ActionType::evict: evict(*id, action, plan); break;
    case ActionType::force_delete: force_delete(*id); break;
    default: refuse(action, plan, "this world does not know such an action");
  }
  return true;
}

void SimPods::bind(SimPodId id, const PlanAction& action, const std::string& plan) {
  const Pod& pod = pods_[id].object;
  if (state_.nodes.find(action.node) == nullptr) {
    return refuse(action, plan, "there is no such node");
  }
  if (!pod.node.empty()) return refuse(action, plan, "it is bound already");
  if (!state_.nodes.has_room(action.node, state_.nodes.pod_row(pod.requests))) {
    return refuse(action, plan, fmt::format("{} has no room for it", action.node));
  }
  runs_on(id, action.node);
}

void SimPods::force_delete(SimPodId id) {
  const Pod& pod = pods_[id].object;
  if (!pod.deletion) return;
  if (!state_.options.behaviour.forced) return is_gone(id);
  const std::optional<Duration> takes = state_.options.behaviour.forced(pod);
  if (takes) expect_gone(id, state_.now + *takes);
}

void SimPods::runs_on(SimPodId id, const std::string& node) {
  SimPod& pod = pods_[id];
  pod.object.node = node;
  pod.object.nominated_node.clear();
  nominated_.erase(id);
  pod.object.started = state_.now;
  pod.object.ready = true;
  state_.occupy(pod.object, 1);
  state_.show(pod.object);
  Runner& runner = work_[pod.runner];
  if (++runner.running == runner.need) work_.start(pod.runner);
  count(pod, true);
}

void SimPods::evict(SimPodId id, const PlanAction& action, const std::string& plan) {
  SimPod& pod = pods_[id];
  if (pod.object.node.empty()) return refuse(action, plan, "it does not run");
  if (pod.object.deletion) {
    if (!state_.faults.touched(sim_name(pod.object))) ++state_.metrics.evicted_twice;
    if (pod.object.disrupted_by_preemption) return;
    pod.object.disrupted_by_preemption = true;
    pod.object.notes.evicted_for = ref_text(action.ask);
    return state_.show(pod.object);
  }
  pod.object.disrupted_by_preemption = true;
  pod.object.notes.evicted_for = ref_text(action.ask);
  ++state_.metrics.victims;
  make_leave(id, true);
}

void SimPods::make_leave(SimPodId id, bool preempted) {
  SimPod& pod = pods_[id];
  const Runner& runner = work_[pod.runner];
  Duration takes = runner.task == no_task ? default_leave : work_.task_of(runner).leave;
  if (state_.options.behaviour.grace) takes = state_.options.behaviour.grace(pod.object);
  stops(pod, preempted);
  lose_work(pod);
  pod.object.deletion = state_.now + takes;
  pod.object.deletion_grace_seconds = static_cast<std::int32_t>(takes.ms / 1'000);
  pod.object.ready = false;
  state_.show(pod.object);
  count(pod, false);
  expect_gone(id, state_.gone_at(pod.object));
}

/// It does not run any more, if it did.
void SimPods::stops(const SimPod& pod, bool preempted) {
  if (pod.object.node.empty() || pod.object.deletion) return;
  Runner& runner = work_[pod.runner];
  if (runner.running-- == runner.need) work_.stop(pod.runner, {.preempted = preempted});
}

/// A pod that no task has made says itself what it does again: what it states, else all since its
/// last checkpoint, else since its start.
void SimPods::lose_work(const SimPod& pod) {
  const Pod& object = pod.object;
  if (work_[pod.runner].task != no_task || object.node.empty() || object.deletion) return;
  if (is_service(object)) return;
  const PodNotes& notes = object.notes;
  std::optional<Time> since = object.started;
  if (notes.last_checkpoint) since = std::max(since.value_or(Time{}), *notes.last_checkpoint);
  Wide lost = since ? std::max<std::int64_t>(0, (state_.now - *since).ms) : 0;
  if (notes.preemption_cost_seconds) lost = Wide{*notes.preemption_cost_seconds} * 1'000;
  for (const Amount& item : object.requests) {
    state_.metrics.resources[item.resource].lost += lost * item.amount;
  }
}

// ---- Others -------------------------------------------------------------------------------------

void SimPods::written(const Pod& pod) {
  const std::optional<SimPodId> id = find(sim_name(pod));
  if (!id) {
    adopt(pod);
    return state_.show(pod);
  }
  SimPod& entry = pods_[*id];
  const bool ran = !entry.object.node.empty() && !entry.object.deletion;
  const bool runs = !pod.node.empty() && !pod.deletion;
  const bool leaves = pod.deletion && !entry.object.deletion && !pod.node.empty();
  if (ran && !runs) stops(entry, false);
  state_.occupy(entry.object, -1);
  entry.object = pod;
  state_.occupy(pod, 1);
  if (!pod.nominated_node.empty()) nominated_.insert(*id);
  state_.show(pod);
  Runner& runner = work_[entry.runner];
  if (!ran && runs && ++runner.running == runner.need) work_.start(entry.runner);
  count(entry, runs);
  if (leaves) expect_gone(*id, state_.gone_at(pod));
}

bool SimPods::removed(const Removal& gone) {
  const std::optional<SimPodId> id = find(sim_name(gone.namespace_name, gone.name, gone.plane));
  if (!id) return false;
  stops(pods_[*id], false);
  is_gone(*id);
  return true;
}

// ---- Faults -------------------------------------------------------------------------------------

void SimPods::node_is_lost(const std::string& place) {
  for (SimPodId id = 0; id < pods_.size(); ++id) {
    const Pod& pod = pods_[id].object;
    if (!pods_[id].there || pod.node.empty() || place_of(pod) != place) continue;
    state_.faults.touch(sim_name(pod), state_.now);
    stops(pods_[id], false);
    lose_work(pods_[id]);
    is_gone(id);
  }
}

void SimPods::second_writer() {
  switch (state_.faults.random().below(3)) {
    case 0: return bind_by_others();
    case 1: return delete_by_others();
    default: return start_foreign_pod();
  }
}

void SimPods::bind_by_others() {
  std::vector<SimPodId> pending;
  for (SimPodId id = 0; id < pods_.size(); ++id) {
    const Pod& pod = pods_[id].object;
    if (pods_[id].there && pod.node.empty() && pod.plane.empty()) pending.push_back(id);
  }
  if (pending.empty()) return;
  const SimPodId id = state_.faults.random().pick(pending);
  const Pod& pod = pods_[id].object;
  const ResourceVector wanted = state_.nodes.pod_row(pod.requests);
  std::vector<std::string> nodes;
  for (const std::string& name : state_.nodes.names()) {
    const SimNode* const node = state_.nodes.find(name);
    if (node == nullptr || !fits(wanted, node->used, node->room)) continue;
    if (SimNodes::may_run_on(pod.shape, *node)) nodes.push_back(name);
  }
  if (nodes.empty()) return;
  const std::string node = state_.faults.random().pick(nodes);
  ++state_.faults.counts().second_writes;
  state_.faults.touch(sim_name(pod), state_.now);
  state_.faults.touch(node, state_.now);
  runs_on(id, node);
}

void SimPods::delete_by_others() {
  std::vector<SimPodId> running;
  for (SimPodId id = 0; id < pods_.size(); ++id) {
    const SimPod& pod = pods_[id];
    if (pod.there && !pod.object.node.empty() && !pod.object.deletion) running.push_back(id);
  }
  if (running.empty()) return;
  const SimPodId id = state_.faults.random().pick(running);
  const Pod& pod = pods_[id].object;
  ++state_.faults.counts().second_writes;
  state_.faults.touch(sim_name(pod), state_.now);
  make_leave(id, false);
}

void SimPods::start_foreign_pod() {
  Prng& random = state_.faults.random();
  if (state_.nodes.names().empty()) return;
  const std::string place = random.pick(state_.nodes.names());
  const Node& node = state_.nodes.at(place).object;
  Pod pod{.namespace_name = "others",
          .name = fmt::format("foreign-{}", ++foreign_),
          .node = node.name,
          .scheduler = "another-scheduler",
          .priority = static_cast<std::int32_t>(100 * random.below(3)),
          .requests = {{"cpu", 1'000 * random.between(1, 4)}},
          .created = state_.now,
          .started = state_.now,
          .ready = true};
  pod.uid = "uid-" + pod.name;
  pod.plane = node.plane;
  if (!state_.nodes.has_room(place, state_.nodes.pod_row(pod.requests))) return;
  normalize(pod);
  ++state_.faults.counts().second_writes;
  state_.faults.touch(place, state_.now);
  const RunnerId runner = work_.add(no_task, 1, 1);
  const SimPodId id = add({.object = pod, .runner = runner});
  work_[runner].running = 1;
  state_.occupy(pod, 1);
  state_.show(pod);
  state_.agenda.expect({.when = state_.now + foreign_run,
                        .what = EventKind::gone,
                        .subject = id,
                        .life = pods_[id].life});
}

}  // namespace makeway

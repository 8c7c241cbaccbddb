#include "sim/sim_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "model/normalize.hpp"
#include "model/request.hpp"

namespace makeway {
namespace {

constexpr Duration restart_takes{10'000};

/// Of another plane, whose controllers are not simulated: only nodes, pods and budgets live there.
bool is_elsewhere(const Change& object) {
  const bool lives = std::holds_alternative<Node>(object) || std::holds_alternative<Pod>(object) ||
                     std::holds_alternative<DisruptionBudget>(object);
  return !lives && std::visit([](const auto& each) { return !each.plane.empty(); }, object);
}

/// Others rely on it.
bool comes_first(const PlanAction& action) {
  return action.type == ActionType::nominate || action.type == ActionType::reserve;
}

/// The ask that the action places.
std::optional<ObjectRef> placed_ask(const PlanAction& action, const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    const auto own = [&](const PodPlacement& place) {
      return place.namespace_name == action.namespace_name && place.name == action.name;
    };
    const bool is_it = ask.namespace_name == action.namespace_name && ask.name == action.name;
    if (is_it || std::ranges::any_of(ask.placements, own)) return ref_of(ask);
  }
  return std::nullopt;
}

}  // namespace

// ---- The start ----------------------------------------------------------------------------------

SimWorld::SimWorld(const SimLoad& load, const SimOptions& options)
    : state_(load, options),
      work_(state_),
      pods_(state_, work_),
      sessions_(state_, work_),
      replicas_(state_, work_),
      sampler_(state_, pods_),
      next_poll_(options.start),
      last_event_time_(options.start) {
  std::vector<Change> first;
  first.reserve(load.objects.size());
  for (const Change& object : load.objects) {
    first.push_back(object);
    adopt(object);
  }
  for (const Change& object : load.objects) {
    const Pod* const pod = std::get_if<Pod>(&object);
    if (pod != nullptr && !replicas_.adopt(*pod)) pods_.adopt(*pod);
  }
  state_.watch.list_anew(std::move(first));
  expect_next_task();
  if (options.sample.ms > 0 && !load.tasks.empty()) {
    state_.agenda.expect({.when = state_.now + options.sample, .what = EventKind::sample});
  }
}

void SimWorld::adopt(const Change& object) {
  if (is_elsewhere(object)) return rules_.push_back(object);
  if (const Queue* const queue = std::get_if<Queue>(&object)) {
    queues_[queue->name] = *queue;
  } else if (const Session* const session = std::get_if<Session>(&object)) {
    sessions_.adopt(*session);
  } else if (const auto* const schedule = std::get_if<ReplicaSchedule>(&object)) {
    replicas_.adopt(*schedule);
  } else if (const auto* const budget = std::get_if<DisruptionBudget>(&object)) {
    state_.budgets.write(*budget);
  } else if (!std::holds_alternative<Node>(object) && !std::holds_alternative<Pod>(object)) {
    rules_.push_back(object);
  }
}

std::vector<Change> SimWorld::objects() const {
  std::vector<Change> all = rules_;
  for (const std::string& name : state_.nodes.names()) {
    if (const SimNode* const node = state_.nodes.find(name)) all.emplace_back(node->object);
  }
  for (const auto& [name, queue] : queues_) all.emplace_back(queue);
  state_.budgets.list(all);
  pods_.list(all);
  sessions_.list(all);
  replicas_.list(all);
  return all;
}

// ---- Time ---------------------------------------------------------------------------------------

void SimWorld::expect_next_task() {
  if (next_task_ == state_.load.tasks.size()) return;
  state_.agenda.expect({.when = std::max(state_.load.tasks[next_task_].arrival, state_.now),
                        .what = EventKind::arrives,
                        .subject = static_cast<std::uint32_t>(next_task_)});
}

Batch SimWorld::poll(Time deadline) {
  Agenda& agenda = state_.agenda;
  Time& now = state_.now;
  const Time until = state_.options.until;
  const Time at_least = std::min(std::max(next_poll_, now), until);
  deadline = std::min(std::max(deadline, at_least), until);
  while (!agenda.empty() && agenda.next().when <= deadline) {
    // Once something has changed, only what happens until the cycle may start is waited for.
    if (state_.watch.has_changes() && agenda.next().when > std::max(at_least, now)) break;
    happen_next();
  }
  now = std::max(now, state_.watch.has_changes() ? at_least : deadline);
  Batch result = state_.watch.take();
  state_.faults.forget_touched(now);
  result.now = now;
  const bool only_samples = next_task_ == state_.load.tasks.size() && agenda.size() <= 1 &&
                            (agenda.empty() || agenda.next().what == EventKind::sample);
  result.ended = now >= until || (only_samples && result.changes.empty());
  return result;
}

void SimWorld::pass(Time until) {
  while (!state_.agenda.empty() && state_.agenda.next().when <= until) happen_next();
  state_.now = std::max(state_.now, until);
}

void SimWorld::happen_next() {
  const Event event = state_.agenda.take();
  state_.now = std::max(state_.now, event.when);
  if (event.what != EventKind::sample) last_event_time_ = state_.now;
  happen(event);
}

void SimWorld::happen(const Event& event) {
  switch (event.what) {
    case EventKind::arrives: return arrive(event.subject);
    case EventKind::ends:
      if (work_[event.subject].works == event.life) run_ends(event.subject);
      return;
    case EventKind::gone: pods_.gone(event); return replicas_.place_pending();
    case EventKind::comes_back: return pods_.comes_back(event);
    case EventKind::sample:
      sampler_.sample();
      state_.agenda.expect({.when = state_.now + state_.options.sample, .what = EventKind::sample});
      return;
    case EventKind::shown: return state_.watch.release(state_.now);
    case EventKind::node_returns:
      state_.show(state_.nodes.bring_back(lost_nodes_[event.subject], state_.now));
      return replicas_.place_pending();
    case EventKind::session_leaves: return sessions_.leaves(event);
    case EventKind::session_back: return sessions_.comes_back(event);
    case EventKind::reconcile:
      if (work_[event.subject].life == event.life) replicas_.reconcile(event.subject);
      return;
    case EventKind::replica_gone: return replicas_.pod_is_gone(event);
    case EventKind::budgets:
      for (const DisruptionBudget& budget : state_.budgets.take_changed()) state_.show(budget);
      return;
  }
}

void SimWorld::arrive(std::uint32_t index) {
  ++next_task_;
  switch (state_.load.tasks[index].kind) {
    case TaskKind::session: sessions_.arrive(index); break;
    case TaskKind::replicas: replicas_.arrive(index); break;
    case TaskKind::job:
    case TaskKind::gang:
    case TaskKind::service:
    case TaskKind::daemon: pods_.arrive(index); break;
  }
  expect_next_task();
}

void SimWorld::run_ends(RunnerId id) {
  switch (work_.task_of(work_[id]).kind) {
    case TaskKind::session: return sessions_.run_ends(id);
    case TaskKind::replicas: return replicas_.run_ends(id);
    case TaskKind::job:
    case TaskKind::gang:
    case TaskKind::service:
    case TaskKind::daemon: return pods_.run_ends(id);
  }
}

// ---- Plans --------------------------------------------------------------------------------------

void SimWorld::submit(const Plan& plan) {
  strike_before_plan();
  std::vector<const PlanAction*> actions;
  for (const PlanAction& action : plan.actions) {
    if (action.type != ActionType::wait) actions.push_back(&action);
  }
  std::ranges::stable_partition(actions,
                                [](const PlanAction* action) { return comes_first(*action); });
  std::size_t steps = actions.size() + 1;
  const bool dies = state_.faults.strikes(&FaultOptions::kill, state_.now);
  if (dies) steps = state_.faults.random().below(steps + 1);
  if (steps > 0) write_statuses(plan);
  dropped_.clear();
  for (std::size_t at = 0; at + 1 < steps; ++at) carry_out(*actions[at], plan);
  sampler_.measure(plan);
  if (!actions.empty()) last_event_time_ = state_.now;
  next_poll_ = state_.now + state_.options.cycle;
  if (dies) die();
}

void SimWorld::write_statuses(const Plan& plan) {
  pods_.clear_nominations(plan);
  sessions_.clear_nominations(plan);
  write_queues(plan);
  replicas_.write_statuses(plan);
}

void SimWorld::write_queues(const Plan& plan) {
  for (const PlanQueueStatus& status : plan.queue_status) {
    const auto found = queues_.find(status.name);
    if (found == queues_.end()) continue;
    found->second.deserved = status.deserved;
    found->second.allocated = status.allocated;
    found->second.used = status.used;
    found->second.preempting = status.preempting;
    normalize(found->second);
    state_.show(found->second);
  }
}

void SimWorld::carry_out(const PlanAction& action, const Plan& plan) {
  const bool session = sessions_.knows(action);
  const auto is_dropped = [&](const std::optional<ObjectRef>& ask) {
    return ask && dropped_.contains(*ask);
  };
  const bool dropped = !dropped_.empty() && (is_dropped(action.ask) ||
                                             (session && is_dropped(placed_ask(action, plan))));
  if (dropped) return refuse(action, plan, "a write that it depends on was refused", true);
  if (conflicts(action, plan)) return;
  if (session) return sessions_.carry_out(action, plan);
  if (pods_.carry_out(action, plan.id) || replicas_.carry_out(action, plan.id)) return;
  const ObjectKind kind = action.scale ? ObjectKind::replica_schedule : ObjectKind::pod;
  const bool unknown = state_.is_unseen(kind, action.namespace_name, action.name, action.plane);
  refuse(action, plan, "it is gone", unknown);
}

void SimWorld::refuse(const PlanAction& action, const Plan& plan, std::string reason,
                      bool by_fault) {
  ObjectRef object = pod_ref(action.namespace_name, action.name);
  if (sessions_.knows(action)) {
    object.kind = RefKind::session;
    object.name = action.name.substr(0, action.name.find('/'));
  } else if (action.scale) {
    object.kind = RefKind::replica_schedule;
  }
  state_.refuse({.plan = plan.id,
                 .object = std::move(object),
                 .reason = std::move(reason),
                 .ask = action.ask},
                by_fault);
}

// ---- Faults -------------------------------------------------------------------------------------

void SimWorld::strike_before_plan() {
  if (state_.faults.strikes(&FaultOptions::node_loss, state_.now)) lose_node();
  if (!state_.faults.strikes(&FaultOptions::writer, state_.now)) return;
  const std::uint64_t kind = state_.faults.random().below(3);
  if (kind == 0 && sessions_.second_writer()) return;
  if (kind == 1 && replicas_.second_writer()) return;
  pods_.second_writer();
}

void SimWorld::lose_node() {
  const std::vector<std::string>& names = state_.nodes.names();
  if (names.empty()) return;
  const std::string name = names[state_.faults.random().below(names.size())];
  if (state_.nodes.find(name) == nullptr) return;
  ++state_.faults.counts().nodes_lost;
  state_.faults.touch(name, state_.now);
  state_.nodes.lose(name, state_.now);
  node_goes(name);
  const Duration away{state_.faults.random().between(300'000, 1'800'000)};
  state_.agenda.expect({.when = state_.now + away,
                        .what = EventKind::node_returns,
                        .subject = static_cast<std::uint32_t>(lost_nodes_.size())});
  lost_nodes_.push_back(name);
}

void SimWorld::node_goes(const std::string& name) {
  const Node& node = state_.nodes.at(name).object;
  state_.show(Removal{.kind = ObjectKind::node, .name = node.name, .plane = node.plane});
  pods_.node_is_lost(name);
  sessions_.node_is_lost(name);
  replicas_.node_is_lost(name);
}

// ---- Others -------------------------------------------------------------------------------------

void SimWorld::happens(const Change& change) {
  if (const Removal* const gone = std::get_if<Removal>(&change)) return removed(*gone);
  if (is_elsewhere(change)) return written(change);
  if (const Pod* const pod = std::get_if<Pod>(&change)) {
    if (!replicas_.written(*pod)) pods_.written(*pod);
  } else if (const Session* const session = std::get_if<Session>(&change)) {
    sessions_.written(*session);
  } else if (const auto* const schedule = std::get_if<ReplicaSchedule>(&change)) {
    replicas_.written(*schedule);
  } else if (const Node* const node = std::get_if<Node>(&change)) {
    state_.nodes.write(*node);
    state_.show(*node);
    replicas_.place_pending();
  } else if (const Queue* const queue = std::get_if<Queue>(&change)) {
    queues_[queue->name] = *queue;
    state_.show(*queue);
  } else if (const auto* const budget = std::get_if<DisruptionBudget>(&change)) {
    state_.budgets.write(*budget);
    state_.show(*budget);
  } else {
    written(change);
  }
}

void SimWorld::written(const Change& rule) {
  std::erase_if(rules_, [&](const Change& old) { return watch_key(old) == watch_key(rule); });
  rules_.push_back(rule);
  state_.show(rule);
}

void SimWorld::removed(const Removal& gone) {
  const std::string place = place_name(gone.plane, gone.name);
  std::erase_if(rules_, [&](const Change& rule) { return watch_key(rule) == watch_key(gone); });
  switch (gone.kind) {
    case ObjectKind::pod:
      if (!pods_.removed(gone)) replicas_.removed(gone);
      return;
    case ObjectKind::session:
      if (gone.plane.empty()) return sessions_.removed(gone);
      break;
    case ObjectKind::node:
      if (state_.nodes.find(place) != nullptr) node_goes(place);
      return state_.nodes.remove(place);
    case ObjectKind::queue:
      if (gone.plane.empty()) queues_.erase(gone.name);
      break;
    case ObjectKind::disruption_budget: state_.budgets.remove(gone); break;
    default: break;
  }
  state_.show(gone);
}

bool SimWorld::conflicts(const PlanAction& action, const Plan& plan) {
  if (!state_.faults.strikes(&FaultOptions::conflict, state_.now)) return false;
  ++state_.faults.counts().conflicts;
  state_.faults.touch(sim_name(action.namespace_name, action.name), state_.now);
  if (comes_first(action) || sessions_.knows(action)) {
    if (auto ask = placed_ask(action, plan)) dropped_.insert(*std::move(ask));
  }
  refuse(action, plan, "another client has changed it", true);
  return true;
}

void SimWorld::die() {
  ++state_.faults.counts().kills;
  killed_ = true;
  show_anew();
  next_poll_ = state_.now + restart_takes;
}

// ---- The end ------------------------------------------------------------------------------------

SimMetrics SimWorld::finish() {
  // Time in which only samples were taken does not count, unless the caller wanted it to pass.
  Time& now = state_.now;
  if (now < state_.options.until || !is_unfinished()) now = last_event_time_;
  work_.stop_all();
  replicas_.finish();
  SimMetrics& metrics = state_.metrics;
  metrics.end = now;
  for (const std::string& name : state_.nodes.names()) {
    const SimNode& node = state_.nodes.at(name);
    const std::int64_t away = node.away.ms + (node.there ? 0 : (now - node.lost_at).ms);
    for (std::size_t at = 0; at < node.room.size(); ++at) {
      metrics.resources[state_.nodes.resources()[at]].capacity +=
          Wide{node.room[at]} * ((now - metrics.start).ms - away);
    }
  }
  metrics.faults = state_.faults.counts();
  return std::move(metrics);
}

}  // namespace makeway

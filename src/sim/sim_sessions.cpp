#include "sim/sim_sessions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "control/session_pods.hpp"
#include "model/session_lifecycle.hpp"

namespace makeway {
namespace {

constexpr std::string_view memory_resource = "memory";
constexpr Duration default_away{1'800'000};
/// No pod may evict a kernel.
constexpr std::int32_t above_all_pods = std::numeric_limits<std::int32_t>::max();

std::vector<KernelPlace> kernel_places(const PlanAsk& ask) {
  std::vector<KernelPlace> places;
  places.reserve(ask.placements.size());
  for (const PodPlacement& place : ask.placements) {
    places.push_back({.kernel = place.name.substr(place.name.find('/') + 1), .node = place.node});
  }
  return places;
}

const PlanAsk* find_session_ask(const Plan& plan, const Session& session) {
  for (const PlanAsk& ask : plan.asks) {
    const bool own = ask.kind == AskKind::session && ask.name == session.name &&
                     ask.namespace_name == session.namespace_name;
    if (own) return &ask;
  }
  return nullptr;
}

bool runs_at(const Session& session, const std::string& node) {
  const bool there = session.status.phase == SessionPhase::running ||
                     session.status.phase == SessionPhase::suspended;
  return there && std::ranges::find(session.kernels, node, &Kernel::node) != session.kernels.end();
}

}  // namespace

// ---- Tables -------------------------------------------------------------------------------------

void SimSessions::list(std::vector<Change>& objects) const {
  for (const auto& [key, entry] : sessions_) objects.emplace_back(entry.object);
}

void SimSessions::make(RunnerId runner, std::int64_t attempt) {
  const SimTask& task = work_.task_of(work_[runner]);
  Session session{.namespace_name = task.namespace_name, .name = task.name};
  if (attempt > 0) session.name += fmt::format("-r{}", attempt);
  session.uid = "uid-" + session.name;
  session.created = state_.now;
  session.resource_group = task.resource_group;
  session.partition = task.partition;
  session.priority = task.priority;
  session.type = task.session_type;
  session.checkpointing = task.checkpoint.ms > 0;
  if (task.requeues) session.requeue = true;
  for (std::int64_t member = 0; member < task.pods; ++member) {
    session.kernels.push_back(
        {.name = fmt::format("kernel-{:03}", member), .requests = task.requests});
  }
  const Key key(session.namespace_name, session.name);
  by_runner_[runner] = key;
  sessions_[key] = {.object = session, .runner = runner, .attempt = attempt};
  state_.show(std::move(session));
}

void SimSessions::write(Entry& entry, Session next) {
  occupy(entry.object, -1);
  entry.object = std::move(next);
  occupy(entry.object, 1);
  state_.show(entry.object);
}

void SimSessions::occupy(const Session& session, std::int64_t sign) {
  const bool runs = session.status.phase == SessionPhase::running;
  if (!runs && session.status.phase != SessionPhase::suspended) return;
  for (const Kernel& kernel : session.kernels) {
    if (kernel.node.empty()) continue;
    Amounts held = kernel.requests;
    if (!runs) {
      std::erase_if(held, [](const Amount& item) { return item.resource != memory_resource; });
    }
    state_.nodes.occupy(kernel.node, above_all_pods, state_.nodes.row(held), sign);
  }
}

/// For all of its kernels, which may share nodes.
bool SimSessions::has_room(const Session& session) const {
  std::map<std::string, ResourceVector> wanted;
  for (const Kernel& kernel : session.kernels) {
    ResourceVector& sum = wanted[kernel.node];
    const ResourceVector row = state_.nodes.row(kernel.requests);
    sum.resize(std::max(sum.size(), row.size()));
    for (std::size_t at = 0; at < row.size(); ++at) sum[at] += row[at];
  }
  return std::ranges::all_of(
      wanted, [&](const auto& each) { return state_.nodes.has_room(each.first, each.second); });
}

/// It leaves then, unless it takes its time.
void SimSessions::expect_leave(Entry& entry, Time when) {
  entry.stuck = false;
  when = std::max(when, state_.now);
  if (state_.options.behaviour.session_late) {
    const std::optional<Duration> late = state_.options.behaviour.session_late(entry.object);
    entry.stuck = !late || late->ms > 0;
    if (!late) {
      ++entry.turn;
      return;
    }
    when = when + *late;
  }
  expect(entry, EventKind::session_leaves, when);
}

void SimSessions::expect(Entry& entry, EventKind what, Time when) {
  state_.agenda.expect({.when = when, .what = what, .subject = entry.runner, .life = ++entry.turn});
}

// ---- What happens -------------------------------------------------------------------------------

void SimSessions::adopt(const Session& session) {
  const Key key(session.namespace_name, session.name);
  const RunnerId runner = work_.add(no_task, 1, 1);
  by_runner_[runner] = key;
  Entry& entry = sessions_[key];
  entry = {.object = session, .runner = runner};
  occupy(session, 1);
  const std::optional<Time>& ends_at = session.status.ends_at;
  if (session.status.phase == SessionPhase::running && ends_at) {
    const bool stays = state_.options.behaviour.overdue_stay && *ends_at < state_.now;
    if (!stays) expect_leave(entry, *ends_at);
  }
}

void SimSessions::arrive(std::uint32_t index) {
  const std::int64_t kernels = state_.load.tasks[index].pods;
  make(work_.add(index, kernels, kernels), 0);
}

void SimSessions::run_ends(RunnerId id) {
  work_.end(id);
  const Key key = by_runner_.at(id);
  occupy(sessions_.at(key).object, -1);
  state_.show(
      Removal{.kind = ObjectKind::session, .namespace_name = key.first, .name = key.second});
  sessions_.erase(key);
  by_runner_.erase(id);
  work_.free(id);
}

void SimSessions::leaves(const Event& event) {
  const auto key = by_runner_.find(event.subject);
  if (key == by_runner_.end()) return;
  Entry& entry = sessions_.at(key->second);
  if (entry.turn == event.life) take_off(entry);
}

void SimSessions::take_off(Entry& entry) {
  entry.stuck = false;
  const SessionFate fate = entry.object.status.fate.value_or(SessionFate::ends);
  write(entry, take_off_session(entry.object));
  const Runner& runner = work_[entry.runner];
  const bool ended = entry.object.status.phase == SessionPhase::ended;
  std::optional<Duration> away =
      runner.task == no_task ? default_away : work_.task_of(runner).recreate;
  if (state_.options.behaviour.session_back) {
    away = state_.options.behaviour.session_back(entry.object);
  }
  // It is unknown how a session of a snapshot was started.
  const bool wanted = fate == SessionFate::on_request || (ended && runner.task != no_task);
  if (wanted && away) {
    expect(entry, EventKind::session_back, state_.now + *away);
  } else {
    ++entry.turn;
  }
}

void SimSessions::comes_back(const Event& event) {
  const auto found = by_runner_.find(event.subject);
  if (found == by_runner_.end()) return;
  const Key key = found->second;
  Entry& entry = sessions_.at(key);
  if (entry.turn != event.life) return;
  if (entry.object.status.phase != SessionPhase::ended) {
    if (Result<Session> resumed = resume_session(entry.object)) write(entry, *std::move(resumed));
    return;
  }
  const std::int64_t attempt = entry.attempt + 1;
  const RunnerId runner = entry.runner;
  state_.show(
      Removal{.kind = ObjectKind::session, .namespace_name = key.first, .name = key.second});
  sessions_.erase(key);
  make(runner, attempt);
}

/// Its work is lost, and it is pending again.
void SimSessions::fall(Entry& entry) {
  Session next = entry.object;
  state_.faults.touch(sim_name(next.namespace_name, next.name), state_.now);
  work_.stop(entry.runner, {});
  for (Kernel& kernel : next.kernels) kernel.node.clear();
  next.status.phase = SessionPhase::pending;
  next.status.started.reset();
  next.status.ends_at.reset();
  next.status.fate.reset();
  next.status.resume_after.reset();
  entry.stuck = false;
  ++entry.turn;
  write(entry, std::move(next));
}

void SimSessions::node_is_lost(const std::string& node) {
  for (auto& [key, entry] : sessions_) {
    if (runs_at(entry.object, node)) fall(entry);
  }
}

bool SimSessions::second_writer() {
  std::vector<Key> running;
  for (const auto& [key, entry] : sessions_) {
    const SessionStatus& status = entry.object.status;
    if (status.phase == SessionPhase::running && !status.ends_at) running.push_back(key);
  }
  if (running.empty()) return false;
  ++state_.faults.counts().second_writes;
  fall(sessions_.at(state_.faults.random().pick(running)));
  return true;
}

void SimSessions::written(const Session& session) {
  const auto found = sessions_.find({session.namespace_name, session.name});
  if (found == sessions_.end()) {
    adopt(session);
    return state_.show(session);
  }
  Entry& entry = found->second;
  if (session.status.phase != SessionPhase::running) work_.stop(entry.runner, {.saved = true});
  ++entry.turn;
  write(entry, session);
  if (session.status.phase == SessionPhase::running && session.status.ends_at) {
    expect_leave(entry, *session.status.ends_at);
  }
}

void SimSessions::removed(const Removal& gone) {
  const auto found = sessions_.find({gone.namespace_name, gone.name});
  if (found == sessions_.end()) return;
  occupy(found->second.object, -1);
  state_.show(gone);
  by_runner_.erase(found->second.runner);
  sessions_.erase(found);
}

// ---- Plans --------------------------------------------------------------------------------------

SimSessions::Key SimSessions::key_of_action(const PlanAction& action) {
  return {action.namespace_name, action.name.substr(0, action.name.find('/'))};
}

bool SimSessions::knows(const PlanAction& action) const {
  const auto found = sessions_.find(key_of_action(action));
  return found != sessions_.end() && found->second.object.uid == action.uid;
}

void SimSessions::refuse(const Entry& entry, const std::string& plan, std::string reason) {
  const Session& session = entry.object;
  bool by_fault = state_.is_unseen(ObjectKind::session, session.namespace_name, session.name);
  for (const Kernel& kernel : session.kernels) {
    by_fault = by_fault || state_.faults.touched(kernel.node);
  }
  state_.refuse({.plan = plan,
                 .object = {.kind = RefKind::session,
                            .namespace_name = session.namespace_name,
                            .name = session.name},
                 .reason = std::move(reason)},
                by_fault);
}

void SimSessions::carry_out(const PlanAction& action, const Plan& plan) {
  Entry& entry = sessions_.at(key_of_action(action));
  const PlanAsk* const ask = find_session_ask(plan, entry.object);
  switch (action.type) {
    case ActionType::bind:
      // The first of its kernels starts them all.
      if (ask != nullptr && entry.object.status.phase != SessionPhase::running) {
        start(entry, *ask, plan.id);
      }
      return;
    case ActionType::nominate: {
      if (ask == nullptr) return;
      Session next = nominate_session(entry.object, kernel_places(*ask));
      if (next != entry.object) write(entry, std::move(next));
      return;
    }
    case ActionType::resume: return run_on(entry, plan.id);
    case ActionType::evict:
    case ActionType::requeue:
    case ActionType::suspend: return notice(entry, action, plan);
    default: refuse(entry, plan.id, "this world does not know such an action");
  }
}

void SimSessions::clear_nominations(const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    if (ask.kind != AskKind::session || !ask.placements.empty()) continue;
    const auto found = sessions_.find({ask.namespace_name, ask.name});
    if (found == sessions_.end() || ask.session->runs_on) continue;
    Session next = nominate_session(found->second.object, {});
    if (next != found->second.object) write(found->second, std::move(next));
  }
}

void SimSessions::start(Entry& entry, const PlanAsk& ask, const std::string& plan) {
  const Session before = entry.object;
  Session next = start_session(before, kernel_places(ask), state_.now);
  if (!has_room(next)) {
    const Entry there{.object = std::move(next)};
    return refuse(there, plan, "its nodes have no room for it");
  }
  ++entry.turn;
  write(entry, std::move(next));
  work_.start(entry.runner);
}

void SimSessions::run_on(Entry& entry, const std::string& plan) {
  if (entry.object.status.phase != SessionPhase::suspended) {
    return refuse(entry, plan, "it is not suspended");
  }
  const Session before = entry.object;
  Session next = run_on_session(before);
  occupy(before, -1);
  const bool room = has_room(next);
  occupy(before, 1);
  if (!room) return refuse(entry, plan, "its nodes have no room for it");
  ++entry.turn;
  write(entry, std::move(next));
  work_.start(entry.runner);
}

void SimSessions::notice(Entry& entry, const PlanAction& action, const Plan& plan) {
  const SessionStatus& status = entry.object.status;
  if (status.phase != SessionPhase::running) return refuse(entry, plan.id, "it does not run");
  if (status.ends_at) {
    const bool over = !action.until && *status.ends_at <= state_.now;
    if (over && !entry.stuck) return take_off(entry);
    const bool unknown = state_.is_unseen(ObjectKind::session, action.namespace_name, action.name);
    if (!over && !unknown) ++state_.metrics.evicted_twice;
    return;
  }
  const PlanSessionVictim* const victim = session_victim(plan, action);
  if (victim == nullptr) return refuse(entry, plan.id, "the plan does not say what becomes of it");
  ++state_.metrics.victims;
  ++state_.metrics.session_victims;
  const bool saved = victim->fate == SessionFate::suspends;
  work_.stop(entry.runner, {.saved = saved, .preempted = true});
  write(entry, notice_session(entry.object, {.by = ref_text(action.ask),
                                             .fate = victim->fate,
                                             .now = state_.now,
                                             .ends_at = victim->ends_at,
                                             .resume_after = victim->resume_after}));
  if (!state_.faults.strikes(&FaultOptions::stuck, state_.now)) {
    return expect_leave(entry, victim->ends_at);
  }
  ++state_.faults.counts().stuck;
  entry.stuck = true;
  const Duration late{state_.faults.random().between(600'000, 3'600'000)};
  expect(entry, EventKind::session_leaves, std::max(victim->ends_at, state_.now) + late);
}

}  // namespace makeway

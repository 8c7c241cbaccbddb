#include "sim/sim_work.hpp"

namespace makeway {

RunnerId SimWork::add(std::uint32_t task, std::int64_t need, std::int64_t pods) {
  auto id = static_cast<RunnerId>(runners_.size());
  if (free_.empty()) {
    runners_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  const Runner& old = runners_[id];  // What is expected of it must not happen to the new one.
  runners_[id] = {.task = task, .need = need, .works = old.works + 1, .life = old.life + 1};
  if (task == no_task) return id;
  const SimTask& from = state_.load.tasks[task];
  runners_[id].left_ms = from.run.ms;
  if (from.kind != TaskKind::daemon) ++unfinished_;
  runners_[id].record = state_.metrics.runs.size();
  state_.metrics.runs.push_back(
      {.priority = from.priority, .pods = pods, .arrival = state_.now, .run_ms = from.run.ms});
  return id;
}

void SimWork::start(RunnerId id) {
  Runner& runner = runners_[id];
  runner.works_since = state_.now;
  ++runner.works;
  if (runner.task == no_task) return;
  RunRecord& record = state_.metrics.runs[runner.record];
  if (!record.first_start) record.first_start = state_.now;
  if (task_of(runner).kind == TaskKind::daemon) return;
  state_.agenda.expect({.when = state_.now + Duration{runner.left_ms},
                        .what = EventKind::ends,
                        .subject = id,
                        .life = runner.works});
}

void SimWork::stop(RunnerId id, WorkStop how) {
  Runner& runner = runners_[id];
  if (!runner.works_since) return;
  const std::int64_t done = (state_.now - *runner.works_since).ms;
  runner.works_since.reset();
  ++runner.works;  // Its end is not what it was expected to be.
  if (runner.task == no_task) return;
  const SimTask& task = task_of(runner);
  const bool stateless = task.kind == TaskKind::service || task.kind == TaskKind::daemon ||
                         task.kind == TaskKind::replicas;
  std::int64_t kept = done;
  if (how.preempted) ++state_.metrics.runs[runner.record].interruptions;
  if (!how.saved && !stateless) {
    kept = task.checkpoint.ms == 0 ? 0 : done / task.checkpoint.ms * task.checkpoint.ms;
  }
  if (task.kind != TaskKind::daemon) runner.left_ms -= kept;
  for (const Amount& item : task.requests) {
    ResourceUse& use = state_.metrics.resources[item.resource];
    use.useful += Wide{kept} * item.amount * runner.need;
    use.lost += Wide{done - kept} * item.amount * runner.need;
  }
}

void SimWork::end(RunnerId id) {
  stop(id, {.saved = true});
  Runner& runner = runners_[id];
  state_.metrics.runs[runner.record].end = state_.now;
  --unfinished_;
  ++runner.works;
  ++runner.life;
}

void SimWork::stop_all() {
  for (RunnerId id = 0; id < runners_.size(); ++id) stop(id, {.saved = true});
}

}  // namespace makeway

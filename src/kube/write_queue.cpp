#include "kube/write_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/prng.hpp"

namespace makeway::kube {
namespace {

constexpr Duration one_second{1'000};
constexpr int status_conflict = 409;
constexpr int status_too_many = 429;
constexpr std::string_view relies_on_refused = "a write that it depends on was refused";

bool is_queue(const std::optional<ObjectRef>& ref) { return ref && ref->kind == RefKind::queue; }

std::string status_and_reason(const ConditionUpdate& update) {
  return (update.value ? "True " : "False ") + update.reason;
}

bool is_refused_by_budget(int status) {
  return status == status_too_many || status == 403 || status == 500;
}

}  // namespace

WriteQueue::WriteQueue(WriteOptions options, QueueLimits limits)
    : options_(std::move(options)), limits_(limits) {}

// ---- What comes in ------------------------------------------------------------------------------

void WriteQueue::add(const std::string& plan, Time plan_now, PlanJobs jobs, Time now) {
  const std::uint64_t first = last_id_ + 1;
  std::map<std::uint64_t, std::uint64_t> joined;  // By job: the one that does the same.
  for (Receipt& receipt : jobs.refused) receipts_.push_back(std::move(receipt));
  for (EventRequest& event : jobs.events) add_event(std::move(event));
  for (WriteJob& job : jobs.jobs) {
    Live live{.job = std::move(job),
              .plan = plan,
              .plan_now = plan_now,
              .added = now,
              .not_before = now,
              .sent_at = now};
    for (const std::size_t need : live.job.needs) {
      const auto other = joined.find(first + need);
      const std::uint64_t on = other == joined.end() ? first + need : other->second;
      if (jobs_.contains(on)) live.needs.insert(on);
    }
    if (live.job.is_eviction) need_binds(live);
    if (live.job.is_eviction) need_statuses(live);
    if (live.job.placed) need_evictions(live);
    const std::uint64_t id = ++last_id_;
    if (live.job.steps.empty()) continue;  // Done already.
    const bool is_for_queue = live.job.is_eviction && is_queue(live.job.ask);
    if (is_for_queue && jobs.heard < statuses_refused_) {
      ++statistics_.refused;
      receipts_.push_back({.plan = plan,
                           .object = live.job.object,
                           .reason = std::string(relies_on_refused),
                           .ask = live.job.ask});
      continue;
    }
    const bool is_alone = !lines_.contains(live.job.object);
    if (is_alone && is_confirmed(live)) continue;
    if (const auto twin = waiting_duplicate(live.job)) {
      join(*twin, std::move(live));
      joined.emplace(id, *twin);
      continue;
    }
    enqueue(id, std::move(live));
  }
}

void WriteQueue::enqueue(std::uint64_t id, Live live) {
  const bool urgent = live.job.urgency == Urgency::place;
  if (!urgent && is_repeated(live.job, live.added)) return;
  drop_superseded(live.job);
  lines_[live.job.object].push_back(id);
  if (live.job.is_eviction) {
    units_[unit_of(live)].jobs.insert(id);
    evictions_[live.job.ask].insert(id);
  }
  for (const std::uint64_t need : live.needs) needed_by_[need].push_back(id);
  if (urgent && live.job.object.plane.empty()) plan_times_.insert(live.plan_now);
  Time at = live.added;
  if (urgent && live.job.object.kind == RefKind::queue) statuses_.insert(id);
  if (live.job.can_wait) {
    delayed_statuses_.insert(id);
    const auto own = own_.find(live.job.object);
    const bool is_known = own != own_.end() && own->second.object.uid == live.job.seen.object.uid;
    if (is_known) at = std::max(at, own->second.when + limits_.status_again);
  }
  move_to(id, jobs_.emplace(id, std::move(live)).first->second, Stage::waits, at);
}

// ---- Where a job stands -------------------------------------------------------------------------

WriteQueue::Rank WriteQueue::rank_of(const Live& live) {
  if (live.stage == Stage::to_read) return Rank::reads;
  const WriteStep& step = live.job.steps[live.step];
  if (step.kind == WriteKind::await || step.confirms) return Rank::ends;
  if (live.job.urgency == Urgency::condition) return Rank::conditions;
  return step.kind == WriteKind::bind ? Rank::binds : Rank::writes;
}

void WriteQueue::take_out(std::uint64_t id, Live& live) {
  if (live.ready_as) {
    ready_.erase({*live.ready_as, id});
  } else {
    due_.erase({live.not_before, id});
  }
  live.ready_as.reset();
}

/// Whatever may be sent or read, at once or later, is in `due_`, from where it gets into `ready_`.
void WriteQueue::sort_in(std::uint64_t id, Live& live) {
  take_out(id, live);
  const bool is_free =
      live.stage == Stage::waits && live.needs.empty() && lines_.at(live.job.object).front() == id;
  if (is_free || live.stage == Stage::to_read) due_.emplace(live.not_before, id);
}

void WriteQueue::move_to(std::uint64_t id, Live& live, Stage stage, Time not_before) {
  take_out(id, live);
  const bool urgent = live.job.urgency == Urgency::place;
  const bool is_home = live.job.object.plane.empty();
  if (urgent && is_home && live.stage == Stage::sent) --places_sent_;
  if (urgent && is_home && stage == Stage::sent) ++places_sent_;
  live.stage = stage;
  live.not_before = not_before;
  std::set<std::uint64_t>& unsent = urgent ? waiting_ : conditions_;
  if (stage == Stage::waits) {
    unsent.insert(id);
    if (urgent && !is_home) to_planes_.insert(id);
  } else {
    unsent.erase(id);
    to_planes_.erase(id);
  }
  sort_in(id, live);
}

void WriteQueue::admit_due(Time now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::uint64_t id = due_.begin()->second;
    due_.erase(due_.begin());
    Live& live = jobs_.at(id);
    live.ready_as = rank_of(live);
    ready_.emplace(*live.ready_as, id);
  }
}

/// What an eviction for a queue relies on may have been decided by an earlier plan.
void WriteQueue::need_statuses(Live& live) {
  if (!is_queue(live.job.ask)) return;
  for (const std::uint64_t id : statuses_) {
    live.needs.insert(id);
    end_delay(id, live.added);
  }
}

void WriteQueue::end_delay(std::uint64_t id, Time now) {
  if (delayed_statuses_.erase(id) == 0) return;
  Live& live = jobs_.at(id);
  live.job.can_wait = false;
  if (live.attempts == 0) move_to(id, live, live.stage, now);
}

void WriteQueue::need_evictions(Live& live) const {
  const auto found = evictions_.find(live.job.placed);
  if (found != evictions_.end()) live.needs.insert(found->second.begin(), found->second.end());
}

/// A pod whose bind is not certain holds room in our view alone: it leaves only if it came.
void WriteQueue::need_binds(Live& live) const {
  const auto line = lines_.find(live.job.object);
  if (line == lines_.end()) return;
  for (const std::uint64_t id : line->second) {
    const bool binds = std::ranges::any_of(
        jobs_.at(id).job.steps, [](const WriteStep& step) { return step.kind == WriteKind::bind; });
    if (binds) live.needs.insert(id);
  }
}

/// The last write about the object, if it is not sent yet and nominates to the same node, or is a
/// status of a kind of ours. While a server is slow every plan says so once more.
std::optional<std::uint64_t> WriteQueue::waiting_duplicate(const WriteJob& job) const {
  const auto nominates = [](const WriteJob& each) {
    return each.urgency == Urgency::place && !each.is_eviction && each.steps.size() == 1 &&
           each.steps.front().kind == WriteKind::patch_pod &&
           each.steps.front().patch.nominated_node.has_value();
  };
  const auto is_status = [](const WriteJob& each) {
    return each.urgency == Urgency::place && each.steps.size() == 1 &&
           each.steps.front().kind == WriteKind::patch_own;
  };
  const auto line = lines_.find(job.object);
  if (line == lines_.end() || !job.needs.empty()) return std::nullopt;
  const std::uint64_t id = line->second.back();
  const Live& last = jobs_.at(id);
  if (is_status(job)) {
    // What waits for the status of a schedule or a session relies on what it says: it is not
    // replaced. A queue's next status says all that the one before did.
    const bool is_relied_on = job.object.kind != RefKind::queue && needed_by_.contains(id);
    const bool is_newer = waiting_.contains(id) && is_status(last.job) && last.job.needs.empty() &&
                          last.job.seen.object.uid == job.seen.object.uid && !is_relied_on;
    return is_newer ? std::optional(id) : std::nullopt;
  }
  if (!nominates(job)) return std::nullopt;
  const bool is_same =
      waiting_.contains(id) && nominates(last.job) &&
      last.job.seen.object.uid == job.seen.object.uid &&
      last.job.steps.front().patch.nominated_node == job.steps.front().patch.nominated_node;
  return is_same ? std::optional(id) : std::nullopt;
}

void WriteQueue::join(std::uint64_t id, Live newer) {
  if (!newer.job.can_wait) end_delay(id, newer.added);
  Live& twin = jobs_.at(id);
  twin.also.push_back(std::move(newer.plan));
  twin.job.seen = std::move(newer.job.seen);
  twin.job.steps = std::move(newer.job.steps);
  if (newer.job.event) twin.job.event = std::move(newer.job.event);
  sort_in(id, twin);
}

/// The same reason was written a short while ago; what was seen may be older than that.
bool WriteQueue::is_repeated(const WriteJob& job, Time now) const {
  return std::ranges::all_of(
      job.steps.front().patch.conditions, [&](const ConditionUpdate& update) {
        const auto written = written_conditions_.find({job.object, update.type});
        return written != written_conditions_.end() &&
               written->second.when + limits_.condition_again > now &&
               written->second.status_and_reason == status_and_reason(update) &&
               written->second.uid == job.seen.object.uid;
      });
}

void WriteQueue::note_written(const Live& live, Time now) {
  constexpr std::size_t kept_max = 50'000;
  if (written_conditions_.size() > kept_max) {
    std::erase_if(written_conditions_, [&](const auto& each) {
      return each.second.when + limits_.condition_again < now;
    });
  }
  for (const ConditionUpdate& update : live.job.steps[live.step].patch.conditions) {
    written_conditions_.insert_or_assign(
        {live.job.object, update.type},
        WrittenCondition{.when = now,
                         .status_and_reason = status_and_reason(update),
                         .uid = live.job.seen.object.uid});
  }
}

/// By what we wrote; what was seen may be older than that.
bool WriteQueue::was_taken_back(const WriteJob& job) const {
  const auto own = own_.find(job.object);
  const std::optional<std::string>& wanted = job.steps.front().patch.nominated_node;
  return own != own_.end() && own->second.object.uid == job.seen.object.uid && wanted &&
         *wanted != own->second.object.nominated_node;
}

/// Nothing need be sent for it.
bool WriteQueue::is_confirmed(const Live& live) const {
  return live.job.steps.front().confirms && !was_taken_back(live.job);
}

/// Conditions about the object that are not sent yet are out of date; where only a condition comes,
/// those that it speaks of.
void WriteQueue::drop_superseded(const WriteJob& newer) {
  const auto line = lines_.find(newer.object);
  if (line == lines_.end()) return;
  const std::vector<ConditionUpdate>& newest = newer.steps.front().patch.conditions;
  const auto is_old = [&](const ConditionUpdate& update) {
    return newer.urgency == Urgency::place ||
           std::ranges::find(newest, update.type, &ConditionUpdate::type) != newest.end();
  };
  std::vector<std::uint64_t> old;
  for (const std::uint64_t id : line->second) {
    if (!conditions_.contains(id)) continue;
    const WriteStep& step = jobs_.at(id).job.steps.front();
    if (std::ranges::all_of(step.patch.conditions, is_old)) old.push_back(id);
  }
  for (const std::uint64_t id : old) forget(id);
}

void WriteQueue::forget(std::uint64_t id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  Live& live = found->second;
  take_out(id, live);
  waiting_.erase(id);
  delayed_statuses_.erase(id);
  to_planes_.erase(id);
  statuses_.erase(id);
  conditions_.erase(id);
  needed_by_.erase(id);
  if (live.job.urgency == Urgency::place) {
    const bool is_home = live.job.object.plane.empty();
    if (is_home && live.stage == Stage::sent) --places_sent_;
    if (is_home) plan_times_.erase(plan_times_.find(live.plan_now));
  }
  if (live.job.is_eviction) {
    const auto of_ask = evictions_.find(live.job.ask);
    of_ask->second.erase(id);
    if (of_ask->second.empty()) evictions_.erase(of_ask);
    const auto unit = units_.find(unit_of(live));
    unit->second.jobs.erase(id);
    if (unit->second.jobs.empty()) units_.erase(unit);
  }
  const auto line = lines_.find(live.job.object);
  jobs_.erase(found);
  const bool was_first = line->second.front() == id;
  std::erase(line->second, id);
  if (line->second.empty()) {
    lines_.erase(line);
  } else if (was_first) {
    const std::uint64_t next_of_line = line->second.front();
    sort_in(next_of_line, jobs_.at(next_of_line));
  }
}

// ---- What goes out ------------------------------------------------------------------------------

ObjectState WriteQueue::guarded(const Live& live) const {
  ObjectState object = live.job.seen.object;
  const auto own = own_.find(live.job.object);
  const bool newer = own != own_.end() && own->second.object.uid == object.uid &&
                     own->second.answer > live.job.seen.answers;
  if (!newer) return object;
  object.version = own->second.object.version;
  // Of a kind of ours the whole list is written back: what we have said since must stay in it.
  const bool is_own_kind = live.job.steps[live.step].kind == WriteKind::patch_own;
  if (is_own_kind) object.conditions = own->second.object.conditions;
  return object;
}

/// Its words for autoscalers do not count where a pod is nominated: others of these are not urgent.
bool WriteQueue::is_written(const Live& live) const {
  const WriteStep& step = live.job.steps[live.step];
  const auto own = own_.find(live.job.object);
  if (step.kind != WriteKind::patch_pod || own == own_.end()) return false;
  const bool newer = own->second.object.uid == live.job.seen.object.uid &&
                     own->second.answer > live.job.seen.answers;
  if (!newer) return false;
  StatusPatch patch = step.patch;
  if (patch.nominated_node) {
    std::erase_if(patch.conditions,
                  [](const ConditionUpdate& update) { return update.type == scheduled_condition; });
  }
  return !changes(patch, own->second.object);
}

WriteCall WriteQueue::call_of(const Live& live, Time server_now) const {
  const WriteStep& step = live.job.steps[live.step];
  const ObjectState object = guarded(live);
  switch (step.kind) {
    case WriteKind::bind: return bind_call(options_, object, step.node, live.plan);
    case WriteKind::erase: return delete_call(options_, object, step.grace_seconds);
    case WriteKind::evict: return eviction_call(options_, object);
    case WriteKind::patch_group: return patch_group_call(options_, object, step.patch, server_now);
    case WriteKind::select_node: return select_node_call(options_, object, step.node);
    case WriteKind::patch_own:
      return patch_own_call(options_, object,
                            own_status(object, step.status, step.patch, server_now));
    case WriteKind::create_pod: return create_pod_call(options_, object, step.pod);
    case WriteKind::read_scale: return read_scale_call(object);
    case WriteKind::scale: return scale_call(options_, object, step.replicas_to);
    case WriteKind::patch_pod:
    case WriteKind::event:
    case WriteKind::await: break;
  }
  return patch_pod_call(options_, object, step.patch, server_now);
}

Sending WriteQueue::send(std::uint64_t id, Live& live, Time now, Time server_now) {
  delayed_statuses_.erase(id);
  move_to(id, live, Stage::sent, now);
  live.sent_at = now;
  note_written(live, now);
  if (live.job.steps[live.step].kind != WriteKind::read_scale) ++statistics_.sent;
  return {
      .job = id, .reads = false, .call = call_of(live, server_now), .plane = live.job.object.plane};
}

std::optional<Sending> WriteQueue::next(Time now, Time server_now) {
  for (admit_due(now); !ready_.empty(); admit_due(now)) {
    const auto [rank, id] = *ready_.begin();
    if (rank == Rank::conditions) break;
    Live& live = jobs_.at(id);
    if (rank == Rank::reads) {
      move_to(id, live, Stage::reads, now);
      return Sending{
          .job = id, .reads = true, .call = call_of(live, now), .plane = live.job.object.plane};
    }
    if (live.job.steps[live.step].kind == WriteKind::await) {
      const auto as = live.job.awaits_volume ? RefusedAs::awaits_volume : RefusedAs::refused;
      refuse(id, std::string(live.job.waits_because), as);  // So that the loop decides again.
    } else if (is_confirmed(live)) {
      step_done(id, {}, now);
    } else if (is_written(live)) {
      if (live.job.steps.size() == 1) live.job.event.reset();  // Sent with the first one.
      step_done(id, {}, now);
    } else {
      return send(id, live, now, server_now);
    }
  }
  if (auto condition = next_condition(now, server_now)) return condition;
  return next_event(now, server_now);
}

std::optional<Sending> WriteQueue::next_condition(Time now, Time server_now) {
  if (conditions_.empty()) return std::nullopt;
  if (!condition_allowance_) {
    condition_allowance_.emplace(limits_.conditions_per_second, one_second, Allowance::Start::full,
                                 now);
  }
  if (ready_.empty() || !condition_allowance_->has(1, now)) return std::nullopt;
  condition_allowance_->spend(1, now);
  const std::uint64_t id = ready_.begin()->second;
  return send(id, jobs_.at(id), now, server_now);
}

/// What is only read again keeps no event waiting, nor does what goes to a plane: that may never
/// answer.
bool WriteQueue::is_placing() const { return unsent() > 0 || places_sent_ > 0; }

std::optional<Sending> WriteQueue::next_event(Time now, Time server_now) {
  if (events_.empty() || event_sent_.size() >= limits_.events_at_once) return std::nullopt;
  if (events_not_before_ > now || is_placing()) return std::nullopt;
  if (!event_allowance_) {
    event_allowance_.emplace(limits_.events_per_second, one_second, Allowance::Start::full, now);
  }
  if (!event_allowance_->has(1, now)) return std::nullopt;
  event_allowance_->spend(1, now);
  const std::uint64_t id = ++last_id_;
  event_sent_.insert(id);
  ++statistics_.sent;
  // Distinct within the process by the number, across processes by the time.
  constexpr std::uint64_t ns_per_ms = 1'000'000;
  const std::uint64_t stamp = static_cast<std::uint64_t>(server_now.ms) * ns_per_ms + id;
  Sending sending{
      .job = id, .reads = false, .call = event_call(options_, events_.front(), server_now, stamp)};
  events_.pop_front();
  return sending;
}

std::optional<Time> WriteQueue::next_due(Time now) {
  std::optional<Time> due;
  const auto at = [&](Time time) {
    if (time > now && (!due || time < *due)) due = time;
  };
  const auto later = due_.upper_bound({now, std::numeric_limits<std::uint64_t>::max()});
  if (later != due_.end()) at(later->first);
  if (!conditions_.empty() && condition_allowance_) at(now + condition_allowance_->wait(1, now));
  if (!events_.empty()) at(events_not_before_);
  if (!events_.empty() && event_allowance_) at(now + event_allowance_->wait(1, now));
  return due;
}

// ---- What comes back ----------------------------------------------------------------------------

void WriteQueue::answered(std::uint64_t job, const ApiResult<HttpAnswer>& result, Time now) {
  if (event_sent_.erase(job) > 0) {
    const WriteAnswer answer = judge_answer(WriteKind::event, result);
    if (answer.verdict == Verdict::done) return;
    ++statistics_.events_dropped;
    if (answer.verdict == Verdict::again) {
      events_not_before_ = now + answer.retry_after.value_or(one_second);
    }
    return;
  }
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  Live& live = found->second;
  const WriteStep& step = live.job.steps[live.step];
  if (live.stage == Stage::reads) {
    const ObjectState& about = live.job.seen.object;
    const bool creates = step.kind == WriteKind::create_pod;
    const WriteGoal goal{.kind = step.kind,
                         .uid = creates ? about.owner_uid : about.uid,
                         .node = step.node,
                         .patch = step.patch,
                         .replicas = step.replicas_to};
    return reading_answered(job, live, judge_reading(goal, result), now);
  }
  WriteAnswer answer = judge_answer(step.kind, result);
  // A read does no harm, and may be repeated.
  const bool only_reads = step.kind == WriteKind::read_scale;
  if (only_reads && answer.verdict == Verdict::unknown) answer.verdict = Verdict::again;
  if (only_reads && answer.verdict == Verdict::done) return scale_read(job, live, answer, now);
  write_answered(job, live, answer, now);
}

/// The Deployment as it is right before it is scaled.
void WriteQueue::scale_read(std::uint64_t id, const Live& live, const WriteAnswer& answer,
                            Time now) {
  const WriteStep& step = live.job.steps[live.step];
  if (!answer.object || !answer.replicas) return refuse(id, "its scale cannot be read");
  if (answer.object->uid != live.job.seen.object.uid) {
    return refuse(id, "another object has its name");
  }
  if (*answer.replicas == step.replicas_to) {  // Done, by a process before this one.
    step_done(id, answer, now);
    return step_done(id, answer, now);
  }
  if (*answer.replicas != step.replicas_from) {
    return refuse(id, fmt::format("it has {} replicas by now", *answer.replicas));
  }
  step_done(id, answer, now);
}

void WriteQueue::write_answered(std::uint64_t id, Live& live, const WriteAnswer& answer, Time now) {
  const bool urgent = live.job.urgency == Urgency::place;
  const WriteKind kind = live.job.steps[live.step].kind;
  if (!urgent && answer.verdict != Verdict::done && is_moot(live, answer)) {
    forget_written(live);
    return refuse(id, answer.reason);
  }
  switch (answer.verdict) {
    case Verdict::done: return step_done(id, answer, now);
    case Verdict::again:
      ++statistics_.again;
      if (now >= live.added + limits_.send_max) {
        return refuse(id, "it could not be sent in time: " + answer.reason);
      }
      return move_to(id, live, Stage::waits, pause_end(live, answer.retry_after, now));
    case Verdict::refused:
      if ((kind == WriteKind::bind || kind == WriteKind::create_pod) &&
          answer.status == status_conflict) {
        live.refusal = answer.reason;
        live.last_reading = true;
        return move_to(id, live, Stage::to_read, now);
      }
      if (kind == WriteKind::scale && answer.status == status_conflict &&
          now < live.added + limits_.send_max) {
        --live.step;  // Something about it has changed since it was read.
        return move_to(id, live, Stage::waits, pause_end(live, std::nullopt, now));
      }
      if (live.job.is_eviction && kind == WriteKind::evict && is_refused_by_budget(answer.status)) {
        return budget_refused(id, live, answer, now);
      }
      return refuse(id, answer.reason);
    case Verdict::unknown:
      ++statistics_.unknown;
      // A condition may be written twice; else it would be missing until the next decision.
      if (!urgent && now < live.added + limits_.send_max) {
        return move_to(id, live, Stage::waits, pause_end(live, answer.retry_after, now));
      }
      // The next cycle says it again; of a claim, of our kinds and their pods, the watch reports
      // it.
      if (!urgent || kind == WriteKind::select_node || kind == WriteKind::patch_own ||
          kind == WriteKind::create_pod) {
        return refuse(id, answer.reason);
      }
      live.refusal = answer.reason;
      return move_to(id, live, Stage::to_read, now);
  }
}

void WriteQueue::reading_answered(std::uint64_t id, Live& live, const WriteAnswer& answer,
                                  Time now) {
  if (answer.verdict == Verdict::done) return step_done(id, answer, now);
  if (answer.verdict == Verdict::refused) return refuse(id, answer.reason);
  const bool was_read = answer.object.has_value();
  if (was_read && live.last_reading) return refuse(id, live.refusal);
  // The server is done with it after its deadline; it counts from when the write came in.
  const Time settled = live.sent_at + options_.timeout + options_.timeout;
  if (was_read) {
    live.last_reading = true;
    return move_to(id, live, Stage::to_read, std::max(settled, now));
  }
  if (now >= live.added + limits_.send_max + options_.timeout + options_.timeout) {
    return refuse(id, "its outcome is unknown, the object cannot be read: " + live.refusal,
                  RefusedAs::uncertain);
  }
  move_to(id, live, Stage::to_read, pause_end(live, answer.retry_after, now));
}

/// Of a condition: its object has changed meanwhile, or a write that places waits behind it.
bool WriteQueue::is_moot(const Live& live, const WriteAnswer& answer) const {
  const Live& last = jobs_.at(lines_.at(live.job.object).back());
  return answer.status == status_conflict || last.job.urgency == Urgency::place;
}

void WriteQueue::forget_written(const Live& live) {
  for (const ConditionUpdate& update : live.job.steps[live.step].patch.conditions) {
    written_conditions_.erase({live.job.object, update.type});
  }
}

Time WriteQueue::pause_end(Live& live, const std::optional<Duration>& retry_after, Time now) {
  std::int64_t pause_ms = limits_.pause.after(++live.attempts).ms;
  // Between half of it and all of it, so that not all of them are sent again together.
  const auto varied = static_cast<std::int64_t>(mix64(++pauses_) & 0xFFFFU);
  pause_ms = pause_ms / 2 + varied % (pause_ms / 2 + 1);
  return now + Duration{pause_ms + (retry_after ? retry_after->ms : 0)};
}

void WriteQueue::remember(const ObjectRef& key, const ObjectState& object, Time now) {
  constexpr std::size_t kept_max = 20'000;
  constexpr Duration kept{60'000};
  if (own_.size() > kept_max) {
    std::erase_if(own_, [&](const auto& each) { return each.second.when + kept < now; });
  }
  own_[key] = {.object = object, .answer = ++answers_, .when = now};
}

void WriteQueue::step_done(std::uint64_t id, const WriteAnswer& answer, Time now) {
  Live& live = jobs_.at(id);
  const WriteKind kind = live.job.steps[live.step].kind;
  const bool patched =
      kind == WriteKind::patch_pod || kind == WriteKind::patch_own || kind == WriteKind::read_scale;
  if (patched && answer.object) remember(live.job.object, *answer.object, now);
  ++live.step;
  live.attempts = 0;
  live.last_reading = false;
  live.refusal.clear();
  if (live.step < live.job.steps.size()) return move_to(id, live, Stage::waits, now);
  ++statistics_.done;
  if (live.job.event) add_event(std::move(*live.job.event));
  if (live.job.is_eviction) {
    LeavingUnit& unit = units_.at(unit_of(live));
    if (!unit.left_since) unit.left_since = now;
  }
  const std::vector<std::uint64_t> dependents = dependents_of(id);
  forget(id);
  for (const std::uint64_t other : dependents) {
    const auto found = jobs_.find(other);
    if (found == jobs_.end()) continue;
    found->second.needs.erase(id);
    sort_in(other, found->second);
  }
}

std::vector<std::uint64_t> WriteQueue::dependents_of(std::uint64_t id) const {
  const auto found = needed_by_.find(id);
  return found == needed_by_.end() ? std::vector<std::uint64_t>{} : found->second;
}

void WriteQueue::add_event(EventRequest event) {
  events_.push_back(std::move(event));
  if (events_.size() <= limits_.events_max) return;
  events_.pop_front();
  ++statistics_.events_dropped;
}

void WriteQueue::refuse(std::uint64_t id, const std::string& reason, RefusedAs as) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const Live& live = found->second;
  const bool urgent = live.job.urgency == Urgency::place;
  if (statuses_.contains(id)) ++statuses_refused_;
  if (urgent) {
    ++statistics_.refused;
    std::vector<std::string> plans = live.also;
    plans.insert(plans.begin(), live.plan);
    for (const std::string& plan : plans) {
      receipts_.push_back({.plan = plan,
                           .object = live.job.object,
                           .reason = reason,
                           .ask = live.job.ask,
                           .uncertain = as == RefusedAs::uncertain,
                           .awaits_volume = as == RefusedAs::awaits_volume});
    }
  }
  const std::vector<std::uint64_t> dependents = dependents_of(id);
  forget(id);
  for (const std::uint64_t other : dependents) refuse(other, std::string(relies_on_refused));
}

// ---- What leaves as one
// --------------------------------------------------------------------------

WriteQueue::UnitKey WriteQueue::unit_of(const Live& live) {
  return {.plan = live.plan, .ask = live.job.ask, .unit = live.job.unit.value_or(live.job.object)};
}

/// A pod of the unit has left, or may have.
bool WriteQueue::has_begun(const UnitKey& unit, std::uint64_t but_for) const {
  const auto found = units_.find(unit);
  if (found == units_.end()) return false;
  if (found->second.left_since) return true;
  return std::ranges::any_of(found->second.jobs, [&](std::uint64_t id) {
    const Live& live = jobs_.at(id);
    if (id == but_for || live.stage == Stage::waits) return false;
    const WriteKind kind = live.job.steps[live.step].kind;
    return kind == WriteKind::erase || kind == WriteKind::evict;
  });
}

void WriteQueue::budget_refused(std::uint64_t id, Live& live, const WriteAnswer& answer, Time now) {
  const UnitKey unit = unit_of(live);
  const bool is_half_gone = has_begun(unit, id);
  spare_others(unit, id);
  if (!is_half_gone) return refuse(id, answer.reason);
  const Time until = units_.at(unit).left_since.value_or(now) + limits_.leave_max;
  if (answer.status == status_too_many && now < until) {
    ++statistics_.again;
    return move_to(id, live, Stage::waits, pause_end(live, answer.retry_after, now));
  }
  report_left_behind(live);
  refuse(id, fmt::format("others of {} have left, and a budget keeps this one: {}",
                         ref_text(unit.unit), answer.reason));
}

void WriteQueue::report_left_behind(const Live& live) {
  ++statistics_.left_behind;
  add_event({.regarding = live.job.seen.object,
             .is_warning = true,
             .reason = "LeftBehind",
             .action = "Preempting",
             .note = fmt::format("others of {} have left, and a disruption budget keeps this pod",
                                 ref_text(unit_of(live).unit))});
}

/// The room of the ask's other victims alone does not help it.
void WriteQueue::spare_others(const UnitKey& but_for, std::uint64_t refused) {
  std::vector<std::uint64_t> spared;
  std::map<UnitKey, bool> begun;
  for (const std::uint64_t id : evictions_.at(but_for.ask)) {
    const Live& live = jobs_.at(id);
    if (!waiting_.contains(id) || live.plan != but_for.plan) continue;
    const auto [unit, is_new] = begun.try_emplace(unit_of(live));
    if (is_new) unit->second = has_begun(unit->first, refused);
    if (!unit->second) spared.push_back(id);
  }
  for (const std::uint64_t id : spared) refuse(id, "another victim of this ask stays");
}

// ---- What is given up ---------------------------------------------------------------------------

void WriteQueue::drop(Which which, const std::string& reason) {
  std::vector<std::uint64_t> dropped;
  for (const std::uint64_t id : waiting_) {
    const Live& live = jobs_.at(id);
    if (which == Which::all || live.job.is_eviction) dropped.push_back(id);
  }
  if (which == Which::all) {
    dropped.insert(dropped.end(), conditions_.begin(), conditions_.end());
    events_.clear();
  }
  for (const std::uint64_t id : dropped) refuse(id, reason);
}

void WriteQueue::drop_plane(const std::string& plane, const std::string& reason) {
  std::vector<std::uint64_t> dropped;
  for (const std::uint64_t id : waiting_) {
    if (jobs_.at(id).job.object.plane == plane) dropped.push_back(id);
  }
  for (const std::uint64_t id : dropped) refuse(id, reason);
}

std::vector<Receipt> WriteQueue::take_receipts() { return std::exchange(receipts_, {}); }

std::optional<Time> WriteQueue::sending_since() const {
  return plan_times_.empty() ? std::nullopt : std::optional(*plan_times_.begin());
}

}  // namespace makeway::kube

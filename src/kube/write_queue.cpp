#include "kube/write_queue.hpp"

#include <algorithm>
#include <utility>

#include "base/prng.hpp"

namespace makeway::kube {
namespace {

constexpr Duration one_second{1'000};
constexpr int status_conflict = 409;

bool is_refused_by_budget(int status) { return status == 429 || status == 403 || status == 500; }

}  // namespace

WriteQueue::WriteQueue(WriteManner manner, QueueLimits limits)
    : manner_(std::move(manner)), limits_(limits) {}

// ---- What comes in ------------------------------------------------------------------------------

void WriteQueue::add(const std::string& plan, Time plan_now, PlanJobs jobs, Time now) {
  const std::uint64_t first = last_id_ + 1;
  std::map<std::uint64_t, std::uint64_t> joined;  // By job: the one that does the same.
  for (Receipt& receipt : jobs.refused) receipts_.push_back(std::move(receipt));
  for (WriteJob& job : jobs.jobs) {
    Live live{.job = std::move(job),
              .plan = plan,
              .plan_now = plan_now,
              .added = now,
              .not_before = now,
              .sent_at = now,
              .refusal = {},
              .needs = {},
              .also = {}};
    for (const std::size_t need : live.job.needs) {
      const auto other = joined.find(first + need);
      const std::uint64_t on = other == joined.end() ? first + need : other->second;
      if (jobs_.contains(on)) live.needs.insert(on);
    }
    if (live.job.is_eviction) need_binds(live);
    const std::uint64_t id = ++last_id_;
    if (live.job.steps.empty()) continue;  // Done already.
    if (const auto twin = waiting_twin(live.job)) {
      join(jobs_.at(*twin), std::move(live));
      joined.emplace(id, *twin);
      continue;
    }
    enqueue(id, std::move(live));
  }
}

void WriteQueue::enqueue(std::uint64_t id, Live live) {
  const bool urgent = live.job.urgency == Urgency::place;
  if (!urgent && is_repeated(live.job, live.added)) return;
  give_way(live.job.object);
  lines_[live.job.object].push_back(id);
  (urgent ? waiting_ : conditions_).insert(id);
  jobs_.emplace(id, std::move(live));
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

/// The last write about the object, if it is not sent yet and nominates to the same node. While a
/// server is slow every plan says so once more.
std::optional<std::uint64_t> WriteQueue::waiting_twin(const WriteJob& job) const {
  const auto nominates = [](const WriteJob& each) {
    return each.urgency == Urgency::place && !each.is_eviction && each.steps.size() == 1 &&
           each.steps.front().kind == WriteKind::patch_pod &&
           each.steps.front().patch.nominated_node.has_value();
  };
  const auto line = lines_.find(job.object);
  if (line == lines_.end() || !nominates(job) || !job.needs.empty()) return std::nullopt;
  const std::uint64_t id = line->second.back();
  const Live& last = jobs_.at(id);
  const bool is_same =
      waiting_.contains(id) && !last.was_sent && nominates(last.job) &&
      last.job.seen.object.uid == job.seen.object.uid &&
      last.job.steps.front().patch.nominated_node == job.steps.front().patch.nominated_node;
  return is_same ? std::optional(id) : std::nullopt;
}

void WriteQueue::join(Live& twin, Live newer) {
  twin.also.push_back(std::move(newer.plan));
  twin.job.seen = std::move(newer.job.seen);
  twin.job.steps = std::move(newer.job.steps);
  if (newer.job.event) twin.job.event = std::move(newer.job.event);
}

/// The same reason was written a short while ago.
bool WriteQueue::is_repeated(const WriteJob& job, Time now) const {
  const auto told = told_.find(job.object);
  if (told == told_.end() || told->second + limits_.condition_again <= now) return false;
  return std::ranges::all_of(job.steps.front().patch.conditions, [&](const ConditionWish& wish) {
    const SeenCondition* const seen = job.seen.object.condition(wish.type);
    return seen != nullptr && seen->reason == wish.reason &&
           seen->status == (wish.value ? "True" : "False");
  });
}

/// Conditions about the object that are not sent yet are out of date.
void WriteQueue::give_way(const std::string& object) {
  const auto line = lines_.find(object);
  if (line == lines_.end()) return;
  std::vector<std::uint64_t> old;
  for (const std::uint64_t id : line->second) {
    if (conditions_.contains(id)) old.push_back(id);
  }
  for (const std::uint64_t id : old) forget(id);
}

void WriteQueue::forget(std::uint64_t id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const auto line = lines_.find(found->second.job.object);
  std::erase(line->second, id);
  if (line->second.empty()) lines_.erase(line);
  waiting_.erase(id);
  conditions_.erase(id);
  readings_.erase(id);
  jobs_.erase(found);
}

// ---- What goes out ------------------------------------------------------------------------------

bool WriteQueue::is_first(std::uint64_t id, const Live& live) const {
  return lines_.at(live.job.object).front() == id;
}

bool WriteQueue::is_ready(std::uint64_t id, const Live& live, Time now) const {
  return live.not_before <= now && live.needs.empty() && is_first(id, live);
}

ObjectSight WriteQueue::guarded(const Live& live) const {
  ObjectSight object = live.job.seen.object;
  const auto own = own_.find(live.job.object);
  const bool newer = own != own_.end() && own->second.uid == object.uid &&
                     own->second.answer > live.job.seen.answers;
  if (newer) object.version = own->second.version;
  return object;
}

WriteCall WriteQueue::call_of(const Live& live, Time server_now) const {
  const WriteStep& step = live.job.steps[live.step];
  const ObjectSight object = guarded(live);
  switch (step.kind) {
    case WriteKind::bind: return bind_call(manner_, object, step.node, live.plan);
    case WriteKind::erase: return delete_call(manner_, object, step.grace_seconds);
    case WriteKind::evict: return eviction_call(manner_, object);
    case WriteKind::patch_group: return patch_group_call(manner_, object, step.patch, server_now);
    case WriteKind::select_node: return select_node_call(manner_, object, step.node);
    case WriteKind::patch_pod:
    case WriteKind::event:
    case WriteKind::await: break;
  }
  return patch_pod_call(manner_, object, step.patch, server_now);
}

Sending WriteQueue::send(std::uint64_t id, Live& live, Time now, Time server_now) {
  waiting_.erase(id);
  conditions_.erase(id);
  live.stage = Stage::sent;
  live.sent_at = now;
  live.was_sent = true;
  ++statistics_.sent;
  return {.job = id, .reads = false, .call = call_of(live, server_now)};
}

/// Nothing is sent for them: the loop decides again.
void WriteQueue::end_waits(Time now) {
  std::vector<std::uint64_t> ended;
  for (const std::uint64_t id : waiting_) {
    const Live& live = jobs_.at(id);
    const bool waits = live.job.steps[live.step].kind == WriteKind::await;
    if (waits && is_ready(id, live, now)) ended.push_back(id);
  }
  for (const std::uint64_t id : ended) refuse(id, std::string(jobs_.at(id).job.waits_because));
}

std::optional<Sending> WriteQueue::next(Time now, Time server_now) {
  end_waits(now);
  if (auto reading = next_reading(now)) return reading;
  for (const std::uint64_t id : waiting_) {
    Live& live = jobs_.at(id);
    if (is_ready(id, live, now)) return send(id, live, now, server_now);
  }
  if (auto condition = next_condition(now, server_now)) return condition;
  return next_event(now, server_now);
}

std::optional<Sending> WriteQueue::next_reading(Time now) {
  for (const std::uint64_t id : readings_) {
    Live& live = jobs_.at(id);
    if (live.not_before > now) continue;
    readings_.erase(id);
    live.stage = Stage::reads;
    return Sending{.job = id, .reads = true, .call = call_of(live, now)};
  }
  return std::nullopt;
}

std::optional<Sending> WriteQueue::next_condition(Time now, Time server_now) {
  if (conditions_.empty()) return std::nullopt;
  if (!condition_allowance_) {
    condition_allowance_.emplace(limits_.conditions_per_second, one_second, Allowance::Start::full,
                                 now);
  }
  if (!condition_allowance_->has(1, now)) return std::nullopt;
  for (const std::uint64_t id : conditions_) {
    Live& live = jobs_.at(id);
    if (!is_ready(id, live, now)) continue;
    condition_allowance_->spend(1, now);
    told_[live.job.object] = now;
    return send(id, live, now, server_now);
  }
  return std::nullopt;
}

/// What is only read again keeps no event waiting.
bool WriteQueue::is_placing() const {
  return std::ranges::any_of(jobs_, [](const auto& each) {
    const Live& live = each.second;
    return live.job.urgency == Urgency::place &&
           (live.stage == Stage::waits || live.stage == Stage::sent);
  });
}

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
      .job = id, .reads = false, .call = event_call(manner_, events_.front(), server_now, stamp)};
  events_.pop_front();
  return sending;
}

std::optional<Time> WriteQueue::next_due(Time now) {
  std::optional<Time> due;
  const auto at = [&](Time time) {
    if (time > now && (!due || time < *due)) due = time;
  };
  for (const std::uint64_t id : readings_) at(jobs_.at(id).not_before);
  for (const std::uint64_t id : waiting_) at(jobs_.at(id).not_before);
  if (!conditions_.empty() && condition_allowance_) at(now + condition_allowance_->wait(now));
  for (const std::uint64_t id : conditions_) at(jobs_.at(id).not_before);
  if (!events_.empty()) at(events_not_before_);
  if (!events_.empty() && event_allowance_) at(now + event_allowance_->wait(now));
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
    const WriteGoal goal{
        .kind = step.kind, .uid = live.job.seen.object.uid, .node = step.node, .patch = step.patch};
    return reading_answered(job, live, judge_reading(goal, result), now);
  }
  write_answered(job, live, judge_answer(step.kind, result), now);
}

void WriteQueue::write_answered(std::uint64_t id, Live& live, const WriteAnswer& answer, Time now) {
  const bool urgent = live.job.urgency == Urgency::place;
  const WriteKind kind = live.job.steps[live.step].kind;
  switch (answer.verdict) {
    case Verdict::done: return step_done(id, answer, now);
    case Verdict::again:
      ++statistics_.again;
      if (now >= live.added + limits_.send_max) {
        return refuse(id, "it could not be sent for too long: " + answer.reason);
      }
      live.stage = Stage::waits;
      (urgent ? waiting_ : conditions_).insert(id);
      return pause(live, answer.retry_after, now);
    case Verdict::refused:
      if (kind == WriteKind::bind && answer.status == status_conflict) {
        live.refusal = answer.reason;
        live.last_reading = true;
        live.stage = Stage::to_read;
        live.not_before = now;
        readings_.insert(id);
        return;
      }
      if (live.job.is_eviction && kind == WriteKind::evict && is_refused_by_budget(answer.status)) {
        spare_others(WriteJob(live.job));
      }
      return refuse(id, answer.reason);
    case Verdict::unknown:
      ++statistics_.unknown;
      // The next cycle says it again; of a claim, its watch tells.
      if (!urgent || kind == WriteKind::select_node) return refuse(id, answer.reason);
      live.refusal = answer.reason;
      live.stage = Stage::to_read;
      live.not_before = now;
      readings_.insert(id);
      return;
  }
}

void WriteQueue::reading_answered(std::uint64_t id, Live& live, const WriteAnswer& answer,
                                  Time now) {
  if (answer.verdict == Verdict::done) return step_done(id, answer, now);
  if (answer.verdict == Verdict::refused) return refuse(id, answer.reason);
  const bool was_read = answer.object.has_value();
  if (was_read && live.last_reading) return refuse(id, live.refusal);
  // The server is done with it after its deadline; it counts from when the write came in.
  const Time settled = live.sent_at + manner_.timeout + manner_.timeout;
  live.stage = Stage::to_read;
  readings_.insert(id);
  if (was_read) {
    live.not_before = std::max(settled, now);
    live.last_reading = true;
    return;
  }
  if (now >= live.added + limits_.send_max + manner_.timeout + manner_.timeout) {
    return refuse(id, "what became of it cannot be read: " + live.refusal);
  }
  pause(live, answer.retry_after, now);
}

void WriteQueue::pause(Live& live, const std::optional<Duration>& retry_after, Time now) {
  std::int64_t pause_ms = limits_.pause_first.ms;
  for (int doubled = 0; doubled < live.attempts && pause_ms < limits_.pause_max.ms; ++doubled) {
    pause_ms *= 2;
  }
  ++live.attempts;
  pause_ms = std::min(pause_ms, limits_.pause_max.ms);
  // Between the half of it and all of it, so that not all come back together.
  const auto varied = static_cast<std::int64_t>(mix64(++pauses_) & 0xFFFFU);
  pause_ms = pause_ms / 2 + varied % (pause_ms / 2 + 1);
  live.not_before = now + Duration{pause_ms + (retry_after ? retry_after->ms : 0)};
}

void WriteQueue::remember(const ObjectSight& object, Time now) {
  constexpr std::size_t kept_max = 20'000;
  constexpr Duration kept{60'000};
  if (own_.size() > kept_max) {
    std::erase_if(own_, [&](const auto& each) { return each.second.when + kept < now; });
    std::erase_if(told_,
                  [&](const auto& each) { return each.second + limits_.condition_again < now; });
  }
  own_[(object.kind == ObjectKind::pod ? "Pod " : "PodGroup ") + object.namespace_name + "/" +
       object.name] = {
      .uid = object.uid, .version = object.version, .answer = ++answers_, .when = now};
}

void WriteQueue::step_done(std::uint64_t id, const WriteAnswer& answer, Time now) {
  Live& live = jobs_.at(id);
  const bool patched = live.job.steps[live.step].kind == WriteKind::patch_pod;
  if (patched && answer.object) remember(*answer.object, now);
  ++live.step;
  live.attempts = 0;
  live.last_reading = false;
  live.refusal.clear();
  if (live.step < live.job.steps.size()) {
    live.stage = Stage::waits;
    live.not_before = now;
    waiting_.insert(id);
    return;
  }
  ++statistics_.done;
  if (live.job.event) {
    events_.push_back(std::move(*live.job.event));
    if (events_.size() > limits_.events_max) {
      events_.pop_front();
      ++statistics_.events_dropped;
    }
  }
  forget(id);
  for (auto& [other, each] : jobs_) each.needs.erase(id);
}

void WriteQueue::refuse(std::uint64_t id, const std::string& reason) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  const Live& live = found->second;
  const bool urgent = live.job.urgency == Urgency::place;
  if (urgent) {
    ++statistics_.refused;
    receipts_.push_back(
        {.plan = live.plan, .object = live.job.object, .reason = reason, .ask = live.job.ask});
    for (const std::string& plan : live.also) {
      receipts_.push_back(
          {.plan = plan, .object = live.job.object, .reason = reason, .ask = live.job.ask});
    }
  }
  forget(id);
  std::vector<std::uint64_t> dependents;
  for (const auto& [other, each] : jobs_) {
    if (each.needs.contains(id)) dependents.push_back(other);
  }
  for (const std::uint64_t other : dependents) refuse(other, "what it relies on was refused");
}

/// Their room alone does not help the ask.
void WriteQueue::spare_others(const WriteJob& job) {
  std::set<std::string> leaving;
  for (const auto& [id, live] : jobs_) {
    if (live.job.ask == job.ask && live.was_sent) leaving.insert(live.job.unit);
  }
  std::vector<std::uint64_t> spared;
  for (const std::uint64_t id : waiting_) {
    const Live& live = jobs_.at(id);
    if (!live.job.is_eviction || live.was_sent || live.job.ask != job.ask) continue;
    if (!live.job.unit.empty() && leaving.contains(live.job.unit)) continue;
    spared.push_back(id);
  }
  for (const std::uint64_t id : spared) refuse(id, "another victim of this ask stays");
}

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

std::vector<Receipt> WriteQueue::take_receipts() { return std::exchange(receipts_, {}); }

std::optional<Time> WriteQueue::sending_since() const {
  std::optional<Time> since;
  for (const auto& [id, live] : jobs_) {
    if (live.job.urgency != Urgency::place) continue;
    if (!since || live.plan_now < *since) since = live.plan_now;
  }
  return since;
}

}  // namespace makeway::kube

#include "control/control_loop.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace makeway {
namespace {

std::string ask_text_of(const AskName& name) { return ask_text(name); }

}  // namespace

bool ControlLoop::step() {
  if (options_.everybody) {
    const Batch batch = port_.poll(now_);
    take(batch);
    if (!batch.blind) decide(now_, {});
    return true;
  }
  const bool expected = expects();
  const Batch batch = port_.poll(poll_until());
  take(batch);
  blind_ = batch.blind;
  // Whoever waits for a retry, or was refused by the judge, is not worth waiting for.
  if (batch.ended && batch.changes.empty() && batch.receipts.empty() && !expected) return false;
  if (blind_) return !batch.ended;
  const std::uint64_t begun = statistics_.rollbacks;
  finish_begun();
  if (statistics_.rollbacks == begun) roll_back();
  // The next look shows them as leaving: decided before, somebody else might leave as well.
  if (statistics_.rollbacks != begun) return true;
  if (held()) return true;
  std::vector<AskName> due = backlog_.take_due(cluster_, now_);
  if (!schedules_held()) {
    std::ranges::move(schedules_.take_due(now_), std::back_inserter(due));
  }
  std::ranges::move(sessions_.take_due(now_), std::back_inserter(due));
  const std::optional<Time> queues_due = queue_turn_.next_due(cluster_, now_);
  if (due.empty() && queues_due && *queues_due <= now_) due.push_back(QueueTurn::name());
  if (due.empty()) return !batch.ended || expects();
  decide(now_, due);
  return true;
}

Time ControlLoop::poll_until() const {
  Time latest = now_ + options_.poll_max;
  latest = std::min(latest, interrupted_binds_.next_due().value_or(latest));
  latest = std::min(latest, interrupted_evictions_.next_due().value_or(latest));
  if (blind_) return latest;  // Whoever is due stays due until there is seen_object again.
  if (const auto until = held()) return std::min(latest, *until);
  return std::min(latest, next_due(true).value_or(latest));
}

/// What nobody carries out is never seen.
std::optional<Time> ControlLoop::held() const {
  return options_.carries_out ? in_flight_.hold_until(now_) : std::nullopt;
}

std::optional<Time> ControlLoop::schedules_held() const {
  return options_.carries_out ? in_flight_.hold_schedules_until(now_) : std::nullopt;
}

std::optional<Time> ControlLoop::next_due(bool retries) const {
  std::optional<Time> next = backlog_.next_due(now_, retries);
  std::optional<Time> schedules = schedules_.next_due(now_, retries);
  if (const auto until = schedules_held(); schedules && until) {
    schedules = std::max(*schedules, *until);
  }
  for (const auto& other :
       {schedules, sessions_.next_due(now_, retries), queue_turn_.next_due(cluster_, now_)}) {
    if (other) next = std::min(next.value_or(*other), *other);
  }
  return next;
}

bool ControlLoop::expects() const {
  const std::optional<Time> next = next_due(false);
  return next && *next <= now_ + options_.patience;
}

void ControlLoop::take(const Batch& batch) {
  now_ = std::max(now_, batch.now);
  // Where something is in flight, its effects are laid over what is shown.
  std::vector<Change> laid;
  if (!in_flight_.empty()) {
    laid.reserve(batch.changes.size());
    for (const Change& change : batch.changes) laid.push_back(in_flight_.seen(change));
  }
  const std::vector<Change>& changes = laid.empty() ? batch.changes : laid;
  apply(changes, QueueTurn::By::port);
  std::vector<Change> effects;
  for (const Receipt& receipt : batch.receipts) {
    if (auto before = in_flight_.refused(receipt)) effects.push_back(std::move(*before));
  }
  apply(effects, QueueTurn::By::loop);
  for (const Receipt& receipt : batch.receipts) {
    backlog_.back_off(receipt, now_);
    schedules_.back_off(receipt, now_);
    sessions_.back_off(receipt, now_);
    queue_turn_.back_off(receipt, now_);
  }
  statistics_.receipts += batch.receipts.size();
  std::vector<Change> unseen = in_flight_.unseen(cluster_, now_, batch.sending_since);
  apply(unseen, QueueTurn::By::loop);
  compact();
  std::ranges::move(unseen, std::back_inserter(effects));
  if (options_.watcher == nullptr) return;
  if (changes.empty() && effects.empty() && batch.receipts.empty()) return;
  options_.watcher->batch(
      {.now = now_, .changes = changes, .effects = effects, .receipts = batch.receipts}, cluster_);
}

/// All of them before anybody is told: a pod may come before the group that it belongs to.
void ControlLoop::apply(const std::vector<Change>& changes, QueueTurn::By by) {
  const bool many = changes.size() > cluster_.pod_count() + cluster_.node_count();
  if (many) {
    cluster_.begin_bulk();
    compaction_.reset();
  }
  for (const Change& change : changes) {
    backlog_.foresee(change, cluster_);
    const QueueTurn::Mark before = queue_turn_.mark_of(change, cluster_);
    cluster_.apply(change);
    queue_turn_.note(change, before, cluster_, by);
    if (compaction_) compaction_->apply(change);
  }
  if (many) {
    cluster_.finish_bulk();
    interned_before_ = cluster_.interned_count();
  }
  for (const Change& change : changes) {
    backlog_.note(change, cluster_, now_);
    schedules_.note(change);
    sessions_.note(change);
  }
}

/// Objects that come and go leave names and labels behind. The backlog knows ids of the old store
/// and is made anew, too: everybody who is pending is due once.
void ControlLoop::compact() {
  if (!compaction_) {
    const std::size_t worth_it = interned_before_ * 2 + options_.garbage_min;
    if (cluster_.interned_count() <= worth_it) return;
    compaction_.emplace();
  }
  if (!compaction_->step(cluster_, options_.copied_at_once)) return;
  cluster_ = compaction_->take();
  compaction_.reset();
  interned_before_ = cluster_.interned_count();
  ++statistics_.compactions;
  backlog_.restart(cluster_, now_);
}

void ControlLoop::decide(Time now, const std::vector<AskName>& due) {
  const bool judged = options_.judge_every > 0 && statistics_.cycles % options_.judge_every == 0;
  ++statistics_.cycles;
  statistics_.asks += due.size();
  PlanTools tools = tools_;
  tools.keep_going = true;
  if (!judged) {
    tools.check = [](const Cluster&, const Configuration&, const Plan&) {
      return std::vector<LawBreach>();
    };
  }
  if (hash_.empty()) hash_ = configuration_hash(configuration_);
  const PlanRequest request{.now = now,
                            .preset = options_.preset,
                            .configuration_hash = hash_,
                            .asks = due,
                            .explain = false,
                            .contain = tools.contain,
                            .schedulers = options_.backlog.schedulers};
  LawfulPlan made = make_lawful_plan(cluster_, configuration_, request, tools);
  if (options_.watcher != nullptr) {
    options_.watcher->cycle({.now = now, .due = request.asks, .judged = judged, .made = made},
                            cluster_);
  }
  statistics_.judged += judged ? 1 : 0;
  statistics_.decide_us += made.decide_us;
  statistics_.check_us += made.check_us;
  statistics_.refused += made.refused.size();
  std::ranges::move(made.refused, std::back_inserter(refused_));
  const Plan nothing;
  const Plan& plan = made.plan ? *made.plan : nothing;
  statistics_.left_out += plan.left_out.size();
  backlog_.learn(due, plan, made.recheck_at, now);
  schedules_.learn(made.recheck_at, now);
  sessions_.learn(made.recheck_at, now);
  queue_turn_.decided(made.recheck_at, now);
  if (!made.plan || !plan.withheld.empty()) {
    queue_turn_.back_off(now);
    for (const AskName& ask : due) not_decided(ask);
  }
  for (const Problem& problem : made.problems) {
    const auto ask = std::ranges::find(due, problem.object, ask_text_of);
    if (ask != due.end()) not_decided(*ask);
  }
  for (const PlanLeftOut& out : plan.left_out) {
    const AskName ask{.kind = out.kind, .namespace_name = out.namespace_name, .name = out.name};
    if (ask.kind == AskKind::queue) queue_turn_.back_off(now);
    not_decided(ask);
  }
  if (made.plan) submit(plan);
}

/// Whoever keeps it knows it; without a later try it would wait for a change of somebody else.
void ControlLoop::not_decided(const AskName& ask) {
  backlog_.back_off(ask, Backlog::RefusedBy::judge, now_);
  schedules_.back_off(ask, now_);
  sessions_.back_off(ask, now_);
}

void ControlLoop::submit(const Plan& plan) {
  in_flight_.sent(plan, cluster_, now_);
  interrupted_binds_.sent(plan, cluster_, now_);
  port_.submit(plan);
}

/// No decision of a policy: a knob says that half a gang is not kept.
void ControlLoop::roll_back() {
  if (auto plan = interrupted_binds_.due(cluster_, in_flight_, now_)) submit_own(*std::move(plan));
}

/// No decision either: a process before us has decided it.
void ControlLoop::finish_begun() {
  if (!options_.finishes_begun) return;
  if (!std::exchange(was_shown_, true)) {
    interrupted_evictions_.find(cluster_, options_.backlog.schedulers, now_);
  }
  if (auto plan = interrupted_evictions_.due(cluster_, in_flight_, now_))
    submit_own(*std::move(plan));
}

void ControlLoop::submit_own(Plan plan) {
  plan.preset = options_.preset;
  if (tools_.identify) plan.id = tools_.identify(plan);
  ++statistics_.rollbacks;
  if (options_.watcher != nullptr) options_.watcher->ends(plan);
  submit(plan);
}

}  // namespace makeway

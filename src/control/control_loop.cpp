#include "control/control_loop.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace makeway {
namespace {

std::string ask_text_of(const AskName& name) { return ask_text(name); }

}  // namespace

bool ControlLoop::step() {
  if (options_.every_ask) {
    const Batch batch = port_.poll(now_);
    take(batch);
    if (!batch.blind) decide(now_, {});
    return true;
  }
  const bool expected = expects();
  const Batch batch = port_.poll(poll_until());
  take(batch);
  blind_ = batch.blind;
  // An ask that waits for a retry, or was refused by the judge, is not worth waiting for.
  if (batch.ended && batch.changes.empty() && batch.receipts.empty() && !expected) return false;
  if (blind_) return !batch.ended;
  const std::uint64_t begun = statistics_.rollbacks;
  finish_begun();
  if (statistics_.rollbacks == begun) roll_back();
  // The next look shows them as leaving: decided before, other pods might be evicted as well.
  if (statistics_.rollbacks != begun) return true;
  const std::vector<AskName> due = take_due();
  if (due.empty()) return !batch.ended || expects();
  decide(now_, due);
  return true;
}

Time ControlLoop::poll_until() {
  Time latest = now_ + options_.poll_max;
  latest = std::min(latest, interrupted_binds_.next_due().value_or(latest));
  latest = std::min(latest, interrupted_evictions_.next_due().value_or(latest));
  if (blind_) return latest;  // Asks that are due stay due until the port can be trusted again.
  return std::min(latest, next_due(true).value_or(latest));
}

/// Without a port that carries out plans nothing that was sent is ever seen.
std::optional<Time> ControlLoop::held_until(AskKind kind) const {
  return options_.carries_out ? in_flight_.hold_until(kind, now_) : std::nullopt;
}

std::vector<AskName> ControlLoop::take_due() {
  std::vector<AskName> due;
  for (const Source& each : sources()) {
    // The queue stage is part of every cycle, and has its own only when no ask is due.
    const bool comes_along = each.kind == AskKind::queue && !due.empty();
    if (comes_along || held_until(each.kind)) continue;
    std::ranges::move(each.asks.take_due(cluster_, now_), std::back_inserter(due));
  }
  return due;
}

std::optional<Time> ControlLoop::next_due(bool retries) {
  std::optional<Time> next;
  for (const Source& each : sources()) {
    std::optional<Time> due = each.asks.next_due(now_, retries);
    if (!due) continue;
    if (const auto until = held_until(each.kind)) due = std::max(*due, *until);
    next = std::min(next.value_or(*due), *due);
  }
  return next;
}

bool ControlLoop::expects() {
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
    for (const Source& each : sources()) each.asks.back_off(receipt, now_);
  }
  statistics_.receipts += batch.receipts.size();
  std::vector<Change> unseen = in_flight_.unseen(now_, batch.sending_since);
  apply(unseen, QueueTurn::By::loop);
  compact();
  std::ranges::move(unseen, std::back_inserter(effects));
  if (options_.watcher == nullptr) return;
  if (changes.empty() && effects.empty() && batch.receipts.empty()) return;
  options_.watcher->batch(
      {.now = now_, .changes = changes, .effects = effects, .receipts = batch.receipts}, cluster_);
}

/// All of them before the sources learn of any: a pod may come before its group.
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
/// and is made anew, too: every pending ask is due once.
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
  for (const Source& each : sources()) each.asks.learn(due, plan, made.recheck_at, now);
  if (!made.plan || !plan.withheld.empty()) {
    not_decided(QueueTurn::name());
    for (const AskName& ask : due) not_decided(ask);
  }
  for (const Problem& problem : made.problems) {
    const auto ask = std::ranges::find(due, problem.object, ask_text_of);
    if (ask != due.end()) not_decided(*ask);
  }
  for (const PlanLeftOut& out : plan.left_out) {
    not_decided({.kind = out.kind, .namespace_name = out.namespace_name, .name = out.name});
  }
  if (made.plan) submit(plan);
}

/// The source that has the ask tries it again later; else it would wait for an unrelated change.
void ControlLoop::not_decided(const AskName& ask) {
  for (const Source& each : sources()) each.asks.not_decided(ask, now_);
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

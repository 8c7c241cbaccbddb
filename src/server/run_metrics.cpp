#include "server/run_metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

namespace makeway::server {
namespace {

using prometheus::Counter;
using prometheus::Gauge;
using prometheus::Histogram;

/// As kube-scheduler counts them.
enum class AttemptResult : std::uint8_t { scheduled, unschedulable, error };
constexpr std::array<std::string_view, 3> attempt_words = {"scheduled", "unschedulable", "error"};

AttemptResult result_of(Outcome outcome) {
  return outcome == Outcome::fits ? AttemptResult::scheduled : AttemptResult::unschedulable;
}

Histogram::BucketBoundaries doubling(double first, int count) {
  Histogram::BucketBoundaries bounds;
  for (int at = 0; at < count; ++at, first *= 2) bounds.push_back(first);
  return bounds;
}

std::string pod_key(std::string_view namespace_name, std::string_view name) {
  return std::string(namespace_name) + "/" + std::string(name);
}

double seconds_of(std::int64_t microseconds) {
  constexpr double second_us = 1'000'000;
  return static_cast<double>(microseconds) / second_us;
}

/// Counted elsewhere.
struct FigureTotal {
  std::uint64_t RunFigures::* figure;
  const char* name;
  const char* help;
};
constexpr std::array figure_totals = {
    FigureTotal{&RunFigures::writes_sent, "makeway_writes_total", "Calls that change something."},
    FigureTotal{&RunFigures::writes_refused, "makeway_writes_refused_total",
                "Calls that the server refused."},
    FigureTotal{&RunFigures::writes_repeated, "makeway_writes_repeated_total",
                "Calls sent again after overload."},
    FigureTotal{&RunFigures::writes_unknown, "makeway_writes_unknown_total",
                "Calls without an answer; the object was read."},
    FigureTotal{&RunFigures::events_dropped, "makeway_events_dropped_total", "Events not sent."},
    FigureTotal{&RunFigures::lists, "makeway_lists_total", "Lists that were read."},
    FigureTotal{&RunFigures::watch_failures, "makeway_watch_failures_total",
                "Watches that failed."},
    FigureTotal{&RunFigures::objects_refused, "makeway_objects_refused_total",
                "Objects with errors, read as far as possible."},
    FigureTotal{&RunFigures::missed_wakeups, "makeway_missed_wakeups_total",
                "Asks that found a place without a wake-up: bugs."},
    FigureTotal{&RunFigures::kubelet_refusals, "makeway_kubelet_refusals_total",
                "Pods that a kubelet did not run."},
    FigureTotal{&RunFigures::marks_not_honoured, "makeway_marks_not_honoured_total",
                "Marks of tenants that did not count, each time that they were looked at."},
    FigureTotal{&RunFigures::left_behind, "makeway_pods_left_behind_total",
                "Pods that a budget kept when the rest of their group had left."},
    FigureTotal{&RunFigures::brake_alarms, "makeway_brake_alarms_total",
                "Asks that would have made pods leave again too soon."},
};

}  // namespace

struct RunMetrics::State {
  explicit State(std::vector<std::string> names);

  Counter& counter(const std::string& name, const std::string& help,
                   const prometheus::Labels& labels = {}) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
  }
  Gauge& gauge(const std::string& name, const std::string& help,
               const prometheus::Labels& labels = {}) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry).Add(labels);
  }
  Histogram& histogram(const std::string& name, const std::string& help,
                       const prometheus::Labels& labels,
                       const Histogram::BucketBoundaries& bounds) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels,
                                                                                     bounds);
  }
  struct ByResult {
    std::array<Counter*, attempt_words.size()> attempts{};
    std::array<Histogram*, attempt_words.size()> durations{};
  };
  ByResult& of(std::string_view scheduler);
  std::string_view scheduler_of(const Cluster& cluster, const PlanAsk& ask) const;
  void mark(const Cluster& cluster, const PlanAsk& ask);
  void count(const Cluster& cluster, const PlanAsk& ask, double cycle_seconds);
  void show_pending();
  void forget_pending(const std::string& pod);

  prometheus::Registry registry;
  std::vector<std::string> schedulers;
  bool takes_all = false;                                ///< Every pod is ours.
  std::map<std::string, ByResult, std::less<>> results;  ///< By scheduler.
  std::map<std::string, bool> pending;  ///< Our pods; whether no place was found the last time.
  std::int64_t without_place = 0;       ///< Of these, for how many none was.

  Gauge& pending_active =
      gauge("scheduler_pending_pods", "Our pods that wait for a node.", {{"queue", "active"}});
  Gauge& pending_unschedulable = gauge("scheduler_pending_pods", "Our pods that wait for a node.",
                                       {{"queue", "unschedulable"}});
  Counter& preemptions = counter("scheduler_preemption_attempts_total", "Decisions with victims.");
  Histogram& victims =
      histogram("scheduler_preemption_victims", "Pods that leave for one ask.", {}, doubling(1, 7));
  Counter& changes =
      counter("makeway_changes_total", "Changes of objects that the loop was shown.");
  Counter& cycles = counter("makeway_cycles_total", "Cycles in which something was decided.");
  Histogram& decide = histogram("makeway_cycle_decide_seconds", "Time to decide a cycle.", {},
                                doubling(0.0001, 16));
  Histogram& check = histogram("makeway_cycle_check_seconds", "Time to judge a cycle's plan.", {},
                               doubling(0.0001, 16));
  Counter& binds = counter("makeway_actions_total", "Actions of plans.", {{"type", "bind"}});
  Counter& nominations =
      counter("makeway_actions_total", "Actions of plans.", {{"type", "nominate"}});
  Counter& evictions = counter("makeway_actions_total", "Actions of plans.", {{"type", "evict"}});
  Counter& refused_actions =
      counter("makeway_actions_refused_total", "Actions that the cluster or a brake refused.");
  Counter& broken = counter("makeway_plans_refused_total", "Plans that broke a law: bugs.");
  Counter& left_out = counter("makeway_asks_left_out_total", "Asks left out because of a bug.");
  Gauge& nodes = gauge("makeway_nodes", "Nodes in the cluster.");
  Gauge& pods = gauge("makeway_pods", "Pods in the cluster.");
  Gauge& asks = gauge("makeway_pending_asks", "Pods and groups that wait.");
  Gauge& unsent = gauge("makeway_unsent_actions", "Actions that wait to be sent.");
  Gauge& assumed = gauge("makeway_assumed_objects", "Objects with effects that are not seen yet.");
  Gauge& leads = gauge("makeway_leader", "1: this process leads.");
  Gauge& sees = gauge("makeway_sight", "1: every watched kind is synced.");
  std::vector<Counter*> totals;  ///< Of `figure_totals`.
};

RunMetrics::State::State(std::vector<std::string> names) : schedulers(std::move(names)) {
  for (const FigureTotal& each : figure_totals) {
    totals.push_back(&counter(each.name, each.help));
  }
  for (const std::string& name : schedulers) {
    ByResult& row = results[name];
    for (std::size_t at = 0; at < attempt_words.size(); ++at) {
      const prometheus::Labels labels = {{"result", std::string(attempt_words[at])},
                                         {"profile", name}};
      row.attempts[at] =
          &counter("scheduler_schedule_attempts_total", "Decisions about pods and groups.", labels);
      row.durations[at] =
          &histogram("scheduler_scheduling_attempt_duration_seconds",
                     "Time of the cycle in which an ask was decided and judged; without the bind.",
                     labels, doubling(0.001, 15));
    }
  }
}

RunMetrics::State::ByResult& RunMetrics::State::of(std::string_view scheduler) {
  const auto found = results.find(scheduler);
  return found == results.end() ? results.at(schedulers.front()) : found->second;
}

std::string_view RunMetrics::State::scheduler_of(const Cluster& cluster, const PlanAsk& ask) const {
  if (ask.kind == AskKind::pod) {
    const auto row = cluster.find_pod(ask.namespace_name, ask.name);
    if (row) return cluster.text(cluster.pods().scheduler[*row]);
  }
  return schedulers.front();
}

/// Whether its pods found no place.
void RunMetrics::State::mark(const Cluster& cluster, const PlanAsk& ask) {
  const bool has_none = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
  const auto note = [&](std::string_view namespace_name, std::string_view name) {
    const auto found = pending.find(pod_key(namespace_name, name));
    if (found == pending.end() || found->second == has_none) return;
    found->second = has_none;
    without_place += has_none ? 1 : -1;
  };
  if (ask.kind == AskKind::pod) return note(ask.namespace_name, ask.name);
  if (ask.kind != AskKind::pod_group) return;
  const auto group = cluster.find_group(ask.namespace_name, ask.name);
  if (!group) return;
  for (const PodIndex member : cluster.groups()[*group].members) {
    note(ask.namespace_name, cluster.pods().name[member.value]);
  }
}

void RunMetrics::State::count(const Cluster& cluster, const PlanAsk& ask, double cycle_seconds) {
  const auto result = static_cast<std::size_t>(result_of(ask.outcome));
  ByResult& row = of(scheduler_of(cluster, ask));
  row.attempts[result]->Increment();
  row.durations[result]->Observe(cycle_seconds);
  mark(cluster, ask);
  if (ask.victims.empty()) return;
  preemptions.Increment();
  victims.Observe(static_cast<double>(ask.victims.size()));
}

void RunMetrics::State::forget_pending(const std::string& pod) {
  const auto found = pending.find(pod);
  if (found == pending.end()) return;
  without_place -= found->second ? 1 : 0;
  pending.erase(found);
}

void RunMetrics::State::show_pending() {
  pending_unschedulable.Set(static_cast<double>(without_place));
  pending_active.Set(static_cast<double>(std::ssize(pending) - without_place));
}

RunMetrics::RunMetrics(std::vector<std::string> schedulers, Ours ours)
    : state_(std::make_unique<State>(std::move(schedulers))) {
  state_->takes_all = ours == Ours::all;
}
RunMetrics::~RunMetrics() = default;

void RunMetrics::batch(const AppliedBatch& batch, const Cluster& /*cluster*/) {
  for (const Change& change : batch.changes) {
    if (const auto* const gone = std::get_if<Removal>(&change)) {
      if (gone->kind == ObjectKind::pod && gone->plane.empty()) {
        state_->forget_pending(pod_key(gone->namespace_name, gone->name));
      }
      continue;
    }
    const auto* const pod = std::get_if<Pod>(&change);
    if (pod == nullptr || !pod->plane.empty()) continue;
    const bool ours = state_->takes_all || std::ranges::find(state_->schedulers, pod->scheduler) !=
                                               state_->schedulers.end();
    if (ours && pod->node.empty() && !pod->deletion) {
      state_->pending.try_emplace(pod_key(pod->namespace_name, pod->name), false);
    } else {
      state_->forget_pending(pod_key(pod->namespace_name, pod->name));
    }
  }
  state_->changes.Increment(static_cast<double>(batch.changes.size()));
  state_->refused_actions.Increment(static_cast<double>(batch.receipts.size()));
  state_->show_pending();
}

void RunMetrics::cycle(const MadeCycle& cycle, const Cluster& cluster) {
  State& state = *state_;
  state.cycles.Increment();
  state.decide.Observe(seconds_of(cycle.made.decide_us));
  state.check.Observe(seconds_of(cycle.made.check_us));
  state.broken.Increment(static_cast<double>(cycle.made.refused.size()));
  if (!cycle.made.plan) return;
  const Plan& plan = *cycle.made.plan;
  const double cycle_seconds = seconds_of(cycle.made.decide_us + cycle.made.check_us);
  for (const PlanAsk& ask : plan.asks) state.count(cluster, ask, cycle_seconds);
  const auto failed = static_cast<std::size_t>(AttemptResult::error);
  for (std::size_t out = 0; out < plan.left_out.size(); ++out) {
    state.left_out.Increment();
    state.of(state.schedulers.front()).attempts[failed]->Increment();
  }
  for (const PlanAction& action : plan.actions) {
    if (action.type == ActionType::bind) state.binds.Increment();
    if (action.type == ActionType::nominate) state.nominations.Increment();
    if (action.type == ActionType::evict) state.evictions.Increment();
  }
  state.show_pending();
}

void RunMetrics::note(const RunFigures& figures) {
  State& state = *state_;
  state.nodes.Set(static_cast<double>(figures.nodes));
  state.pods.Set(static_cast<double>(figures.pods));
  state.asks.Set(static_cast<double>(figures.asks_pending));
  state.unsent.Set(static_cast<double>(figures.unsent));
  state.assumed.Set(static_cast<double>(figures.assumed));
  state.leads.Set(figures.leads ? 1 : 0);
  state.sees.Set(figures.sees ? 1 : 0);
  for (std::size_t at = 0; at < figure_totals.size(); ++at) {
    const auto total = static_cast<double>(figures.*figure_totals[at].figure);
    state.totals[at]->Increment(std::max(0.0, total - state.totals[at]->Value()));
  }
}

std::string RunMetrics::text() const {
  return prometheus::TextSerializer().Serialize(state_->registry.Collect());
}

}  // namespace makeway::server

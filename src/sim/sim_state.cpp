#include "sim/sim_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "model/selector.hpp"

namespace makeway {

namespace {

constexpr Duration faults_last{3'600'000};
constexpr Duration budgets_take{1'000};

Time last_arrival(const SimLoad& load, Time start) {
  return load.tasks.empty() ? start : load.tasks.back().arrival;
}

}  // namespace

SimState::SimState(const SimLoad& from, const SimOptions& how)
    : load(from),
      options(how),
      now(how.start),
      faults(how.faults, how.seed, last_arrival(from, how.start) + faults_last),
      watch(agenda, faults),
      nodes(from) {
  metrics.start = now;
  for (const std::string& name : nodes.resources()) {
    if (name.find("gpu") != std::string::npos) metrics.scarce = name;
  }
  if (metrics.scarce.empty()) metrics.scarce = "cpu";
}

void SimState::refuse(Receipt receipt, bool by_fault) {
  ++(by_fault ? faults.counts().refused : metrics.refused);
  watch.refuse(std::move(receipt));
}

bool SimState::is_unseen(ObjectKind kind, const std::string& namespace_name,
                         const std::string& name, const std::string& plane) const {
  return faults.touched(sim_name(namespace_name, name, plane)) ||
         watch.holds_back(kind, namespace_name, name, plane);
}

void SimState::occupy(const Pod& pod, std::int64_t sign) {
  if (pod.node.empty()) return;
  nodes.occupy(place_of(pod), pod.priority.value_or(0), nodes.pod_row(pod.requests), sign);
}

void SimState::count_running(const Pod& pod, std::int64_t more) {
  if (budgets.empty() || !budgets.count(pod, more)) return;
  agenda.expect({.when = now + budgets_take, .what = EventKind::budgets});
}

std::optional<Time> SimState::gone_at(const Pod& pod) {
  if (options.behaviour.late) {
    const std::optional<Duration> late = options.behaviour.late(pod, now);
    if (!late) return std::nullopt;
    return std::max(now, *pod.deletion + *late);
  }
  if (!faults.strikes(&FaultOptions::stuck, now)) return std::max(now, *pod.deletion);
  ++faults.counts().stuck;
  if (faults.random().chance(50)) return std::nullopt;
  return *pod.deletion + Duration{faults.random().between(600'000, 3'600'000)};
}

std::optional<Time> SimState::adopted_gone_at(const Pod& pod) {
  if (options.behaviour.late) return gone_at(pod);
  if (options.behaviour.overdue_stay && *pod.deletion < now) return std::nullopt;
  return std::max(*pod.deletion, now);
}

std::string sim_name(const std::string& namespace_name, const std::string& name,
                     const std::string& plane) {
  return place_name(plane, fmt::format("{}/{}", namespace_name, name));
}

std::string sim_name(const Pod& pod) { return sim_name(pod.namespace_name, pod.name, pod.plane); }

std::string place_of(const Pod& pod) { return place_name(pod.plane, pod.node); }

namespace {

struct WatchKeyOf {
  WatchKey operator()(const Removal& gone) const {
    return {gone.kind, {gone.namespace_name, gone.name, gone.plane}};
  }
  template <ClusterObject Object>
  WatchKey operator()(const Object& object) const {
    return {row_of<Object>.kind, owned(key_of(object))};
  }
};

}  // namespace

WatchKey watch_key(const Change& change) { return std::visit(WatchKeyOf{}, change); }

void SimWatch::show(Change change, Time now) {
  if (faults_.options().late == 0) return batch_.changes.push_back(std::move(change));
  WatchKey key = watch_key(change);
  const auto found = held_.find(key);
  if (found != held_.end()) return found->second.changes.push_back(std::move(change));
  if (!faults_.strikes(&FaultOptions::late, now)) {
    return batch_.changes.push_back(std::move(change));
  }
  ++faults_.counts().late;
  const Time until = now + Duration{faults_.random().between(1, late_max.ms)};
  Held& held = held_[std::move(key)];
  held.until = until;
  held.changes.push_back(std::move(change));
  agenda_.expect({.when = until, .what = EventKind::shown});
}

bool SimWatch::holds_back(ObjectKind kind, const std::string& namespace_name,
                          const std::string& name, const std::string& plane) const {
  return !held_.empty() && held_.contains({kind, {namespace_name, name, plane}});
}

void SimWatch::release(Time now) {
  for (auto at = held_.begin(); at != held_.end();) {
    if (at->second.until > now) {
      ++at;
      continue;
    }
    std::ranges::move(at->second.changes, std::back_inserter(batch_.changes));
    at = held_.erase(at);
  }
}

Batch SimWatch::take() { return std::exchange(batch_, {}); }

void SimWatch::list_anew(std::vector<Change> objects) {
  held_.clear();
  batch_ = {};
  batch_.changes = std::move(objects);
}

void SimBudgets::write(const DisruptionBudget& budget) {
  budgets_[{budget.namespace_name, budget.name, budget.plane}] = {
      .object = budget, .allowed = budget.disruptions_allowed.value_or(0)};
}

void SimBudgets::remove(const Removal& gone) {
  budgets_.erase({gone.namespace_name, gone.name, gone.plane});
}

bool SimBudgets::count(const Pod& pod, std::int64_t more) {
  bool any = false;
  for (auto& [key, entry] : budgets_) {
    const bool here = entry.object.plane == pod.plane;
    if (!here || !governs(entry.object, pod.namespace_name, pod.labels)) continue;
    entry.allowed += more;
    any = true;
  }
  return any;
}

std::vector<DisruptionBudget> SimBudgets::take_changed() {
  std::vector<DisruptionBudget> changed;
  for (auto& [key, entry] : budgets_) {
    const auto allowed = static_cast<std::int32_t>(std::max<std::int64_t>(entry.allowed, 0));
    if (entry.object.disruptions_allowed == allowed) continue;
    entry.object.disruptions_allowed = allowed;
    changed.push_back(entry.object);
  }
  return changed;
}

void SimBudgets::list(std::vector<Change>& objects) const {
  for (const auto& [key, entry] : budgets_) objects.emplace_back(entry.object);
}

}  // namespace makeway

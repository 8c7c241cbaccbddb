#include "policies/shared/plan_losses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked_math.hpp"
#include "model/gpus.hpp"

namespace makeway {

void Losses::add(PlanAsk& ask, Time pending_since) {
  if (pending_since != no_time) {
    ask.pending_seconds = std::max<std::int64_t>(0, (world_.time() - pending_since).ms / 1000);
  }
  std::map<std::tuple<std::string, std::string, std::string>, PlanDisruptedGroup> groups;
  std::vector<PodIndex> leaving;
  leaving.reserve(ask.victims.size());
  for (PlanVictim& victim : ask.victims) {
    const PodIndex pod = *cluster_.find_pod(victim.namespace_name, victim.name, victim.plane);
    leaving.push_back(pod);
    victim.cost = cost_of(pod);
    ask.cost = sum(ask.cost, victim.cost);
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    if (unit.kind != UnitKind::group) continue;
    const Group& group = cluster_.groups()[unit.group];
    const auto [at, is_new] = groups.try_emplace({std::string(cluster_.text(group.namespace_name)),
                                                  std::string(cluster_.text(group.name)),
                                                  std::string(cluster_.text(group.plane))});
    if (is_new) at->second = disrupted(group);
    ++at->second.lost;
    at->second.cost = sum(at->second.cost, victim.cost);
  }
  gone_.insert(leaving.begin(), leaving.end());
  std::set<PodIndex> stopped;
  for (auto& [name, group] : groups) {
    group.remaining = group.running - group.lost;
    group.fate = group.remaining == 0              ? GroupFate::leaves
                 : group.remaining < group.minimum ? GroupFate::degraded
                                                   : GroupFate::runs_on;
    if (group.fate == GroupFate::degraded && group.running >= group.minimum) {
      const PlanCost rest = cost_of_rest(group, stopped);
      group.cost = sum(group.cost, rest);
      ask.cost = sum(ask.cost, rest);
    }
    ask.disrupted_groups.push_back(std::move(group));
  }
  std::ranges::for_each(leaving, [this](PodIndex pod) { count(pod); });
  add_stopped_units(ask, std::move(leaving), stopped);
  std::ranges::for_each(stopped, [this](PodIndex pod) { count(pod); });
}

void Losses::count(PodIndex pod) {
  if (lost_.insert(pod).second) total_ = sum(total_, cost_of(pod));
}

void Losses::close() {
  for (const Stop& stop : stops_) {
    stop.ask->stopped_pods =
        std::ranges::count_if(stop.pods, [this](PodIndex pod) { return !gone_.contains(pod); });
  }
}

/// A gang that was taken below its minimum stops: what its other pods have done is lost, too. They
/// are added to the stopped.
PlanCost Losses::cost_of_rest(const PlanDisruptedGroup& group, std::set<PodIndex>& stopped) const {
  PlanCost rest;
  const auto index = cluster_.find_group(group.namespace_name, group.name, group.plane);
  for (const PodIndex pod : cluster_.groups()[*index].members) {
    if (!runs(pod)) continue;
    rest = sum(rest, cost_of(pod));
    stopped.insert(pod);
  }
  return rest;
}

/// Section 7. What a pod has done is lost once, though it stops with several.
void Losses::add_stopped_units(PlanAsk& ask, std::vector<PodIndex> victims,
                               std::set<PodIndex>& stopped) {
  const LossUnits& units = world_.survey().loss_units();
  if (victims.empty() || !units.any()) return;
  std::ranges::sort(victims);
  const auto all = units.stopped_by(
      victims, [this](PodIndex pod) { return !world_.rules().leaving(pod); },
      [this](PodIndex pod) { return runs(pod); });
  Stop stop{.ask = &ask, .pods = {}};
  for (const LossUnits::Stopped& each : all) {
    const PodColumns& pods = cluster_.pods();
    const PodIndex first = each.rest.front();
    PlanStoppedUnit entry{.namespace_name = std::string(cluster_.text(pods.namespace_name[first])),
                          .plane = std::string(cluster_.text(pods.plane[first])),
                          .unit = std::string(each.unit),
                          .lost = std::ssize(each.lost),
                          .stopped = std::ssize(each.rest)};
    for (const PodIndex pod : each.rest) {
      const PlanCost cost = cost_of(pod);
      entry.cost = sum(entry.cost, cost);
      if (stopped.insert(pod).second) ask.cost = sum(ask.cost, cost);
      if (stopped_in_units_.insert(pod).second) stop.pods.push_back(pod);
    }
    ask.stopped_units.push_back(std::move(entry));
  }
  stops_.push_back(std::move(stop));
}

PlanCost Losses::cost_of(PodIndex pod) const {
  const std::int64_t seconds = world_.rules().lost_work_seconds(pod);
  std::int64_t gpus = 0;
  for (const ResourceAmount& item : request_of(cluster_, pod)) {
    if (is_gpu(cluster_.resources().name(item.resource))) gpus = saturated_add(gpus, item.amount);
  }
  return {.pod_seconds = seconds, .gpu_seconds = saturated_mul(seconds, gpus)};
}

/// As it is before it loses members to this ask.
PlanDisruptedGroup Losses::disrupted(const Group& group) const {
  const Unit& unit = cluster_.units()[group.unit];
  return {
      .namespace_name = std::string(cluster_.text(group.namespace_name)),
      .name = std::string(cluster_.text(group.name)),
      .plane = std::string(cluster_.text(group.plane)),
      .mode = unit.mode,
      .running = std::ranges::count_if(group.members, [this](PodIndex pod) { return runs(pod); }),
      .minimum = unit.gang ? unit.minimum : 0};
}

bool Losses::runs(PodIndex pod) const {
  return cluster_.pods().node[pod].exists() && !world_.rules().leaving(pod) && !gone_.contains(pod);
}

}  // namespace makeway

#include "policies/shared/plan_losses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/checked_math.hpp"
#include "model/gpus.hpp"

namespace makeway {
namespace {

/// The asks of one plan in their order: what one has taken is not there for the next.
class Losses {
 public:
  explicit Losses(World& world) : world_(world), cluster_(world.cluster()) {}

  void add(PlanAsk& ask);

 private:
  PlanCost cost_of(PodIndex pod) const;
  PlanDisruptedGroup disrupted(const Group& group) const;
  bool runs(PodIndex pod) const;
  std::optional<std::int64_t> pending_seconds(const PlanAsk& ask) const;
  Time pending_since(const Group& group) const;

  World& world_;
  const Cluster& cluster_;
  std::set<PodIndex> gone_;  ///< Victims of asks before.
};

void Losses::add(PlanAsk& ask) {
  if (ask.replicas) return;  // Its policy has counted.
  ask.pending_seconds = pending_seconds(ask);
  std::map<std::pair<std::string, std::string>, PlanDisruptedGroup> groups;
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
    const auto [at, is_new] = groups.try_emplace(
        {std::string(cluster_.text(group.namespace_name)), std::string(cluster_.text(group.name))});
    if (is_new) at->second = disrupted(group);
    ++at->second.lost;
    at->second.cost = sum(at->second.cost, victim.cost);
  }
  gone_.insert(leaving.begin(), leaving.end());
  for (auto& [name, group] : groups) {
    group.remaining = group.running - group.lost;
    group.fate = group.remaining == 0              ? GroupFate::leaves
                 : group.remaining < group.minimum ? GroupFate::degraded
                                                   : GroupFate::runs_on;
    ask.disrupted_groups.push_back(std::move(group));
  }
}

PlanCost Losses::cost_of(PodIndex pod) const {
  const std::int64_t seconds = world_.rules().lost_work_seconds(pod);
  std::int64_t gpus = 0;
  for (const ResourceAmount& item : cluster_.requests(cluster_.pods().requests[pod])) {
    if (is_gpu(cluster_.resources().name(item.resource))) gpus = saturated_add(gpus, item.amount);
  }
  return {.pod_seconds = seconds, .gpu_seconds = saturated_mul(seconds, gpus)};
}

/// As it is before it loses anybody to this ask.
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

std::optional<std::int64_t> Losses::pending_seconds(const PlanAsk& ask) const {
  Time since = no_time;
  if (ask.kind == AskKind::queue) return std::nullopt;
  if (ask.kind == AskKind::pod) {
    since = cluster_.pods().created[*cluster_.find_pod(ask.namespace_name, ask.name, ask.plane)];
  } else {
    since = pending_since(
        cluster_.groups()[*cluster_.find_group(ask.namespace_name, ask.name, ask.plane)]);
  }
  if (since == no_time) return std::nullopt;
  return std::max<std::int64_t>(0, (world_.rules().now() - since).ms / 1000);
}

/// A group that runs was created long before its missing members were.
Time Losses::pending_since(const Group& group) const {
  const PodColumns& pods = cluster_.pods();
  Time oldest = no_time;
  bool any_bound = false;
  for (const PodIndex pod : group.members) {
    if (pods.deletion[pod] != no_time) continue;
    if (pods.node[pod].exists()) {
      any_bound = true;
    } else if (pods.created[pod] != no_time && (oldest == no_time || pods.created[pod] < oldest)) {
      oldest = pods.created[pod];
    }
  }
  const bool says = group.object && group.object->created;
  if (says && (!any_bound || oldest == no_time)) return *group.object->created;
  return oldest;
}

}  // namespace

void add_losses(Draft& draft) {
  Losses losses(draft.world);
  for (PlanAsk& ask : draft.plan.asks) {
    if (ask.kind != AskKind::session) losses.add(ask);  // A session's entry has its own already.
    draft.plan.cost = sum(draft.plan.cost, ask.cost);
  }
}

}  // namespace makeway

#include "judge/naive_queues.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/checked_math.hpp"
#include "judge/check_plan_hearing.hpp"
#include "judge/naive_fit.hpp"
#include "judge/naive_queue_stage.hpp"
#include "model/names.hpp"

namespace makeway {
namespace {

std::int64_t amount_in(const std::vector<Amount>& amounts, std::string_view resource,
                       std::int64_t missing) {
  const auto at = std::ranges::find(amounts, resource, &Amount::resource);
  return at == amounts.end() ? missing : at->amount;
}

}  // namespace

NaiveQueues::NaiveQueues(const Cluster& cluster, const Configuration& configuration, Time now)
    : cluster_(cluster), configuration_(configuration), regimes_(cluster, configuration) {
  if (!configuration.queue.enabled || cluster.own<Queue>().empty()) return;
  find_resources();
  find_queues();
  find_homes();
  find_totals();
  count_pods(now);
  find_candidates(now);
  divide_naively(*this, cluster, configuration);
  run_stage_naively(*this, configuration, cluster);
}

/// What nodes have, cordoned ones too; `pods` is nothing that teams share.
void NaiveQueues::find_resources() {
  std::map<std::string_view, ResourceIndex> found;
  for (const NodeIndex node : cluster_.home_nodes()) {
    if (!divided(node)) continue;
    for (const ResourceAmount& each : cluster_.requests(cluster_.nodes().allocatable[node])) {
      if (each.resource == resource_pods || each.amount <= 0) continue;
      found[cluster_.resources().name(each.resource)] = each.resource;
    }
  }
  for (const auto& [name, resource] : found) resources.push_back(resource);
}

void NaiveQueues::find_queues() {
  std::set<std::string> parents;
  for (const auto& [key, object] : cluster_.own<Queue>()) {
    queues.push_back({.name = object.name,
                      .parent = object.parent,
                      .weight = object.weight,
                      .priority = object.priority,
                      .reclaimable = object.reclaimable});
    parents.insert(object.parent);
  }
  std::ranges::sort(queues, {}, &NaiveQueue::name);
  for (NaiveQueue& queue : queues) {
    queue.leaf = !parents.contains(queue.name);
    queue.shares.resize(resources.size());
  }
  for (std::size_t at = 0; at < queues.size(); ++at) {
    const std::size_t parent = find(queues[at].parent);
    if (parent != none && !queues[at].parent.empty()) queues[parent].children.push_back(at);
  }
}

std::size_t NaiveQueues::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(queues, name, {}, &NaiveQueue::name);
  if (at == queues.end() || at->name != name) return none;
  return static_cast<std::size_t>(at - queues.begin());
}

// ---- Pods and their queues ----------------------------------------------------------------------

bool NaiveQueues::apart(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  if (pods.flags[pod].kernel || pods.flags[pod].mirror) return true;
  if (pods.flags[pod].kept == KeptBy::other_scheduler) return true;
  const std::string_view named = cluster_.text(pods.priority_class[pod]);
  const bool critical = named == names::node_critical || named == names::cluster_critical;
  if (critical && configuration_.protection.protect_system_critical) return true;
  const bool alone = cluster_.units()[pods.unit[pod]].kind == UnitKind::pod;
  return alone && configuration_.required_node.enabled && !pinned_to(cluster_, pod).empty();
}

/// Pods belong to queues without children.
std::size_t NaiveQueues::leaf(std::string_view name) const {
  const std::size_t at = name.empty() ? none : find(name);
  return at != none && queues[at].leaf ? at : none;
}

/// By label: of its group, else of some pod of it, else of itself.
std::size_t NaiveQueues::stated_queue(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  const Unit& unit = cluster_.units()[pods.unit[pod]];
  if (unit.kind != UnitKind::group) return leaf(cluster_.text(pods.queue[pod]));
  const Group& group = cluster_.groups()[unit.group];
  const std::size_t own = group.object ? leaf(group.object->queue) : none;
  if (own != none) return own;
  std::size_t first = none;  // Queues stand by name, and `none` is larger than all.
  for (const PodIndex member : group.members) {
    first = std::min(first, leaf(cluster_.text(pods.queue[member])));
  }
  return first;
}

void NaiveQueues::find_homes() {
  const PodColumns& pods = cluster_.pods();
  std::map<std::string_view, std::size_t> listed;  // By namespace.
  for (const auto& [key, object] : cluster_.own<Queue>()) {
    const std::size_t at = leaf(object.name);
    for (const std::string& space : object.namespaces) {
      if (at != none) listed.try_emplace(space, at);
    }
  }
  const std::size_t last = leaf("default");
  std::map<UnitIndex, std::pair<std::size_t, bool>> homes;  // And whether it is only adopted there.
  home_.assign(pods.slots(), none);
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || apart(pod) || pods.plane[pod] != StringId{0}) continue;
    if (regimes_.of_pod(pod) != Regime::pods) continue;
    const auto [at, is_new] = homes.try_emplace(pods.unit[pod], none, false);
    auto& [home, adopts] = at->second;
    if (is_new) {
      home = stated_queue(pod);
      const auto space = listed.find(cluster_.text(pods.namespace_name[pod]));
      if (home == none && space != listed.end()) home = space->second;
      adopts = home == none && last != none;
      if (adopts) home = last;
    }
    home_[slot] = home;
    if (adopts) ++adopted;
  }
}

std::size_t NaiveQueues::queue_of(PodIndex pod) const {
  return pod.value < home_.size() ? home_[pod.value] : none;
}

/// What divided nodes have, less what pods of no queue hold there, each node for itself: the pods
/// that are there or, if that is more, those that stay and those that are nominated and could come.
void NaiveQueues::find_totals() {
  const PodColumns& pods = cluster_.pods();
  NaiveWorld world(cluster_);
  std::map<NodeIndex, std::vector<PodIndex>> here;
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || home_[slot] != none) continue;
    const bool bound = pods.node[pod].exists();
    const NodeIndex node = bound ? pods.node[pod] : pods.nominated[pod];
    if (!node.exists() || !divided(node)) continue;
    const bool kernel = pods.flags[pod].kernel;
    if (!bound && !regimes_.may_go(pod, node)) continue;  // Void.
    if (!bound && !kernel && !NaiveFit(world, pod).fits_when_empty(node)) continue;
    // Before its victims are chosen a reservation holds nothing (section 5).
    const bool pinned = configuration_.required_node.enabled && !pinned_to(cluster_, pod).empty();
    if (!bound && pinned && cluster_.notes(pods.notes[pod]).only_reserved()) continue;
    if (bound) outside.push_back(pod);
    here[node].push_back(pod);
  }
  totals.assign(resources.size(), 0);
  outside_held.assign(resources.size(), 0);
  for (const NodeIndex node : cluster_.home_nodes()) {
    if (!divided(node)) continue;
    std::vector<std::int64_t> now(resources.size());
    std::vector<std::int64_t> then(resources.size());
    for (const PodIndex pod : here[node]) {
      const std::vector<std::int64_t> row = requests(pod);
      const bool goes = pods.deletion[pod] != no_time;
      for (std::size_t column = 0; column < row.size(); ++column) {
        if (pods.node[pod].exists()) now[column] = saturated_add(now[column], row[column]);
        if (!goes) then[column] = saturated_add(then[column], row[column]);
      }
    }
    for (std::size_t column = 0; column < resources.size(); ++column) {
      const std::int64_t held = std::max(now[column], then[column]);
      outside_held[column] = saturated_add(outside_held[column], held);
      for (const ResourceAmount& has : cluster_.requests(cluster_.nodes().allocatable[node])) {
        if (has.resource != resources[column] || has.amount <= held) continue;
        totals[column] = saturated_add(totals[column], has.amount - held);
      }
    }
  }
}

bool NaiveQueues::is_lost(PodIndex pod) const {
  const NodeIndex node = cluster_.pods().node[pod];
  return node.exists() && !divided(node);
}

std::vector<std::int64_t> NaiveQueues::requests(PodIndex pod) const {
  std::vector<std::int64_t> row(resources.size());
  if (is_lost(pod)) return row;
  for (const ResourceAmount& each : cluster_.requests(cluster_.pods().requests[pod])) {
    const auto at = std::ranges::find(resources, each.resource);
    if (at != resources.end()) row[static_cast<std::size_t>(at - resources.begin())] = each.amount;
  }
  return row;
}

// ---- Numbers ------------------------------------------------------------------------------------

/// Whether some divided node would take it, were it empty.
bool NaiveQueues::fits_some_node(NaiveWorld& world, PodIndex pod) const {
  const NaiveFit fit(world, pod);
  return std::ranges::any_of(cluster_.home_nodes(), [&](NodeIndex node) {
    return divided(node) && fit.fits_when_empty(node);
  });
}

/// Also what the objects say about the past.
void NaiveQueues::count_pods(Time now) {
  const EvictionRules rules(cluster_, configuration_, now);
  const PodColumns& pods = cluster_.pods();
  NaiveWorld world(cluster_);
  std::map<std::tuple<ShapeId, RequestId, std::string_view>, bool> known;
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    const std::size_t queue = pods.flags[pod].exists ? queue_of(pod) : none;
    if (queue == none) continue;
    const bool bound = pods.node[pod].exists();
    const bool leaving = rules.leaving(pod);
    if (bound) queues[queue].bound.push_back(pod);
    bool wanted = !bound && !leaving;
    if (wanted) {
      const std::string_view pin = cluster_.notes(pods.notes[pod]).required_node;
      const auto [at, is_new] = known.try_emplace({pods.shape[pod], pods.requests[pod], pin});
      if (is_new) at->second = fits_some_node(world, pod);
      wanted = at->second;
    }
    const Time created = pods.created[pod];
    const Duration delay = configuration_.engine.preemption_delay;
    const bool recent = wanted && delay.ms > 0 && created != no_time && now < created + delay;
    const std::vector<std::int64_t> row = requests(pod);
    for (std::size_t column = 0; column < row.size(); ++column) {
      NaiveShare& share = queues[queue].shares[column];
      if (recent) share.recent = saturated_add(share.recent, row[column]);
      if (bound) share.used = saturated_add(share.used, row[column]);
      if (bound && leaving) share.leaving += row[column];
      if (bound && leaving && rules.overdue(pod)) share.stuck += row[column];
      if (wanted) share.pending = saturated_add(share.pending, row[column]);
    }
  }
  for (NaiveQueue& queue : queues) {
    const auto object = cluster_.own<Queue>().find({"", queue.name});
    for (std::size_t column = 0; column < resources.size(); ++column) {
      NaiveShare& share = queue.shares[column];
      share.before = share.used;
      if (object == cluster_.own<Queue>().end()) continue;
      const std::string_view name = cluster_.resources().name(resources[column]);
      share.before = amount_in(object->second.allocated, name, share.used);
      share.recorded = amount_in(object->second.preempting, name, 0);
    }
  }
}

/// Every pod that may be evicted, ignoring budgets; strict budgets leave open which of them.
void NaiveQueues::find_candidates(Time now) {
  const EvictionRules rules(cluster_, configuration_, now);
  const PodColumns& pods = cluster_.pods();
  const bool strict = configuration_.budgets.mode == BudgetMode::strict;
  const std::vector<const DisruptionBudget*> budgets = cluster_.budgets();
  IndexedVector<PodIndex, bool> seen(pods.slots());
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || !pods.node[pod].exists() || seen[pod]) continue;
    if (is_lost(pod)) continue;
    const std::size_t queue = queue_of(pod);
    if (queue == none || rules.leaving(pod)) continue;
    std::vector<PodIndex> together;
    for (const PodIndex member : rules.leaves_with(pod)) {
      if (!rules.leaving(member)) together.push_back(member);
    }
    for (const PodIndex each : together) seen[each] = true;
    const bool stays = std::ranges::any_of(
        together, [&](PodIndex each) { return !rules.protection(each).empty() || apart(each); });
    if (stays) continue;
    const bool governed = strict && std::ranges::any_of(together, [&](PodIndex each) {
                            return std::ranges::any_of(budgets, [&](const auto* budget) {
                              return rules.governed(each, *budget);
                            });
                          });
    exact = exact && !governed;
    for (const PodIndex each : together) {
      const std::vector<std::int64_t> row = requests(each);
      for (std::size_t column = 0; column < row.size(); ++column) {
        NaiveShare& share = queues[queue].shares[column];
        share.movable = saturated_add(share.movable, row[column]);
        if (governed) share.governed = saturated_add(share.governed, row[column]);
      }
    }
    candidates.push_back({.queue = queue, .pods = std::move(together)});
  }
}

}  // namespace makeway

#include "policies/shared/cycle.hpp"

#include <algorithm>

#include "model/required_node.hpp"
#include "model/object_text.hpp"
#include "policies/queue/queue_room.hpp"

namespace makeway {
namespace {

bool looks_at_others(const PodShape& shape) {
  return !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty();
}

}  // namespace

Cycle::Cycle(const Cluster& the_cluster, const Configuration& the_configuration, Time now_time)
    : cluster(the_cluster),
      configuration(the_configuration),
      survey(the_cluster),
      rules(survey, the_configuration, now_time),
      budgets(survey),
      now(the_cluster),
      after(the_cluster),
      decided(the_cluster.pods().slots()) {
  for (const NodeIndex node : survey.nodes()) {
    for (const PodIndex pod : cluster.nodes().nominated[node]) {
      // Who only has a node reserved was promised its room, not whom it will find there.
      const bool reserved = cluster.notes(cluster.pods().notes[pod]).reserved_since.has_value();
      if (!reserved && looks_at_others(cluster.shape(cluster.pods().shape[pod]))) {
        nominated_before.push_back({.pod = pod, .node = node});
      }
    }
    if (cluster.nodes().leaving[node] == 0) continue;
    for (const PodIndex pod : cluster.order().pods(node)) {
      if (!rules.credited(pod)) continue;
      after.remove(pod);
      gone.push_back(pod);
      worlds_differ = true;
    }
  }
}

Cycle::~Cycle() = default;

namespace {

/// Looks whether pods that are to come still fit where they are to go, with nobody in the world who
/// only hopes for a place.
class PromiseKeeper {
 public:
  explicit PromiseKeeper(Cycle& cycle) : cycle_(cycle) {}

  bool all_fit(std::span<const PodOnNode> places) const {
    Scratch& world = cycle_.after;
    const Scratch::Checkpoint before = world.checkpoint();
    world.remove(cycle_.hopeful);
    const bool all =
        std::ranges::all_of(places, [&](const PodOnNode& place) { return fits(place); });
    world.rollback(before);
    return all;
  }

  /// Nominations from before that the ask has to respect, and that are valid so far.
  std::vector<PodOnNode> held_against(PodIndex ask) const {
    std::vector<PodOnNode> held;
    const UnitIndex own = cycle_.cluster.pods().unit[ask];
    const std::int32_t priority = cycle_.cluster.units()[own].scheduling_priority;
    for (const PodOnNode& place : cycle_.nominated_before) {
      const UnitIndex unit = cycle_.cluster.pods().unit[place.pod];
      if (unit == own || cycle_.decided[place.pod] != 0 || gives_way(place, ask)) continue;
      if (cycle_.cluster.units()[unit].scheduling_priority < priority) continue;
      if (all_fit(std::span(&place, 1))) held.push_back(place);
    }
    return held;
  }

 private:
  /// A reservation promises nothing: pinned pods take turns, and a nomination to the node is more.
  bool gives_way(const PodOnNode& place, PodIndex ask) const {
    const Cluster& cluster = cycle_.cluster;
    if (!cluster.notes(cluster.pods().notes[place.pod]).reserved_since) return false;
    const bool pinned = cycle_.configuration.required_node.enabled && is_pinned(cluster, ask);
    return pinned || cluster.pods().nominated[ask] == place.node;
  }

  /// Whether the pod is there already or not.
  bool fits(const PodOnNode& place) const {
    Scratch& world = cycle_.after;
    const Scratch::Checkpoint before = world.checkpoint();
    if (world.node_of(place.pod).exists()) world.remove(place.pod);
    std::unique_ptr<PodFit>& fit = cycle_.promise_fits[place.pod];
    if (!fit) fit = std::make_unique<PodFit>(cycle_.survey, world, place.pod, cycle_.decided);
    const bool fits = !fit->check_unreserved(place.node);
    world.rollback(before);
    return fits;
  }

  Cycle& cycle_;
};

}  // namespace

std::string pod_text(const Cluster& cluster, PodIndex pod) {
  if (cluster.pods().flags[pod].kernel) return "kernel " + cluster.pod_key(pod);
  return object_text("Pod", cluster.text(cluster.pods().namespace_name[pod]),
                     cluster.pods().name[pod.value]);
}

std::string unit_text(const Cluster& cluster, UnitIndex unit) {
  const Unit& row = cluster.units()[unit];
  if (row.kind == UnitKind::pod) return pod_text(cluster, row.pod);
  const Group& group = cluster.groups()[row.group];
  return object_text("PodGroup", cluster.text(group.namespace_name), cluster.text(group.name));
}

std::string node_name(const Cluster& cluster, NodeIndex node) {
  return std::string(cluster.text(cluster.nodes().name[node]));
}

PodPlacement placement_of(const Cluster& cluster, PodIndex pod, NodeIndex node) {
  if (cluster.pods().flags[pod].kernel) {
    const std::string key = cluster.pod_key(pod);
    const std::size_t slash = key.find('/');
    return {.namespace_name = key.substr(0, slash),
            .name = key.substr(slash + 1),
            .node = node_name(cluster, node)};
  }
  return {.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod])),
          .name = std::string(cluster.pods().name[pod.value]),
          .node = node_name(cluster, node)};
}

PlanAsk start_pod_ask(const Cluster& cluster, PodIndex pod) {
  PlanAsk ask;
  ask.kind = AskKind::pod;
  ask.namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod]));
  ask.name = std::string(cluster.pods().name[pod.value]);
  ask.priority = cluster.units()[cluster.pods().unit[pod]].scheduling_priority;
  return ask;
}

bool keeps_promises(Cycle& cycle, PodIndex ask, NodeIndex node, std::span<const PodIndex> victims) {
  const PodOnNode coming{.pod = ask, .node = node};
  return keeps_promises(cycle, std::span(&coming, 1), victims);
}

bool keeps_promises(Cycle& cycle, std::span<const PodOnNode> coming,
                    std::span<const PodIndex> victims) {
  if (cycle.promises.empty() && cycle.nominated_before.empty()) return true;
  const PromiseKeeper keeper(cycle);
  const std::vector<PodOnNode> held = keeper.held_against(coming.front().pod);
  Scratch& world = cycle.after;
  const Scratch::Checkpoint before = world.checkpoint();
  for (const PodOnNode& place : coming) {
    if (world.node_of(place.pod).exists()) world.remove(place.pod);
  }
  for (const PodIndex victim : victims) {
    if (world.node_of(victim).exists()) world.remove(victim);
  }
  // Those for whom it is said already must not lean on who has not arrived.
  bool kept = keeper.all_fit(cycle.promises);
  for (const PodOnNode& place : coming) world.place(place.pod, place.node);
  kept = kept && keeper.all_fit(cycle.promises) && keeper.all_fit(held);
  world.rollback(before);
  return kept;
}

bool leans_on_hopeful(Cycle& cycle, PodFit& fit, NodeIndex node,
                      std::span<const PodIndex> victims) {
  if (cycle.hopeful.empty() || !fit.constraints().any()) return false;
  Scratch& world = cycle.after;
  const Scratch::Checkpoint before = world.checkpoint();
  world.remove(cycle.hopeful);
  for (const PodIndex victim : victims) {
    if (world.node_of(victim).exists()) world.remove(victim);
  }
  const bool refused = fit.check_unreserved(node).has_value();
  world.rollback(before);
  return refused;
}

void settle_decided(Cycle& cycle, PodIndex pod) {
  cycle.decided.writable(pod) = 1;
  const NodeIndex nominated = cycle.cluster.pods().nominated[pod];
  if (nominated.exists() && cycle.cluster.nodes().flags[nominated].exists) {
    cycle.changed_nodes.push_back(nominated);
  }
}

void settle_bound(Cycle& cycle, PodIndex pod, NodeIndex node) {
  cycle.changed_nodes.push_back(node);
  cycle.now.place(pod, node);
  cycle.after.place(pod, node);
  cycle.rules.settle(pod);
}

void settle_leaving(Cycle& cycle, std::span<const PodIndex> victims) {
  for (const PodIndex victim : victims) {
    cycle.changed_nodes.push_back(cycle.cluster.pods().node[victim]);
    // A victim may be leaving already, and be credited as gone (`leavingRoom` of its policy).
    if (cycle.after.node_of(victim).exists()) {
      cycle.after.remove(victim);
      cycle.gone.push_back(victim);
    }
    cycle.rules.settle(victim);
    cycle.worlds_differ = true;
  }
  cycle.budgets.commit(victims);
}

void settle_nominated(Cycle& cycle, PodIndex pod, NodeIndex node,
                      std::span<const PodIndex> victims) {
  cycle.changed_nodes.push_back(node);
  settle_leaving(cycle, victims);
  const PodShape& shape = cycle.cluster.shape(cycle.cluster.pods().shape[pod]);
  const bool depends_on_others = !shape.affinity.empty() || !shape.spread.empty();
  const bool may_hope = victims.empty() && cycle.configuration.workload.nomination_held_by ==
                                               NominationHeldBy::preempted_pods;
  if (depends_on_others || may_hope) {
    PodFit fit(cycle.survey, cycle.after, pod, cycle.decided);
    const bool hopes = fit.check_unreserved(node) || leans_on_hopeful(cycle, fit, node, {}) ||
                       (may_hope && !keeps_promises(cycle, pod, node, {}));
    if (hopes) {
      cycle.hopeful.push_back(pod);
    } else if (depends_on_others) {
      cycle.promises.push_back({pod, node});
    }
  }
  cycle.after.place(pod, node);
  cycle.rules.settle(pod);
  cycle.worlds_differ = true;
}

void settle_reserved(Cycle& cycle, PodIndex pod, NodeIndex node) {
  cycle.changed_nodes.push_back(node);
  cycle.after.place(pod, node);
  cycle.hopeful.push_back(pod);
  cycle.rules.settle(pod);
  cycle.worlds_differ = true;
}

}  // namespace makeway

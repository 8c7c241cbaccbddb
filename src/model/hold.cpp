#include "model/hold.hpp"

#include "model/cluster.hpp"
#include "model/required_node.hpp"

namespace makeway {

Hold nomination_hold(const Cluster& cluster, PodIndex pod, NodeIndex node,
                     const NominationFacts& facts) {
  const PodColumns& pods = cluster.pods();
  const UnitIndex unit = pods.unit[pod];
  Hold hold{.pod = pod,
            .unit = unit,
            .node = node,
            .rank = {.priority = cluster.units()[unit].scheduling_priority}};
  const bool only_reserved = facts.pinned && cluster.notes(pods.notes[pod]).only_reserved();
  const bool stands = facts.node_takes || (facts.infeasible_stands && !facts.pinned);
  hold.is_void = !facts.regime_admits || only_reserved || !stands;
  hold.may_come = !hold.is_void && facts.node_takes;
  hold.reserved = facts.pinned && !hold.is_void &&
                  required_node_of(cluster, pod) == cluster.text(cluster.nodes().name[node]);
  return hold;
}

}  // namespace makeway

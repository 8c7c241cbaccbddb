#include "engine/holds.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "engine/constraints.hpp"
#include "model/names.hpp"
#include "model/required_node.hpp"
#include "model/selector.hpp"

namespace makeway {

Holds::Holds(Survey& survey, const Configuration& configuration)
    : survey_(survey),
      cluster_(survey.cluster()),
      infeasible_stand_(configuration.workload.nomination_held_by ==
                        NominationHeldBy::preempted_pods),
      rows_(1, Hold{.pod = {}, .unit = {}, .node = {}, .rank = {}, .is_void = true}),
      row_at_(cluster_.pods().slots()),
      states_(cluster_.pods().slots()) {
  for (const PodIndex pod : cluster_.nominated_pods()) {
    const NodeIndex node = cluster_.pods().nominated[pod];
    if (!cluster_.nodes().flags[node].exists) continue;
    row_at_.writable(pod) = static_cast<std::uint32_t>(rows_.size());
    const Hold& hold = rows_.emplace_back(row(pod, node));
    if (hold.is_void) continue;
    const bool looks = looks_at_others(cluster_.shape(cluster_.pods().shape[pod]));
    (looks ? constrained_ : unconstrained_).push_back(hold);
  }
  for (std::vector<Hold>* list : {&constrained_, &unconstrained_}) {
    std::ranges::sort(*list, [this](const Hold& a, const Hold& b) {
      if (a.node == b.node) return cluster_.pod_key(a.pod) < cluster_.pod_key(b.pod);
      return cluster_.text(cluster_.nodes().name[a.node]) <
             cluster_.text(cluster_.nodes().name[b.node]);
    });
  }
}

/// A replica of a schedule is placed by Kubernetes, wherever it is pinned to.
bool Holds::asks_pinned(PodIndex pod) const { return survey_.regimes().crosses(pod); }

Hold Holds::row(PodIndex pod, NodeIndex node) {
  const PodColumns& pods = cluster_.pods();
  const UnitIndex unit = pods.unit[pod];
  Hold hold{.pod = pod,
            .unit = unit,
            .node = node,
            .rank = {.priority = cluster_.units()[unit].scheduling_priority}};
  const bool pinned = asks_pinned(pod);
  const bool must_be_feasible = !pods.flags[pod].kernel && (pinned || !infeasible_stand_);
  const bool only_reserved = pinned && cluster_.notes(pods.notes[pod]).only_reserved();
  hold.is_void = !survey_.regimes().may_go(pod, node) || only_reserved ||
                 (must_be_feasible && !survey_.could_take(pod, node));
  hold.reserved = pinned && !hold.is_void &&
                  required_node_of(cluster_, pod) == cluster_.text(cluster_.nodes().name[node]);
  return hold;
}

HoldAsk Holds::ask_of(PodIndex pod) const {
  const PodColumns& pods = cluster_.pods();
  HoldAsk ask{.pod = pod,
              .unit = {},
              .rank = {.priority = cluster_.units()[pods.unit[pod]].scheduling_priority},
              .turns_on = pods.nominated[pod]};
  if (ask.turns_on.exists() || !asks_pinned(pod)) return ask;
  const auto only =
      cluster_.find_node(required_node_of(cluster_, pod), cluster_.text(pods.plane[pod]));
  ask.turns_on = only.value_or(NodeIndex{});
  return ask;
}

// ---- Claims -------------------------------------------------------------------------------------

namespace {

/// What the claim needs beyond what its victims on the node still hold.
class ClaimNeed {
 public:
  ClaimNeed(const Cluster& cluster, const ReplicaSchedule& schedule)
      : cluster_(cluster), amounts_(cluster.order().columns()) {
    amounts_[resource_pods.value] = 1;
    for (std::uint32_t column = 0; column < amounts_.size(); ++column) {
      const std::string_view name = cluster.resources().name(ResourceIndex{column});
      const auto found = std::ranges::find(schedule.requests, name, &Amount::resource);
      if (found != schedule.requests.end()) amounts_[column] = found->amount;
    }
  }

  void less(const ClaimedVictim& victim, const Scratch& scratch, NodeIndex node) {
    const auto pod = cluster_.find_pod(victim.namespace_name, victim.name,
                                       cluster_.text(cluster_.nodes().plane[node]));
    if (!pod || cluster_.pods().uid[pod->value] != victim.uid) return;
    if (scratch.node_of(*pod) != node) return;
    for (const ResourceAmount& item : cluster_.requests(cluster_.pods().requests[*pod])) {
      std::int64_t& amount = amounts_[item.resource.value];
      amount = std::max<std::int64_t>(0, saturated_sub(amount, item.amount));
    }
  }

  const std::vector<std::int64_t>& amounts() const { return amounts_; }

 private:
  const Cluster& cluster_;
  std::vector<std::int64_t> amounts_;
};

}  // namespace

std::vector<std::int64_t> Holds::claimed(const Scratch& scratch, NodeIndex node) const {
  std::vector<std::int64_t> held;
  if (survey_.regimes().of(node) != Regime::replicas ||
      cluster_.nodes().flags[node].unschedulable) {
    return held;
  }
  const Labels labels = cluster_.label_objects(cluster_.nodes().labels[node]);
  const std::optional<std::string_view> plane = find_label(labels, names::plane);
  const std::string_view name = cluster_.text(cluster_.nodes().name[node]);
  for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
    const bool listed =
        std::ranges::find(schedule.planes, *plane, &ReplicaPlane::name) != schedule.planes.end();
    std::int64_t unmet = listed ? schedule.unmet : 0;
    for (const ReplicaClaim& claim : schedule.status.claims) {
      if (unmet-- <= 0) break;
      if (claim.node != name || claim.plane != *plane) continue;
      ClaimNeed need(cluster_, schedule);
      for (const ClaimedVictim& victim : claim.victims) need.less(victim, scratch, node);
      held.resize(need.amounts().size());
      std::ranges::transform(held, need.amounts(), held.begin(), saturated_add);
    }
  }
  return held;
}

}  // namespace makeway

#include "policies/workload/workload_policy.hpp"

#include "model/group_status.hpp"
#include "policies/shared/pod_actions.hpp"
#include "policies/workload/group/group_policy.hpp"
#include "policies/workload/pod/pod_policy.hpp"

namespace makeway {
namespace {

/// A group that runs was created long before its missing members were.
Time pending_since(const Cluster& cluster, const Group& group) {
  const PodColumns& pods = cluster.pods();
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

class WorkloadPolicy : public Policy {
 public:
  explicit WorkloadPolicy(const PolicyContext& context)
      : context_(context),
        draft_(context.draft),
        world_(context.draft.world),
        cluster_(world_.cluster()) {}

  std::optional<Problem> who_asks(std::vector<AskTurn>& turns) override;
  void decide(const AskTurn& turn) override;
  void finish(PlanAsk& ask, Losses& losses) override;

 private:
  bool is_pod(UnitIndex unit) const { return cluster_.units()[unit].kind == UnitKind::pod; }

  PolicyContext context_;
  Draft& draft_;
  World& world_;
  const Cluster& cluster_;
  std::optional<AskClasses> classes_;
};

std::optional<Problem> WorkloadPolicy::who_asks(std::vector<AskTurn>& turns) {
  std::vector<PodIndex> pods;
  for (const PendingUnit& unit : context_.asking.units) {
    if (is_pod(unit.unit)) {
      if (world_.asks_pinned(unit.pod)) continue;
      pods.push_back(unit.pod);
    }
    turns.push_back({.policy = this,
                     .priority = unit.priority,
                     .created = unit.created,
                     .pod = unit.pod,
                     .limited = unit.unit});
  }
  classes_.emplace(draft_, pods);
  return std::nullopt;
}

void WorkloadPolicy::decide(const AskTurn& turn) {
  const UnitIndex unit = turn.limited;
  context_.deciding.start(unit);
  if (!is_pod(unit)) {
    return decide_group(draft_, unit, context_.asking.given_to(cluster_, unit));
  }
  decide_pod(draft_, classes_->of(turn.pod), turn.pod, context_.asking.given_node(turn.pod));
  classes_->done(turn.pod);
}

void WorkloadPolicy::finish(PlanAsk& ask, Losses& losses) {
  Plan& plan = draft_.plan;
  const bool is_group = ask.kind == AskKind::pod_group;
  std::optional<GroupIndex> group;
  Time since = no_time;
  if (is_group) {
    group = cluster_.find_group(ask.namespace_name, ask.name, ask.plane);
    since = pending_since(cluster_, cluster_.groups()[*group]);
  } else {
    since = cluster_.pods().created[*cluster_.find_pod(ask.namespace_name, ask.name, ask.plane)];
  }
  losses.add(ask, since);
  add_evictions(ask, plan);
  add_placements(cluster_, ask, plan);
  add_wait(ask, plan);
  if (is_group) {
    if (auto status = priority_condition(cluster_, *group)) {
      plan.status.push_back(*std::move(status));
    }
  }
  add_unscheduled(ask, is_group ? "PodGroupInitiallyScheduled" : "PodScheduled", plan);
}

}  // namespace

std::unique_ptr<Policy> make_workload_policy(const PolicyContext& context) {
  if (context.asking.units.empty()) return nullptr;
  return std::make_unique<WorkloadPolicy>(context);
}

}  // namespace makeway

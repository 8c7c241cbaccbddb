#include "policies/workload/workload_policy.hpp"

#include <algorithm>
#include <set>

#include "model/group_status.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_actions.hpp"
#include "policies/workload/group/group_policy.hpp"
#include "policies/workload/lost_nominations.hpp"
#include "policies/workload/member_asks.hpp"
#include "policies/workload/pod/pod_policy.hpp"

namespace makeway {
namespace {

/// A group that runs was created long before its missing members were.
Time pending_since(const Cluster& cluster, const Group& group) {
  const PodColumns& pods = cluster.pods();
  Time oldest = no_time;
  bool any_bound = false;
  for (const PodIndex pod : group.members) {
    if (Departures::leaving(cluster, pod)) continue;
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
        members_(context),
        lost_(context.draft),
        draft_(context.draft),
        world_(context.draft.world),
        cluster_(world_.cluster()) {}

  std::optional<Problem> collect_turns(std::vector<AskTurn>& turns) override;
  void decide(const AskTurn& turn) override;
  void finish(PlanAsk& ask, Losses& losses) override;

 private:
  void add_unscheduled_members(const PlanAsk& ask, const Group& group);
  bool is_pod(UnitIndex unit) const { return cluster_.units()[unit].kind == UnitKind::pod; }

  PolicyContext context_;
  MemberAsks members_;
  LostNominations lost_;
  Draft& draft_;
  World& world_;
  const Cluster& cluster_;
  std::optional<AskClasses> classes_;
  std::set<GroupIndex> reported_;  ///< Groups whose pods' priorities were looked at.
};

std::optional<Problem> WorkloadPolicy::collect_turns(std::vector<AskTurn>& turns) {
  std::vector<PodIndex> pods;
  for (const PendingUnit& unit : context_.asking.units) {
    const AskTurn turn{.policy = this,
                       .priority = unit.priority,
                       .created = unit.created,
                       .pod = unit.pod,
                       .limited = unit.unit};
    if (unit.member) {
      if (auto problem = members_.add_named(turn, turns)) return problem;
      continue;
    }
    if (is_pod(unit.unit)) {
      if (world_.asks_pinned(unit.pod)) continue;
      pods.push_back(unit.pod);
    }
    turns.push_back(turn);
    if (!is_pod(unit.unit)) members_.add_turns(turn, turns);
  }
  classes_.emplace(draft_, pods);
  return std::nullopt;
}

void WorkloadPolicy::decide(const AskTurn& turn) {
  const UnitIndex unit = turn.limited;
  if (MemberAsks::is_member_turn(turn)) return members_.decide(turn);
  if (!is_pod(unit) && !members_.group_asks(unit)) return;
  context_.deciding.start(unit);
  if (!is_pod(unit)) {
    return decide_group(draft_, unit, context_.asking.given_to(cluster_, unit));
  }
  decide_pod(draft_, {.pod = turn.pod,
                      .kept = classes_->of(turn.pod),
                      .only = context_.asking.given_node(turn.pod)});
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
    const PodIndex pod = *cluster_.find_pod(ask.namespace_name, ask.name, ask.plane);
    since = cluster_.pods().created[pod];
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    if (unit.kind == UnitKind::group) group = unit.group;
  }
  lost_.report(ask);
  losses.add(ask, since);
  add_evictions(cluster_, ask, plan);
  add_placements(cluster_, ask, plan);
  add_wait(ask, plan);
  if (group && reported_.insert(*group).second) {  // Once, whichever pod of it asks.
    if (auto status = priority_condition(cluster_, *group)) {
      plan.status.push_back(*std::move(status));
    }
  }
  add_unscheduled(ask, is_group ? "PodGroupInitiallyScheduled" : "PodScheduled", plan);
  if (is_group) add_unscheduled_members(ask, cluster_.groups()[*group]);
}

/// A pod of a group that cannot be placed says so itself: a reader of the pod need not know where
/// to look further. Members that ask for themselves have a word of their own.
void WorkloadPolicy::add_unscheduled_members(const PlanAsk& ask, const Group& group) {
  const bool unplaced = ask.outcome == Outcome::infeasible || ask.outcome == Outcome::not_found;
  if (!unplaced) return;
  std::vector<PodIndex> pending;
  for (const PodIndex pod : group.members) {
    if (cluster_.pending_pods().contains(pod)) pending.push_back(pod);
  }
  std::ranges::sort(pending, {}, [this](PodIndex pod) { return cluster_.pods().name[pod.value]; });
  const Sentence sentence = write_reason(
      cluster_,
      {.code = ReasonCode::of_object, .arguments = {object_of(ask), reason_sentence(ask)}});
  const PodColumns& pods = cluster_.pods();
  for (const PodIndex pod : pending) {
    draft_.plan.status.push_back(
        {.object = pod_ref(std::string(cluster_.text(pods.namespace_name[pod])),
                           std::string(pods.name[pod.value]),
                           std::string(cluster_.text(pods.plane[pod]))),
         .condition = "PodScheduled",
         .value = false,
         .reason = "Unschedulable",
         .message = sentence.text,
         .message_mentions = Mentions(sentence)});
  }
}

}  // namespace

std::unique_ptr<Policy> make_workload_policy(const PolicyContext& context) {
  if (context.asking.units.empty()) return nullptr;
  return std::make_unique<WorkloadPolicy>(context);
}

}  // namespace makeway

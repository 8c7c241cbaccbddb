// Pods and groups ask (SPEC section 2). Pods that can run on one node only have a policy of their
// own (section 5), unless that is off.
#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "model/group_status.hpp"
#include "policies/policy.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/draft.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/pod_entries.hpp"
#include "policies/workload/group/group_domains.hpp"
#include "policies/workload/group/group_explain.hpp"
#include "policies/workload/group/group_policy.hpp"
#include "policies/workload/pod/pod_explain.hpp"
#include "policies/workload/pod/pod_policy.hpp"

namespace makeway {

// MemberAsks: members of groups that ask for themselves (SPEC section 2, `workload.evictFor` each).
//
//  1. Of a gang these are the pending members beyond its minimum, once that runs or has a place in
//     this plan. They ask at their own place in the list, but never before their group.
//  2. A basic group has no minimum, so all of its members do, and the group itself does not ask.
//  3. Each goes into the domain that the group requires, which a placed member fixes, and
//     is not bound before the minimum is.
// A group that is not there, that is refused for its pods' priorities, or whose places are given
// asks as a whole.

class MemberAsks {
 public:
  explicit MemberAsks(const PolicyContext& context);

  /// Whether its members ask for themselves, all of them or those beyond the minimum.
  bool apart(UnitIndex group) const;
  /// Whether the group, too, asks: at its turn its minimum does not run.
  bool group_asks(UnitIndex group) const;
  /// Adds a turn for each pending member; `first`: the group's own.
  void add_turns(const AskTurn& first, std::vector<AskTurn>& turns) const;
  /// The same for one member that the request names. A problem: its group asks for it.
  std::optional<Problem> add_named(const AskTurn& turn, std::vector<AskTurn>& turns) const;
  static bool is_member_turn(const AskTurn& turn) { return turn.member.exists(); }
  void decide(const AskTurn& turn);

 private:
  /// Members that are not leaving: in `after`, and of these those that are there already.
  struct Standing {
    std::int64_t later = 0;
    std::int64_t now = 0;
  };
  Standing standing(UnitIndex group) const;
  bool may_ask_apart(UnitIndex group) const;
  AskTurn turn_of(PodIndex pod, const AskTurn& first) const;
  GroupDomain domain_of(UnitIndex group) const;

  PolicyContext context_;
  World& world_;
  const Cluster& cluster_;
};

namespace {

AskName member_name(const Cluster& cluster, PodIndex pod) {
  return {.kind = AskKind::pod,
          .namespace_name = std::string(cluster.text(cluster.pods().namespace_name[pod])),
          .name = std::string(cluster.pods().name[pod.value])};
}

}  // namespace

MemberAsks::MemberAsks(const PolicyContext& context)
    : context_(context), world_(context.draft.world), cluster_(world_.cluster()) {}

bool MemberAsks::apart(UnitIndex group) const {
  return may_ask_apart(group) && context_.asking.given_to(cluster_, group).empty();
}

bool MemberAsks::may_ask_apart(UnitIndex group) const {
  const Unit& unit = cluster_.units()[group];
  const WorkloadSettings& settings = world_.rules_of(group).workload;
  if (settings.evict_for != EvictFor::each || unit.kind != UnitKind::group || !unit.defined) {
    return false;
  }
  const bool refused = settings.pods_not_matching_priority == PodsNotMatchingPriority::refuse &&
                       priority_mismatch(cluster_, unit.group).pods > 0;
  return !refused;
}

bool MemberAsks::group_asks(UnitIndex group) const {
  const Unit& unit = cluster_.units()[group];
  return !apart(group) || (unit.gang && standing(group).later < unit.minimum);
}

void MemberAsks::add_turns(const AskTurn& first, std::vector<AskTurn>& turns) const {
  const Unit& unit = cluster_.units()[first.limited];
  if (!apart(first.limited)) return;
  for (const PodIndex pod : cluster_.groups()[unit.group].members) {
    const bool asks = cluster_.pending_pods().contains(pod) &&
                      world_.survey().regimes().of(pod) == Regime::pods &&
                      !is_left_out(context_.request, member_name(cluster_, pod));
    if (asks) turns.push_back(turn_of(pod, first));
  }
}

std::optional<Problem> MemberAsks::add_named(const AskTurn& turn,
                                             std::vector<AskTurn>& turns) const {
  const Unit& unit = cluster_.units()[turn.limited];
  const AskName name = member_name(cluster_, turn.pod);
  if (!may_ask_apart(turn.limited)) {
    return ask_problem(
        name,
        write_text(cluster_, {.code = ReasonCode::belongs_to_group, .arguments = {turn.limited}}),
        "ask for the group");
  }
  if (unit.gang && standing(turn.limited).later < unit.minimum) {
    return ask_problem(name,
                       write_text(cluster_, {.code = ReasonCode::belongs_below_minimum,
                                             .arguments = {turn.limited, unit.minimum}}),
                       "ask for the group");
  }
  if (!is_left_out(context_.request, name)) turns.push_back(turn_of(turn.pod, turn));
  return std::nullopt;
}

AskTurn MemberAsks::turn_of(PodIndex pod, const AskTurn& first) const {
  AskTurn turn = first;
  turn.pod = pod;
  turn.member = pod;
  const Time own = cluster_.pods().created[pod];
  // A missing creation time counts as the latest.
  turn.created = own == no_time ? Time{std::numeric_limits<std::int64_t>::max()} : own;
  if (cluster_.units()[first.limited].gang) turn.created = std::max(turn.created, first.created);
  return turn;
}

MemberAsks::Standing MemberAsks::standing(UnitIndex group) const {
  Standing standing;
  for (const PodIndex pod : cluster_.groups()[cluster_.units()[group].group].members) {
    if (world_.departures().leaving(pod) || !world_.after().node_of(pod).exists()) continue;
    ++standing.later;
    if (world_.now().node_of(pod).exists()) ++standing.now;
  }
  return standing;
}

/// Every node that the group may use now that some of it have a place, by name.
GroupDomain MemberAsks::domain_of(UnitIndex group) const {
  GroupDomain all;
  std::size_t parts = 0;
  for (GroupDomain& domain : domains_of(world_, group)) {
    if (!domain.widest) continue;
    all.nodes.insert(all.nodes.end(), domain.nodes.begin(), domain.nodes.end());
    all.name = parts++ == 0 ? std::move(domain.name) : std::string();
  }
  std::ranges::sort(all.nodes, {},
                    [this](NodeIndex node) { return world_.survey().position_of(node); });
  return all;
}

void MemberAsks::decide(const AskTurn& turn) {
  const Unit& unit = cluster_.units()[turn.limited];
  const Standing standing = this->standing(turn.limited);
  const std::int64_t minimum = unit.gang ? unit.minimum : 0;
  if (world_.is_decided(turn.pod) || standing.later < minimum) return;  // Its group has spoken.
  context_.deciding.start(member_name(cluster_, turn.pod));
  const GroupDomain domain = domain_of(turn.limited);
  if (domain.nodes.empty() && !world_.survey().nodes().empty()) {
    PlanAsk ask = start_pod_ask(cluster_, turn.pod);
    ask.outcome = Outcome::not_found;
    set_reason(
        cluster_, ask,
        no_domain_reason(cluster_.policy_of(cluster_.groups()[unit.group])->topology_keys, false));
    world_.decided(turn.pod);
    context_.draft.plan.asks.push_back(std::move(ask));
    return;
  }
  const bool everywhere = domain.nodes.size() == world_.survey().nodes().size();
  decide_pod(context_.draft, {.pod = turn.pod,
                              .only = context_.asking.given_node(turn.pod),
                              .domain = everywhere ? nullptr : &domain.nodes,
                              .domain_name = everywhere ? std::string_view{} : domain.name,
                              .minimum_waits = standing.now < minimum});
}

// LostNominations: room that pods were promised in earlier cycles and that this plan gives to
// others.
//
// No ask that waits for a node should get another one in the next plan without a word: the reason
// of the ask names the pod, the node, and the ask that goes there instead.

class LostNominations {
 public:
  explicit LostNominations(const Draft& draft) : draft_(draft) {}

  /// Adds to the reason of the ask, once all asks are decided. Nothing when it fits now.
  void report(PlanAsk& ask);

 private:
  void read_places();
  const PlanAsk* taker_of(std::string_view node, const PlanAsk& ask);

  const Draft& draft_;
  bool read_ = false;  ///< The places of the plan, at the first nomination that is lost.
  std::unordered_map<std::string_view, const PlanAsk*> first_on_;  ///< By node: it goes there.
};

namespace {

std::vector<PodIndex> pods_of(const Cluster& cluster, const PlanAsk& ask) {
  if (ask.kind == AskKind::pod) {
    return {*cluster.find_pod(ask.namespace_name, ask.name, ask.plane)};
  }
  return cluster.groups()[*cluster.find_group(ask.namespace_name, ask.name, ask.plane)].members;
}

}  // namespace

void LostNominations::read_places() {
  if (std::exchange(read_, true)) return;
  for (const PlanAsk& each : draft_.plan.asks) {
    for (const PodPlacement& place : each.placements) first_on_.try_emplace(place.node, &each);
  }
}

const PlanAsk* LostNominations::taker_of(std::string_view node, const PlanAsk& ask) {
  read_places();
  const auto found = first_on_.find(node);
  return found == first_on_.end() || found->second == &ask ? nullptr : found->second;
}

void LostNominations::report(PlanAsk& ask) {
  const Cluster& cluster = draft_.world.cluster();
  if (ask.outcome == Outcome::fits || cluster.nominated_pods().empty()) return;
  const PodColumns& pods = cluster.pods();
  std::vector<PodIndex> losers = pods_of(cluster, ask);
  std::erase_if(losers, [&](PodIndex pod) {
    const NodeIndex node = pods.nominated[pod];
    // By its own ask or by that of its group it may go there all the same.
    return !node.exists() || !cluster.pending_pods().contains(pod) ||
           draft_.world.after().node_of(pod) == node;
  });
  if (losers.empty()) return;
  const PodIndex first =
      *std::ranges::min_element(losers, {}, [&](PodIndex pod) { return pods.name[pod.value]; });
  const std::string node = node_name(cluster, pods.nominated[first]);
  const PlanAsk* const taker = taker_of(node, ask);
  add_reason(cluster, ask, {.code = ReasonCode::nomination_ends, .arguments = {first, node}});
  if (taker != nullptr) {
    add_reason(cluster, ask,
               {.code = ReasonCode::nomination_ends_for, .arguments = {object_of(*taker)}});
  }
  if (losers.size() > 1) {
    add_reason(cluster, ask, {.code = ReasonCode::nominations_end, .arguments = {losers.size()}});
  }
}

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
  std::optional<std::set<PodIndex>> asking_pods_;  ///< Of the whole plan; made when it is needed.
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
    since = cluster_.pods().created[*cluster_.find_pod(ask.namespace_name, ask.name, ask.plane)];
  }
  lost_.report(ask);
  losses.add(ask, since);
  add_evictions(cluster_, ask, plan);
  add_placements(cluster_, ask, plan);
  add_wait(ask, plan);
  add_unscheduled(ask, is_group ? "PodGroupInitiallyScheduled" : "PodScheduled", plan);
  if (is_group) add_unscheduled_members(ask, cluster_.groups()[*group]);
}

/// A pending pod of a group that is not placed, or only once pods have left, says so itself: a
/// reader of the pod need not know where to look further. While the group waits for that nothing is
/// new to say. Members that ask for themselves have a word of their own.
void WorkloadPolicy::add_unscheduled_members(const PlanAsk& ask, const Group& group) {
  if (ask.outcome == Outcome::fits || ask.outcome == Outcome::waits) return;
  if (!asking_pods_) {
    asking_pods_.emplace();
    for (const PlanAsk& each : draft_.plan.asks) {
      if (each.kind != AskKind::pod) continue;
      asking_pods_->insert(*cluster_.find_pod(each.namespace_name, each.name, each.plane));
    }
  }
  std::vector<PodIndex> pending;
  for (const PodIndex pod : group.members) {
    const bool asks = asking_pods_->contains(pod);
    if (cluster_.pending_pods().contains(pod) && !asks) pending.push_back(pod);
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

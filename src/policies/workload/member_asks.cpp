#include "policies/workload/member_asks.hpp"

#include <algorithm>
#include <limits>

#include "model/group_status.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/workload/group/group_explain.hpp"
#include "policies/workload/pod/pod_explain.hpp"
#include "policies/workload/pod/pod_policy.hpp"

namespace makeway {
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

}  // namespace makeway

#include "policies/workload/group/group_explain.hpp"

#include <algorithm>
#include <set>

#include "model/object_text.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/workload/group/group_placer.hpp"
#include "policies/workload/pod/pod_explain.hpp"

namespace makeway {
namespace {

std::size_t node_count(const PlanAsk& ask) {
  std::vector<std::string_view> nodes;
  nodes.reserve(ask.placements.size());
  for (const PodPlacement& placement : ask.placements) nodes.push_back(placement.node);
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  return nodes.size() - repeated.size();
}

/// "n1, n2"
std::string nodes_text(const World& world, const GroupCandidate& other) {
  std::vector<std::string> nodes;
  nodes.reserve(other.places.size());
  for (const PodOnNode& place : other.places)
    nodes.push_back(node_name(world.cluster(), place.node));
  return few_names(std::move(nodes));
}

/// A pod that only the other plan for the same nodes spares; none: its members have changed places,
/// and to users it is the same plan.
std::optional<PodIndex> spared_by(const GroupCandidate& other, const GroupCandidate& chosen) {
  for (const PodIndex pod : chosen.victims.pods) {
    if (std::ranges::find(other.victims.pods, pod) == other.victims.pods.end()) return pod;
  }
  return std::nullopt;
}

/// What decided between two plans; of equal scores a preferred topology before names.
Reason decided_on(const GroupCandidate& plan, const GroupCandidate& against) {
  const bool by_level = plan.domain->level != against.domain->level;
  if (by_level && compare(plan.score, against.score) == 0) {
    return {.code = ReasonCode::by_topology};
  }
  return makeway::decided_on(plan.score, against.score);
}

}  // namespace

Reason group_fits_reason(const PlanAsk& ask, std::size_t members) {
  return {.code = ReasonCode::group_fits,
          .arguments = {ask.placements.size(), members, node_count(ask)}};
}

Reason group_waits_reason(const PlanAsk& ask) {
  if (ask.waits_for.empty()) return {.code = ReasonCode::group_fits_after_asks};
  return {.code = ReasonCode::group_fits_after_pods, .arguments = {ask.waits_for.size()}};
}

Reason group_preempts_reason(const PlanAsk& ask, std::size_t members) {
  return {.code = ReasonCode::group_preempts,
          .arguments = {ask.victims.size(), ask.placements.size(), members, node_count(ask)}};
}

Reason group_nothing_reason(const World& world, const PlanAsk& ask, std::optional<PodIndex> without,
                            Unplaced why) {
  if (ask.explanation.refusals.empty() && !ask.bounds_reached.empty()) {
    return {.code = ReasonCode::group_search_ended, .arguments = {ask.bounds_reached.front()}};
  }
  const bool spoils = !without && why == Unplaced::unproven && ask.explanation.refusals.empty() &&
                      !world.survey().nodes().empty();
  if (spoils) return {.code = ReasonCode::group_spoils_places};
  Reason nothing = nothing_reason(ask, why, {});
  if (!without) return nothing;
  return {.code = ReasonCode::group_too_few, .arguments = {*without, std::move(nothing)}};
}

Reason no_domain_reason(const std::vector<std::string>& keys, bool given_apart) {
  return {.code = given_apart ? ReasonCode::given_nodes_apart : ReasonCode::no_domain,
          .arguments = {named(keys)}};
}

void explain_group_victims(World& world, const GroupCandidate& chosen, const GroupCandidate* other,
                           PlanAsk& ask) {
  VictimCause cause{
      .rule = ReasonCode::group_rule,
      .alternative = {.code = ReasonCode::no_other_placement},
      .key = {.code = ReasonCode::only_candidate},
      .budgets_by_victims = world.configuration().budgets.counted_over == BudgetCount::victims};
  Reason place{.code = ReasonCode::as_written,
               .arguments = {other == nullptr ? std::string() : nodes_text(world, *other)}};
  if (other != nullptr && nodes_text(world, *other) == nodes_text(world, chosen)) {
    const std::optional<PodIndex> spared = spared_by(*other, chosen);
    if (!spared) other = nullptr;
    if (spared) {
      place = {.code = ReasonCode::of_object,
               .arguments = {nodes_text(world, *other) + ", sparing", *spared}};
    }
  }
  if (ask.placement_given) {
    cause.alternative = {.code = ReasonCode::nodes_were_given};
    cause.key = {.code = ReasonCode::by_given_place};
  } else if (other != nullptr) {
    const std::string& domain = other->domain->name;
    cause.alternative = {
        .code = domain.empty() ? ReasonCode::other_placement : ReasonCode::other_placement_in,
        .arguments = {place, domain}};
    cause.key = decided_on(chosen, *other);
  }
  ask.domain = chosen.domain->name;
  explain_victims(world, chosen.victims, cause, ask);
  ask.explanation.cascades = chosen.cascades;
  explain_spared(world, chosen.spared, chosen.victims.pods.size(), ask.explanation);
  if (other == nullptr || chosen.victims.pods.empty()) return;
  PlanAlternative alternative = alternative_of(world.cluster(), write_text(world.cluster(), place),
                                               other->score, other->victims, chosen.score);
  alternative.domain = other->domain->name;
  alternative.lost_on = write_text(world.cluster(), decided_on(*other, chosen));
  ask.explanation.alternatives.push_back(std::move(alternative));
}

// ---- Asks that have the room --------------------------------------------------------------------

namespace {

class HeldBack {
 public:
  HeldBack(const Draft& draft, const GroupTask& task, std::span<const GroupDomain> domains,
           MemberFits& after)
      : draft_(draft),
        world_(draft.world),
        cluster_(draft.world.cluster()),
        task_(task),
        domains_(domains),
        after_(after) {}

  std::optional<PlanHeldBack> find();

 private:
  std::vector<PodOnNode> most_members();
  void ignore_nominations(World::NominationsIgnored& ignored) const;
  void add_takers(std::span<const PodOnNode> places, PlanHeldBack& held_back) const;
  void add_nominated(const std::set<NodeIndex>& nodes, PlanHeldBack& held_back) const;

  const Draft& draft_;
  World& world_;
  const Cluster& cluster_;
  const GroupTask& task_;
  std::span<const GroupDomain> domains_;
  MemberFits& after_;
  std::vector<PodIndex> ignored_;  ///< Nominated, not decided yet, and for the moment not counted.
};

std::optional<PlanHeldBack> HeldBack::find() {
  Scratch& scratch = after_.scratch();
  const Scratch::Checkpoint before = scratch.checkpoint();
  PlanHeldBack held_back;
  held_back.needed = static_cast<std::int64_t>(task_.needed);
  std::vector<PodOnNode> alone;
  {
    const bool taken = world_.revert_this_cycle();
    World::NominationsIgnored ignored(world_);
    ignore_nominations(ignored);
    ignored_.assign(ignored.pods().begin(), ignored.pods().end());
    if (taken || !ignored_.empty()) alone = most_members();
    scratch.rollback(before);
  }
  if (alone.empty()) return std::nullopt;
  held_back.room_left = static_cast<std::int64_t>(most_members().size());
  held_back.room_alone = static_cast<std::int64_t>(alone.size());
  if (held_back.room_alone <= held_back.room_left) return std::nullopt;
  add_takers(alone, held_back);
  if (held_back.takers.empty()) return std::nullopt;
  return held_back;
}

/// In the domain that takes the most, the first of equals. The world is left as it was.
std::vector<PodOnNode> HeldBack::most_members() {
  std::vector<PodOnNode> most;
  for (const GroupDomain& domain : domains_) {
    const Scratch::Checkpoint before = after_.scratch().checkpoint();
    GroupPlacer placer(world_, planning_rules_of(world_), domain, after_, nullptr, nullptr);
    std::vector<PodOnNode> places =
        placer.place({.members = task_.members, .needed = 0, .enough = task_.members.size()});
    after_.scratch().rollback(before);
    if (places.size() > most.size()) most = std::move(places);
  }
  return most;
}

/// Nominations from before do not count.
void HeldBack::ignore_nominations(World::NominationsIgnored& ignored) const {
  for (const GroupDomain& domain : domains_) {
    for (const NodeIndex node : domain.nodes) {
      for (const PodIndex pod : cluster_.nodes().nominated[node]) ignored.ignore(pod);
    }
  }
}

/// Those that have pods on the nodes where its members would be.
void HeldBack::add_takers(std::span<const PodOnNode> places, PlanHeldBack& held_back) const {
  std::set<NodeIndex> nodes;
  for (const PodOnNode& place : places) nodes.insert(place.node);
  for (const PlanAsk& ask : draft_.plan.asks) {
    const auto pods = std::ranges::count_if(ask.placements, [&](const PodPlacement& placement) {
      return nodes.contains(*cluster_.find_node(placement.node, placement.plane));
    });
    if (pods == 0) continue;
    held_back.takers.push_back({.ask = ask_text(ask), .priority = ask.priority, .pods = pods});
  }
  add_nominated(nodes, held_back);
}

void HeldBack::add_nominated(const std::set<NodeIndex>& nodes, PlanHeldBack& held_back) const {
  const std::int32_t priority = cluster_.units()[task_.unit].scheduling_priority;
  const HoldAsk own{.pod = {}, .unit = task_.unit, .rank = {.priority = priority}, .turns_on = {}};
  std::vector<PlanTaker> takers;
  for (const PodIndex pod : ignored_) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    const bool holds = nodes.contains(cluster_.pods().nominated[pod]) &&
                       world_.holds().blocks(pod, own, world_.after());
    if (!holds) continue;
    const std::string name = unit.kind == UnitKind::group
                                 ? unit_text(cluster_, cluster_.pods().unit[pod])
                                 : pod_text(cluster_, pod);
    const auto known = std::ranges::find(takers, name, &PlanTaker::ask);
    if (known != takers.end()) {
      ++known->pods;
    } else {
      takers.push_back({.ask = name, .priority = unit.scheduling_priority, .pods = 1});
    }
  }
  std::ranges::sort(takers, {}, [](const PlanTaker& taker) {
    return std::pair(-std::int64_t{taker.priority}, taker.ask);
  });
  held_back.takers.insert(held_back.takers.end(), takers.begin(), takers.end());
}

}  // namespace

void explain_held_back(const Draft& draft, const GroupTask& task,
                       std::span<const GroupDomain> domains, MemberFits& after, PlanAsk& ask) {
  const World& world = draft.world;
  const bool could_ask = world.cluster().units()[task.unit].defined &&
                         task.members.size() >= task.needed && task.given.empty();
  const bool by_room_alone = !world.has_promises() && world.tentative_nominations().empty();
  if (!could_ask || !ask.placements.empty() || !by_room_alone) return;
  ask.held_back = HeldBack(draft, task, domains, after).find();
}

}  // namespace makeway

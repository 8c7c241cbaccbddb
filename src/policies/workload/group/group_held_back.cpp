#include "policies/workload/group/group_held_back.hpp"

#include <algorithm>
#include <set>

#include "policies/shared/cluster_text.hpp"
#include "policies/workload/group/group_placer.hpp"

namespace makeway {
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

#include "policies/workload/group/group_waits.hpp"

#include <algorithm>
#include <set>

#include "policies/workload/group/group_placer.hpp"

namespace makeway {
namespace {

class HeldBack {
 public:
  HeldBack(Cycle& cycle, const GroupTask& task, std::span<const GroupDomain> domains,
           MemberFits& after)
      : cycle_(cycle), cluster_(cycle.cluster), task_(task), domains_(domains), after_(after) {}

  std::optional<PlanHeldBack> find();

 private:
  std::vector<PodOnNode> most_members();
  bool undo_this_cycle();
  bool ignore_nominations();
  void add_takers(std::span<const PodOnNode> places, PlanHeldBack& held_back) const;
  void add_nominated(const std::set<NodeIndex>& nodes, PlanHeldBack& held_back) const;

  Cycle& cycle_;
  const Cluster& cluster_;
  const GroupTask& task_;
  std::span<const GroupDomain> domains_;
  MemberFits& after_;
  std::vector<PodIndex> ignored_;  ///< Nominated, not decided yet, and for the moment not counted.
};

std::optional<PlanHeldBack> HeldBack::find() {
  Scratch& world = after_.world();
  const Scratch::Checkpoint before = world.checkpoint();
  PlanHeldBack held_back;
  held_back.needed = static_cast<std::int64_t>(task_.needed);
  const bool taken = undo_this_cycle();
  const bool kept = ignore_nominations();
  std::vector<PodOnNode> alone;
  if (taken || kept) alone = most_members();
  for (const PodIndex pod : ignored_) cycle_.decided.writable(pod) = 0;
  world.rollback(before);
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
    const Scratch::Checkpoint before = after_.world().checkpoint();
    GroupPlacer placer(cycle_, manner_of(cycle_), domain, after_, nullptr, nullptr);
    std::vector<PodOnNode> places =
        placer.place({.members = task_.members, .needed = 0, .enough = task_.members.size()});
    after_.world().rollback(before);
    if (places.size() > most.size()) most = std::move(places);
  }
  return most;
}

/// Whom this cycle placed is not there, and its victims are. False: there was nobody.
bool HeldBack::undo_this_cycle() {
  Scratch& world = after_.world();
  bool any = false;
  for (const PlanAsk& ask : cycle_.plan.asks) {
    for (const PodPlacement& placement : ask.placements) {
      world.remove(*cluster_.find_pod(placement.namespace_name, placement.name));
      any = true;
    }
    for (const PlanVictim& victim : ask.victims) {
      const PodIndex pod = *cluster_.find_pod(victim.namespace_name, victim.name);
      world.place(pod, cluster_.pods().node[pod]);
    }
  }
  return any;
}

/// Nominations from before do not count. False: there are none.
bool HeldBack::ignore_nominations() {
  for (const GroupDomain& domain : domains_) {
    for (const NodeIndex node : domain.nodes) {
      for (const PodIndex pod : cluster_.nodes().nominated[node]) {
        if (cycle_.decided[pod] != 0) continue;
        cycle_.decided.writable(pod) = 1;
        ignored_.push_back(pod);
      }
    }
  }
  return !ignored_.empty();
}

/// Those that have pods on the nodes where its members would be.
void HeldBack::add_takers(std::span<const PodOnNode> places, PlanHeldBack& held_back) const {
  std::set<NodeIndex> nodes;
  for (const PodOnNode& place : places) nodes.insert(place.node);
  for (const PlanAsk& ask : cycle_.plan.asks) {
    const auto pods = std::ranges::count_if(ask.placements, [&](const PodPlacement& placement) {
      return nodes.contains(*cluster_.find_node(placement.node));
    });
    if (pods == 0) continue;
    held_back.takers.push_back({.ask = ask_text(ask), .priority = ask.priority, .pods = pods});
  }
  add_nominated(nodes, held_back);
}

void HeldBack::add_nominated(const std::set<NodeIndex>& nodes, PlanHeldBack& held_back) const {
  const Unit& own = cluster_.units()[task_.unit];
  std::vector<PlanTaker> takers;
  for (const PodIndex pod : ignored_) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    const bool holds = nodes.contains(cluster_.pods().nominated[pod]) &&
                       unit.scheduling_priority >= own.scheduling_priority;
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

void explain_held_back(Cycle& cycle, const GroupTask& task, std::span<const GroupDomain> domains,
                       MemberFits& after, PlanAsk& ask) {
  const bool could_ask = cycle.cluster.units()[task.unit].defined &&
                         task.members.size() >= task.needed && task.given.empty();
  const bool by_room_alone = !cycle.anybody_promised() && cycle.hopeful.empty();
  if (!could_ask || !ask.placements.empty() || !by_room_alone) return;
  ask.held_back = HeldBack(cycle, task, domains, after).find();
}

}  // namespace makeway

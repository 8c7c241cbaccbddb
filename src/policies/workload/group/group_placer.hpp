// GroupPlacer: finds places for the members of a group, one after the other.
//
// Each member goes to its nominated node if it fits there, else to the best node by
// `workload.nodeScore` (node_choice.hpp). No step back: what the first members take, the others
// cannot have. For members that are alike and ask for nothing but resources this places as many as
// possible; otherwise a place may exist that it does not find.
//
// PlanningRules are the settings by which one plan for a group is looked for: usually those of the
// cycle, or a variant of them.
//
// In which order the members of a group are placed (`workload.memberOrder`).
//
//  largest   the hardest to place first: by the sum, over resources, of what they ask for as a
//            share of all nodes together; then by name
//  creation  by priority, then creation, then name, as kube-scheduler's queue has them
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "engine/victims.hpp"
#include "engine/world.hpp"
#include "policies/workload/group/group_domains.hpp"
#include "policies/workload/group/member_fits.hpp"
#include "policies/workload/pod/node_choice.hpp"

namespace makeway {

void order_members(World& world, MemberOrder order, std::vector<PodIndex>& members);

/// Of members that are nominated: which still fit there when they come one after the other, as they
/// can. Alone one may find its place uneven, or no pod near it. The world is left as it was.
std::set<PodIndex> members_that_keep_their_place(World& world, std::span<const PodIndex> nominated);

struct PlanningRules {
  const Configuration& configuration;
  VictimRules& rules;
};

inline PlanningRules planning_rules_of(World& world) {
  return {world.configuration(), world.rules()};
}

/// A planning with settings of its own. Stays where it is: its rules refer to its configuration.
class PlanningVariant {
 public:
  PlanningVariant(const World& world, Configuration configuration)
      : configuration_(std::move(configuration)), rules_(world.rules(), configuration_) {}
  PlanningVariant(const PlanningVariant&) = delete;
  PlanningVariant& operator=(const PlanningVariant&) = delete;

  PlanningRules planning() { return {configuration_, rules_}; }

 private:
  Configuration configuration_;
  VictimRules rules_;
};

class GroupPlacer {
 public:
  /// With `now`, members go only where they fit in both worlds; with `emptied`, where they fit once
  /// others have left. Either may be null.
  GroupPlacer(World& world, const PlanningRules& planning, const GroupDomain& domain,
              MemberFits& after, MemberFits* now, EmptiedNodes* emptied);

  struct Goal {
    std::span<const PodIndex> members;  ///< In the order in which they are placed.
    std::size_t needed = 0;             ///< Fewer are no answer: it may give up.
    std::size_t enough = 0;             ///< No more than these.
    /// Those after so many take no room that is nominated to any pod, however unimportant.
    std::size_t avoid_nominated_room_after = std::numeric_limits<std::size_t>::max();
    /// Every member is tried once, whatever the bound: members x nodes is one, too.
    bool first_round_ends = false;
  };

  /// Those that found a place; they are in the worlds afterwards, or expected on nodes that are to
  /// be emptied.
  std::vector<PodOnNode> place(const Goal& goal);

  bool bound_reached() const { return bound_reached_; }
  std::string_view bound() const { return steps_.bound(); }
  /// The first member that found no place.
  std::optional<PodIndex> first_without() const { return first_without_; }

 private:
  std::vector<PodIndex> place_round(const Goal& goal, std::span<const PodIndex> members,
                                    std::vector<PodOnNode>& places, bool bounded);
  bool place_member(const Goal& goal, PodIndex member, std::vector<PodOnNode>& places);
  bool spoils(std::span<const PodOnNode> places);
  std::optional<NodeIndex> node_for(PodIndex member);
  std::optional<NodeIndex> ranked(PodIndex member, PodFit& after, PodFit* now);

  World& world_;
  PlanningRules planning_;
  const GroupDomain& domain_;
  MemberFits& after_;
  MemberFits* now_;
  EmptiedNodes* emptied_;
  std::vector<std::unique_ptr<RoomRanking>> rankings_;  ///< By class.
  std::vector<std::uint8_t> infeasible_;                ///< By class: no node is left for it.
  StepMeter steps_;  ///< Pairs of member and node; see `engine.placementStepsMax`.
  bool bound_reached_ = false;
  std::optional<PodIndex> first_without_;
};

/// Members without a place take what is free, without room that is nominated to any pod; those in
/// `places` have one and are in the world. Adds to both.
void fill_free_room(World& world, const PlanningRules& planning, const GroupDomain& domain,
                    MemberFits& fits, std::span<const PodIndex> members,
                    std::vector<PodOnNode>& places);

}  // namespace makeway

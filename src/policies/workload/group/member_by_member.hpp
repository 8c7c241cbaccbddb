// MemberByMember: places for the members of a group, one after the other, each where the least is
// lost.
//
// For each member every node is looked at: either it has room, or the best victims there are looked
// for (victim_search.hpp) with the victims of the members before gone already. So affinity, spread
// and host ports are honoured, and what one member has made others leave for serves the next.
//
// A detour gives one member its second (third, ...) best node instead, which leads to another
// placement. `beside` asks where one member could go while all others have their places: the moves
// by which a finished plan is improved (group_plans.hpp).
//
// A pod that keeps a member off a node by anti-affinity, or a claim that one pod at a time may use,
// need not be on that node. An opening is a part of the topology (a zone, say) with all of those
// gone; with it, the nodes there are looked at again.
//
// Like VictimGuide this is a proposal; GroupSearch::adopt puts back what need not leave.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "policies/workload/group/group_domains.hpp"
#include "policies/workload/group/member_fits.hpp"
#include "policies/workload/victim_guide.hpp"
#include "policies/workload/victim_search.hpp"

namespace makeway {

class MemberByMember {
 public:
  /// `scope`: what may leave, and how sets of victims are compared.
  MemberByMember(World& world, const GroupDomain& domain, MemberFits& fits,
                 const VictimSearch::Scope& scope);

  struct Detour {
    std::size_t member = 0;
    std::size_t rank = 0;  ///< 0: none, it takes its best node.
  };

  /// Nodes that others elsewhere close to a member, and what has to leave for that.
  struct Opening {
    std::vector<NodeIndex> nodes;
    VictimList victims;
    std::int64_t budget_violations = 0;
  };
  /// Where all of them may leave.
  std::vector<Opening> openings(PodIndex member);

  /// Places for at most so many of the members as are wanted; nothing when fewer than are needed
  /// find one. `gone` leave first, whatever else does. The world is left as it was.
  std::optional<GuidedPlaces> place(std::span<const PodIndex> members, std::size_t needed,
                                    std::size_t wanted, const Detour& detour,
                                    std::span<const PodIndex> gone = {});

  struct Choice {
    NodeIndex node;
    std::vector<PodIndex> victims;
    ScoreTerms score;  ///< Empty: there is room.
    std::int64_t budget_violations = 0;
  };
  /// Where the member could go with the others in these places and these victims gone: the best
  /// few nodes, and the best few of each opening. The world is left as it was.
  std::vector<Choice> beside(std::span<const PodOnNode> others, std::span<const PodIndex> victims,
                             PodIndex member);

 private:
  bool place_member(PodIndex member, std::size_t rank, GuidedPlaces& found);
  static constexpr std::size_t few = 8;

  static bool better(const Choice& a, const Choice& b);
  std::vector<Choice> choices_for(PodIndex member, std::size_t best,
                                  std::span<const NodeIndex> nodes);
  void add_opened(PodIndex member, std::vector<Choice>& choices);
  std::vector<PodOnNode> closing_pods(PodFit& fit) const;
  bool fill_opening(PodFit& fit, std::span<const PodOnNode> closing, Opening& opening);
  VictimSearch& search_for(PodIndex member);

  World& world_;
  const GroupDomain& domain_;
  MemberFits& fits_;
  VictimSearch::Scope scope_;
  std::map<std::size_t, std::unique_ptr<VictimSearch>> searches_;  ///< By class.
};

}  // namespace makeway

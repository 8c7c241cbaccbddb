// VictimGuide: places for the members of a group, chosen by what would have to leave.
//
// Each node has a ladder: with its cheapest leavers gone one after the other, how many members have
// room, and what those pods cost, key by key in the order of the score. The cheapest step of
// all ladders, by cost for each member gained, is taken until enough members have a place. A group
// that leaves whole is paid for once; its pods on other nodes are free afterwards, so these nodes
// get new ladders. Members that are alike are a count, and so are nodes that are alike.
//
// The places are a proposal: the caller puts back what need not leave (GroupSearch::adopt). Only
// for members to which nothing but room matters.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "engine/emptied_nodes.hpp"
#include "engine/score.hpp"
#include "policies/workload/group/group_domains.hpp"
#include "policies/workload/group/member_fits.hpp"

namespace makeway {

struct GuidedPlaces {
  std::vector<PodOnNode> places;
  std::vector<PodIndex> victims;
};

class VictimGuide {
 public:
  /// `emptied` says what may leave; none has left. `spare`: none leaves against a budget.
  VictimGuide(World& world, const GroupDomain& domain, MemberFits& fits, EmptiedNodes& emptied,
              bool spare);

  /// Places for at most so many of the members as are wanted; nothing when fewer than are needed
  /// find one. Those that are alike stand together.
  std::optional<GuidedPlaces> place(std::span<const PodIndex> members, std::size_t needed,
                                    std::size_t wanted);

 private:
  static constexpr std::size_t cost_keys = 5;
  using Cost = std::array<std::int64_t, cost_keys>;

  struct Leaver {
    std::uint32_t unit = 0;  ///< Its position in the node's list.
    Cost cost{};
    std::int64_t worth = 0;  ///< What it frees here of what is short, in thousandths of a member.
    bool gone = false;
  };
  struct Node {
    NodeIndex node;
    bool read = false;
    VictimList list;                  ///< That may leave.
    std::vector<Leaver> leavers;      ///< In the order in which they leave.
    std::vector<std::int64_t> freed;  ///< By unit of the list, one row of columns each.
    std::vector<std::int64_t> room;   ///< By column.
    std::int64_t members = 0;         ///< Placed so far, of the class at hand.
    // The next step of its ladder.
    std::int64_t gain = 0;  ///< Members; 0: there is none.
    Cost price{};
    std::vector<std::uint32_t> leaving;  ///< Positions in `leavers`.
  };

  void place_class(std::span<const PodIndex> members, std::size_t wanted);
  bool worth_reading(const Node& node) const;
  void read(Node& node);
  Cost cost_of(const VictimUnit& unit);
  GangStanding stopped_beside(const VictimUnit& unit);
  GangStanding stopped_in_units(const VictimUnit& unit);
  void let_leave(Node& node, std::uint32_t leaver, bool violating);
  void order_leavers(Node& node) const;
  std::int64_t room_for(std::span<const std::int64_t> room) const;
  void find_step(Node& node, std::int64_t remaining);
  void climb(Node& node, std::int64_t remaining);
  void look(Node& node, std::int64_t remaining);
  static bool less_each(const Cost& a, std::int64_t a_members, const Cost& b,
                        std::int64_t b_members);
  static bool cheaper(const Node& a, const Node& b);
  std::int64_t take(Node& node);
  void let_go(UnitIndex unit);
  void free_leaver(Node& node, Leaver& leaver) const;

  World& world_;
  MemberFits& fits_;
  EmptiedNodes& emptied_;
  bool spare_;
  std::size_t violations_at_;  ///< Position of that key in a cost; `cost_keys`: it does not count.
  PodFit* fit_ = nullptr;      ///< Of the class at hand.
  std::size_t columns_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> candidates_;                 ///< Positions of nodes with room.
  std::map<UnitIndex, std::vector<std::uint32_t>> with_;  ///< Nodes with pods of a whole group.
  std::vector<UnitIndex> gone_;                           ///< Whole groups, sorted.
  std::map<UnitIndex, GangStanding> gangs_;               ///< Before any pod leaves.
  std::map<std::pair<StringId, NotesId>, GangStanding> units_;  ///< By namespace and notes.
  std::vector<std::uint32_t> changed_;
  // While a ladder is climbed.
  std::vector<std::int64_t> room_;
  std::vector<std::uint32_t> leaving_;
  std::vector<std::uint32_t> against_budgets_;
  Cost price_{};
  std::int64_t climbed_ = 0;  ///< Members that have room.
  std::vector<PodIndex> victims_;
  std::vector<PodOnNode> places_;
};

}  // namespace makeway

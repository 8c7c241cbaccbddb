// MemberAsks: members of groups that ask for themselves (SPEC section 2, `workload.evictFor` each).
//
//  1. Of a gang these are the pending members beyond its minimum, once that runs or has a place in
//     this plan. They ask at their own place in the list, but never before their group.
//  2. A basic group has no minimum, so all of its members do, and the group itself does not ask.
//  3. Each goes into the domain that the group requires, which a placed member fixes, and
//     is not bound before the minimum is.
// A group that is not there, that is refused for its pods' priorities, or whose places are given
// asks as a whole.
#pragma once

#include <optional>
#include <vector>

#include "policies/policy.hpp"
#include "policies/workload/group/group_domains.hpp"

namespace makeway {

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

}  // namespace makeway

// PlanMoves: a plan for a group made better by one member that goes elsewhere.
//
// One member at a time is taken out of the plan, and what need not leave for the others is put
// back. Then every node is asked what the member would cost there (member_by_member.hpp): with the
// lowest priorities gone, and with the fewest gone up to the highest priority that the plan needs
// anyway; where others elsewhere keep it away, once more with these gone. What is cheaper than the
// plan, by sums of both, is tried in that order. Where all members are wanted, one without a place
// is tried likewise.
//
// A plan that `improve` cannot make better is one that no single move helps, as far as these sums
// show. Looks at pairs of member and node are bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "policies/workload/group/group_search.hpp"

namespace makeway {

class PlanMoves {
 public:
  /// Named in `boundsReached`.
  static constexpr std::string_view bound = "workload.looksForMoves";

  PlanMoves(World& world, const GroupTask& task, GroupSearch& search, std::size_t nodes);

  /// True: it found a better plan.
  using Accept = std::function<bool(std::optional<GroupCandidate> found)>;
  /// Whether a single move leads to a plan that is accepted in place of this one.
  bool improve(const GroupCandidate& plan, const GroupSearch::Guide& guide, const Accept& accept);
  bool bound_reached() const { return bound_reached_; }

 private:
  /// A proposal, and what it would cost.
  struct Move {
    ScoreTerms score;
    NodeIndex node;
    std::vector<PodIndex> victims;
  };

  bool move(const GroupCandidate& plan, PodIndex member, const GroupSearch::Guide& guide,
            const Accept& accept);
  std::vector<Move> moves_beside(const GroupCandidate& others, PodIndex member,
                                 const GroupSearch::Guide& guide);
  ScoreTerms expected(const GroupCandidate& others, const MemberByMember::Choice& choice) const;

  World& world_;
  const GroupTask& task_;
  GroupSearch& search_;
  std::int64_t looks_max_;
  std::int64_t looks_a_member_;
  std::int64_t looks_ = 0;
  std::size_t next_ = 0;  ///< Whose turn it is: where the last move was found it goes on.
  bool bound_reached_ = false;
};

}  // namespace makeway

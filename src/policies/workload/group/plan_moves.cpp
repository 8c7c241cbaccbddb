#include "policies/workload/group/plan_moves.hpp"

#include <algorithm>
#include <limits>

namespace makeway {
namespace {

/// Of all moves in one domain: pairs of member and node, where only room counts.
constexpr std::int64_t looks_max = 65'536;
/// Others may be in the way: every node is looked at twice.
constexpr std::int64_t times_more_looks = 2;
/// Proposals of one member that are tried: sums and the truth differ where victims share a budget
/// or a gang.
constexpr std::size_t proposals_max = 4;

}  // namespace

PlanMoves::PlanMoves(World& world, const GroupTask& task, GroupSearch& search, std::size_t nodes)
    : world_(world),
      task_(task),
      search_(search),
      looks_max_(search.guidable() ? looks_max : times_more_looks * looks_max),
      looks_a_member_((search.guidable() ? 2 : 2 * times_more_looks) *
                      static_cast<std::int64_t>(nodes)) {}

bool PlanMoves::improve(const GroupCandidate& plan, const GroupSearch::Guide& guide,
                        const Accept& accept) {
  const bool for_all = task_.wanted == task_.members.size();
  const auto members = static_cast<std::int64_t>(for_all ? task_.wanted : plan.places.size());
  if (looks_ == 0 && members * looks_a_member_ > looks_max_) {  // Not even one round.
    bound_reached_ = true;
    return false;
  }
  for (std::size_t turn = 0; turn < task_.members.size(); ++turn) {
    const std::size_t at = (next_ + turn) % task_.members.size();
    const PodIndex member = task_.members[at];
    const bool placed =
        std::ranges::find(plan.places, member, &PodOnNode::pod) != plan.places.end();
    if (!placed && !for_all) continue;
    if (looks_ + looks_a_member_ > looks_max_) {
      bound_reached_ = true;
      return false;
    }
    looks_ += looks_a_member_;
    if (move(plan, member, guide, accept)) {
      next_ = at;
      return true;
    }
  }
  return false;
}

bool PlanMoves::move(const GroupCandidate& plan, PodIndex member, const GroupSearch::Guide& guide,
                     const Accept& accept) {
  const std::optional<GroupCandidate> others = search_.without(plan, member);
  if (!others) return false;
  std::size_t tried = 0;
  for (const Move& move : moves_beside(*others, member, guide)) {
    if (compare(move.score, plan.score) >= 0 || tried++ == proposals_max) break;
    std::vector<PodOnNode> places = others->places;
    places.push_back({.pod = member, .node = move.node});
    std::vector<PodIndex> victims = others->victims.pods;
    victims.insert(victims.end(), move.victims.begin(), move.victims.end());
    if (accept(search_.adopt(places, victims))) return true;
  }
  return false;
}

std::vector<PlanMoves::Move> PlanMoves::moves_beside(const GroupCandidate& others, PodIndex member,
                                                     const GroupSearch::Guide& guide) {
  std::vector<Move> moves;
  const bool limited = guide.highest < world_.cluster().units()[task_.unit].scheduling_priority;
  for (const bool any_priority : {false, true}) {
    if (!any_priority && !limited) continue;
    for (MemberByMember::Choice& choice :
         search_.places_beside(others, member, guide, any_priority)) {
      moves.push_back({.score = expected(others, choice),
                       .node = choice.node,
                       .victims = std::move(choice.victims)});
    }
  }
  std::ranges::stable_sort(
      moves, [](const Move& a, const Move& b) { return compare(a.score, b.score) < 0; });
  return moves;
}

/// Keys that do not add up are taken at their least.
ScoreTerms PlanMoves::expected(const GroupCandidate& others,
                               const MemberByMember::Choice& choice) const {
  ScoreTerms total = others.score;
  const VictimRules& rules = world_.rules();
  const auto count = static_cast<std::int64_t>(choice.victims.size());
  std::int64_t highest = std::numeric_limits<std::int64_t>::min();
  std::int64_t priorities = 0;
  std::int64_t lost_work = 0;
  for (const PodIndex victim : choice.victims) {
    highest = std::max<std::int64_t>(highest, rules.priority_of(victim));
    priorities += rules.priority_of(victim);
    lost_work += rules.lost_work_seconds(victim);
  }
  for (ScoreTerm& term : total) {
    switch (term.key) {
      case ScoreKey::members_not_placed:
        term.value = std::max<std::int64_t>(term.value - 1, 0);
        break;
      case ScoreKey::budget_violations: term.value += choice.budget_violations; break;
      case ScoreKey::highest_priority:
        if (count > 0) {
          term.value = others.victims.units.empty() ? highest : std::max(term.value, highest);
        }
        break;
      case ScoreKey::stopped_pods:
      case ScoreKey::victims: term.value += count; break;
      case ScoreKey::priority_sum: term.value += priorities; break;
      case ScoreKey::lost_work: term.value += lost_work; break;
      default: break;
    }
  }
  return total;
}

}  // namespace makeway

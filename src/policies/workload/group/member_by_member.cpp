#include "policies/workload/group/member_by_member.hpp"

#include <algorithm>

namespace makeway {

MemberByMember::MemberByMember(World& world, const GroupDomain& domain, MemberFits& fits,
                               const VictimSearch::Scope& scope)
    : world_(world), domain_(domain), fits_(fits), scope_(scope) {}

std::optional<GuidedPlaces> MemberByMember::place(std::span<const PodIndex> members,
                                                  std::size_t needed, std::size_t wanted,
                                                  const Detour& detour) {
  const Scratch::Checkpoint before = fits_.scratch().checkpoint();
  const Budgets::Supposition supposition(world_.budgets());
  GuidedPlaces found;
  std::vector<PodIndex> open(members.begin(), members.end());
  for (bool placed = true; placed && found.places.size() < wanted;) {
    placed = false;
    // Who looks at others may find a place once these have one.
    std::vector<PodIndex> without;
    for (const PodIndex member : open) {
      const bool detours = found.places.size() == detour.member;
      const bool enough = found.places.size() >= wanted;
      if (!enough && place_member(member, detours ? detour.rank : 0, found)) {
        placed = true;
      } else {
        without.push_back(member);
      }
    }
    open = std::move(without);
  }
  fits_.scratch().rollback(before);
  if (found.places.size() < needed) return std::nullopt;
  return found;
}

std::vector<MemberByMember::Choice> MemberByMember::beside(std::span<const PodOnNode> others,
                                                           std::span<const PodIndex> victims,
                                                           PodIndex member) {
  const Scratch::Checkpoint before = fits_.scratch().checkpoint();
  const Budgets::Supposition supposition(world_.budgets());
  world_.budgets().commit(victims);
  fits_.scratch().remove(victims);
  for (const PodOnNode& place : others) fits_.scratch().place(place.pod, place.node);
  std::vector<Choice> choices = choices_for(member, few);
  fits_.scratch().rollback(before);
  return choices;
}

bool MemberByMember::place_member(PodIndex member, std::size_t rank, GuidedPlaces& found) {
  const std::vector<Choice> choices = choices_for(member, rank + 1);
  if (rank >= choices.size()) return false;
  const Choice& choice = choices[rank];
  world_.budgets().commit(choice.victims);
  fits_.scratch().remove(choice.victims);
  fits_.scratch().place(member, choice.node);
  found.victims.insert(found.victims.end(), choice.victims.begin(), choice.victims.end());
  found.places.push_back({.pod = member, .node = choice.node});
  return true;
}

bool MemberByMember::better(const Choice& a, const Choice& b) {
  if (a.score.empty() || b.score.empty()) return a.score.empty() && !b.score.empty();
  return compare(a.score, b.score) < 0;
}

/// So many of them, best first; of equals the first by name.
std::vector<MemberByMember::Choice> MemberByMember::choices_for(PodIndex member, std::size_t best) {
  PodFit& fit = fits_.of(member);
  VictimSearch& search = search_for(member);
  std::vector<Choice> choices;
  const auto add = [&](Choice choice) {
    if (choices.size() == best && !better(choice, choices.back())) return;
    choices.insert(std::ranges::upper_bound(choices, choice, better), std::move(choice));
    if (choices.size() > best) choices.pop_back();
  };
  for (const NodeIndex node : domain_.nodes) {
    if (!fit.check(node)) {
      if (!world_.keeps_promises(member, node, {}) || world_.leans_on_hopeful(fit, node, {})) {
        continue;
      }
      add({.node = node, .victims = {}, .score = {}});
      continue;
    }
    const bool full = choices.size() == best;
    if (full && choices.back().score.empty()) continue;
    std::optional<Candidate> candidate =
        search.on_node(node, full ? &choices.back().score : nullptr);
    if (!candidate) continue;
    add({.node = node,
         .victims = std::move(candidate->victims.pods),
         .score = std::move(candidate->score),
         .budget_violations = candidate->budget_violations});
  }
  return choices;
}

VictimSearch& MemberByMember::search_for(PodIndex member) {
  std::unique_ptr<VictimSearch>& search = searches_[fits_.class_of(member)];
  if (!search) search = std::make_unique<VictimSearch>(world_, fits_.of(member), scope_, nullptr);
  return *search;
}

}  // namespace makeway

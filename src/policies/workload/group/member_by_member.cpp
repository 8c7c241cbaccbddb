#include "policies/workload/group/member_by_member.hpp"

#include <algorithm>
#include <iterator>

#include "engine/victim_lists.hpp"

namespace makeway {

MemberByMember::MemberByMember(World& world, const GroupDomain& domain, MemberFits& fits,
                               const VictimSearch::Scope& scope)
    : world_(world), domain_(domain), fits_(fits), scope_(scope) {}

std::optional<GuidedPlaces> MemberByMember::place(std::span<const PodIndex> members,
                                                  std::size_t needed, std::size_t wanted,
                                                  const Detour& detour,
                                                  std::span<const PodIndex> gone) {
  const Scratch::Checkpoint before = fits_.scratch().checkpoint();
  const Budgets::Supposition supposition(world_.budgets());
  world_.budgets().commit(gone);
  fits_.scratch().remove(gone);
  GuidedPlaces found;
  found.victims.assign(gone.begin(), gone.end());
  std::vector<PodIndex> open(members.begin(), members.end());
  for (bool placed = true; placed && found.places.size() < wanted;) {
    placed = false;
    // A member that looks at others may find a place once these have one.
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
  std::vector<Choice> choices = choices_for(member, few, domain_.nodes);
  add_opened(member, choices);
  fits_.scratch().rollback(before);
  return choices;
}

/// What an opening costs is part of each choice.
void MemberByMember::add_opened(PodIndex member, std::vector<Choice>& choices) {
  for (const Opening& opening : openings(member)) {
    const Scratch::Checkpoint before = fits_.scratch().checkpoint();
    const Budgets::Supposition supposition(world_.budgets());
    const std::vector<PodIndex>& gone = opening.victims.pods;
    world_.budgets().commit(gone);
    fits_.scratch().remove(gone);
    for (Choice& choice : choices_for(member, few, opening.nodes)) {
      choice.victims.insert(choice.victims.end(), gone.begin(), gone.end());
      choice.budget_violations += opening.budget_violations;
      choices.push_back(std::move(choice));
    }
    fits_.scratch().rollback(before);
  }
}

std::vector<MemberByMember::Opening> MemberByMember::openings(PodIndex member) {
  PodFit& fit = fits_.of(member);
  const std::vector<const Topology*> closed = fit.constraints().closed_topologies();
  if (closed.empty() && !fit.constraints().claim_in_use()) return {};
  // Nodes that are in the same domains are closed by the same pods.
  std::vector<Opening> parts;
  std::map<std::vector<std::uint32_t>, std::size_t> by_domains;
  for (const NodeIndex node : domain_.nodes) {
    if (fit.refused_by_node(node)) continue;
    std::vector<std::uint32_t> domains;
    domains.reserve(closed.size());
    for (const Topology* topology : closed) domains.push_back(topology->domain[node]);
    const std::size_t at = by_domains.try_emplace(std::move(domains), parts.size()).first->second;
    if (at == parts.size()) parts.emplace_back();
    parts[at].nodes.push_back(node);
  }
  const std::vector<PodOnNode> closing = closing_pods(fit);
  std::vector<Opening> found;
  for (Opening& part : parts) {
    if (fill_opening(fit, closing, part)) found.push_back(std::move(part));
  }
  return found;
}

/// Pods that keep it out of some part of the topology.
std::vector<PodOnNode> MemberByMember::closing_pods(PodFit& fit) const {
  std::vector<PodOnNode> pods;
  for (const PodIndex pod : world_.cluster().each_row()) {
    const NodeIndex there = fit.scratch().node_of(pod);
    if (there.exists() && fit.constraints().keeps_away(pod, there, there)) {
      pods.push_back({.pod = pod, .node = there});
    }
  }
  return pods;
}

/// False: no pod closes these nodes, or one that stays.
bool MemberByMember::fill_opening(PodFit& fit, std::span<const PodOnNode> closing,
                                  Opening& opening) {
  std::vector<PodIndex> in_the_way;
  std::vector<NodeIndex> nodes;
  for (const PodOnNode& each : closing) {
    if (!fit.constraints().keeps_away(each.pod, each.node, opening.nodes.front())) continue;
    in_the_way.push_back(each.pod);
    nodes.push_back(each.node);
  }
  if (in_the_way.empty()) return false;
  std::ranges::sort(nodes);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  std::ranges::sort(in_the_way);
  const auto wanted = [&](PodIndex pod) { return std::ranges::binary_search(in_the_way, pod); };
  VictimList& list = opening.victims;
  scope_.rules.collect_some(fit.scratch(), nodes, scope_.priority, wanted, list);
  const std::ptrdiff_t leaving = std::ranges::count_if(list.pods, wanted);
  if (leaving != std::ssize(in_the_way)) return false;
  std::ranges::sort(list.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return scope_.rules.more_important(a, b);
  });
  opening.budget_violations =
      mark_violations(world_.budgets(), list, ChargeOrder::most_important_first);
  const bool strict = scope_.rules.configuration().budgets.mode == BudgetMode::strict;
  return !strict || opening.budget_violations == 0;
}

bool MemberByMember::place_member(PodIndex member, std::size_t rank, GuidedPlaces& found) {
  const std::vector<Choice> choices = choices_for(member, rank + 1, domain_.nodes);
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
std::vector<MemberByMember::Choice> MemberByMember::choices_for(PodIndex member, std::size_t best,
                                                                std::span<const NodeIndex> nodes) {
  PodFit& fit = fits_.of(member);
  VictimSearch& search = search_for(member);
  std::vector<Choice> choices;
  const auto add = [&](Choice choice) {
    if (choices.size() == best && !better(choice, choices.back())) return;
    choices.insert(std::ranges::upper_bound(choices, choice, better), std::move(choice));
    if (choices.size() > best) choices.pop_back();
  };
  for (const NodeIndex node : nodes) {
    if (!fit.check(node)) {
      if (!world_.keeps_promises(member, node, {}) ||
          world_.needs_uncertain_arrival(fit, node, {})) {
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

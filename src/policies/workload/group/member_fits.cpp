#include "policies/workload/group/member_fits.hpp"

#include <algorithm>

namespace makeway {

MemberFits::MemberFits(World& world, Scratch& scratch, std::span<const PodIndex> members)
    : world_(world), scratch_(scratch) {
  // A promise to another pod may count labels that nothing else looks at.
  std::map<std::pair<AskKey, LabelSetId>, std::size_t> known;
  for (const PodIndex member : members) {
    const LabelSetId labels =
        world.has_promises() ? world.cluster().pods().labels[member] : LabelSetId{0};
    const auto [at, is_new] =
        known.try_emplace({ask_key(world.cluster(), member), labels}, fits_.size());
    if (is_new) {
      fits_.push_back(std::make_unique<PodFit>(world.survey(), scratch, member, world.holds()));
    }
    class_of_.emplace(member, at->second);
  }
  portless_ = std::ranges::all_of(fits_, [](const auto& fit) { return fit->portless(); });
}

void MemberFits::respect_every_nomination(bool every) {
  for (const std::unique_ptr<PodFit>& fit : fits_) fit->respect_every_nomination(every);
}

PodFit& MemberFits::of(PodIndex member) {
  PodFit& fit = *fits_[class_of(member)];
  fit.ask_for(member);
  return fit;
}

bool MemberFits::constrained() const {
  return std::ranges::any_of(fits_, [](const auto& fit) { return fit->constraints().any(); });
}

bool MemberFits::countable() const { return fits_.size() == 1 && !constrained() && portless_; }

bool MemberFits::comes(const PodOnNode& place, Nominations nominations) {
  PodFit& fit = of(place.pod);
  const std::optional<Refused> refused =
      nominations == Nominations::count ? fit.check(place.node) : fit.check_unreserved(place.node);
  if (!refused) scratch_.place(place.pod, place.node);
  return !refused;
}

bool MemberFits::fit_in_turn(std::span<const PodOnNode> places, Nominations nominations,
                             PutBackScope scope) {
  const bool any_order = scope == PutBackScope::every_node && constrained();
  const Scratch::Checkpoint before = scratch_.checkpoint();
  std::vector<PodOnNode> open;
  for (const PodOnNode& place : places) {
    if (comes(place, nominations)) continue;
    open.push_back(place);
    if (!any_order) break;
  }
  for (bool came = any_order; came;) {
    came =
        std::erase_if(open, [&](const PodOnNode& place) { return comes(place, nominations); }) > 0;
  }
  const bool fit = open.empty() && (!may_spoil() || all_still_fit(places));
  scratch_.rollback(before);
  return fit;
}

bool MemberFits::stands(const PodOnNode& place) {
  PodFit& fit = of(place.pod);
  if (fit.only_resources(place.node))
    return !fit.refused_by_node(place.node) && fit.stands_beside(place.node);
  const Scratch::Checkpoint before = scratch_.checkpoint();
  scratch_.remove(place.pod);
  const bool fits = !of(place.pod).check(place.node);
  scratch_.rollback(before);
  return fits;
}

/// Those that are alike stand or fall together.
bool MemberFits::still_fit(std::span<const PodOnNode> on_node) {
  std::size_t last = fits_.size();
  return std::ranges::all_of(on_node, [&](const PodOnNode& place) {
    const std::size_t kind = class_of(place.pod);
    const bool judged = kind == last && portless_;
    last = kind;
    return judged || stands(place);
  });
}

bool MemberFits::all_still_fit(std::span<const PodOnNode> places) {
  return std::ranges::all_of(places, [&](const PodOnNode& place) { return stands(place); });
}

bool MemberFits::respect_nominations(std::span<const PodOnNode> places) {
  return !constrained() || std::ranges::all_of(places, [&](const PodOnNode& place) {
    return !of(place.pod).has_holders(place.node) || stands(place);
  });
}

}  // namespace makeway

#include "policies/workload/group/group_search.hpp"

#include <algorithm>
#include <limits>

#include "policies/shared/fallen_gangs.hpp"
#include "policies/workload/group/member_order.hpp"
#include "policies/workload/victim_guide.hpp"

namespace makeway {
namespace {

/// As kube-scheduler does it; or so that those that a budget still allows matter least.
ChargeOrder charge_order(const Configuration& configuration) {
  return configuration.budgets.counted_over == BudgetCount::victims
             ? ChargeOrder::least_important_first
             : ChargeOrder::most_important_first;
}

/// For comparing victims on one node when a highest priority is given anyway: what only the whole
/// plan can say is left out of the score.
Configuration without_whole_plan_keys(const Configuration& configuration) {
  Configuration counting = configuration;
  counting.engine.cascade_depth = 0;
  std::erase_if(counting.workload.score_keys, [](ScoreKey key) {
    return key == ScoreKey::members_not_placed || key == ScoreKey::highest_priority ||
           key == ScoreKey::secondary_victims || key == ScoreKey::oldest_victim;
  });
  return counting;
}

}  // namespace

EmptiedNodes emptied_nodes(World& world, const PlanningRules& planning, const GroupTask& task,
                           const GroupDomain& domain, MemberFits& fits) {
  return {world.survey(),
          fits.scratch(),
          planning.rules,
          world.budgets(),
          {.nodes = domain.nodes,
           .ask_priority = world.cluster().units()[task.unit].scheduling_priority,
           .charge_order = charge_order(planning.configuration)}};
}

GroupSearch::GroupSearch(World& world, const PlanningRules& planning, const GroupTask& task,
                         const GroupDomain& domain, MemberFits& fits, EmptiedNodes& emptied)
    : world_(world),
      planning_(planning),
      task_(task),
      domain_(domain),
      fits_(fits),
      priority_(world.cluster().units()[task.unit].scheduling_priority),
      emptied_(emptied),
      placer_(world, planning, domain, fits, nullptr, &emptied),
      lazy_(!fits.constrained() && fits.portless() && !world.has_promises()),
      steps_(world.steps(), world.configuration().engine.victim_steps_max,
             "engine.victimStepsMax") {}

std::int32_t GroupSearch::least_highest_priority(std::size_t members) {
  constexpr std::int32_t anything = std::numeric_limits<std::int32_t>::min();
  if (!fits_.countable()) return anything;
  emptied_.start(priority_);
  return emptied_.lowest_with_room(fits_.of(task_.members.front()), members);
}

std::optional<GroupCandidate> GroupSearch::run(const Variant& variant) {
  start_ = fits_.scratch().checkpoint();
  order(variant.smallest_first);
  kept_.clear();
  if (variant.spare_violating) kept_ = emptied_.violating().pods;
  emptied_.keep(kept_);
  proven_ = false;
  without_place_.reset();
  if (!place_by_counts(variant)) {
    if (find_places_up_to(priority_, task_.wanted) < task_.needed) {
      nothing_found();
      go_back();
      return std::nullopt;
    }
    const bool one_placement = variant.priority_search == PrioritySearch::none;
    if (one_placement && variant.not_above && lazy_ && fits_.countable() &&
        !fit_up_to(*variant.not_above)) {
      go_back();
      return std::nullopt;
    }
    arrive();
    if (emptied_.any_violates()) {
      put_back_where_possible(true, planning_.configuration.workload.put_back);
    }
    if (task_.given.empty()) lower_priority(variant.priority_search);
  }
  put_back_where_possible(false, planning_.configuration.workload.put_back);
  return finish(planning_.configuration.workload.evict_for == EvictFor::all && task_.given.empty());
}

void GroupSearch::order(bool smallest_first) {
  members_ = task_.members;
  if (planning_.configuration.workload.member_order !=
      world_.configuration().workload.member_order) {
    order_members(world_, planning_.configuration.workload.member_order, members_);
  }
  if (smallest_first) std::ranges::reverse(members_);
}

std::optional<GroupCandidate> GroupSearch::run_guided(const Guide& guide) {
  if (!lazy_ || !task_.given.empty()) return std::nullopt;
  start_ = fits_.scratch().checkpoint();
  order(guide.smallest_first);
  emptied_.keep(guide.kept);
  emptied_.start(guide.highest);
  const bool infeasible =
      fits_.countable() &&
      emptied_.count_room(fits_.of(members_.front()), guide.highest, task_.needed) < task_.needed;
  if (infeasible) return std::nullopt;
  const std::optional<GuidedPlaces> found =
      VictimGuide(world_, domain_, fits_, emptied_, guide.spare_violating)
          .place(members_, task_.needed, task_.wanted);
  return found ? adopt(found->places, found->victims) : std::nullopt;
}

PlanningRules GroupSearch::counting() {
  if (!counting_) {
    counting_ =
        std::make_unique<PlanningVariant>(world_, without_whole_plan_keys(planning_.configuration));
  }
  return counting_->planning();
}

std::optional<GroupCandidate> GroupSearch::run_by_member(const Guide& guide,
                                                         const MemberByMember::Detour& detour) {
  if (!task_.given.empty()) return std::nullopt;
  order(guide.smallest_first);
  const std::optional<GuidedPlaces> found =
      MemberByMember(world_, domain_, fits_, scope_of(guide, false))
          .place(members_, task_.needed, task_.wanted, detour);
  return found ? adopt(found->places, found->victims) : std::nullopt;
}

/// Without a plan so far, the highest priority is part of the question.
VictimSearch::Scope GroupSearch::scope_of(const Guide& guide, bool any_priority) {
  const bool limited = !any_priority && guide.highest < priority_;
  return {.rules = limited ? counting().rules : planning_.rules,
          .priority = limited ? guide.highest + 1 : priority_,
          .choice = VictimChoiceRule::best};
}

std::vector<GroupCandidate> GroupSearch::run_opened(const Guide& guide) {
  if (!task_.given.empty() || !fits_.constrained()) return {};
  order(guide.smallest_first);
  MemberByMember members(world_, domain_, fits_, scope_of(guide, false));
  std::vector<std::vector<PodIndex>> gone;
  std::vector<PodIndex> all;
  for (const MemberByMember::Opening& opening : members.openings(members_.front())) {
    gone.push_back(opening.victims.pods);
    all.insert(all.end(), opening.victims.pods.begin(), opening.victims.pods.end());
  }
  std::ranges::sort(all);
  const auto repeated = std::ranges::unique(all);
  all.erase(repeated.begin(), repeated.end());
  if (gone.size() > 1) gone.push_back(std::move(all));
  std::vector<GroupCandidate> candidates;
  for (const std::vector<PodIndex>& first : gone) {
    const std::optional<GuidedPlaces> found =
        members.place(members_, task_.needed, task_.wanted, {}, first);
    std::optional<GroupCandidate> candidate =
        found ? adopt(found->places, found->victims) : std::nullopt;
    if (candidate) candidates.push_back(*std::move(candidate));
  }
  return candidates;
}

std::optional<GroupCandidate> GroupSearch::polish(const GroupCandidate& found) {
  if (found.victims.units.empty() || fits_.constrained()) return std::nullopt;
  Scratch& scratch = fits_.scratch();
  start_ = scratch.checkpoint();
  scratch.remove(found.victims.pods);
  places_ = found.places;
  for (const PodOnNode& place : places_) scratch.place(place.pod, place.node);
  sort_places();
  const std::int32_t highest = highest_priority(found);
  std::vector<PodOnNode> alone;  // Victims that leave one by one, by node.
  for (const VictimUnit& unit : found.victims.units) {
    if (!unit.whole) {
      alone.push_back({.pod = unit.first, .node = world_.cluster().pods().node[unit.first]});
    }
  }
  std::ranges::stable_sort(alone, {}, &PodOnNode::node);
  std::vector<PodIndex> victims;
  bool changed = false;
  for (std::size_t begin = 0; begin < by_node_.size();) {
    const auto members = members_on(by_node_[begin].node);
    const auto there = std::ranges::equal_range(alone, members.front().node, {}, &PodOnNode::node);
    changed = polish_node(members, there, highest, victims) || changed;
    begin += members.size();
  }
  for (const VictimUnit& unit : found.victims.units) {
    const auto pods = found.victims.pods_of(unit);
    const bool elsewhere = members_on(world_.cluster().pods().node[unit.first]).empty();
    if (unit.whole || elsewhere) victims.insert(victims.end(), pods.begin(), pods.end());
  }
  go_back();
  if (!changed) return std::nullopt;
  std::ranges::sort(victims);
  const auto repeated = std::ranges::unique(victims);
  victims.erase(repeated.begin(), repeated.end());
  const std::vector<PodOnNode> places = found.places;
  return adopt(places, victims);
}

/// Adds the victims on the node, which leave one by one, or better ones. True: it found better
/// ones.
bool GroupSearch::polish_node(std::span<const PodOnNode> members, std::span<const PodOnNode> there,
                              std::int32_t highest, std::vector<PodIndex>& victims) {
  Scratch& scratch = fits_.scratch();
  const NodeIndex node = members.front().node;
  std::vector<PodIndex> before;
  before.reserve(there.size());
  for (const PodOnNode& victim : there) before.push_back(victim.pod);
  PodFit& fit = fits_.of(members.back().pod);
  if (before.empty() || !fit.only_resources(node)) {
    victims.insert(victims.end(), before.begin(), before.end());
    return false;
  }
  scratch.remove(members.back().pod);
  scratch.put_back(before);
  VictimSearch search(world_, fit, {.rules = counting().rules, .priority = highest + 1}, nullptr);
  const std::optional<Candidate> best = search.on_node(node);
  std::vector<PodIndex> after = best ? best->victims.pods : before;
  std::ranges::sort(after);
  std::ranges::sort(before);
  scratch.remove(after);
  scratch.place(members.back().pod, node);
  victims.insert(victims.end(), after.begin(), after.end());
  return after != before;
}

std::optional<GroupCandidate> GroupSearch::without(const GroupCandidate& found, PodIndex member) {
  std::vector<PodOnNode> others = found.places;
  std::erase_if(others, [&](const PodOnNode& place) { return place.pod == member; });
  if (!others.empty()) return reduced(others, found.victims.pods, false);
  GroupCandidate none{.domain = &domain_};
  none.score = found.score;
  for (ScoreTerm& term : none.score) {
    const bool counts = term.key == ScoreKey::members_not_placed && term.value > 0;
    term.value = counts ? term.value + 1 : 0;
  }
  return none;
}

std::vector<MemberByMember::Choice> GroupSearch::places_beside(const GroupCandidate& others,
                                                               PodIndex member, const Guide& guide,
                                                               bool any_priority) {
  return MemberByMember(world_, domain_, fits_, scope_of(guide, any_priority))
      .beside(others.places, others.victims.pods, member);
}

std::optional<GroupCandidate> GroupSearch::adopt(std::span<const PodOnNode> places,
                                                 std::span<const PodIndex> victims) {
  return reduced(
      places, victims,
      planning_.configuration.workload.evict_for == EvictFor::all && task_.given.empty());
}

/// With `fill`, members without a place take what is free then.
std::optional<GroupCandidate> GroupSearch::reduced(std::span<const PodOnNode> places,
                                                   std::span<const PodIndex> victims, bool fill) {
  Scratch& scratch = fits_.scratch();
  start_ = scratch.checkpoint();
  std::vector<PodIndex> pods(victims.begin(), victims.end());
  std::ranges::sort(pods);
  const auto chosen = [&](PodIndex pod) { return std::ranges::binary_search(pods, pod); };
  emptied_.keep_none();
  emptied_.start(priority_);
  for (const PodIndex pod : pods) {
    if (scratch.node_of(pod).exists() && emptied_.leaves(pod)) emptied_.remove_unit_of(pod);
  }
  list_gone();
  const bool all_left = list_.pods.size() == pods.size() && std::ranges::all_of(list_.pods, chosen);
  places_.assign(places.begin(), places.end());
  if (!all_left || breaks_strict_budget() ||
      !fits_.fit_in_turn(places_, MemberFits::Nominations::count)) {
    go_back();
    return std::nullopt;
  }
  for (const PodOnNode& place : places_) scratch.place(place.pod, place.node);
  sort_places();
  put_back_where_possible(false, PutBack::until_stable);
  return finish(fill);
}

/// Whether the pods that left are more than strict budgets allow.
bool GroupSearch::breaks_strict_budget() const {
  if (planning_.configuration.budgets.mode != BudgetMode::strict) return false;
  VictimList left = list_;
  return mark_violations(world_.budgets(), left, ChargeOrder::most_important_first) > 0;
}

/// The world is left as it was found before the search.
std::optional<GroupCandidate> GroupSearch::finish(bool fill) {
  std::optional<GroupCandidate> found;
  if (fill) fill_free_room(world_, planning_, domain_, fits_, task_.members, places_);
  // What a bound left evicted may be more than is needed.
  if (!out_of_steps_ && fits_.respect_nominations(places_)) found = candidate();
  go_back();
  if (found && !world_.keeps_promises(found->places, found->victims.pods)) return std::nullopt;
  return found;
}

// ---- Steps 2 to 4 -------------------------------------------------------------------------------

/// Returns how many members have a place; they are in the world.
std::size_t GroupSearch::place_with_gone_up_to(std::int32_t highest, std::size_t enough) {
  find_places_up_to(highest, enough);
  arrive();
  return places_.size();
}

/// Returns how many members have a place. They are not there yet.
std::size_t GroupSearch::find_places_up_to(std::int32_t highest, std::size_t enough) {
  go_back();
  emptied_.start(highest);
  if (!lazy_) emptied_.empty_all();
  if (task_.given.empty()) {
    places_ = placer_.place({.members = members_, .needed = task_.needed, .enough = enough});
    if (placer_.bound_reached()) note_bound(bounds_reached_, placer_.bound());
  } else {
    places_.clear();
    for (const PodOnNode& place : task_.given) {
      emptied_.empty(place.node);
      if (fits_.of(place.pod).check(place.node)) continue;
      fits_.scratch().place(place.pod, place.node);
      places_.push_back(place);
    }
  }
  sort_places();
  return places_.size();
}

/// The nodes are emptied, and members that are expected come.
void GroupSearch::arrive() {
  for (const PodOnNode& place : places_) emptied_.empty(place.node);
  list_gone();
}

/// Whether the places that were found need no pod gone above the priority.
bool GroupSearch::fit_up_to(std::int32_t highest) {
  PodFit& fit = fits_.of(places_.front().pod);
  for (std::size_t begin = 0; begin < by_node_.size();) {
    const NodeIndex node = by_node_[begin].node;
    const auto members = static_cast<std::int64_t>(members_on(node).size());
    if (fit.count_beside(node, emptied_.used(node, highest), members) < members) return false;
    begin += static_cast<std::size_t>(members);
  }
  return true;
}

void GroupSearch::sort_places() {
  by_node_ = places_;
  std::ranges::stable_sort(by_node_, {}, &PodOnNode::node);
}

void GroupSearch::list_gone() {
  list_ = emptied_.gone();
  std::ranges::sort(list_.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return planning_.rules.more_important(a, b);
  });
  evicted_.assign(list_.units.size(), 1);
}

/// Which member is without a place, and whether that proves anything.
void GroupSearch::nothing_found() {
  without_place_ = placer_.first_without();
  if (!task_.given.empty()) {
    for (const PodOnNode& place : task_.given) {
      if (!fits_.scratch().node_of(place.pod).exists()) without_place_ = place.pod;
    }
  }
  if (!without_place_ || emptied_.budgets_kept_some() || !bounds_reached_.empty() ||
      !task_.given.empty()) {
    return;
  }
  proven_ = fits_.countable() && !world_.has_promises();  // A promise may be what is in the way.
}

void GroupSearch::add_refusals(RefusalTally& tally) {
  if (!without_place_) return;
  start_ = fits_.scratch().checkpoint();
  place_with_gone_up_to(priority_, task_.wanted);
  emptied_.empty_all();
  PodFit& fit = fits_.of(*without_place_);
  for (const NodeIndex node : domain_.nodes) {
    const std::optional<Refused> refused = fit.check(node);
    if (refused) tally.add(*refused, node, world_.survey().position_of(node));
  }
  go_back();
}

// ---- Step 6 -------------------------------------------------------------------------------------

/// Where members are alike and only room counts, steps 3 to 6 need one placement: sums say up to
/// which priority others have to leave. False: that is not so, and nothing has happened.
bool GroupSearch::place_by_counts(const Variant& variant) {
  const bool searches = variant.priority_search == PrioritySearch::adaptive ||
                        variant.priority_search == PrioritySearch::bisect;
  if (!lazy_ || !searches || !fits_.countable() || !task_.given.empty()) return false;
  if (emptied_.any_violates() && !variant.spare_violating) return false;
  PodFit& fit = fits_.of(members_.front());
  const bool any_expected =
      std::ranges::any_of(domain_.nodes, [&](NodeIndex node) { return !fit.only_resources(node); });
  if (any_expected) return false;
  emptied_.start(priority_);
  const std::size_t wanted = emptied_.count_room(fit, priority_, task_.wanted);
  if (wanted < task_.needed) return false;
  return place_with_gone_up_to(emptied_.lowest_with_room(fit, wanted), wanted) >= wanted;
}

void GroupSearch::lower_priority(PrioritySearch priority_search) {
  if (priority_search == PrioritySearch::none) return;
  const std::size_t wanted = places_.size();
  if (emptied_.distinct_priorities().size() < 2) return;
  keep_returned();
  const std::vector<std::int32_t> priorities = emptied_.distinct_priorities();
  const bool halve = priority_search == PrioritySearch::bisect ||
                     (priority_search == PrioritySearch::adaptive && fits_.countable());
  // The last one is known to do: it is where the members are now.
  std::size_t low = 0;
  std::size_t high = priorities.empty() ? 0 : priorities.size() - 1;
  if (halve && fits_.countable() && !priorities.empty()) {
    PodFit& fit = fits_.of(members_.front());
    const auto first = std::ranges::partition_point(priorities, [&](std::int32_t priority) {
      return emptied_.count_room(fit, priority, wanted) < wanted;
    });
    low = std::min(static_cast<std::size_t>(first - priorities.begin()), high);
  }
  bool there = false;  // The members are where `high` puts them.
  while (low < high) {
    const bool near = !halve || high - low < 2 || fits_.countable();
    const std::size_t middle = near ? low : low + (high - low) / 2;
    there = place_with_gone_up_to(priorities[middle], wanted) >= wanted;
    (there ? high : low) = there ? middle : middle + 1;
  }
  if (there || priorities.empty()) return;
  if (place_with_gone_up_to(priorities[high], wanted) >= wanted) return;
  // Without those that came back in step 5 the first places are no longer found: back to them.
  go_back();
  emptied_.keep(kept_);
  place_with_gone_up_to(priority_, task_.wanted);
  put_back_where_possible(true, planning_.configuration.workload.put_back);
}

/// Step 5 is over: those that came back are no potential victims any more. All pods are back where
/// they were before the search.
void GroupSearch::keep_returned() {
  if (!emptied_.any_violates()) return go_back();
  std::vector<PodIndex> stays;
  for (const VictimUnit& unit : emptied_.violating().units) {
    const auto at = std::ranges::find(list_.units, unit.first, &VictimUnit::first);
    const bool gone = at != list_.units.end() &&
                      evicted_[static_cast<std::size_t>(at - list_.units.begin())] != 0;
    const auto pods = emptied_.violating().pods_of(unit);
    if (!gone) stays.insert(stays.end(), pods.begin(), pods.end());
  }
  go_back();
  emptied_.keep(stays);
}

// ---- Steps 5 and 7 ------------------------------------------------------------------------------

void GroupSearch::put_back_where_possible(bool only_violating, PutBack mode) {
  // Where only room counts, a pod that was refused once is refused ever after: there is only less
  // of it.
  if (mode == PutBack::until_stable && !fits_.constrained()) mode = PutBack::once;
  put_back_in_rounds(list_, evicted_, mode, only_violating,
                     [&](std::size_t at) { return put_back(list_.units[at]); });
}

bool GroupSearch::put_back(const VictimUnit& unit) {
  if (!lazy_ && !matters(unit)) {  // Otherwise only nodes of members were emptied.
    fits_.scratch().put_back(list_.pods_of(unit));
    return true;
  }
  if (steps_.out()) {
    note_bound(bounds_reached_, steps_.bound());
    out_of_steps_ = true;
    return false;
  }
  steps_.count(fits_.constrained() ? static_cast<std::int64_t>(places_.size()) : 1);
  fits_.scratch().put_back(list_.pods_of(unit));
  if (leaves_members_their_places(unit)) return true;
  fits_.scratch().remove(list_.pods_of(unit));
  return false;
}

/// Whether its coming back can matter to a member at all.
bool GroupSearch::matters(const VictimUnit& unit) const {
  return fits_.constrained() || std::ranges::any_of(list_.pods_of(unit), [&](PodIndex pod) {
           return !members_on(world_.cluster().pods().node[pod]).empty();
         });
}

/// They are in the world, and leave it for that.
bool GroupSearch::fit_one_after_the_other() {
  Scratch& scratch = fits_.scratch();
  const Scratch::Checkpoint before = scratch.checkpoint();
  for (const PodOnNode& place : places_) scratch.remove(place.pod);
  const auto fit = [this] {
    return fits_.fit_in_turn(places_, MemberFits::Nominations::count,
                             planning_.configuration.workload.put_back_scope);
  };
  bool stand = fit();
  if (stand && !world_.uncertain_arrivals().empty()) {  // No place may depend on those.
    scratch.remove(world_.uncertain_arrivals());
    stand = fit();
  }
  scratch.rollback(before);
  return stand;
}

bool GroupSearch::members_keep_places() {
  return fits_.constrained() ? fit_one_after_the_other() : fits_.all_still_fit(places_);
}

/// The unit is back in the world, and the members are in it.
bool GroupSearch::leaves_members_their_places(const VictimUnit& unit) {
  if (fits_.constrained()) return fit_one_after_the_other();
  const PodColumns& pods = world_.cluster().pods();
  return std::ranges::all_of(list_.pods_of(unit), [&](PodIndex pod) {
    return fits_.still_fit(members_on(pods.node[pod]));
  });
}

std::span<const PodOnNode> GroupSearch::members_on(NodeIndex node) const {
  const auto range = std::ranges::equal_range(by_node_, node, {}, &PodOnNode::node);
  return {range.begin(), range.end()};
}

// ---- Step 8 -------------------------------------------------------------------------------------

std::optional<GroupCandidate> GroupSearch::candidate() {
  GroupCandidate found{.domain = &domain_, .places = places_};
  std::vector<VictimUnit> others;
  found.victims = split_victims(list_, evicted_, others);
  const bool works = add_fallen_and_spare(
      {.cluster = world_.cluster(),
       .scratch = fits_.scratch(),
       .rules = planning_.rules,
       .budgets = world_.budgets()},
      [this] {
        steps_.count(1);
        return members_keep_places();
      },
      found.victims);
  if (!works) return std::nullopt;
  if (planning_.configuration.budgets.counted_over == BudgetCount::victims) {
    mark_violations(world_.budgets(), found.victims, ChargeOrder::most_important_first);
  }
  for (const VictimUnit& unit : found.victims.units) found.budget_violations += unit.violations;
  const bool for_all = planning_.configuration.workload.evict_for == EvictFor::all;
  const auto missing = static_cast<std::int64_t>(task_.members.size() - places_.size());
  found.score = score_of(world_.survey(), planning_.rules,
                         {.scratch = fits_.scratch(),
                          .list = found.victims,
                          .victims = found.victims.units,
                          .budget_violations = found.budget_violations,
                          .members_not_placed = for_all ? missing : 0});
  return found;
}

}  // namespace makeway

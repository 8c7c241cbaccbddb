#include "policies/workload/group_search.hpp"

#include <algorithm>

#include "policies/workload/room_count.hpp"

namespace makeway {

GroupSearch::GroupSearch(Cycle& cycle, const GroupTask& task, const GroupDomain& domain,
                         MemberFits& fits)
    : cycle_(cycle),
      task_(task),
      domain_(domain),
      fits_(fits),
      placer_(cycle, domain, fits, nullptr) {
  priority_ = cycle.cluster.units()[task.unit].scheduling_priority;
  // As kube-scheduler does it; or so that those whom a budget still allows matter least.
  const bool over_victims = cycle.configuration.budgets.counted_over == BudgetCount::victims;
  charge_order_ =
      over_victims ? ChargeOrder::least_important_first : ChargeOrder::most_important_first;
  list_victims();
}

std::optional<GroupCandidate> GroupSearch::run(const Variant& variant) {
  Scratch& world = fits_.world();
  const Scratch::Checkpoint start = world.checkpoint();
  members_ = task_.members;
  if (variant.smallest_first) std::ranges::reverse(members_);
  list_ = all_;
  if (variant.spare_violating) {
    std::erase_if(list_.units, [](const VictimUnit& unit) { return unit.violations > 0; });
  }
  evicted_.assign(list_.units.size(), 1);
  for (const VictimUnit& unit : list_.units) world.remove(list_.pods_of(unit));
  std::optional<GroupCandidate> found;
  proven_ = false;
  if (place(task_.wanted) < task_.needed) {
    nothing_found();
  } else {
    put_back_where_possible(true);
    if (task_.given.empty()) lower_priority(variant.priority_search);
    put_back_where_possible(false);
    // What a bound left evicted may be more than is needed.
    if (!out_of_steps_) found = candidate();
  }
  world.rollback(start);
  if (found && !keeps_promises(cycle_, found->places, found->victims.pods)) {
    proven_ = false;
    return std::nullopt;
  }
  return found;
}

// ---- Steps 2 and 4 ------------------------------------------------------------------------------

/// All variants start from the same potential victims.
void GroupSearch::list_victims() {
  cycle_.rules.collect(fits_.world(), domain_.nodes, priority_, all_);
  std::ranges::sort(all_.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return cycle_.rules.more_important(a, b);
  });
  mark_violations(cycle_.budgets, all_, charge_order_);
  budgets_kept_some_ = cycle_.configuration.budgets.mode == BudgetMode::strict &&
                       keep_within_budgets(cycle_.budgets, all_);
}

// ---- Step 3 -------------------------------------------------------------------------------------

/// Returns how many members have a place; they are in the world.
std::size_t GroupSearch::place(std::size_t enough) {
  if (task_.given.empty()) {
    places_ = placer_.place({.members = members_, .needed = task_.needed, .enough = enough});
    if (placer_.bound_reached()) note_bound("engine.placementStepsMax");
  } else {
    places_.clear();
    for (const PodOnNode& place : task_.given) {
      if (fits_.of(place.pod).check(place.node)) continue;
      fits_.world().place(place.pod, place.node);
      places_.push_back(place);
    }
  }
  count_members();
  return places_.size();
}

void GroupSearch::count_members() {
  members_on_.assign(cycle_.survey.nodes().size(), 0);
  for (const PodOnNode& place : places_) ++members_on_[cycle_.survey.place_of(place.node)];
}

void GroupSearch::nothing_found() {
  proven_ = false;
  without_place_ = placer_.first_without();
  if (!task_.given.empty()) {
    for (const PodOnNode& place : task_.given) {
      if (!fits_.world().node_of(place.pod).exists()) without_place_ = place.pod;
    }
  }
  if (!without_place_) return;
  PodFit& fit = fits_.of(*without_place_);
  refusals_.clear();
  for (const NodeIndex node : domain_.nodes) {
    if (const std::optional<Refused> refused = fit.check(node)) {
      refusals_.emplace_back(node, *refused);
    }
  }
  if (budgets_kept_some_ || !bounds_reached_.empty() || !task_.given.empty()) return;
  proven_ =
      fits_.countable() && !cycle_.anybody_promised();  // A promise may be what is in the way.
}

void GroupSearch::add_refusals(RefusalTally& tally) {
  for (const auto& [node, refused] : refusals_) {
    tally.add(refused, node, cycle_.survey.place_of(node));
  }
}

// ---- Step 6 -------------------------------------------------------------------------------------

void GroupSearch::lower_priority(PrioritySearch priority_search) {
  if (priority_search == PrioritySearch::none) return;
  std::vector<std::int32_t> priorities;
  for (std::size_t at = 0; at < list_.units.size(); ++at) {
    if (evicted_[at] != 0) priorities.push_back(list_.units[at].priority);
  }
  std::ranges::sort(priorities);
  const auto repeated = std::ranges::unique(priorities);
  priorities.erase(repeated.begin(), repeated.end());
  if (priorities.size() < 2) return;
  std::vector<PodOnNode> last_places = places_;  // Of the lowest priority that is known to do.
  const std::size_t wanted = places_.size();
  const bool halve = priority_search == PrioritySearch::bisect ||
                     (priority_search == PrioritySearch::adaptive && fits_.countable());
  // The last one is known to do: it is where the members are now.
  std::size_t low = 0;
  std::size_t high = priorities.size() - 1;
  if (halve && fits_.countable()) low = first_with_room(priorities, wanted);
  while (low < high) {
    const bool near = !halve || high - low < 2 || fits_.countable();
    const std::size_t middle = near ? low : low + (high - low) / 2;
    if (finds_places_up_to(priorities[middle], wanted)) {
      high = middle;
      last_places = places_;
    } else {
      low = middle + 1;
    }
  }
  Scratch& world = fits_.world();
  for (const PodOnNode& place : places_) world.remove(place.pod);
  for (std::size_t at = 0; at < list_.units.size(); ++at) {
    if (evicted_[at] == 0 || list_.units[at].priority <= priorities[high]) continue;
    evicted_[at] = 0;
    world.put_back(list_.pods_of(list_.units[at]));
  }
  places_ = std::move(last_places);
  for (const PodOnNode& place : places_) world.place(place.pod, place.node);
  count_members();
}

/// The first priority at which the sums do not rule out that all find room; places are looked for
/// from there on. The world is left as it was found.
std::size_t GroupSearch::first_with_room(std::span<const std::int32_t> priorities,
                                         std::size_t wanted) {
  Scratch& world = fits_.world();
  const Scratch::Checkpoint before = world.checkpoint();
  for (const PodOnNode& place : places_) world.remove(place.pod);
  const RoomCount count(cycle_, domain_, fits_, places_.front().pod, list_, evicted_);
  world.rollback(before);
  const auto first = std::ranges::partition_point(priorities, [&](std::int32_t priority) {
    return count.members_up_to(priority, wanted) < wanted;
  });
  return std::min(static_cast<std::size_t>(first - priorities.begin()), priorities.size() - 1);
}

/// Whether as many members find a place with nobody above the priority gone. Leaves the members
/// where they found places, and the victims gone.
bool GroupSearch::finds_places_up_to(std::int32_t highest, std::size_t wanted) {
  Scratch& world = fits_.world();
  for (const PodOnNode& place : places_) world.remove(place.pod);
  std::vector<std::size_t> back;
  for (std::size_t at = 0; at < list_.units.size(); ++at) {
    if (evicted_[at] == 0 || list_.units[at].priority <= highest) continue;
    back.push_back(at);
    world.put_back(list_.pods_of(list_.units[at]));
  }
  const bool enough = place(wanted) >= wanted;
  for (const PodOnNode& place : places_) world.remove(place.pod);
  for (const std::size_t at : back) world.remove(list_.pods_of(list_.units[at]));
  for (const PodOnNode& place : places_) world.place(place.pod, place.node);
  return enough;
}

// ---- Steps 5 and 7 ------------------------------------------------------------------------------

void GroupSearch::put_back_where_possible(bool only_violating) {
  put_back_in_rounds(list_, evicted_, cycle_.configuration.workload.put_back, only_violating,
                     [&](std::size_t at) { return put_back(list_.units[at]); });
}

bool GroupSearch::put_back(const VictimUnit& unit) {
  const bool looked_at = matters(unit);
  if (looked_at && steps_ >= cycle_.configuration.engine.victim_steps_max) {
    note_bound("engine.victimStepsMax");
    out_of_steps_ = true;
    return false;
  }
  fits_.world().put_back(list_.pods_of(unit));
  if (!looked_at) return true;
  steps_ += fits_.constrained() ? static_cast<std::int64_t>(places_.size()) : 1;
  if (all_fit_beside(unit)) return true;
  fits_.world().remove(list_.pods_of(unit));
  return false;
}

/// Whether its coming back can matter to a member at all.
bool GroupSearch::matters(const VictimUnit& unit) const {
  if (fits_.constrained()) return true;
  return std::ranges::any_of(list_.pods_of(unit), [&](PodIndex pod) {
    const NodeIndex node = cycle_.cluster.pods().node[pod];
    return cycle_.cluster.nodes().flags[node].exists &&
           members_on_[cycle_.survey.place_of(node)] != 0;
  });
}

/// The unit is back in the world, and the members are in it.
bool GroupSearch::all_fit_beside(const VictimUnit& unit) {
  if (fits_.constrained()) {
    Scratch& world = fits_.world();
    const Scratch::Checkpoint before = world.checkpoint();
    for (const PodOnNode& place : places_) world.remove(place.pod);
    const bool fit = fits_.fit_in_turn(places_, MemberFits::Nominations::count);
    world.rollback(before);
    return fit;
  }
  const PodColumns& pods = cycle_.cluster.pods();
  return std::ranges::all_of(list_.pods_of(unit), [&](PodIndex pod) {
    const NodeIndex node = pods.node[pod];
    if (!cycle_.cluster.nodes().flags[node].exists) return true;
    return members_on_[cycle_.survey.place_of(node)] == 0 || fits_.still_fit(places_, node);
  });
}

// ---- Step 8 -------------------------------------------------------------------------------------

GroupCandidate GroupSearch::candidate() {
  GroupCandidate found{.domain = domain_.name, .places = places_};
  found.victims = split_victims(list_, evicted_, found.spared);
  cycle_.rules.add_fallen(fits_.world(), cycle_.budgets, found.victims);
  if (cycle_.configuration.budgets.counted_over == BudgetCount::victims) {
    mark_violations(cycle_.budgets, found.victims, charge_order_);
  }
  for (const VictimUnit& unit : found.victims.units) found.budget_violations += unit.violations;
  const bool for_all = cycle_.configuration.workload.evict_for == EvictFor::all;
  const auto missing = static_cast<std::int64_t>(task_.members.size() - places_.size());
  found.score = score_of(cycle_.survey, cycle_.rules,
                         {.scratch = fits_.world(),
                          .list = found.victims,
                          .victims = found.victims.units,
                          .budget_violations = found.budget_violations,
                          .members_not_placed = for_all ? missing : 0});
  return found;
}

void GroupSearch::note_bound(std::string_view name) {
  if (std::ranges::find(bounds_reached_, name) == bounds_reached_.end()) {
    bounds_reached_.emplace_back(name);
  }
}

}  // namespace makeway

#include "policies/workload/group/group_plans.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "model/compatibility.hpp"
#include "policies/workload/group/plan_moves.hpp"

namespace makeway {
namespace {

/// Pairs of member and node that placements member by member may look at in one domain: where
/// counts do almost as well, and where only a look at every node finds a place.
constexpr std::int64_t looks_beside_counts = 2'048;
constexpr std::int64_t looks_without_counts = 16'384;
constexpr std::string_view looks_bound = "workload.looksInDomain";
/// All domains together may take so many times that.
constexpr std::int64_t domains_looked_at = 16;
constexpr std::string_view domains_bound = "workload.looksInAllDomains";

std::vector<NodeIndex> nodes_of(const GroupCandidate& candidate) {
  std::vector<NodeIndex> nodes;
  nodes.reserve(candidate.places.size());
  for (const PodOnNode& place : candidate.places) nodes.push_back(place.node);
  std::ranges::sort(nodes);
  return nodes;
}

/// Whichever members are where, and in whichever of nested domains it was found.
bool same_plan(const GroupCandidate& a, const GroupCandidate& b) {
  return a.victims.pods == b.victims.pods && nodes_of(a) == nodes_of(b);
}

bool better(const GroupCandidate& a, const GroupCandidate& b) {
  const int order = compare(a.score, b.score);
  return order != 0 ? order < 0 : a.domain->rank < b.domain->rank;
}

}  // namespace

GroupPlans::GroupPlans(const Draft& draft, const GroupTask& task, MemberFits& fits)
    : explain_(draft.explain), world_(draft.world), task_(task), fits_(fits) {
  const World& world = draft.world;
  for (const PodIndex pod : world.gone()) {
    if (world.departures().leaving(pod)) leaving_.push_back(pod);
  }
  if (cascades_count(world.configuration())) cascades_.emplace(world_, fits.scratch());
  one_priority_each_ = std::ranges::all_of(world.cluster().units(), [](const Unit& unit) {
    return unit.preemption_priority == unit.scheduling_priority;
  });
}

GroupPlans::Place GroupPlans::place_of(const GroupDomain& domain) {
  const PlanningRules planning = planning_rules_of(world_);
  Place place{.domain = &domain};
  place.emptied =
      std::make_unique<EmptiedNodes>(emptied_nodes(world_, planning, task_, domain, fits_));
  place.search =
      std::make_unique<GroupSearch>(world_, planning, task_, domain, fits_, *place.emptied);
  return place;
}

void GroupPlans::search(std::span<const GroupDomain> domains) {
  places_.reserve(domains.size());
  for (const GroupDomain& domain : domains) {
    places_.push_back(place_of(domain));
    // What is said about nodes counts each once.
    if (domain.widest) potential_victims_ += places_.back().emptied->potential_victims();
  }
  if (places_.size() > 1 && task_.given.empty()) {
    for (Place& place : places_) place.floor = place.search->least_highest_priority(task_.needed);
    std::ranges::stable_sort(places_, {}, &Place::floor);
  }
  // Only then can victims elsewhere matter.
  if (task_.given.empty() && fits_.constrained()) start_from_whole_cluster(domains);
  for (Place& place : places_) {
    if (!infeasible(place)) search(place);
  }
  if (!best_ || !explain_) return;
  if (!runner_up_) find_runner_up();
  list_spared();
}

/// Those on the nodes of the best plan that could have been made to leave.
void GroupPlans::list_spared() {
  const auto place = std::ranges::find(places_, best_->domain, &Place::domain);
  place->emptied->keep({});
  place->emptied->start(world_.cluster().units()[task_.unit].scheduling_priority);
  VictimList list;
  std::vector<NodeIndex> nodes = nodes_of(*best_);
  const auto repeated = std::ranges::unique(nodes);
  nodes.erase(repeated.begin(), repeated.end());
  for (const NodeIndex node : nodes) place->emptied->list_units(node, list);
  std::set<PodIndex> known;  // Victims, and groups that are on several nodes.
  for (const VictimUnit& unit : best_->victims.units) known.insert(unit.first);
  std::erase_if(list.units,
                [&](const VictimUnit& unit) { return !known.insert(unit.first).second; });
  std::ranges::sort(list.units, [this](const VictimUnit& a, const VictimUnit& b) {
    return world_.rules().more_important(a, b);
  });
  best_->spared = std::move(list.units);
}

void GroupPlans::search(Place& place) {
  plan_simply(place);
  const WorkloadSettings& settings = world_.configuration().workload;
  if (settings.placement_guide == PlacementGuide::victims && task_.given.empty()) {
    plan_for_victims(place);
  }
  for (const std::string& bound : place.search->bounds_reached())
    note_bound(bounds_reached_, bound);
  if (place.domain->widest) proven_ = proven_ && place.search->proven();
}

/// Sums show that a more important pod would have to leave there. An explanation lists
/// the best plan of another domain, too.
bool GroupPlans::infeasible(const Place& place) const {
  if (places_.size() == 1) return false;
  const std::optional<GroupCandidate>& to_beat = explain_ ? runner_up_ : best_;
  if (!to_beat || to_beat->victims.units.empty()) return false;
  return ScoreFloor(world_.configuration().workload).highest_allowed(to_beat->score) < place.floor;
}

/// Follows its secondary victims, which is dear, where they can matter: it would be the best plan
/// without any. False: a bound left them unfollowed, and there is a plan already.
bool GroupPlans::follow(GroupCandidate& found) {
  const bool is_listed = explain_ && (!runner_up_ || better(found, *runner_up_));
  if (!cascades_ || (best_ && !better(found, *best_) && !is_listed)) return true;
  const auto term = std::ranges::find(found.score, ScoreKey::secondary_victims, &ScoreTerm::key);
  if (term == found.score.end()) return true;
  const std::int64_t enough =
      best_ ? best_->score[static_cast<std::size_t>(term - found.score.begin())].value
            : Cascades::no_end;
  term->value = cascades_->follow(found.victims.pods, found.places, found.cascades, enough);
  if (!cascades_->bound_reached()) return true;
  note_bound(bounds_reached_, cascades_->bound());
  return !best_;
}

/// True: it is the best so far. The runner-up is of another domain where there are several.
bool GroupPlans::consider(std::optional<GroupCandidate> found) {
  // A bound may have left members without a place.
  if (!found || found->places.size() < task_.needed) return false;
  if (best_ && same_plan(*found, *best_)) {
    const bool preferred =
        compare(found->score, best_->score) <= 0 && found->domain->rank < best_->domain->rank;
    if (preferred) best_->domain = found->domain;
    return false;
  }
  if (runner_up_ && same_plan(*found, *runner_up_)) return false;
  if (!follow(*found)) return false;
  const bool comparable = best_ && (places_.size() == 1 || found->domain != best_->domain);
  if (best_ && !better(*found, *best_)) {
    if (comparable && (!runner_up_ || better(*found, *runner_up_))) runner_up_ = std::move(found);
    return false;
  }
  if (comparable) runner_up_ = std::move(best_);
  best_ = std::move(found);
  return true;
}

// ---- Simple plans -------------------------------------------------------------------------------

/// Not all are needed, and they differ.
bool GroupPlans::small_members_may_do() const {
  return task_.needed < task_.members.size() && fits_.classes() > 1;
}

void GroupPlans::plan_simply(Place& place) {
  const WorkloadSettings& settings = world_.configuration().workload;
  GroupSearch& search = *place.search;
  const bool several = settings.start_from_simple_plans && task_.given.empty();
  const auto run = [&](bool spare_violating, bool smallest_first) {
    consider(search.run({.priority_search = settings.priority_search,
                         .spare_violating = spare_violating,
                         .smallest_first = smallest_first}));
  };
  if (several && world_.budgets().any()) {
    run(true, false);
    if (small_members_may_do()) run(true, true);
  }
  run(false, false);
  if (!several) return;
  for (const PlanningRules& planning : replays()) {
    const std::optional<GroupCandidate> found = plan_of(planning, place);
    if (found) consider(search.adopt(found->places, found->victims.pods));
  }
  if (small_members_may_do()) run(false, true);
}

/// What a simpler scheduler would do, less the pods that are known to be leaving.
std::optional<GroupCandidate> GroupPlans::plan_of(const PlanningRules& planning, Place& place,
                                                  bool only_better) {
  Scratch& scratch = fits_.scratch();
  const WorkloadSettings& settings = planning.configuration.workload;
  GroupSearch::Variant variant{.priority_search = settings.priority_search};
  const ScoreFloor floor(world_.configuration().workload);
  if (best_ && only_better && floor.highest_allowed(best_->score) < ScoreFloor::no_limit) {
    variant.not_above = static_cast<std::int32_t>(floor.highest_allowed(best_->score));
  }
  std::optional<GroupCandidate> found;
  // Which pods violate a budget depends on the order of importance; which may leave on the rules,
  // unless all may.
  const bool same_leavers = settings.leaving_room != LeavingRoom::victims ||
                            (one_priority_each_ && place.emptied->all_leave() && leaving_.empty());
  if (!same_leavers || world_.budgets().any()) {
    const World::LeavingRoomRule rule(world_, leaving_,
                                      settings.leaving_room == LeavingRoom::credited);
    EmptiedNodes emptied = emptied_nodes(world_, planning, task_, *place.domain, fits_);
    found = GroupSearch(world_, planning, task_, *place.domain, fits_, emptied).run(variant);
  } else {
    found = GroupSearch(world_, planning, task_, *place.domain, fits_, *place.emptied).run(variant);
  }
  if (!found) return std::nullopt;
  std::erase_if(found->victims.pods, [&](PodIndex pod) { return !scratch.node_of(pod).exists(); });
  return found;
}

/// An explanation lists another plan, although it is not better: what a simpler
/// scheduler would do. What is decided stays as it is.
void GroupPlans::find_runner_up() {
  if (!world_.configuration().workload.start_from_simple_plans || !task_.given.empty()) return;
  for (Place& place : places_) {
    if (places_.size() > 1 && place.domain == best_->domain) continue;
    for (const PlanningRules& planning : replays()) {
      std::optional<GroupCandidate> found = plan_of(planning, place, false);
      if (found) found = place.search->adopt(found->places, found->victims.pods);
      const bool other = found && found->places.size() >= task_.needed &&
                         !same_plan(*found, *best_) && !better(*found, *best_);
      if (other && (!runner_up_ || better(*found, *runner_up_))) runner_up_ = std::move(found);
    }
  }
}

/// Simpler schedulers do not read what topology the group wants; where their places lie in one
/// domain all the same, victims elsewhere may be what made that possible.
void GroupPlans::start_from_whole_cluster(std::span<const GroupDomain> domains) {
  const std::span<const NodeIndex> nodes = world_.survey().nodes();
  const bool known = std::ranges::any_of(
      domains, [&](const GroupDomain& domain) { return domain.nodes.size() == nodes.size(); });
  if (known || !world_.configuration().workload.start_from_simple_plans) return;
  const GroupDomain cluster{.name = {}, .nodes = {nodes.begin(), nodes.end()}, .level = {}};
  Place place = place_of(cluster);
  for (const PlanningRules& planning : replays()) {
    std::optional<GroupCandidate> found = plan_of(planning, place);
    if (found) found = place.search->adopt(found->places, found->victims.pods);
    if (!found) continue;
    const auto around = std::ranges::find_if(domains, [&](const GroupDomain& domain) {
      return contains(world_, domain, found->places);
    });
    if (around == domains.end()) continue;
    found->domain = &*around;
    consider(std::move(found));
  }
}

const std::vector<PlanningRules>& GroupPlans::replays() {
  if (!replays_.empty()) return replays_;
  for (const Bundle& bundle : bundles()) {
    if (!bundle.replay) continue;
    variants_.push_back(
        std::make_unique<PlanningVariant>(world_, replay_of(bundle, world_.configuration())));
    replays_.push_back(variants_.back()->planning());
  }
  return replays_;
}

// ---- Plans for victims --------------------------------------------------------------------------

/// What the best plan so far needs is the limit of the next one.
GroupSearch::Guide GroupPlans::guide() const {
  GroupSearch::Guide guide{.highest = world_.cluster().units()[task_.unit].scheduling_priority,
                           .kept = {}};
  // A plan that violates fewer budgets is better, however important its victims are.
  if (!best_ || best_->victims.units.empty() || best_->budget_violations > 0) return guide;
  guide.highest = highest_priority(*best_);
  guide.spare_violating = true;
  return guide;
}

void GroupPlans::plan_for_victims(Place& place) {
  GroupSearch& search = *place.search;
  const auto none_leaves = [this] { return best_ && best_->victims.units.empty(); };
  if (none_leaves()) return;
  if (best_) consider(search.run_guided(guide()));
  if (best_ && small_members_may_do()) {
    GroupSearch::Guide next = guide();
    next.smallest_first = true;
    consider(search.run_guided(next));
  }
  lower_highest_priority(search);
  const auto looks = static_cast<std::int64_t>(place.domain->nodes.size() * task_.wanted);
  const std::int64_t placements_max = world_.configuration().workload.placements_max;
  const std::int64_t looks_max = search.guidable() ? looks_beside_counts : looks_without_counts;
  const std::int64_t looks_left = std::min(looks_max, looks_max * domains_looked_at - looks_);
  const std::int64_t tries =
      std::clamp<std::int64_t>(looks_left / std::max<std::int64_t>(looks, 1), 0, placements_max);
  placements_left_ = tries;
  if (!none_leaves()) take_detours(search);
  looks_ += (tries - placements_left_) * looks;
  // Where nothing was found, that is proven by counts or not at all.
  if (best_ && !none_leaves() && placements_left_ == 0 && tries < placements_max) {
    note_bound(bounds_reached_, looks_left < looks_max ? domains_bound : looks_bound);
  }
  if (tries > 0 && !none_leaves()) {
    for (GroupCandidate& found : search.run_opened(guide())) consider(std::move(found));
  }
  // The rest improves the best plan, in its own domain.
  if (!best_ || none_leaves() || best_->domain != place.domain) return;
  placements_left_ = tries;
  if (search.guidable()) keep_each_victim(search);
  consider(search.polish(*best_));
  move_members(search, place.domain->nodes.size());
}

void GroupPlans::move_members(GroupSearch& search, std::size_t nodes) {
  PlanMoves moves(world_, task_, search, nodes);
  const auto accept = [this](std::optional<GroupCandidate> found) {
    return consider(std::move(found));
  };
  for (bool moved = true; moved && !best_->victims.units.empty();) {
    const GroupCandidate plan = *best_;
    moved = moves.improve(plan, guide(), accept);
  }
  if (moves.bound_reached()) note_bound(bounds_reached_, PlanMoves::bound);
}

/// As long as a plan is found in which no pod of the highest priority so far has to leave.
void GroupPlans::lower_highest_priority(GroupSearch& search) {
  constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();
  for (std::int64_t tries = world_.configuration().workload.placements_max; tries > 0; --tries) {
    if (!best_ || best_->victims.units.empty()) return;
    GroupSearch::Guide next = guide();
    next.highest = highest_priority(*best_);
    if (next.highest == lowest) return;
    --next.highest;
    if (!consider(search.run_guided(next))) return;
  }
}

/// The best nodes first, then every member's second best, and so on.
void GroupPlans::take_detours(GroupSearch& search) {
  for (std::size_t rank = 0; placements_left_ > 0; ++rank) {
    bool any = false;
    const std::size_t members = rank == 0 ? 1 : task_.wanted;
    for (std::size_t member = 0; member < members && placements_left_ > 0; ++member) {
      for (const bool smallest_first : {false, true}) {
        if (placements_left_ == 0 || (smallest_first && !small_members_may_do())) continue;
        --placements_left_;
        GroupSearch::Guide next = guide();
        next.smallest_first = smallest_first;
        std::optional<GroupCandidate> found =
            search.run_by_member(next, {.member = member, .rank = rank});
        any = any || found;
        consider(std::move(found));
      }
    }
    if (!any) return;
  }
}

/// A pod that leaves in the best plan so far stays: is there a better one?
void GroupPlans::keep_each_victim(GroupSearch& search) {
  for (std::size_t at = 0; placements_left_ > 0 && at < best_->victims.units.size();) {
    --placements_left_;
    const auto kept = best_->victims.pods_of(best_->victims.units[at]);
    const std::vector<PodIndex> stays(kept.begin(), kept.end());
    GroupSearch::Guide next = guide();
    next.kept = stays;
    at = consider(search.run_guided(next)) ? 0 : at + 1;
  }
}

// ---- Nothing found ------------------------------------------------------------------------------

std::optional<PodIndex> GroupPlans::without_place() const {
  for (const Place& place : places_) {
    if (const std::optional<PodIndex> pod = place.search->without_place()) return pod;
  }
  return std::nullopt;
}

void GroupPlans::add_refusals(RefusalTally& tally) {
  for (const Place& place : places_) {
    if (place.domain->widest) place.search->add_refusals(tally);
  }
}

}  // namespace makeway

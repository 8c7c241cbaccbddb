#include "policies/workload/group/group_placer.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <tuple>

namespace makeway {

GroupPlacer::GroupPlacer(World& world, const PlanningRules& planning, const GroupDomain& domain,
                         MemberFits& after, MemberFits* now, EmptiedNodes* emptied)
    : world_(world),
      planning_(planning),
      domain_(domain),
      after_(after),
      now_(now),
      emptied_(emptied),
      steps_(world.steps(), world.configuration().engine.placement_steps_max,
             "engine.placementStepsMax") {}

std::vector<PodOnNode> GroupPlacer::place(const Goal& goal) {
  rankings_.clear();
  rankings_.resize(after_.classes());
  infeasible_.assign(after_.classes(), 0);
  first_without_.reset();
  std::vector<PodOnNode> places;
  std::vector<PodIndex> open(goal.members.begin(), goal.members.end());
  // A member that looks at others may find a place once these have one.
  const bool again = after_.constrained() &&
                     planning_.configuration.workload.put_back_scope == PutBackScope::every_node;
  bool bounded = !goal.first_round_ends;
  for (bool placed = true; placed;) {
    const std::size_t before = places.size();
    open = place_round(goal, open, places, bounded);
    bounded = true;
    placed = again && places.size() > before && !open.empty() && !bound_reached_;
  }
  if (places.size() >= goal.avoid_nominated_room_after) after_.respect_every_nomination(false);
  if (!open.empty()) first_without_ = open.front();
  return places;
}

/// Returns those that found no place.
std::vector<PodIndex> GroupPlacer::place_round(const Goal& goal, std::span<const PodIndex> members,
                                               std::vector<PodOnNode>& places, bool bounded) {
  std::vector<PodIndex> without;
  std::size_t left = members.size();
  for (const PodIndex member : members) {
    if (places.size() >= goal.enough) break;
    const bool too_few = !after_.constrained() && places.size() + left < goal.needed;
    --left;
    if (bounded && steps_.out()) bound_reached_ = true;
    if (too_few || bound_reached_ || !place_member(goal, member, places)) {
      without.push_back(member);
    }
  }
  return without;
}

bool GroupPlacer::place_member(const Goal& goal, PodIndex member, std::vector<PodOnNode>& places) {
  if (places.size() == goal.avoid_nominated_room_after) {
    after_.respect_every_nomination(true);
    for (std::unique_ptr<RoomRanking>& ranking : rankings_) ranking.reset();
  }
  const std::optional<NodeIndex> node = node_for(member);
  if (!node) return false;
  places.push_back({.pod = member, .node = *node});
  if (emptied_ != nullptr && !emptied_->is_empty(*node)) {
    emptied_->expect(member, *node);
  } else {
    after_.scratch().place(member, *node);
  }
  if (now_ != nullptr) now_->scratch().place(member, *node);
  if (after_.may_spoil() && spoils(places)) {
    after_.scratch().remove(member);
    if (now_ != nullptr) now_->scratch().remove(member);
    places.pop_back();
    return false;
  }
  for (const std::unique_ptr<RoomRanking>& ranking : rankings_) {
    if (ranking) ranking->changed(*node);
  }
  return true;
}

/// Whether the last one has taken from another what its place depends on.
bool GroupPlacer::spoils(std::span<const PodOnNode> places) {
  // A pod that is only expected so far has to be there to be looked at.
  for (const PodOnNode& place : places) {
    if (emptied_ != nullptr && !emptied_->is_empty(place.node)) emptied_->empty(place.node);
  }
  steps_.count(static_cast<std::int64_t>(places.size()));
  return !after_.all_still_fit(places) || (now_ != nullptr && !now_->all_still_fit(places));
}

std::optional<NodeIndex> GroupPlacer::node_for(PodIndex member) {
  PodFit& after = after_.of(member);
  PodFit* const now = now_ == nullptr ? nullptr : &now_->of(member);
  const NodeIndex nominated = world_.cluster().pods().nominated[member];
  if (nominated.exists() && world_.cluster().nodes().flags[nominated].exists &&
      contains(world_, domain_, nominated)) {
    steps_.count(1);
    if (emptied_ != nullptr) emptied_->empty(nominated);
    const NodeChoice choice = choose_node(world_, after, now, std::span(&nominated, 1));
    if (choice.now) return choice.now;
  }
  const std::size_t kind = after_.class_of(member);
  // Others that came meanwhile only make it harder, unless it wants a pod near.
  if (infeasible_[kind] != 0 && !after.constraints().any()) return std::nullopt;
  std::optional<NodeIndex> node = ranked(member, after, now);
  if (!node) infeasible_[kind] = 1;
  return node;
}

std::optional<NodeIndex> GroupPlacer::ranked(PodIndex member, PodFit& after, PodFit* now) {
  const auto nodes = static_cast<std::int64_t>(domain_.nodes.size());
  if (nodes == 0) return std::nullopt;
  const NodeScore node_score = planning_.configuration.workload.node_score;
  const bool elsewhere_matters = after.constraints().any() || world_.has_promises();
  if (elsewhere_matters) {
    steps_.count(nodes);
    return choose_node(world_, after, now, domain_.nodes, node_score).now;
  }
  std::unique_ptr<RoomRanking>& ranking = rankings_[after_.class_of(member)];
  if (after.constraints().has_preferences()) ranking.reset();  // Pods that came may matter to them.
  if (!ranking) {
    steps_.count(nodes);
    ranking = std::make_unique<RoomRanking>(world_, after, domain_.nodes, node_score, emptied_);
  }
  steps_.count(1);
  return ranking->choose(now).now;
}

void fill_free_room(World& world, const PlanningRules& planning, const GroupDomain& domain,
                    MemberFits& fits, std::span<const PodIndex> members,
                    std::vector<PodOnNode>& places) {
  if (places.size() == members.size()) return;
  Scratch& scratch = fits.scratch();
  const Scratch::Checkpoint before = scratch.checkpoint();
  std::vector<PodIndex> others;
  std::ranges::copy_if(members, std::back_inserter(others),
                       [&](PodIndex member) { return !scratch.node_of(member).exists(); });
  GroupPlacer placer(world, planning, domain, fits, nullptr, nullptr);
  const std::vector<PodOnNode> more = placer.place(
      {.members = others, .needed = 0, .enough = others.size(), .avoid_nominated_room_after = 0});
  if (more.empty()) return;
  places.insert(places.end(), more.begin(), more.end());
  if (!fits.constrained()) return;
  // Pods that came later must not have taken from others what their places depend on.
  const Scratch::Checkpoint after = scratch.checkpoint();
  for (const PodOnNode& place : places) scratch.remove(place.pod);
  const bool fit = fits.fit_in_turn(places, MemberFits::Nominations::count,
                                    planning.configuration.workload.put_back_scope);
  scratch.rollback(fit ? after : before);
  if (!fit) places.resize(places.size() - more.size());
}

// ---- The order of members -----------------------------------------------------------------------

namespace {

constexpr std::int64_t millionths = 1'000'000;

struct Ranked {
  std::int64_t share = 0;
  std::int32_t priority = 0;
  Time created;
  std::string_view name;
  PodIndex pod;
};

std::vector<std::int64_t> room_of_all_nodes(Survey& survey) {
  std::vector<std::int64_t> totals(survey.cluster().order().columns());
  for (const NodeIndex node : survey.nodes()) {
    const std::span<const std::int64_t> row = survey.allocatable(node);
    add_row(totals, row);
  }
  return totals;
}

std::int64_t share_of(RequestRow requests, std::span<const std::int64_t> totals) {
  std::int64_t sum = 0;
  for (const ResourceAmount& item : requests) {
    const std::int64_t total = totals[item.resource.value];
    if (total <= 0) continue;
    const std::int64_t amount = std::min(item.amount, total);
    sum += total >= millionths ? amount / (total / millionths) : amount * millionths / total;
  }
  return sum;
}

}  // namespace

void order_members(World& world, MemberOrder order, std::vector<PodIndex>& members) {
  const Cluster& cluster = world.cluster();
  const PodColumns& pods = cluster.pods();
  const bool largest = order == MemberOrder::largest;
  const std::vector<std::int64_t> totals =
      largest ? room_of_all_nodes(world.survey()) : std::vector<std::int64_t>{};
  std::vector<Ranked> ranked;
  ranked.reserve(members.size());
  for (const PodIndex pod : members) {
    Ranked entry{.name = pods.name[pod.value], .pod = pod};
    if (largest) {
      entry.share = share_of(request_of(cluster, pod), totals);
    } else {
      entry.priority = pods.priority[pod];
      // A missing creation time counts as the latest.
      entry.created = pods.created[pod] == no_time ? Time{std::numeric_limits<std::int64_t>::max()}
                                                   : pods.created[pod];
    }
    ranked.push_back(entry);
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return std::tie(b.share, b.priority, a.created, a.name) <
           std::tie(a.share, a.priority, b.created, b.name);
  });
  std::ranges::transform(ranked, members.begin(), &Ranked::pod);
}

std::set<PodIndex> members_that_keep_their_place(World& world,
                                                 std::span<const PodIndex> nominated) {
  Scratch& after = world.after();
  const Scratch::Checkpoint before = after.checkpoint();
  std::set<PodIndex> keep;
  for (bool again = true; again;) {
    again = false;
    for (const PodIndex member : nominated) {
      const NodeIndex node = world.cluster().pods().nominated[member];
      const bool is_void = world.survey().position_of(node) == Survey::no_position;
      if (is_void || keep.contains(member)) continue;
      PodFit fit(world.survey(), after, member, world.holds());
      if (fit.check(node)) continue;
      after.place(member, node);
      keep.insert(member);
      again = again || fit.constraints().any();  // Otherwise no member needs another one.
    }
  }
  after.rollback(before);
  return keep;
}

}  // namespace makeway

#include "policies/workload/group/group_policy.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "model/compatibility.hpp"
#include "model/group_status.hpp"
#include "policies/shared/ask_driver.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"
#include "policies/shared/waiting.hpp"
#include "policies/workload/group/group_explain.hpp"
#include "policies/workload/group/group_placer.hpp"
#include "policies/workload/group/group_plans.hpp"
#include "policies/workload/queue_room_victims.hpp"

namespace makeway {
namespace {

std::vector<PodIndex> pods_of(std::span<const PodOnNode> places) {
  std::vector<PodIndex> pods;
  pods.reserve(places.size());
  for (const PodOnNode& place : places) pods.push_back(place.pod);
  return pods;
}

class GroupAsk : public AskStrategy {
 public:
  GroupAsk(Draft& draft, UnitIndex unit, std::span<const PodOnNode> given);

  void decide();

  PlanAsk& answer() override { return ask_; }
  bool is_refused() override;
  bool fits_now() override;
  bool fits_soon() override;
  bool is_held() override;
  void preempt() override;
  std::vector<NodeIndex> nominated_nodes() const override;
  bool nomination_holds() override { return !valid_nominations().empty(); }
  std::vector<PodIndex> useful_late_pods() override;
  bool fits_late() override;

 private:
  const Unit& unit() const { return world_.cluster().units()[task_.unit]; }
  const Group& group() const { return world_.cluster().groups()[unit().group]; }

  void read_members(std::span<const PodOnNode> given);
  bool fits_later();
  std::vector<PodOnNode> nominations() const;
  std::vector<PodOnNode> valid_nominations();
  bool fit_as_nominated(std::span<const PodOnNode> places);
  MemberFits& now() {
    if (!now_) now_.emplace(world_, world_.now(), task_.members);
    return *now_;
  }
  /// Made once an ask. The first round is also how kube-scheduler 1.37 places members.
  PlanningRules as_kep_5710() {
    if (!simple_) {
      simple_.emplace(world_,
                      replay_of(bundle_of(Compatibility::kep_5710), world_.configuration()));
    }
    return simple_->planning();
  }
  bool find_leavers(std::span<const PodOnNode> places);
  std::vector<PodOnNode> places_in(MemberFits* now);
  std::vector<PodOnNode> places_in(const GroupDomain& domain, MemberFits* now);
  std::vector<PodOnNode> places_of(const PlanningRules& planning, std::span<const PodIndex> members,
                                   const GroupDomain& domain, MemberFits* now);
  bool fits_instead_of_others();
  void end_lost_nominations();
  std::optional<GroupCandidate> search();
  enum class Queued : std::uint8_t { now, later };
  bool keep_to_queue(std::vector<PodOnNode>& places, Queued when) const;
  bool starts_at_once(std::span<const PodOnNode> places);
  QueueVerdict suits_queue(GroupCandidate& candidate);
  void queue_is_full(std::span<const PodOnNode> places, QueueVerdict verdict);
  Reason waits_reason() const;
  const GroupDomain* domain_around(std::span<const PodOnNode> places) const;
  Time created() const;
  void fill_room_left_by(GroupCandidate& chosen);
  void settle(Outcome outcome, std::span<const PodOnNode> places,
              std::span<const PodIndex> victims);

  Draft& draft_;
  World& world_;
  GroupTask task_;
  std::vector<GroupDomain> domains_;
  std::int64_t bound_ = 0;       ///< Members that run and stay.
  std::size_t max_members_ = 0;  ///< Members that it places; the others ask for themselves.
  PlanAsk ask_;
  std::optional<MemberFits> after_;  ///< Over the world of that name; made once, it may be dear.
  std::optional<MemberFits> now_;    ///< Likewise; made on demand.
  std::optional<PlanningVariant> simple_;
  std::optional<GroupCandidate> runner_up_;
  bool minimum_runs_ = false;          ///< And victims are taken for the minimum only.
  bool given_apart_ = false;           ///< No domain contains the places that are given.
  std::string_view free_room_bound_;   ///< That ended a search for free room; empty: none did.
  bool avoid_nominated_room_ = false;  ///< No member takes room that is nominated to another ask.
  bool stays_ = false;                 ///< It has places, and others could lose theirs if it moved.
  bool waits_for_queue_ = false;       ///< Nodes have room now.
  bool needs_what_leaves_ = false;     ///< Its queue waits for pods that its place depends on.
  bool for_late_ = false;              ///< Only a place that waits for late pods is an answer.
  std::vector<PodOnNode> room_without_queue_;  ///< Nodes have room there, its queue has not.
};

GroupAsk::GroupAsk(Draft& draft, UnitIndex unit, std::span<const PodOnNode> given)
    : draft_(draft), world_(draft.world) {
  task_.unit = unit;
  ask_.kind = AskKind::pod_group;
  ask_.namespace_name = std::string(world_.cluster().text(group().namespace_name));
  ask_.name = std::string(world_.cluster().text(group().name));
  ask_.plane = std::string(world_.cluster().text(group().plane));
  ask_.priority = this->unit().scheduling_priority;
  ask_.placement_given = !given.empty();
  ask_.explanation.nodes_considered = static_cast<std::int64_t>(world_.survey().nodes().size());
  read_members(given);
  domains_ = domains_of(world_, unit);
  given_apart_ = std::erase_if(domains_,
                               [&](const GroupDomain& domain) {
                                 return !contains(world_, domain, task_.given);
                               }) > 0 &&
                 domains_.empty();
}

void GroupAsk::read_members(std::span<const PodOnNode> given) {
  const PodColumns& pods = world_.cluster().pods();
  for (const PodIndex pod : group().members) {
    if (world_.departures().leaving(pod)) continue;
    if (pods.node[pod].exists()) {
      if (world_.after().node_of(pod).exists()) ++bound_;  // Or it leaves for an earlier ask.
    } else if (world_.survey().regimes().of(pod) == Regime::pods) {
      task_.members.push_back(pod);
    }
  }
  order_members(world_, world_.configuration().workload.member_order, task_.members);
  if (world_.configuration().workload.nomination_held_by == NominationHeldBy::placement) {
    // A nominated member takes its place before another member does, and members whose nomination
    // holds come before those whose nomination is lost: the others would be placed there instead.
    const auto lost = std::ranges::stable_partition(
        task_.members, [&](PodIndex member) { return pods.nominated[member].exists(); });
    if (world_.configuration().workload.evict_for == EvictFor::each) {
      const auto nominated = std::span(task_.members.begin(), lost.begin());
      const std::set<PodIndex> keep = members_that_keep_their_place(world_, nominated);
      std::ranges::stable_partition(nominated,
                                    [&](PodIndex member) { return keep.contains(member); });
    }
  }
  const std::int64_t missing = unit().gang ? unit().minimum - bound_ : 1;
  task_.needed = static_cast<std::size_t>(std::max<std::int64_t>(missing, 1));
  const EvictFor evict_for = world_.configuration().workload.evict_for;
  task_.wanted = evict_for == EvictFor::all ? task_.members.size() : task_.needed;
  const bool others_ask = evict_for == EvictFor::each && given.empty();
  max_members_ = others_ask ? std::min(task_.needed, task_.members.size()) : task_.members.size();
  minimum_runs_ = evict_for != EvictFor::all && unit().gang && missing <= 0;
  // In the order in which members are placed; members without a given place get none.
  for (const PodIndex member : task_.members) {
    const auto at = std::ranges::find(given, member, &PodOnNode::pod);
    if (at != given.end()) task_.given.push_back(*at);
  }
}

void GroupAsk::decide() {
  {
    // Members hold no room against each other, but those that ask for themselves do.
    World::NominationsIgnored ignored(world_);
    for (const PodIndex member : std::span(task_.members).first(max_members_))
      ignored.ignore(member);
    after_.emplace(world_, world_.after(), task_.members);
    drive_ask(world_, *this);
    explain_held_back(draft_, task_, domains_, *after_, ask_);
  }
  // The other members ask for themselves, and until then hold what is nominated to them.
  const bool others_ask = max_members_ < task_.members.size() && !ask_.placements.empty();
  if (others_ask) end_lost_nominations();
  for (const PodIndex member : task_.members) {
    if (!others_ask || world_.after().node_of(member).exists()) world_.decided(member);
  }
  draft_.plan.asks.push_back(std::move(ask_));
}

std::vector<NodeIndex> GroupAsk::nominated_nodes() const {
  std::vector<NodeIndex> nodes;
  for (const PodOnNode& place : nominations()) {
    if (std::ranges::find(nodes, place.node) == nodes.end()) nodes.push_back(place.node);
  }
  return nodes;
}

std::vector<PodIndex> GroupAsk::useful_late_pods() {
  const std::span<const PodIndex> all = world_.late();
  const bool useful = std::ranges::any_of(all, [&](PodIndex late) {
    return std::ranges::any_of(
        task_.members, [&](PodIndex member) { return could_use_late(world_, member, late); });
  });
  if (!useful) return {};
  return {all.begin(), all.end()};
}

bool GroupAsk::fits_late() {
  room_without_queue_.clear();
  needs_what_leaves_ = waits_for_queue_ = false;
  for_late_ = true;
  return fits_later() && !needs_what_leaves_;
}

bool GroupAsk::fits_soon() { return fits_later() || fits_instead_of_others(); }

/// Laws 1 and 10: what members that ask for themselves were promised is not worth a victim, nor is
/// the minimum infeasible because of it.
bool GroupAsk::fits_instead_of_others() {
  bool any = false;
  World::NominationsIgnored ignored(world_);
  for (const PodIndex member : std::span(task_.members).subspan(max_members_)) {
    if (!world_.cluster().pods().nominated[member].exists()) continue;
    ignored.ignore(member);
    any = true;
  }
  const std::vector<PodOnNode> room = room_without_queue_;
  if (any && (fits_now() || fits_later())) return true;
  room_without_queue_ = room;  // Victims are looked for beside what they were promised.
  return false;
}

/// Members without a place whose nominated room is taken now by other members. A member that would
/// not fit without these either may wait for an ask whose turn is still to come.
void GroupAsk::end_lost_nominations() {
  const PodColumns& pods = world_.cluster().pods();
  Scratch& after = world_.after();
  std::vector<PodIndex> placed;
  std::ranges::copy_if(task_.members, std::back_inserter(placed),
                       [&](PodIndex member) { return after.node_of(member).exists(); });
  std::vector<PodIndex> lost;
  {
    World::NominationsIgnored ignored(world_);
    for (const PodIndex member : task_.members) ignored.ignore(member);
    for (const PodIndex member : task_.members) {
      const NodeIndex node = pods.nominated[member];
      if (!node.exists() || after.node_of(member).exists()) continue;
      if (world_.survey().position_of(node) == Survey::no_position) continue;  // Void anyway.
      PodFit fit(world_.survey(), after, member, world_.holds());
      if (!fit.check(node)) continue;
      const Scratch::Checkpoint before = after.checkpoint();
      after.remove(placed);
      if (!fit.check(node)) lost.push_back(member);
      after.rollback(before);
    }
  }
  for (const PodIndex member : lost) world_.lose_nomination(member);
}

/// What no room could help.
bool GroupAsk::is_refused() {
  const auto all = static_cast<std::int64_t>(task_.members.size()) + bound_;
  if (!unit().defined) {
    ask_.outcome = Outcome::not_found;
    set_reason(world_.cluster(), ask_, {.code = ReasonCode::group_undefined});
    return true;
  }
  ask_.outcome = Outcome::infeasible;
  if (unit().gang && all < unit().minimum) {
    set_reason(world_.cluster(), ask_,
               {.code = ReasonCode::group_below_minimum, .arguments = {all, unit().minimum}});
    return true;
  }
  if (world_.configuration().workload.pods_not_matching_priority !=
      PodsNotMatchingPriority::refuse) {
    return false;
  }
  const std::string mismatch = priority_mismatch_text(world_.cluster(), unit().group);
  if (mismatch.empty()) return false;
  set_reason(world_.cluster(), ask_, {.code = ReasonCode::group_refused, .arguments = {mismatch}});
  return true;
}

bool GroupAsk::fits_now() {
  // A gang that has places does not take others from a less important ask.
  const std::vector<PodOnNode> nominated = nominations();
  avoid_nominated_room_ = nominated.size() >= task_.needed && fit_as_nominated(nominated);
  // Where all are nominated and can go: the room may be nominated to a less important ask, too.
  std::vector<PodOnNode> places;
  if (avoid_nominated_room_ && nominated.size() == max_members_) places = valid_nominations();
  const bool there =
      !places.empty() &&
      (!world_.differs() || now().fit_in_turn(places, MemberFits::Nominations::ignore));
  stays_ = !places.empty() && others_may_lose(world_, pods_of(places));
  if (!there && stays_) return false;
  if (!there) places = places_in(world_.differs() ? &now() : nullptr);
  if (places.size() < task_.needed) return false;
  std::vector<PodOnNode> within = places;
  if (!keep_to_queue(within, Queued::now)) {
    if (places.size() >= task_.needed) room_without_queue_ = std::move(places);
    return false;
  }
  places = std::move(within);
  if (!world_.may_bind(places)) return false;
  settle(Outcome::fits, places, {});
  set_reason(world_.cluster(), ask_, group_fits_reason(ask_, task_.members.size()));
  return true;
}

/// Where members are to go by nominations from before.
std::vector<PodOnNode> GroupAsk::nominations() const {
  std::vector<PodOnNode> places;
  for (const PodIndex member : task_.members) {
    const NodeIndex node = world_.cluster().pods().nominated[member];
    // To a node of another regime it is void.
    if (node.exists() && world_.survey().position_of(node) != Survey::no_position) {
      places.push_back({.pod = member, .node = node});
    }
  }
  if (places.size() > max_members_) places.resize(max_members_);
  return places;
}

bool GroupAsk::fits_later() {
  std::vector<PodOnNode> places;
  if (world_.differs() && !stays_) places = places_in(nullptr);
  if (places.size() < task_.needed) places = valid_nominations();
  if (places.size() < task_.needed && avoid_nominated_room_) {
    avoid_nominated_room_ = false;
    places = places_in(nullptr);
  }
  avoid_nominated_room_ = false;
  if (places.size() < task_.needed) places = room_without_queue_;
  if (places.size() < task_.needed) return false;
  std::vector<PodOnNode> within = places;
  if (!keep_to_queue(within, Queued::later)) {
    room_without_queue_ = std::move(places);
    return false;
  }
  places = std::move(within);
  const bool at_once = starts_at_once(places);
  if (needs_what_leaves_) return true;
  if (for_late_) {
    // If none of them leaves late, it would come at once, and earlier asks would have to wait.
    ask_.outcome = Outcome::waits;
    if (at_once || !waits_for_late(world_, ask_)) return false;
  }
  settle(at_once ? Outcome::fits : Outcome::waits, places, {});
  set_reason(world_.cluster(), ask_,
             at_once ? group_fits_reason(ask_, task_.members.size()) : waits_reason());
  return true;
}

Reason GroupAsk::waits_reason() const {
  return waits_for_queue_ ? queue_waits_reason(ask_, world_.limits()->title())
                          : group_waits_reason(ask_);
}

/// Drops members beyond those that are needed until its queue has room for the rest. False: it has
/// no room for those.
bool GroupAsk::keep_to_queue(std::vector<PodOnNode>& places, Queued when) const {
  if (world_.limits() == nullptr) return true;
  while (true) {
    const std::vector<PodIndex> coming = pods_of(places);
    if (when == Queued::now ? world_.limits()->has_room_now(coming)
                            : world_.limits()->has_room_later(coming)) {
      return true;
    }
    if (places.size() <= task_.needed) return false;
    places.pop_back();
  }
}

/// False: the entry says which pods they wait for.
bool GroupAsk::starts_at_once(std::span<const PodOnNode> places) {
  if (!find_leavers(places) || !world_.may_bind(places)) return false;
  const std::vector<PodIndex> coming = pods_of(places);
  if (world_.limits() == nullptr || world_.limits()->has_room_now(coming)) return true;
  const std::vector<PodIndex> awaited = world_.limits()->awaited(coming);
  needs_what_leaves_ = !fits_without(
      world_, awaited, [&] { return after_->fit_in_turn(places, MemberFits::Nominations::count); });
  if (needs_what_leaves_) {
    needs_what_leaves(world_, ask_);
    return false;
  }
  waits_for_queue_ = true;
  wait_for(world_, awaited, ask_);
  return false;
}

/// A place for each, and enough of its queue gone.
QueueVerdict GroupAsk::suits_queue(GroupCandidate& candidate) {
  if (world_.limits() == nullptr) return QueueVerdict::has_room;
  const auto fits = [&](std::span<const PodIndex> gone) {
    return after_->fit_in_turn(candidate.places, MemberFits::Nominations::count) &&
           world_.keeps_promises(candidate.places, gone);
  };
  const auto try_it = [&] {
    return add_queue_victims(world_, pods_of(candidate.places), ask_.priority, fits,
                             {.victims = candidate.victims,
                              .budget_violations = candidate.budget_violations,
                              .score = candidate.score});
  };
  const QueueVerdict verdict = try_it();
  const bool fewer = candidate.places.size() > task_.needed && task_.given.empty();
  if (verdict == QueueVerdict::has_room || !fewer) return verdict;
  candidate.places.resize(task_.needed);
  return try_it();
}

/// Other members in other places might do: nothing is proven.
void GroupAsk::queue_is_full(std::span<const PodOnNode> places, QueueVerdict verdict) {
  ask_.outcome = Outcome::not_found;
  set_reason(world_.cluster(), ask_,
             queue_full_reason(world_, pods_of(places), verdict, unit().never_preempts));
}

/// Beside the other pods that are nominated there, or when all nominated pods have come: those of
/// one node alone may look uneven.
bool GroupAsk::fit_as_nominated(std::span<const PodOnNode> places) {
  if (after_->fit_in_turn(places, MemberFits::Nominations::count)) return true;
  if (places.empty() || !after_->constrained()) return false;
  if (!after_->fit_in_turn(places, MemberFits::Nominations::ignore)) return false;
  Scratch& after = world_.after();
  const Scratch::Checkpoint before = after.checkpoint();
  place_nominated_pods(world_, after_->of(places.front().pod));
  // Some of them may be members, and come anyway.
  for (const PodOnNode& place : places) {
    if (after.node_of(place.pod).exists()) after.remove(place.pod);
  }
  const bool fit = after_->fit_in_turn(places, MemberFits::Nominations::ignore);
  after.rollback(before);
  return fit;
}

/// Law 7: what members are nominated to, if that holds as it is. Placed one after the other they
/// may miss it: where they depend on each other, or where a less important ask is nominated, too.
std::vector<PodOnNode> GroupAsk::valid_nominations() {
  if (world_.configuration().workload.nomination_held_by != NominationHeldBy::placement) return {};
  std::vector<PodOnNode> places = nominations();
  const bool together = std::ranges::any_of(
      domains_, [&](const GroupDomain& domain) { return contains(world_, domain, places); });
  // Others from before were nominated together with these: looked at one by one they may seem lost.
  const World::NominatedBeforeIgnored ignored(world_);
  const bool valid = task_.given.empty() && together && places.size() >= task_.needed &&
                     fit_as_nominated(places) && world_.keeps_promises(places, {});
  return valid ? places : std::vector<PodOnNode>{};
}

/// True: they fit at once. Otherwise the entry says which pods they wait for.
bool GroupAsk::find_leavers(std::span<const PodOnNode> places) {
  MemberFits& fits = now();
  // An ask that waits long leaves room, too, to the pods that are nominated there (law 7).
  const auto nominations =
      for_late_ ? MemberFits::Nominations::count : MemberFits::Nominations::ignore;
  const auto fit = [&] { return fits.fit_in_turn(places, nominations); };
  if (fit()) return true;
  std::vector<NodeIndex> nodes;
  nodes.reserve(places.size());
  for (const PodOnNode& place : places) nodes.push_back(place.node);
  const auto elsewhere = fits.constrained() ? World::Elsewhere::matters : World::Elsewhere::ignored;
  wait_for(world_, world_.needed_leavers(nodes, elsewhere, fit), ask_);
  return false;
}

/// Places without victims: in the domain that takes the most members, the first of
/// equals.
std::vector<PodOnNode> GroupAsk::places_in(MemberFits* now) {
  std::vector<PodOnNode> most;
  for (const GroupDomain& domain : domains_) {
    std::vector<PodOnNode> places = places_in(domain, now);
    if (places.size() > most.size()) most = std::move(places);
  }
  return most;
}

/// The worlds are left as they were.
std::vector<PodOnNode> GroupAsk::places_in(const GroupDomain& domain, MemberFits* now) {
  const Scratch::Checkpoint before_after = world_.after().checkpoint();
  const Scratch::Checkpoint before_now = world_.now().checkpoint();
  std::vector<PodOnNode> places;
  if (task_.given.empty()) {
    const auto try_again = [&](const PlanningRules& planning, std::span<const PodIndex> members) {
      world_.after().rollback(before_after);
      world_.now().rollback(before_now);
      places = places_of(planning, members, domain, now);
    };
    const PlanningRules planning = planning_rules_of(world_);
    try_again(planning, task_.members);
    // Where not all are needed, small ones may do.
    if (places.size() < task_.needed && task_.needed < task_.members.size() &&
        after_->classes() > 1) {
      const std::vector<PodIndex> smallest_first(task_.members.rbegin(), task_.members.rend());
      try_again(planning, smallest_first);
    }
    // Law 1: where the others find free room, no pod leaves. Unless any order does as well.
    if (places.size() < task_.needed && !after_->countable() &&
        planning.configuration.workload.start_from_simple_plans) {
      std::vector<PodIndex> by_creation = task_.members;
      order_members(world_, MemberOrder::creation, by_creation);
      try_again(as_kep_5710(), by_creation);
    }
  } else if (after_->fit_in_turn(task_.given, MemberFits::Nominations::count) &&
             (now == nullptr || now->fit_in_turn(task_.given, MemberFits::Nominations::ignore)) &&
             world_.keeps_promises(task_.given, {})) {
    places = task_.given;
  }
  world_.after().rollback(before_after);
  world_.now().rollback(before_now);
  return places;
}

/// They are in the worlds afterwards.
std::vector<PodOnNode> GroupAsk::places_of(const PlanningRules& planning,
                                           std::span<const PodIndex> members,
                                           const GroupDomain& domain, MemberFits* now) {
  GroupPlacer placer(world_, planning, domain, *after_, now, nullptr);
  std::vector<PodOnNode> places =
      placer.place({.members = members,
                    .needed = task_.needed,
                    .enough = max_members_,
                    .avoid_nominated_room_after = avoid_nominated_room_ ? 0 : task_.wanted,
                    .first_round_ends = true});
  if (placer.bound_reached()) {
    note_bound(ask_.bounds_reached, placer.bound());
    free_room_bound_ = placer.bound();
  }
  return places;
}

/// kube-scheduler's rule: no second preemption while a preempted pod leaves a nominated node.
bool GroupAsk::is_held() {
  if (world_.configuration().workload.nomination_held_by != NominationHeldBy::preempted_pods ||
      unit().never_preempts) {
    return false;
  }
  const std::vector<PodOnNode> places = nominations();
  std::set<PodIndex> leaving;  // Members may go to one node.
  for (const PodOnNode& place : places) {
    const std::vector<PodIndex> there = preempted_leavers(world_, place.node, ask_.priority);
    leaving.insert(there.begin(), there.end());
  }
  if (leaving.empty()) return false;
  wait_for(world_, std::vector<PodIndex>(leaving.begin(), leaving.end()), ask_);
  settle(Outcome::waits, places, {});
  set_reason(world_.cluster(), ask_, {.code = ReasonCode::group_awaits_preempted});
  return true;
}

void GroupAsk::preempt() {
  if (unit().never_preempts && !room_without_queue_.empty()) {
    return queue_is_full(room_without_queue_, QueueVerdict::too_little);
  }
  if (unit().never_preempts) {
    const bool proven =
        after_->countable() && !world_.has_promises() && ask_.bounds_reached.empty();
    ask_.outcome = proven ? Outcome::infeasible : Outcome::not_found;
    set_reason(world_.cluster(), ask_,
               {.code = proven ? ReasonCode::group_unfit_never_preempts
                               : ReasonCode::group_unplaced_never_preempts});
    return;
  }
  if (minimum_runs_) {
    ask_.outcome = Outcome::not_found;
    const Reason lacks = room_without_queue_.empty()
                             ? Reason{.code = ReasonCode::group_no_further_member}
                             : world_.limits()->full_reason(pods_of(room_without_queue_));
    set_reason(world_.cluster(), ask_,
               {.code = ReasonCode::group_minimum_runs, .arguments = {lacks}});
    return;
  }
  std::optional<GroupCandidate> chosen;
  if (room_without_queue_.empty()) {
    chosen = search();
    if (!chosen) {
      const auto first =
          std::span(task_.members).first(std::min(task_.needed, task_.members.size()));
      // A queue with room would not help a pod that no node takes.
      const auto some_node_takes = [&](PodIndex member) {
        return std::ranges::any_of(world_.survey().nodes(), [&](NodeIndex node) {
          return world_.survey().could_take(member, node);
        });
      };
      const bool full = world_.limits() != nullptr && !world_.limits()->has_room_later(first) &&
                        std::ranges::all_of(first, some_node_takes);
      if (full) {
        set_reason(world_.cluster(), ask_,
                   queue_full_reason(world_, first, QueueVerdict::too_little, false));
      }
      return;
    }
  } else {
    room_without_queue_.resize(task_.given.empty() ? task_.needed : room_without_queue_.size());
    chosen =
        GroupCandidate{.domain = domain_around(room_without_queue_), .places = room_without_queue_};
  }
  const QueueVerdict verdict = suits_queue(*chosen);
  if (verdict != QueueVerdict::has_room) return queue_is_full(chosen->places, verdict);
  if (!chosen->victims.pods.empty() && waits_out_delay(world_, created(), ask_)) return;
  if (task_.given.empty() && max_members_ == task_.members.size()) fill_room_left_by(*chosen);
  // A search may find room that the first look did not.
  const bool at_once = chosen->victims.pods.empty() && starts_at_once(chosen->places);
  ask_.score = chosen->victims.pods.empty() ? ScoreTerms{} : chosen->score;
  explain_group_victims(world_, *chosen, runner_up_ ? &*runner_up_ : nullptr, ask_);
  const Outcome outcome = !chosen->victims.pods.empty() ? Outcome::preempts
                          : at_once                     ? Outcome::fits
                                                        : Outcome::waits;
  settle(outcome, chosen->places, chosen->victims.pods);
  set_reason(world_.cluster(), ask_,
             outcome == Outcome::fits    ? group_fits_reason(ask_, task_.members.size())
             : outcome == Outcome::waits ? waits_reason()
                                         : group_preempts_reason(ask_, task_.members.size()));
  if (outcome != Outcome::preempts || free_room_bound_.empty()) return;
  add_reason(
      world_.cluster(), ask_,
      {.code = ReasonCode::group_free_room_unproven, .arguments = {std::string(free_room_bound_)}});
}

/// The best score over all domains, the first domain of equals.
std::optional<GroupCandidate> GroupAsk::search() {
  GroupPlans plans(draft_, task_, *after_);
  plans.search(domains_);
  for (const std::string& bound : plans.bounds_reached()) note_bound(ask_.bounds_reached, bound);
  ask_.explanation.potential_victims = plans.potential_victims();
  runner_up_ = plans.runner_up();
  if (plans.best()) return plans.best();
  RefusalTally refusals;
  plans.add_refusals(refusals);
  const std::optional<PodIndex> without_place = plans.without_place();
  if (without_place) refusals.add_other_regimes(after_->of(*without_place));
  ask_.explanation.refusals = refusals.refusals(world_.survey());
  const bool unsupported = without_place && world_.survey().unsupported(*without_place);
  const bool proven = plans.proven() && ask_.bounds_reached.empty() && !unsupported;
  ask_.outcome = proven ? Outcome::infeasible : Outcome::not_found;
  const Unplaced why = unsupported ? Unplaced::unsupported
                       : proven    ? Unplaced::proven
                                   : Unplaced::unproven;
  set_reason(world_.cluster(), ask_,
             domains_.empty() ? no_domain_reason(world_.cluster().policy_of(group())->topology_keys,
                                                 given_apart_)
                              : group_nothing_reason(world_, ask_, without_place, why));
  if (without_place) explain_holders(world_, *without_place, ask_);
  return std::nullopt;
}

/// Its oldest member says how long it has waited, where its own object does not.
Time GroupAsk::created() const {
  Time created = group().object ? group().object->created.value_or(no_time) : no_time;
  if (created != no_time) return created;
  for (const PodIndex member : task_.members) {
    const Time own = world_.cluster().pods().created[member];
    if (own != no_time && (created == no_time || own < created)) created = own;
  }
  return created;
}

/// Members beyond those that others leave for take what is free once they are gone.
void GroupAsk::fill_room_left_by(GroupCandidate& chosen) {
  Scratch& scratch = world_.after();
  const Scratch::Checkpoint before = scratch.checkpoint();
  scratch.remove(chosen.victims.pods);
  for (const PodOnNode& place : chosen.places) scratch.place(place.pod, place.node);
  const std::size_t certain = chosen.places.size();
  fill_free_room(world_, planning_rules_of(world_), *chosen.domain, *after_, task_.members,
                 chosen.places);
  scratch.rollback(before);
  if (world_.limits() == nullptr) return;
  scratch.remove(chosen.victims.pods);
  while (chosen.places.size() > certain &&
         !world_.limits()->has_room_later(pods_of(chosen.places))) {
    chosen.places.pop_back();
  }
  scratch.rollback(before);
}

const GroupDomain* GroupAsk::domain_around(std::span<const PodOnNode> places) const {
  const auto around = std::ranges::find_if(
      domains_, [&](const GroupDomain& domain) { return contains(world_, domain, places); });
  CHECK(around != domains_.end(), "places are found inside a domain");
  return &*around;
}

void GroupAsk::settle(Outcome outcome, std::span<const PodOnNode> places,
                      std::span<const PodIndex> victims) {
  ask_.outcome = outcome;
  const auto around = std::ranges::find_if(domains_, [&](const GroupDomain& domain) {
    return std::ranges::all_of(
        places, [&](const PodOnNode& place) { return contains(world_, domain, place.node); });
  });
  if (ask_.domain.empty() && around != domains_.end()) ask_.domain = around->name;
  for (const PodOnNode& place : places) {
    ask_.placements.push_back(placement_of(world_.cluster(), place.pod, place.node));
    if (outcome == Outcome::fits) world_.bind(place.pod, place.node);
  }
  if (outcome != Outcome::fits) world_.nominate(places, victims);
  std::ranges::sort(ask_.placements);
}

}  // namespace

void decide_group(Draft& draft, UnitIndex unit, std::span<const PodOnNode> given) {
  GroupAsk(draft, unit, given).decide();
}

}  // namespace makeway

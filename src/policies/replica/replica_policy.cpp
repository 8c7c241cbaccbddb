// Replicas whose placement is not ours (SPEC section 4): one cycle.
//
//  1. Replicas that are committed and not bound yet are on their way: they hold room first.
//  2. A deployment that lost a replica to a standing claim is out: it neither asks nor takes.
//  3. Normal phase, asks by priority: free room goes to unmet replicas; scale-ups. Claims that
//     stand hold their room against asks of equal or lower priority (law 7).
//  4. Preemption phase, asks by priority: claims that stand are kept, then each replica that is
//     still unmet gets the best place and its victims.
//
// Priorities, classes and commits are those of the cluster throughout; what this cycle gives and
// takes is counted beside them. It runs after all other policies: it binds nothing, so no ask
// could see what it holds.
#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked_math.hpp"
#include "model/names.hpp"
#include "policies/policy.hpp"
#include "policies/replica/replica_actions.hpp"
#include "policies/replica/replica_run.hpp"

namespace makeway {
namespace {

class ReplicaPhases {
 public:
  ReplicaPhases(Fleet& fleet, PreviousClaims& previous, Deciding& deciding)
      : fleet_(fleet),
        previous_(previous),
        deciding_(deciding),
        run_{.fleet = fleet,
             .previous = previous,
             .asks = {},
             .on_their_way = {},
             .losses = IndexedVector<DeploymentIndex, ReplicaLoss>(fleet.deployments().size())},
        full_(fleet.request_count() * fleet.planes().size()),
        crowds_(fleet.shares().size()) {}

  void list_asks(const PlanRequest& request);
  void hold_for_those_on_their_way();
  void find_missed();
  void find_losses();
  void normal_phase();
  void preemption_phase();
  const ReplicaRun& run() const { return run_; }

 private:
  using Tier = std::span<ReplicaAsk>;

  /// Calls `visit` for asks of equal priority, highest first.
  template <class Visit>
  void each_tier(const Visit& visit) {
    std::span<ReplicaAsk> rest = run_.asks;
    while (!rest.empty()) {
      const std::int32_t priority = rest.front().need.priority;
      const auto end = std::ranges::find_if(
          rest, [priority](const ReplicaAsk& ask) { return ask.need.priority != priority; });
      const auto size = static_cast<std::size_t>(end - rest.begin());
      visit(rest.first(size));
      rest = rest.subspan(size);
    }
  }
  void turn_to(const ReplicaAsk& ask) {
    if (ask.silent) return deciding_.start_replicas();
    deciding_.start(*fleet_.deployments()[ask.deployment].object);
  }
  bool is_out(const ReplicaAsk& ask) const { return run_.losses[ask.deployment].by.exists(); }
  bool comes_before(DeploymentIndex a, DeploymentIndex b) const;
  void hold(const ReplicaAsk& ask);
  void lift(const ReplicaAsk& ask);
  void lift_all();
  bool allocate_one(ReplicaAsk& ask);
  std::optional<PlaceIndex> best_fit(std::uint32_t request, PlaneIndex plane);
  bool fits(PlaceIndex place, std::span<const std::int64_t> request) const;
  /// Once what is leaving is gone.
  void occupy(PlaceIndex place, std::span<const std::int64_t> request);
  /// At once.
  void come(PlaceIndex place, std::span<const std::int64_t> request);
  void keep_claims(ReplicaAsk& ask);
  void search(ReplicaAsk& ask);
  void settle(ReplicaAsk& ask, ReplicaClaimChoice claim, std::span<const ReplicaIndex> victims);
  void put_back_needless(ReplicaAsk& ask, PlaceIndex place);
  bool needless(PlaceIndex place, ReplicaIndex victim, const ReplicaNeed& need) const;
  void release(ReplicaClaimChoice& claim, ReplicaIndex victim);
  void forget_loss(DeploymentIndex deployment);
  void share_changed(ShareIndex share);
  void number_steps();

  Fleet& fleet_;
  PreviousClaims& previous_;
  Deciding& deciding_;
  ReplicaRun run_;
  std::optional<NodeVictims> victims_;
  std::optional<ClaimRanking> ranking_;
  std::vector<std::uint8_t> full_;  ///< By request and plane: no place has free room for it.
  struct HeldPlace {
    DeploymentIndex ask;
    PlaceIndex place;
    std::vector<std::int64_t> amounts;
  };
  std::vector<HeldPlace> held_;
  std::set<DeploymentIndex> losses_of_this_cycle_;
  std::map<PlaceIndex, std::int64_t> free_;         ///< What is free already at claimed places.
  IndexedVector<ShareIndex, std::int64_t> crowds_;  ///< Most pods on one place; 0: not counted.
};

void ReplicaPhases::list_asks(const PlanRequest& request) {
  const bool named = !request.asks.empty();
  std::optional<std::int32_t> floor;  // Of the named asks.
  for (std::uint32_t at = 0; at < fleet_.deployments().size(); ++at) {
    const DeploymentIndex index{at};
    const FleetDeployment& row = fleet_.deployments()[index];
    const AskName name = ask_name_of(*row.object);
    const bool asked = !named || std::ranges::find(request.asks, name) != request.asks.end();
    if (row.object->unmet == 0 && !(named && asked)) continue;
    ReplicaAsk ask{.deployment = index,
                   .need = {.request = fleet_.request(row.request),
                            .priority = row.priority,
                            .one = fleet_.request(row.request)[Fleet::counted] == 1},
                   .silent = !asked || is_left_out(request, name),
                   .left = row.object->unmet};
    if (named && asked) floor = std::min(floor.value_or(row.priority), row.priority);
    for (std::uint32_t share = row.begin; share < row.end; ++share) {
      ask.by_score.push_back(ShareIndex{share});
    }
    std::ranges::stable_sort(ask.by_score, {},
                             [this](ShareIndex share) { return fleet_.shares()[share].score; });
    run_.asks.push_back(std::move(ask));
  }
  // Others hold what they have claimed against asks that are not more important.
  std::erase_if(run_.asks, [&](const ReplicaAsk& ask) {
    return named && ask.silent && (!floor || ask.need.priority < *floor);
  });
  std::ranges::stable_sort(run_.asks, [this](const ReplicaAsk& a, const ReplicaAsk& b) {
    return comes_before(a.deployment, b.deployment);
  });
}

/// Priority, creation; deployments come by name already.
bool ReplicaPhases::comes_before(DeploymentIndex a, DeploymentIndex b) const {
  constexpr Time never{std::numeric_limits<std::int64_t>::max()};
  const FleetDeployment& first = fleet_.deployments()[a];
  const FleetDeployment& second = fleet_.deployments()[b];
  if (first.priority != second.priority) return first.priority > second.priority;
  return first.object->created.value_or(never) < second.object->created.value_or(never);
}

/// Now, and when others have got what they wait for.
bool ReplicaPhases::fits(PlaceIndex place, std::span<const std::int64_t> request) const {
  const std::span<const std::int64_t> room = std::as_const(fleet_).room(place);
  const std::span<const std::int64_t> free = std::as_const(fleet_).free_room(place);
  for (std::size_t column = 0; column < request.size(); ++column) {
    if (request[column] == 0) continue;
    if (room[column] < request[column] || free[column] < request[column]) return false;
  }
  return true;
}

void ReplicaPhases::come(PlaceIndex place, std::span<const std::int64_t> request) {
  occupy(place, request);
  const std::span<std::int64_t> free = fleet_.free_room(place);
  subtract_row(free, request);
}

void ReplicaPhases::occupy(PlaceIndex place, std::span<const std::int64_t> request) {
  const std::span<std::int64_t> room = fleet_.room(place);
  subtract_row(room, request);
}

/// The place where least of the counted resource is left over; by name where that is equal.
std::optional<PlaceIndex> ReplicaPhases::best_fit(std::uint32_t request, PlaneIndex plane) {
  std::uint8_t& full = full_[request * fleet_.planes().size() + plane.value];
  if (full != 0) return std::nullopt;
  const std::span<const std::int64_t> amounts = fleet_.request(request);
  std::optional<PlaceIndex> best;
  std::int64_t least = 0;
  for (std::uint32_t at = fleet_.planes()[plane].begin; at < fleet_.planes()[plane].end; ++at) {
    const PlaceIndex place{at};
    if (!fleet_.places()[place].open || !fits(place, amounts)) continue;
    const std::int64_t left = std::as_const(fleet_).room(place)[Fleet::counted];
    if (best && left >= least) continue;
    best = place;
    least = left;
  }
  if (!best) full = 1;
  return best;
}

/// Committed, and not bound yet: wherever Kubernetes puts them, that room is not free.
void ReplicaPhases::hold_for_those_on_their_way() {
  std::vector<DeploymentIndex> order;
  order.reserve(fleet_.deployments().size());
  for (std::uint32_t at = 0; at < fleet_.deployments().size(); ++at) {
    order.push_back(DeploymentIndex{at});
  }
  std::ranges::stable_sort(
      order, [this](DeploymentIndex a, DeploymentIndex b) { return comes_before(a, b); });
  for (const DeploymentIndex index : order) {
    const FleetDeployment& row = fleet_.deployments()[index];
    for (std::uint32_t at = row.begin; at < row.end; ++at) {
      const FleetShare& share = fleet_.shares()[ShareIndex{at}];
      for (std::int64_t more = share.running; more < share.committed; ++more) {
        const std::optional<PlaceIndex> place = best_fit(row.request, share.plane);
        if (!place) break;
        come(*place, fleet_.request(row.request));
        run_.on_their_way.push_back({.share = ShareIndex{at}, .place = *place});
      }
    }
  }
}

/// A pod that Kubernetes has spared is not claimed again in the same way.
void ReplicaPhases::find_missed() {
  IndexedVector<ShareIndex, std::int64_t> steps = previous_.steps();
  for (ReplicaAsk& ask : run_.asks) {
    ReplicaSchedule next{.name = "status"};
    next.status.missed = fleet_.deployments()[ask.deployment].object->status.missed;
    for (const PreviousClaim& claim : previous_.of(ask.deployment)) {
      std::ranges::move(previous_.missed(claim, ask.need, steps),
                        std::back_inserter(next.status.missed));
    }
    normalize(next);  // The lowest commit of each.
    ask.missed_names = std::move(next.status.missed);
    for (const MissedVictim& name : ask.missed_names) {
      if (const auto place = previous_.find(name)) ask.missed.push_back(*place);
    }
    std::ranges::sort(ask.missed);
    ask.need.missed = ask.missed;
  }
}

void ReplicaPhases::find_losses() {
  for (const ReplicaAsk& ask : run_.asks) {
    if (is_out(ask)) continue;
    std::int64_t left = ask.left;
    for (const PreviousClaim& claim : previous_.of(ask.deployment)) {
      const bool stands = !claim.victims.empty() && previous_.stands(claim, ask.need);
      if (left == 0) break;
      if (stands) --left;
      for (const ClaimedVictim& victim : claim.record->victims) {
        if (!victim.committed) continue;
        const auto loser = fleet_.find_deployment(victim.namespace_name, victim.deployment);
        const auto plane = previous_.plane_of(claim);
        if (!loser || !plane || run_.losses[*loser].by.exists()) continue;
        // What is leaving there instead may be claimed in this cycle, and the loss goes with it.
        if (!stands && !fleet_.some_pod_leaves(*loser, *plane)) continue;
        run_.losses[*loser] = {.by = ask.deployment, .plane = *plane};
      }
    }
  }
}

void ReplicaPhases::hold(const ReplicaAsk& ask) {
  if (is_out(ask)) return;
  std::int64_t left = ask.left;
  for (const PreviousClaim& claim : previous_.of(ask.deployment)) {
    if (left == 0) break;
    if (!previous_.stands(claim, ask.need)) continue;
    --left;
    const HeldPlace& held = held_.emplace_back(
        HeldPlace{.ask = ask.deployment, .place = claim.place, .amounts = previous_.held(claim)});
    occupy(held.place, held.amounts);
  }
}

void ReplicaPhases::lift(const ReplicaAsk& ask) {
  std::erase_if(held_, [&](const HeldPlace& hold) {
    if (hold.ask != ask.deployment) return false;
    const std::span<std::int64_t> room = fleet_.room(hold.place);
    add_row(room, hold.amounts);
    const PlaneIndex plane = fleet_.places()[hold.place].plane;
    for (std::uint32_t request = 0; request < fleet_.request_count(); ++request) {
      full_[request * fleet_.planes().size() + plane.value] = 0;
    }
    return true;
  });
}

void ReplicaPhases::lift_all() {
  for (const ReplicaAsk& ask : run_.asks) lift(ask);
}

bool ReplicaPhases::allocate_one(ReplicaAsk& ask) {
  for (const ShareIndex index : ask.by_score) {
    const FleetShare& share = fleet_.shares()[index];
    // A scale-up would only take back the scale-down that is under way.
    if (share.surplus_moving > 0) continue;
    const auto place = best_fit(fleet_.deployments()[ask.deployment].request, share.plane);
    if (!place) continue;
    come(*place, ask.need.request);
    ++fleet_.share(index).raised;
    ask.scale_ups.push_back({.share = index, .place = *place});
    return true;
  }
  return false;
}

void ReplicaPhases::normal_phase() {
  each_tier([this](Tier tier) {
    for (const ReplicaAsk& ask : tier) hold(ask);
    // An ask that gets room elsewhere holds none any more, and others of the tier may have it.
    for (bool again = true; again;) {
      again = false;
      for (ReplicaAsk& ask : tier) {
        turn_to(ask);
        if (ask.silent || is_out(ask)) continue;
        lift(ask);
        for (; ask.left > 0 && allocate_one(ask); --ask.left) again = true;
        hold(ask);
      }
    }
  });
  lift_all();
}

void ReplicaPhases::share_changed(ShareIndex share) {
  std::int64_t& crowd = crowds_[share];
  const std::span<const ReplicaIndex> pods = fleet_.in_share(share);
  if (crowd == 0) {
    std::map<PlaceIndex, std::int64_t> counts;
    for (const ReplicaIndex pod : pods) {
      crowd = std::max(crowd, ++counts[fleet_.replica(pod).place]);
    }
  }
  if (fleet_.spare(share) >= crowd) return;
  for (const ReplicaIndex pod : pods) {
    const FleetReplica& replica = fleet_.replica(pod);
    if (replica.victim_class == ReplicaClass::committed && !replica.taken) {
      ranking_->changed(replica.place);
    }
  }
}

/// The victims leave, the replica comes.
void ReplicaPhases::settle(ReplicaAsk& ask, ReplicaClaimChoice claim,
                           std::span<const ReplicaIndex> victims) {
  const std::span<std::int64_t> room = fleet_.room(claim.place);
  const std::int64_t needed = ask.need.request[Fleet::counted];
  const std::int64_t there = std::clamp<std::int64_t>(room[Fleet::counted], 0, needed);
  const std::int64_t now =
      std::min(room[Fleet::counted], std::as_const(fleet_).free_room(claim.place)[Fleet::counted]);
  std::int64_t& free = free_.try_emplace(claim.place, now).first->second;
  claim.free = std::clamp<std::int64_t>(free, 0, there);
  claim.left_over = there - claim.free;
  free -= claim.free;
  for (const ReplicaIndex index : victims) {
    fleet_.take(index);
    const FleetReplica& replica = fleet_.replica(index);
    const std::span<const std::int64_t> amounts = fleet_.freed(replica);
    add_row(room, amounts);
    claim.victims.push_back({.replica = index});
    if (replica.victim_class != ReplicaClass::committed) continue;
    const FleetShare& share = fleet_.shares()[replica.share];
    ReplicaLoss& loss = run_.losses[share.deployment];
    if (!loss.by.exists()) {
      loss = {.by = ask.deployment, .plane = share.plane};
      losses_of_this_cycle_.insert(share.deployment);
    }
  }
  occupy(claim.place, ask.need.request);
  ranking_->changed(claim.place);
  for (const ReplicaVictimChoice& choice : claim.victims) {
    const FleetReplica& replica = fleet_.replica(choice.replica);
    if (replica.victim_class == ReplicaClass::committed) share_changed(replica.share);
  }
  --ask.left;
  const PlaceIndex place = claim.place;
  ask.claims.push_back(std::move(claim));
  if (std::ranges::count(ask.claims, place, &ReplicaClaimChoice::place) > 1) {
    put_back_needless(ask, place);
  }
}

/// What the last claim frees beyond its need may make victims of other claims of the ask needless.
void ReplicaPhases::put_back_needless(ReplicaAsk& ask, PlaceIndex place) {
  std::vector<std::pair<ReplicaIndex, std::size_t>> victims;  // With their claims.
  for (std::size_t at = 0; at < ask.claims.size(); ++at) {
    if (ask.claims[at].place != place) continue;
    for (const ReplicaVictimChoice& victim : ask.claims[at].victims) {
      victims.emplace_back(victim.replica, at);
    }
  }
  std::ranges::sort(victims, [this](const auto& a, const auto& b) {
    return fleet_.before_in_place(fleet_.replica(b.first), fleet_.replica(a.first));
  });
  for (const auto& [victim, at] : victims) {
    if (needless(place, victim, ask.need)) release(ask.claims[at], victim);
  }
}

bool ReplicaPhases::needless(PlaceIndex place, ReplicaIndex victim, const ReplicaNeed& need) const {
  const std::span<const std::int64_t> room = std::as_const(fleet_).room(place);
  if (fleet_.replica(victim).awaited) return false;
  const std::span<const std::int64_t> amounts = fleet_.freed(fleet_.replica(victim));
  for (std::size_t column = 0; column < room.size(); ++column) {
    if (need.request[column] > 0 && room[column] < amounts[column]) return false;
  }
  return true;
}

/// It is no victim any more.
void ReplicaPhases::release(ReplicaClaimChoice& claim, ReplicaIndex victim) {
  const FleetReplica& replica = fleet_.replica(victim);
  fleet_.release(victim);
  occupy(claim.place, fleet_.amounts(replica));
  std::erase_if(claim.victims,
                [&](const ReplicaVictimChoice& choice) { return choice.replica == victim; });
  claim.left_over = saturated_add(claim.left_over, fleet_.amounts(replica)[Fleet::counted]);
  ranking_->changed(claim.place);
  if (replica.victim_class != ReplicaClass::committed) return;
  forget_loss(fleet_.shares()[replica.share].deployment);
  for (const ReplicaIndex pod : fleet_.in_share(replica.share)) {
    ranking_->changed(fleet_.replica(pod).place);
  }
}

/// A deployment is not out for replicas that were put back.
void ReplicaPhases::forget_loss(DeploymentIndex deployment) {
  if (!losses_of_this_cycle_.contains(deployment)) return;
  for (const ReplicaAsk& ask : run_.asks) {
    for (const ReplicaClaimChoice& claim : ask.claims) {
      for (const ReplicaVictimChoice& victim : claim.victims) {
        const FleetReplica& replica = fleet_.replica(victim.replica);
        const bool lost = replica.victim_class == ReplicaClass::committed &&
                          fleet_.shares()[replica.share].deployment == deployment;
        if (lost) return;
      }
    }
  }
  losses_of_this_cycle_.erase(deployment);
  run_.losses[deployment] = {};
}

void ReplicaPhases::keep_claims(ReplicaAsk& ask) {
  if (is_out(ask)) return;
  for (const PreviousClaim& claim : previous_.of(ask.deployment)) {
    if (ask.left == 0) return;
    if (!previous_.stands(claim, ask.need)) continue;
    std::vector<ReplicaIndex> victims = claim.victims;
    victims_->reduce(claim.place, ask.need, victims);
    previous_.keep(claim);
    settle(ask, {.place = claim.place, .share = claim.share, .kept = &claim}, victims);
  }
}

void ReplicaPhases::search(ReplicaAsk& ask) {
  while (ask.left > 0) {
    std::optional<ClaimRanking::Best> best = ranking_->best(ask.deployment, ask.need);
    if (!best) return;
    PlaceCost cost;
    const bool found = victims_->evaluate(best->cost.place, ask.need, cost);
    CHECK(found, "the ranking is out of date");
    CHECK(cost.victims == best->cost.victims, "the ranking is out of date");
    const std::vector<ReplicaIndex> victims(victims_->victims().begin(), victims_->victims().end());
    settle(ask,
           {.place = best->cost.place,
            .share = best->share,
            .alternative = best->alternative,
            .decided_by = std::move(best->decided_by)},
           victims);
  }
}

void ReplicaPhases::preemption_phase() {
  victims_.emplace(fleet_);
  ranking_.emplace(fleet_, *victims_);
  each_tier([this](Tier tier) {
    for (ReplicaAsk& ask : tier) {
      turn_to(ask);
      keep_claims(ask);
    }
    for (ReplicaAsk& ask : tier) {
      turn_to(ask);
      if (!ask.silent && !is_out(ask)) search(ask);
    }
  });
  number_steps();
}

/// Commits fall step by step in the order in which the plan lists its victims.
void ReplicaPhases::number_steps() {
  std::map<ShareIndex, std::int64_t> commits;
  for (ReplicaAsk& ask : run_.asks) {
    if (ask.silent) continue;
    for (ReplicaClaimChoice& claim : ask.claims) {
      for (ReplicaVictimChoice& victim : claim.victims) {
        const FleetReplica& replica = fleet_.replica(victim.replica);
        if (replica.victim_class != ReplicaClass::committed) continue;
        const std::int64_t before = fleet_.shares()[replica.share].committed;
        victim.committed_after = --commits.try_emplace(replica.share, before).first->second;
      }
    }
  }
}

/// Why the schedule cannot ask.
std::optional<Problem> find_replica_ask(const Cluster& cluster, const Configuration& configuration,
                                        const AskName& name) {
  const auto& schedules = cluster.own<ReplicaSchedule>();
  const auto found = schedules.find({name.namespace_name, name.name});
  if (found == schedules.end()) {
    return ask_problem(name, "there is no such schedule", "see makeway snapshot");
  }
  if (!configuration.replica.enabled) {
    return ask_problem(name, "replica.enabled is false", "set it to true");
  }
  // Claims that no ask needs any more end in a plan.
  if (found->second.unmet == 0 && found->second.status.claims.empty()) {
    return ask_problem(name, "it has no unmet replicas",
                       "only a schedule with unmet replicas asks");
  }
  return std::nullopt;
}

class ReplicaPolicy : public Policy {
 public:
  explicit ReplicaPolicy(const PolicyContext& context)
      : context_(context), world_(context.draft.world) {}

  /// The stage is one turn for all schedules: two phases go over them.
  std::optional<Problem> collect_turns(std::vector<AskTurn>& turns) override;
  void decide(const AskTurn& turn) override;
  void close() override { add_net_schedule(world_.cluster(), context_.draft.plan); }
  /// What it costs is in the entry already.
  void finish(PlanAsk& ask, Losses& /*losses*/) override {
    add_replica_actions(world_.cluster(), ask, context_.draft.plan);
  }

 private:
  PolicyContext context_;
  const World& world_;
};

std::optional<Problem> ReplicaPolicy::collect_turns(std::vector<AskTurn>& turns) {
  for (const AskName& name : context_.request.asks) {
    if (name.kind != AskKind::replica_schedule) continue;
    if (auto problem = find_replica_ask(world_.cluster(), world_.configuration(), name)) {
      return problem;
    }
  }
  turns.push_back({.policy = this});
  return std::nullopt;
}

void ReplicaPolicy::decide(const AskTurn& /*turn*/) {
  const bool all_out =
      std::ranges::all_of(world_.cluster().own<ReplicaSchedule>(), [this](const auto& entry) {
        return is_left_out(context_.request, ask_name_of(entry.second));
      });
  if (all_out) return;  // Nothing of the stage is to be trusted; every status stays as it is.
  context_.deciding.start_replicas();
  Fleet fleet(context_.draft);
  PreviousClaims previous(fleet);
  ReplicaPhases phases(fleet, previous, context_.deciding);
  phases.list_asks(context_.request);
  phases.hold_for_those_on_their_way();
  phases.find_missed();
  phases.find_losses();
  phases.normal_phase();
  phases.preemption_phase();
  add_replica_entries(context_.draft, phases.run(), !context_.request.asks.empty(),
                      context_.deciding);
}

}  // namespace

std::unique_ptr<Policy> make_replica_policy(const PolicyContext& context) {
  const World& world = context.draft.world;
  const std::vector<AskName>& asks = context.request.asks;
  const bool named =
      std::ranges::find(asks, AskKind::replica_schedule, &AskName::kind) != asks.end();
  const bool any = asks.empty() && world.configuration().replica.enabled &&
                   !world.cluster().own<ReplicaSchedule>().empty();
  if (!named && !any) return nullptr;
  return std::make_unique<ReplicaPolicy>(context);
}

}  // namespace makeway

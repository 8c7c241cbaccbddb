// What the two phases came to, as entries of the plan.
#include <algorithm>
#include <optional>
#include <vector>

#include "base/checked_math.hpp"
#include "model/gpus.hpp"
#include "model/object_text.hpp"
#include "model/planes.hpp"
#include "policies/replica/node_victims.hpp"
#include "policies/replica/replica_obstacles.hpp"
#include "policies/replica/replica_run.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {

// ReplicaProof: whether a replica can have room at all, whatever may leave (law 10).
//
// Counted generously: every replica that the ask's priority lets leave, as if no ask had got
// anything in this cycle and no deployment kept its last replica. What does not fit even then is
// infeasible; anything else is only not found.

class ReplicaProof {
 public:
  explicit ReplicaProof(const Fleet& fleet) : fleet_(fleet) {}

  struct Verdict {
    bool possible = false;
    std::int64_t places = 0;  ///< How many were looked at.
    // Where it is possible, or least is missing:
    std::size_t column = 0;
    std::int64_t missing = 0;
    PlaceIndex place;
  };
  /// Asks come by falling priority.
  Verdict judge(DeploymentIndex deployment, std::int32_t priority);

 private:
  /// What the highest priority so far came to. Whatever is impossible there is impossible below.
  struct Known {
    bool judged = false;
    Verdict verdict;
  };
  struct Missing {
    std::size_t column = 0;
    std::int64_t amount = 0;  ///< 0: nothing is.
  };

  const Verdict& judge_plane(std::uint32_t request, PlaneIndex plane, std::int32_t priority);
  Missing missing_on(PlaceIndex place, std::uint32_t request, std::int32_t priority);

  const Fleet& fleet_;
  std::vector<Known> known_;  ///< By request and plane.
  std::vector<std::int64_t> room_;
};

ReplicaProof::Missing ReplicaProof::missing_on(PlaceIndex place, std::uint32_t request,
                                               std::int32_t priority) {
  fleet_.first_room(place, room_);
  for (const ReplicaIndex index : fleet_.in_order(place)) {
    const FleetReplica& replica = fleet_.replica(index);
    if (!fleet_.ever_usable(replica, priority)) continue;
    add_row(room_, fleet_.amounts(replica));
  }
  const std::span<const std::int64_t> amounts = fleet_.request(request);
  for (std::size_t column = 0; column < room_.size(); ++column) {
    if (amounts[column] == 0 || room_[column] >= amounts[column]) continue;
    return {.column = column, .amount = saturated_sub(amounts[column], room_[column])};
  }
  return {};
}

const ReplicaProof::Verdict& ReplicaProof::judge_plane(std::uint32_t request, PlaneIndex plane,
                                                       std::int32_t priority) {
  known_.resize(fleet_.request_count() * fleet_.planes().size());
  Known& known = known_[request * fleet_.planes().size() + plane.value];
  Verdict& verdict = known.verdict;
  const bool as_before = known.judged && (!verdict.possible ||
                                          missing_on(verdict.place, request, priority).amount == 0);
  if (as_before) return verdict;
  known.judged = true;
  verdict = {};
  for (std::uint32_t at = fleet_.planes()[plane].begin; at < fleet_.planes()[plane].end; ++at) {
    const PlaceIndex place{at};
    if (!fleet_.places()[place].open) continue;
    ++verdict.places;
    const Missing missing = missing_on(place, request, priority);
    verdict.possible = missing.amount == 0;
    const bool better = verdict.possible || !verdict.place.exists() ||
                        missing.column > verdict.column ||
                        (missing.column == verdict.column && missing.amount < verdict.missing);
    if (!better) continue;
    verdict.column = missing.column;
    verdict.missing = missing.amount;
    verdict.place = place;
    if (verdict.possible) break;
  }
  return verdict;
}

ReplicaProof::Verdict ReplicaProof::judge(DeploymentIndex deployment, std::int32_t priority) {
  const FleetDeployment& row = fleet_.deployments()[deployment];
  Verdict all;
  for (std::uint32_t at = row.begin; at < row.end; ++at) {
    const PlaneIndex plane = fleet_.shares()[ShareIndex{at}].plane;
    const Verdict& one = judge_plane(row.request, plane, priority);
    all.places += one.places;
    if (one.possible) all.possible = true;
    const bool better =
        one.place.exists() && (!all.place.exists() || one.column > all.column ||
                               (one.column == all.column && one.missing < all.missing));
    if (better) {
      all.column = one.column;
      all.missing = one.missing;
      all.place = one.place;
    }
  }
  return all;
}

namespace {

/// A replica that was lost to a claim.
struct LostReplica {
  std::string_view plane;
  const ClaimedVictim* record = nullptr;
};
using LostReplicas = std::vector<LostReplica>;

class ReplicaEntries {
 public:
  ReplicaEntries(World& world, const ReplicaRun& run)
      : world_(world), run_(run), fleet_(run.fleet), proof_(run.fleet), obstacles_(world, run) {}

  PlanAsk ask_entry(const ReplicaAsk& ask);
  ReplicaStatus next_status(DeploymentIndex index, const ReplicaAsk* ask, bool claims_stay) const;

 private:
  std::string schedule_text(DeploymentIndex index) const;
  std::vector<PlanScaleUp> scale_ups(const ReplicaAsk& ask) const;
  PlanReplicaClaim claim_entry(const ReplicaAsk& ask, const ReplicaClaimChoice& claim) const;
  PlanReplicaVictim victim_entry(const ReplicaAsk& ask, const ReplicaClaimChoice& claim,
                                 const ReplicaVictimChoice& choice) const;
  Reason reason_of(const ReplicaAsk& ask, const FleetReplica& replica,
                   const PlanReplicaVictim& victim) const;
  bool waits_for_own_surplus(const ReplicaAsk& ask) const;
  void conclude(const ReplicaAsk& ask, PlanAsk& entry);
  void nothing_found(const ReplicaAsk& ask, PlanAsk& entry);
  void report_obstacles(const ReplicaAsk& ask, PlanAsk& entry) const;
  PlanRefusal refusal_of(const ReplicaObstacle& obstacle) const;
  PlanCost cost_of(const ReplicaAsk& ask) const;
  bool is_out(const ClaimedVictim& record) const;
  ReplicaClaim next_claim(const ReplicaAsk& ask, const ReplicaClaimChoice& claim,
                          LostReplicas& losses) const;
  LostReplicas losses_left(const ReplicaAsk& ask) const;

  World& world_;
  const ReplicaRun& run_;
  const Fleet& fleet_;
  ReplicaProof proof_;
  ReplicaObstacles obstacles_;
};

std::string ReplicaEntries::schedule_text(DeploymentIndex index) const {
  const ReplicaSchedule& object = *fleet_.deployments()[index].object;
  return object_text(row_of<ReplicaSchedule>.name, object.namespace_name, object.name);
}

std::vector<PlanScaleUp> ReplicaEntries::scale_ups(const ReplicaAsk& ask) const {
  std::map<PlaneIndex, std::map<PlaceIndex, std::int64_t>> planes;
  std::map<PlaneIndex, ShareIndex> shares;
  for (const ReplicaScaleUp& item : ask.scale_ups) {
    const PlaneIndex plane = fleet_.shares()[item.share].plane;
    ++planes[plane][item.place];
    shares[plane] = item.share;
  }
  std::vector<PlanScaleUp> entries;
  entries.reserve(planes.size());
  for (const auto& [plane, places] : planes) {
    const FleetShare& share = fleet_.shares()[shares[plane]];
    PlanScaleUp entry{.plane = std::string(fleet_.planes()[plane].name),
                      .plane_score = share.score,
                      .committed_before = share.committed,
                      .committed_after = share.committed + share.raised};
    for (const auto& [place, count] : places) {
      entry.expected.push_back(
          {.node = node_name(world_.cluster(), fleet_.places()[place].node), .replicas = count});
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

Reason ReplicaEntries::reason_of(const ReplicaAsk& ask, const FleetReplica& replica,
                                 const PlanReplicaVictim& victim) const {
  switch (replica.victim_class) {
    case ReplicaClass::force_deleting: return {.code = ReasonCode::replica_force_deleting};
    case ReplicaClass::terminating:
      if (victim.action == ReplicaAction::force_delete) {
        const bool over = world_.departures().leaves_at(replica.pod) <= fleet_.now();
        return {.code = over ? ReasonCode::replica_grace_over : ReasonCode::replica_grace_ignored};
      }
      if (victim.force_delete_from) {
        return {.code = ReasonCode::replica_time_is_up, .arguments = {*victim.force_delete_from}};
      }
      return {.code = replica.is_protected ? ReasonCode::replica_terminating
                                           : ReasonCode::replica_terminating_not_lower};
    case ReplicaClass::surplus: {
      const FleetShare& share = fleet_.shares()[replica.share];
      return {.code = ReasonCode::replica_surplus, .arguments = {share.running, share.committed}};
    }
    case ReplicaClass::committed:
      return {.code = ReasonCode::lower_priority,
              .arguments = {replica.priority, ask.need.priority}};
  }
  CHECK(false, "unknown class");
}

PlanReplicaVictim ReplicaEntries::victim_entry(const ReplicaAsk& ask,
                                               const ReplicaClaimChoice& claim,
                                               const ReplicaVictimChoice& choice) const {
  const FleetReplica& replica = fleet_.replica(choice.replica);
  const Cluster& cluster = world_.cluster();
  PlanReplicaVictim entry{
      .namespace_name = std::string(cluster.text(cluster.pods().namespace_name[replica.pod])),
      .name = std::string(cluster.pods().name[replica.pod.value]),
      .uid = std::string(cluster.pods().uid[replica.pod.value]),
      .plane = std::string(cluster.text(cluster.pods().plane[replica.pod])),
      .priority = replica.priority,
      .victim_class = replica.victim_class,
      .action = fleet_.action(replica, ask.need.priority),
      .amount = fleet_.amounts(replica)[Fleet::counted]};
  if (replica.share.exists()) {
    entry.deployment =
        fleet_.deployments()[fleet_.shares()[replica.share].deployment].object->deployment;
  }
  if (entry.action == ReplicaAction::scale_down) {
    entry.committed_before = choice.committed_after + 1;
    entry.committed_after = choice.committed_after;
  }
  if (entry.action == ReplicaAction::wait && fleet_.forcible(replica, ask.need.priority)) {
    entry.force_delete_from = replica.force_from;
  }
  entry.reason = write_text(cluster, reason_of(ask, replica, entry));
  entry.cause_rule = write_text(cluster, {.code = ReasonCode::replica_rule});
  if (claim.kept != nullptr) {
    entry.cause_alternative = write_text(cluster, {.code = ReasonCode::replica_claim_stands});
    entry.cause_key = write_text(cluster, {.code = ReasonCode::by_kept_claim});
  } else if (claim.alternative.exists()) {
    entry.cause_alternative = write_text(cluster, place_reason(fleet_, claim.alternative));
    entry.cause_key = write_text(cluster, claim.decided_by);
  } else {
    entry.cause_alternative = write_text(cluster, {.code = ReasonCode::replica_no_other_node});
    entry.cause_key = write_text(cluster, {.code = ReasonCode::by_only_one});
  }
  return entry;
}

PlanReplicaClaim ReplicaEntries::claim_entry(const ReplicaAsk& ask,
                                             const ReplicaClaimChoice& claim) const {
  const FleetPlace& place = fleet_.places()[claim.place];
  PlanReplicaClaim entry{.plane = std::string(fleet_.planes()[place.plane].name),
                         .node = node_name(world_.cluster(), place.node),
                         .plane_score = fleet_.shares()[claim.share].score,
                         .since = claim.kept != nullptr ? claim.kept->record->since : fleet_.now(),
                         .kept = claim.kept != nullptr,
                         .needed = ask.need.request[Fleet::counted],
                         .free = claim.free,
                         .left_over = claim.left_over};
  entry.victims.reserve(claim.victims.size());
  for (const ReplicaVictimChoice& choice : claim.victims) {
    entry.victims.push_back(victim_entry(ask, claim, choice));
  }
  return entry;
}

PlanCost ReplicaEntries::cost_of(const ReplicaAsk& ask) const {
  PlanCost cost;
  for (const ReplicaClaimChoice& claim : ask.claims) {
    for (const ReplicaVictimChoice& choice : claim.victims) {
      const FleetReplica& replica = fleet_.replica(choice.replica);
      if (replica.victim_class != ReplicaClass::committed) continue;
      const std::int64_t seconds = world_.rules().lost_work_seconds(replica.pod);
      std::int64_t gpus = 0;
      const RequestId requests = world_.cluster().pods().requests[replica.pod];
      for (const ResourceAmount& item : world_.cluster().requests(requests)) {
        if (is_gpu(world_.cluster().resources().name(item.resource))) {
          gpus = saturated_add(gpus, item.amount);
        }
      }
      cost = sum(cost, {.pod_seconds = seconds, .gpu_seconds = saturated_mul(seconds, gpus)});
    }
  }
  return cost;
}

PlanRefusal ReplicaEntries::refusal_of(const ReplicaObstacle& obstacle) const {
  PlanRefusal refusal{.reason = RefusalReason::resource,
                      .detail = std::string(fleet_.column_name(obstacle.column)),
                      .amount_min = obstacle.missing,
                      .nodes = 1,
                      .example = node_name(world_.cluster(), fleet_.places()[obstacle.place].node),
                      .holders = obstacle.holders};
  return refusal;
}

/// Each node with the replicas in the way; the first few in the sentence, the others counted.
void ReplicaEntries::report_obstacles(const ReplicaAsk& ask, PlanAsk& entry) const {
  constexpr std::size_t listed_max = 3;
  const std::vector<ReplicaObstacle> obstacles = obstacles_.of(ask);
  Reasons listed;
  for (const ReplicaObstacle& obstacle :
       std::span(obstacles).first(std::min(listed_max, obstacles.size()))) {
    listed.push_back(obstacles_.reason(obstacle));
  }
  set_reason(world_.cluster(), entry,
             {.code = ReasonCode::replica_no_place, .arguments = {std::move(listed)}});
  if (obstacles.size() > listed_max) {
    const std::size_t more = obstacles.size() - listed_max;
    const bool all = obstacles.size() < ReplicaObstacles::places_max;
    add_reason(
        world_.cluster(), entry,
        {.code = all ? ReasonCode::replica_more_nodes : ReasonCode::replica_at_least_more_nodes,
         .arguments = {more}});
  }
  entry.explanation.nodes_considered = std::ssize(obstacles);
  const auto single = static_cast<std::size_t>(world_.configuration().engine.alternatives_max);
  std::map<std::size_t, PlanRefusal> rest;  // By column.
  for (const ReplicaObstacle& obstacle : obstacles) {
    PlanRefusal refusal = refusal_of(obstacle);
    if (entry.explanation.refusals.size() < single) {
      entry.explanation.refusals.edit().push_back(std::move(refusal));
      continue;
    }
    const auto [at, is_new] = rest.try_emplace(obstacle.column, refusal);
    if (is_new) continue;
    ++at->second.nodes;
    if (refusal.amount_min >= at->second.amount_min) continue;
    refusal.nodes = at->second.nodes;
    at->second = std::move(refusal);
  }
  for (auto& [column, refusal] : rest)
    entry.explanation.refusals.edit().push_back(std::move(refusal));
}

void ReplicaEntries::nothing_found(const ReplicaAsk& ask, PlanAsk& entry) {
  const ReplicaProof::Verdict verdict = proof_.judge(ask.deployment, ask.need.priority);
  entry.outcome = verdict.possible ? Outcome::not_found : Outcome::infeasible;
  if (verdict.places == 0) {
    set_reason(world_.cluster(), entry, {.code = ReasonCode::replica_no_nodes});
    return;
  }
  if (verdict.possible) return report_obstacles(ask, entry);
  PlanRefusal refusal{.reason = RefusalReason::resource,
                      .detail = std::string(fleet_.column_name(verdict.column)),
                      .amount_min = verdict.missing,
                      .nodes = verdict.places,
                      .example = node_name(world_.cluster(), fleet_.places()[verdict.place].node),
                      .holders = obstacles_.at(ask, verdict.place).holders};
  entry.explanation.nodes_considered = verdict.places;
  set_reason(
      world_.cluster(), entry,
      {.code = ReasonCode::replica_unfit_when_all_left, .arguments = {refusal_sentence(refusal)}});
  entry.explanation.refusals.edit().push_back(std::move(refusal));
}

/// No other pod has to go, and a scale-up would only take back the scale-down that is under way.
bool ReplicaEntries::waits_for_own_surplus(const ReplicaAsk& ask) const {
  if (ask.claims.size() != 1 || !ask.claims.front().victims.empty()) return false;
  return fleet_.shares()[ask.claims.front().share].surplus_moving > 0;
}

void ReplicaEntries::conclude(const ReplicaAsk& ask, PlanAsk& entry) {
  const Cluster& cluster = world_.cluster();
  const PlanReplicas& replicas = *entry.replicas;
  const std::int64_t down = scaled_down(replicas);
  if (ask.left == 0 && replicas.claims.empty()) {
    entry.outcome = Outcome::fits;
    Reasons parts;
    parts.reserve(replicas.scale_ups.size());
    for (const PlanScaleUp& item : replicas.scale_ups) {
      parts.push_back({.code = ReasonCode::replica_count_in_plane,
                       .arguments = {item.committed_after - item.committed_before, item.plane}});
    }
    const ReasonCode code =
        parts.empty() ? ReasonCode::replica_room_is_free : ReasonCode::replica_fits;
    return set_reason(cluster, entry, {.code = code, .arguments = {std::move(parts)}});
  }
  if (!replicas.out_for.empty()) {
    entry.outcome = Outcome::waits;
    return set_reason(
        cluster, entry,
        {.code = ReasonCode::replica_lost_to,
         .arguments = {replicas.out_plane, schedule_name(fleet_, run_.losses[ask.deployment].by)}});
  }
  if (replicas.claims.empty()) return nothing_found(ask, entry);
  entry.outcome = down > 0 ? Outcome::preempts : Outcome::waits;
  const std::size_t count = replicas.claims.size();
  const auto& first = replicas.claims.front();
  set_reason(cluster, entry,
             count == 1
                 ? Reason{.code = ReasonCode::replica_claims_node,
                          .arguments = {first.node, first.plane, claim_sentence(replicas, first)}}
                 : Reason{.code = ReasonCode::replicas_wait, .arguments = {count}});
  if (waits_for_own_surplus(ask)) {
    add_reason(cluster, entry, {.code = ReasonCode::replica_own_surplus});
  }
  if (ask.left > 0) {
    add_reason(cluster, entry,
               {.code = ReasonCode::replica_no_place_for_more, .arguments = {ask.left}});
  }
}

PlanAsk ReplicaEntries::ask_entry(const ReplicaAsk& ask) {
  const ReplicaSchedule& object = *fleet_.deployments()[ask.deployment].object;
  PlanAsk entry;
  entry.kind = AskKind::replica_schedule;
  entry.namespace_name = object.namespace_name;
  entry.name = object.name;
  entry.priority = ask.need.priority;
  PlanReplicas replicas{.deployment = object.deployment,
                        .resource = fleet_.settings().resource,
                        .unmet = object.unmet,
                        .scale_ups = scale_ups(ask),
                        .without = ask.left};
  replicas.claims.reserve(ask.claims.size());
  for (const ReplicaClaimChoice& claim : ask.claims) {
    replicas.claims.push_back(claim_entry(ask, claim));
  }
  const ReplicaLoss& loss = run_.losses[ask.deployment];
  if (loss.by.exists()) {
    replicas.out_for = schedule_text(loss.by);
    replicas.out_plane = std::string(fleet_.planes()[loss.plane].name);
  }
  entry.replicas = std::move(replicas);
  conclude(ask, entry);
  entry.cost = cost_of(ask);
  return entry;
}

// ---- Status ---------------------------------------------------------------------------------

/// Replicas that claims which are not kept took by lowering a commit: the claim that takes over
/// what is leaving there takes over that, too.
LostReplicas ReplicaEntries::losses_left(const ReplicaAsk& ask) const {
  LostReplicas left;
  for (const PreviousClaim& claim : run_.previous.of(ask.deployment)) {
    const bool kept = std::ranges::any_of(
        ask.claims, [&](const ReplicaClaimChoice& choice) { return choice.kept == &claim; });
    if (kept) continue;
    for (const ClaimedVictim& victim : claim.record->victims) {
      const auto pod = find_pod_in_plane(world_.cluster(), claim.record->plane,
                                         victim.namespace_name, victim.name);
      const bool chosen_again = pod && std::ranges::any_of(ask.claims, [&](const auto& choice) {
                                  return std::ranges::any_of(choice.victims, [&](const auto& one) {
                                    return fleet_.replica(one.replica).pod == *pod;
                                  });
                                });
      if (victim.committed && !chosen_again) {
        left.push_back({.plane = claim.record->plane, .record = &victim});
      }
    }
  }
  return left;
}

std::optional<std::int64_t> take_over(LostReplicas& losses, std::string_view plane,
                                      const ClaimedVictim& record) {
  const auto found = std::ranges::find_if(losses, [&](const LostReplica& lost) {
    return lost.plane == plane && lost.record->namespace_name == record.namespace_name &&
           lost.record->deployment == record.deployment;
  });
  if (found == losses.end() || record.deployment.empty()) return std::nullopt;
  const std::optional<std::int64_t> committed = found->record->committed;
  losses.erase(found);
  return committed;
}

/// A deployment that neither asked nor took in this cycle stays out with the claim that takes over.
bool ReplicaEntries::is_out(const ClaimedVictim& record) const {
  const auto loser = fleet_.find_deployment(record.namespace_name, record.deployment);
  return loser && run_.losses[*loser].by.exists();
}

ReplicaClaim ReplicaEntries::next_claim(const ReplicaAsk& ask, const ReplicaClaimChoice& claim,
                                        LostReplicas& losses) const {
  const PlanReplicaClaim entry = claim_entry(ask, claim);
  ReplicaClaim next{.since = entry.since, .plane = entry.plane, .node = entry.node};
  for (std::size_t at = 0; at < entry.victims.size(); ++at) {
    const PlanReplicaVictim& victim = entry.victims[at];
    const PodIndex pod = fleet_.replica(claim.victims[at].replica).pod;
    ClaimedVictim record{.namespace_name = victim.namespace_name,
                         .name = victim.name,
                         .uid = victim.uid,
                         .deployment = victim.deployment,
                         .committed = victim.committed_after};
    if (victim.action == ReplicaAction::force_delete) record.force_deleted = fleet_.now();
    if (const ClaimedVictim* const known = run_.previous.about(pod)) {
      if (!record.committed && is_out(record)) record.committed = known->committed;
      if (!record.force_deleted) record.force_deleted = known->force_deleted;
    }
    if (!record.committed && is_out(record)) {
      record.committed = take_over(losses, entry.plane, record);
    }
    next.victims.push_back(std::move(record));
  }
  if (claim.kept != nullptr) {
    // A victim that is gone already stays recorded until all are.
    for (const ClaimedVictim& victim : claim.kept->record->victims) {
      const bool there = std::ranges::any_of(next.victims, [&](const ClaimedVictim& record) {
        return record.namespace_name == victim.namespace_name && record.name == victim.name;
      });
      const bool gone =
          !find_pod_in_plane(world_.cluster(), entry.plane, victim.namespace_name, victim.name);
      if (victim.committed && !there && gone) next.victims.push_back(victim);
    }
  }
  return next;
}

ReplicaStatus ReplicaEntries::next_status(DeploymentIndex index, const ReplicaAsk* ask,
                                          bool claims_stay) const {
  const FleetDeployment& row = fleet_.deployments()[index];
  ReplicaSchedule next{.name = "status"};
  if (claims_stay) {
    next.status.claims = row.object->status.claims;
    next.status.missed = row.object->status.missed;
  }
  if (ask != nullptr && !claims_stay) {
    next.status.missed = ask->missed_names;
    LostReplicas losses = losses_left(*ask);
    for (const ReplicaClaimChoice& claim : ask->claims) {
      next.status.claims.push_back(next_claim(*ask, claim, losses));
    }
  }
  const auto add_surplus = [&](ShareIndex share) {
    const auto count = static_cast<std::size_t>(fleet_.shares()[share].surplus);
    const PodColumns& pods = world_.cluster().pods();
    for (const ReplicaIndex replica : fleet_.in_share(share).first(count)) {
      const PodIndex pod = fleet_.replica(replica).pod;
      next.status.surplus.push_back(
          {.name = std::string(pods.name[pod.value]),
           .plane = std::string(world_.cluster().text(pods.plane[pod])),
           .since = fleet_.surplus_since(*row.object, pod).value_or(fleet_.now())});
    }
  };
  for (std::uint32_t share = row.begin; share < row.end; ++share) add_surplus(ShareIndex{share});
  for (const ShareIndex share : fleet_.unlisted_shares(index)) add_surplus(share);
  normalize(next);
  return std::move(next.status);
}

}  // namespace

void add_replica_entries(Draft& draft, const ReplicaRun& run, bool named, Deciding& deciding) {
  ReplicaEntries report(draft.world, run);
  IndexedVector<DeploymentIndex, const ReplicaAsk*> asks(run.fleet.deployments().size());
  IndexedVector<DeploymentIndex, std::uint8_t> silent(run.fleet.deployments().size());
  for (const ReplicaAsk& ask : run.asks) {
    silent[ask.deployment] = ask.silent ? 1 : 0;
    if (ask.silent) continue;
    deciding.start(*run.fleet.deployments()[ask.deployment].object);
    asks[ask.deployment] = &ask;
    draft.plan.asks.push_back(report.ask_entry(ask));
  }
  for (std::uint32_t at = 0; at < run.fleet.deployments().size(); ++at) {
    const DeploymentIndex index{at};
    const ReplicaSchedule& object = *run.fleet.deployments()[index].object;
    deciding.start_replicas();
    if (asks[index] != nullptr) deciding.start(object);
    const bool claims_stay = asks[index] == nullptr && (named || silent[index] != 0);
    ReplicaStatus next = report.next_status(index, asks[index], claims_stay);
    if (next == object.status) continue;
    draft.plan.replica_status.push_back(
        {.namespace_name = object.namespace_name, .name = object.name, .status = std::move(next)});
  }
}

}  // namespace makeway

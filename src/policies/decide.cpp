#include "policies/decide.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/contain.hpp"
#include "engine/departures.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/group_status.hpp"
#include "model/plan.hpp"
#include "model/profiles.hpp"
#include "policies/policy.hpp"

namespace makeway {
namespace {

/// Recheck: when time alone could change the plan (`Decision::recheck_at`, SPEC section 8).
///
/// Decisions read the clock only to ask whether a time of the cluster plus a duration of the
/// configuration has passed. The earliest of these that lies ahead is the answer, whether it would
/// matter or not: a cycle too many costs little, one too few is a missed wake-up. They are
///   pending      creation + engine.preemptionDelay
///   leaving      deletion + engine.leaveTimeout; of replicas also the time of force-deletion
///   running      start + protection.minimumRuntime, and + exemptTime of a partition
///   sessions     the end of a grace time, the end of a back-off
///   reservations the end of required_node.preemptionStartDelay
///   surplus      since + replica.surplusTimeout
/// Only lost work changes all the time. Where pods are evicted, the one that loses least may be
/// another one a second later.
///
/// O(due, leaving, sessions, schedules), and O(pods) where pods have a minimum runtime or a delay.
class Recheck {
 public:
  Recheck(const Cluster& cluster, const Configuration& configuration, const Plan& plan)
      : cluster_(cluster), configuration_(configuration), plan_(plan) {}

  std::optional<Time> find() {
    read_plan();
    read_leaving();
    delays_.insert(configuration_.engine.preemption_delay);
    for (const ProfileRules& each : differing_profiles(configuration_)) {
      delays_.insert(each.configuration.engine.preemption_delay);
    }
    if (configuration_.protection.minimum_runtime.ms > 0 || delays_.rbegin()->ms > 0) read_pods();
    if (configuration_.session.enabled) read_sessions();
    if (configuration_.replica.enabled) read_schedules();
    return earliest_;
  }

 private:
  void note(Time time) {
    if (time <= plan_.now) return;
    earliest_ = std::min(earliest_.value_or(time), time);
  }
  void note(const std::optional<Time>& since, Duration duration) {
    if (since && *since != no_time) note(*since + duration);
  }

  void read_plan() {
    const auto makes_leave = [](const PlanAsk& ask) {
      return !ask.victims.empty() || (ask.replicas && scaled_down(*ask.replicas) > 0);
    };
    for (const PlanAsk& ask : plan_.asks) {
      if (ask.waits_until) note(*ask.waits_until);
      if (ask.reservation && ask.reservation->preempts_from) note(*ask.reservation->preempts_from);
      if (makes_leave(ask)) note(plan_.now + Duration{1'000});
    }
  }

  void read_leaving() {
    for (const PodIndex pod : cluster_.leaving_pods()) read_leaver(pod);
  }

  void read_leaver(PodIndex pod) {
    const auto changes = Departures::changes(cluster_, configuration_.engine, pod);
    note(changes.soon_from);
    note(changes.stuck_from);
    const ReplicaSettings& replica = configuration_.replica;
    if (replica.enabled) note(Departures::forced_from(cluster_, replica, pod));
  }

  void read_pods() {
    const PodColumns& pods = cluster_.pods();
    for (const PodIndex pod : cluster_.each_row()) {
      if (pods.node[pod].exists()) {
        note(pods.started[pod], configuration_.protection.minimum_runtime);
      } else {
        note_delays(pods.created[pod]);
      }
    }
    for (const GroupIndex group : cluster_.groups_by_name()) {
      const std::optional<PodGroup>& object = cluster_.groups()[group].object;
      if (object) note_delays(object->created);
    }
  }

  /// Of every profile: a time too early only costs a decision.
  void note_delays(const std::optional<Time>& created) {
    for (const Duration delay : delays_) note(created, delay);
  }

  void read_sessions() {
    for (const auto& [key, session] : cluster_.own<Session>()) {
      const SessionStatus& status = session.status;
      note(session.created, configuration_.engine.preemption_delay);
      const std::optional<Time>& since = status.started ? status.started : session.created;
      note(since, configuration_.protection.minimum_runtime);
      note(status.ends_at, Duration{});
      note(status.ends_at, configuration_.engine.leave_timeout);
      note(status.resume_after, Duration{});
      const auto partition = cluster_.own<Partition>().find({std::string(), session.partition});
      if (partition == cluster_.own<Partition>().end()) continue;
      note(since, partition->second.exempt_time);
    }
  }

  void read_schedules() {
    for (const auto& [key, schedule] : cluster_.own<ReplicaSchedule>()) {
      for (const ReplicaClaim& claim : schedule.status.claims) {
        for (const ClaimedVictim& victim : claim.victims) {
          note(victim.force_deleted, configuration_.engine.leave_timeout);
        }
      }
      for (const SurplusPod& pod : schedule.status.surplus) {
        note(pod.since + configuration_.replica.surplus_timeout);
      }
    }
    // Surplus that is new in this cycle: the plan says since when.
    for (const PlanReplicaStatus& next : plan_.replica_status) {
      for (const SurplusPod& pod : next.status.surplus) {
        note(pod.since + configuration_.replica.surplus_timeout);
      }
    }
  }

  const Cluster& cluster_;
  const Configuration& configuration_;
  const Plan& plan_;
  std::optional<Time> earliest_;
  std::set<Duration> delays_;  ///< `engine.preemptionDelay` of all profiles.
};

// ---- A cycle ------------------------------------------------------------------------------------

using Policies = std::vector<std::unique_ptr<Policy>>;

/// Asks that cross regimes come first; then by priority, creation, wave and name. An ask without a
/// pod comes last, as its policy has listed it.
void sort_by_turn(const Cluster& cluster, std::vector<AskTurn>& turns) {
  const auto name = [&](const AskTurn& turn) {
    return std::pair(cluster.text(cluster.pods().namespace_name[turn.pod]),
                     cluster.pods().name[turn.pod.value]);
  };
  const auto before = [&](const AskTurn& a, const AskTurn& b) {
    if (a.crosses != b.crosses) return a.crosses;
    if (a.priority != b.priority) return a.priority > b.priority;
    if (a.created != b.created) return a.created < b.created;
    if (!a.pod.exists() || !b.pod.exists()) return a.pod.exists() && !b.pod.exists();
    const std::int32_t wave_a = wave_of(cluster, a.pod);
    const std::int32_t wave_b = wave_of(cluster, b.pod);
    return wave_a != wave_b ? wave_a < wave_b : name(a) < name(b);
  };
  if (!std::ranges::is_sorted(turns, before)) std::ranges::stable_sort(turns, before);
}

/// Of pods and groups; sessions, schedules and queues have no profile.
UnitIndex unit_of(const Cluster& cluster, const AskTurn& turn) {
  if (!turn.pod.exists() || cluster.pods().flags[turn.pod].kernel) return {};
  return cluster.pods().unit[turn.pod];
}

/// Makes the policies of one stage, and lets their asks take turns. `owners`: whose asks the
/// entries of the plan are.
std::optional<Problem> run_stage(Stage stage, const PolicyContext& context, Policies& made,
                                 std::vector<Policy*>& owners) {
  std::vector<AskTurn> turns;
  for (const PolicyRow& row : policies) {
    if (row.stage != stage) continue;
    std::unique_ptr<Policy> policy = row.make(context);
    if (!policy) continue;
    made.push_back(std::move(policy));
    if (auto problem = made.back()->collect_turns(turns)) return problem;
  }
  World& world = context.draft.world;
  Plan& plan = context.draft.plan;
  sort_by_turn(world.cluster(), turns);
  plan.asks.reserve(plan.asks.size() + turns.size());
  for (const AskTurn& turn : turns) {
    if (world.limits() != nullptr) world.limits()->turn_to(turn.limited, turn.member);
    const std::size_t before = plan.asks.size();
    world.turn_to(unit_of(world.cluster(), turn));
    turn.policy->decide(turn);
    for (PlanAsk& ask : std::span(plan.asks).subspan(before)) ask.profile = world.profile();
    owners.resize(plan.asks.size(), turn.policy);
  }
  world.turn_to({});
  context.deciding.end();
  return std::nullopt;
}

void finish(const Draft& draft, const Policies& made, std::span<Policy* const> owners) {
  Plan& plan = draft.plan;
  for (const std::unique_ptr<Policy>& policy : made) policy->close();
  std::size_t victims = 0;
  for (const PlanAsk& ask : plan.asks) victims += ask.victims.size();
  plan.actions.reserve(plan.asks.size() + victims);
  plan.status.reserve(plan.asks.size() + victims);
  Losses losses(draft.world);
  for (std::size_t at = 0; at < owners.size(); ++at) {
    owners[at]->finish(plan.asks[at], losses);
    // Losses count pods and groups; the victims of a session or a schedule have no other ask.
    const PlanAsk& ask = plan.asks[at];
    if (ask.session || ask.replicas) plan.cost = sum(plan.cost, ask.cost);
  }
  losses.close();
  plan.cost = sum(plan.cost, losses.total());
  add_priority_conditions(draft.world.cluster(), plan);
}

Decision decide_once(const Cluster& cluster, const Configuration& configuration,
                     const PlanRequest& request, Deciding& deciding) {
  Asking asking;
  if (auto problem = find_asking(cluster, configuration, request, asking)) {
    return {{}, {*std::move(problem)}};
  }
  World world(cluster, configuration, request.now);
  Plan plan;
  plan.now = request.now;
  plan.preset = request.preset;
  plan.configuration_hash = request.configuration_hash.empty() ? configuration_hash(configuration)
                                                               : request.configuration_hash;
  plan.laws_waived = configuration.engine.laws_waived;
  plan.others_pending = asking.others;
  plan.left_out = request.left_out;
  Draft draft{.world = world, .plan = plan, .explain = request.explain};
  const PolicyContext context{
      .draft = draft, .request = request, .asking = asking, .deciding = deciding};
  Policies made;
  std::vector<Policy*> owners;
  for (const Stage stage : {Stage::before_asks, Stage::asks, Stage::after_asks}) {
    if (auto problem = run_stage(stage, context, made, owners)) {
      return {{}, {*std::move(problem)}};
    }
  }
  finish(draft, made, owners);
  const std::optional<Time> recheck_at = Recheck(cluster, configuration, plan).find();
  return {.plan = std::move(plan), .problems = {}, .recheck_at = recheck_at};
}

}  // namespace

Decision decide(const Cluster& cluster, const Configuration& configuration,
                const PlanRequest& request) {
  return decide_watched(cluster, configuration, request, {});
}

Decision decide_watched(const Cluster& cluster, const Configuration& configuration,
                        const PlanRequest& request,
                        const std::function<void(const AskName&)>& watcher) {
  Deciding deciding(cluster, watcher);
  if (!request.contain) return decide_once(cluster, configuration, request, deciding);
  PlanRequest again = request;
  while (true) {
    Decision decision;
    std::optional<std::string> failure =
        failure_of([&] { decision = decide_once(cluster, configuration, again, deciding); });
    if (!failure) return decision;
    const std::size_t before = again.left_out.size();
    for (const AskName& ask : deciding.current_asks()) {
      if (is_left_out(again, ask)) continue;
      again.left_out.push_back({.kind = ask.kind,
                                .namespace_name = ask.namespace_name,
                                .name = ask.name,
                                .reason = *failure});
    }
    // No ask is left to leave out.
    if (again.left_out.size() == before) {
      return {.plan = {}, .problems = {}, .failure = *std::move(failure)};
    }
    deciding.end();
  }
}

}  // namespace makeway

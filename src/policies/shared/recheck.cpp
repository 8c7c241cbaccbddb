#include "policies/shared/recheck.hpp"

#include <algorithm>
#include <set>

#include "model/profiles.hpp"

namespace makeway {
namespace {

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
    const Time deletion = cluster_.pods().deletion[pod];
    note(deletion + configuration_.engine.leave_timeout);
    note(deletion + Duration{-configuration_.engine.leave_wait_max.ms});
    const ReplicaSettings& replica = configuration_.replica;
    if (!replica.enabled) return;
    const bool at_end = replica.force_delete_after == ForceDeleteAfter::grace_period;
    const std::int32_t grace = cluster_.pods().deletion_grace_seconds[pod];
    const Duration earlier{at_end ? 0 : std::int64_t{-1'000} * grace};
    note(deletion + earlier + replica.force_delete_extra_delay);
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
    // For surplus that is new in this cycle, the plan says since when.
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

}  // namespace

std::optional<Time> find_recheck(const Cluster& cluster, const Configuration& configuration,
                                 const Plan& plan) {
  return Recheck(cluster, configuration, plan).find();
}

}  // namespace makeway

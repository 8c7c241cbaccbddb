// The newest timestamp of a cluster of something that has happened.
#include <algorithm>

#include "model/request.hpp"

namespace makeway {
namespace {

Time newest_of(const ReplicaSchedule& schedule) {
  Time newest = schedule.created.value_or(Time{0});
  for (const ReplicaClaim& claim : schedule.status.claims) {
    newest = std::max(newest, claim.since);
    for (const ClaimedVictim& victim : claim.victims) {
      newest = std::max(newest, victim.force_deleted.value_or(newest));
    }
  }
  for (const SurplusPod& pod : schedule.status.surplus) newest = std::max(newest, pod.since);
  return newest;
}

}  // namespace

Time newest_time(const Cluster& cluster) {
  Time newest{0};
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    newest = std::max({newest, pods.created[pod], pods.started[pod], pods.observed[pod]});
    // A deletion timestamp lies ahead by the grace period: when the deletion was asked for counts.
    if (pods.deletion[pod] != no_time) {
      const std::int64_t grace_ms = std::int64_t{1'000} * pods.deletion_grace_seconds[pod];
      newest = std::max(newest, Time{pods.deletion[pod].ms - grace_ms});
    }
    const PodNotes& notes = cluster.notes(pods.notes[pod]);
    for (const std::optional<Time>& noted : {notes.last_checkpoint, notes.reserved_since}) {
      if (noted) newest = std::max(newest, *noted);
    }
  }
  for (const auto& [key, session] : cluster.own<Session>()) {
    const SessionStatus& status = session.status;
    // Not what lies ahead: the end of a grace time or of a back-off.
    for (const std::optional<Time>& noted :
         {session.created, status.started, status.last_checkpoint, status.preempted_at}) {
      if (noted) newest = std::max(newest, *noted);
    }
  }
  for (const NodeIndex node : cluster.nodes_by_name()) {
    newest = std::max({newest, cluster.nodes().created[node], cluster.nodes().observed[node]});
  }
  for (const GroupIndex group : cluster.groups_by_name()) {
    const std::optional<PodGroup>& object = cluster.groups()[group].object;
    if (!object) continue;
    for (const std::optional<Time>& noted :
         {object->created, object->last_checkpoint, object->observed}) {
      if (noted) newest = std::max(newest, *noted);
    }
  }
  for (const Workload* const workload : cluster.workloads()) {
    for (const std::optional<Time>& noted : {workload->created, workload->last_checkpoint}) {
      if (noted) newest = std::max(newest, *noted);
    }
  }
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    newest = std::max(newest, newest_of(schedule));
  }
  return newest;
}

}  // namespace makeway

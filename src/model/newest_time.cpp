// The newest timestamp of a cluster.
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
    newest = std::max({newest, pods.created[pod], pods.started[pod], pods.deletion[pod]});
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
    newest = std::max(newest, cluster.nodes().created[node]);
  }
  for (const GroupIndex group : cluster.groups_by_name()) {
    const std::optional<PodGroup>& object = cluster.groups()[group].object;
    if (object && object->created) newest = std::max(newest, *object->created);
    if (object && object->last_checkpoint) newest = std::max(newest, *object->last_checkpoint);
  }
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    newest = std::max(newest, newest_of(schedule));
  }
  return newest;
}

}  // namespace makeway

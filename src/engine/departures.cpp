#include "engine/departures.hpp"

#include <algorithm>
#include <string_view>
#include <tuple>

namespace makeway {

Departures::Departures(const Survey& survey, const Configuration& configuration, Time now)
    : cluster_(survey.cluster()),
      regimes_(survey.regimes()),
      pods_rule_(configuration.workload.leaving_room),
      wait_max_(configuration.engine.leave_wait_max),
      timeout_(configuration.engine.leave_timeout),
      now_(now) {
  // A pod on a lost node counts as well: it may hold a volume claim.
  for (const PodIndex pod : cluster_.leaving_pods()) {
    const Departure departure = of(pod);
    if (departure == Departure::stuck || !is_credited(pod)) continue;
    (departure == Departure::late ? late_ : soon_).push_back(pod);
  }
  sort_by_name(late_);
  const PodColumns& pods = cluster_.pods();
  std::ranges::sort(soon_, [&](PodIndex a, PodIndex b) {
    if (pods.node[a] == pods.node[b]) return cluster_.more_important(a, b);
    return cluster_.text(cluster_.nodes().name[pods.node[a]]) <
           cluster_.text(cluster_.nodes().name[pods.node[b]]);
  });
}

Departure Departures::classify(PodIndex pod) const {
  const Time deletion = cluster_.pods().deletion[pod];
  if (is_patience_over(deletion)) return Departure::stuck;
  if (pods_rule_ != LeavingRoom::credited || cluster_.pods().flags[pod].kernel) {
    return Departure::soon;
  }
  return wait_max_ < deletion - now_ ? Departure::late : Departure::soon;
}

Departures::Changes Departures::changes(const Cluster& cluster, const EngineSettings& settings,
                                        PodIndex pod) {
  const Time deletion = cluster.pods().deletion[pod];
  return {.soon_from = deletion + Duration{-settings.leave_wait_max.ms},
          .stuck_from = deletion + settings.leave_timeout};
}

Time Departures::forced_from(const Cluster& cluster, const ReplicaSettings& settings,
                             PodIndex pod) {
  const bool at_end = settings.force_delete_after == ForceDeleteAfter::grace_period;
  const std::int32_t grace = cluster.pods().deletion_grace_seconds[pod];
  const Duration earlier{at_end ? 0 : std::int64_t{-1000} * grace};
  return cluster.pods().deletion[pod] + earlier + settings.force_delete_extra_delay;
}

/// Kernels on nodes of resource groups are credited whatever the rule of pods.
bool Departures::is_credited(PodIndex pod) const {
  const bool by_session = cluster_.pods().flags[pod].kernel &&
                          regimes_.of(cluster_.pods().node[pod]) == Regime::sessions;
  return by_session || pods_rule_ == LeavingRoom::credited;
}

void Departures::sort_by_name(std::vector<PodIndex>& pods) const {
  const PodColumns& columns = cluster_.pods();
  std::ranges::sort(pods, {}, [&](PodIndex pod) {
    return std::tuple(cluster_.text(columns.plane[pod]), cluster_.text(columns.namespace_name[pod]),
                      std::string_view(columns.name[pod.value]));
  });
}

}  // namespace makeway

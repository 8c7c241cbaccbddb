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
  if (!(now_ - deletion < timeout_)) return Departure::stuck;
  const bool late = wait_max_ < deletion - now_ && !cluster_.pods().flags[pod].kernel;
  return late ? Departure::late : Departure::soon;
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

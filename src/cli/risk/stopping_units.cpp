#include "cli/risk/stopping_units.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "model/object_text.hpp"

namespace makeway::cli {
namespace {

bool runs(const Cluster& cluster, PodIndex pod) {
  return cluster.pods().node[pod].exists() && cluster.pods().deletion[pod] == no_time;
}

std::string node_name(const Cluster& cluster, PodIndex pod) {
  return std::string(cluster.text(cluster.nodes().name[cluster.pods().node[pod]]));
}

std::string group_text(const Cluster& cluster, const Group& group) {
  return object_text("PodGroup", {cluster.text(group.namespace_name), cluster.text(group.name),
                                  cluster.text(group.plane)});
}

/// Of a gang that leaves pod by pod and has its minimum.
void add_gang(const Cluster& cluster, PodIndex pod, std::vector<StoppingUnit>& found) {
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind != UnitKind::group || !unit.gang || unit.mode == DisruptionMode::all) return;
  const Group& group = cluster.groups()[unit.group];
  std::set<std::string> nodes;
  std::int64_t running = 0;
  for (const PodIndex member : group.members) {
    if (!runs(cluster, member)) continue;
    ++running;
    if (member != pod) nodes.insert(node_name(cluster, member));
  }
  // So many that not all of the others would have to leave for it.
  const std::int64_t losses = running - unit.minimum + 1;
  if (losses < 1 || losses >= running) return;
  found.push_back({.unit = group_text(cluster, group),
                   .losses = losses,
                   .nodes = {nodes.begin(), nodes.end()}});
}

void add_loss_unit(const Cluster& cluster, PodIndex pod, const std::string& name,
                   std::vector<StoppingUnit>& found) {
  const PodColumns& pods = cluster.pods();
  std::optional<std::int64_t> losses;  // The least that a part says.
  std::set<std::string> nodes;
  for (const PodIndex other : cluster.sharing_pods()) {
    if (other == pod || !runs(cluster, other) || pods.plane[other] != pods.plane[pod] ||
        pods.namespace_name[other] != pods.namespace_name[pod]) {
      continue;
    }
    for (const LossShare& share : cluster.notes(pods.notes[other]).loss_units) {
      if (share.unit != name || share.part.empty()) continue;
      losses = std::min(losses.value_or(share.allowed + 1), share.allowed + 1);
      nodes.insert(node_name(cluster, other));
    }
  }
  if (!losses) return;
  found.push_back({.unit = name, .losses = *losses, .nodes = {nodes.begin(), nodes.end()}});
}

}  // namespace

std::vector<StoppingUnit> stopping_units(const Cluster& cluster, PodIndex pod) {
  std::vector<StoppingUnit> found;
  add_gang(cluster, pod, found);
  for (const LossShare& share : cluster.notes(cluster.pods().notes[pod]).loss_units) {
    add_loss_unit(cluster, pod, share.unit, found);
  }
  std::ranges::sort(found, {}, &StoppingUnit::unit);
  return found;
}

std::string stops_with(const PlanAsk& ask, const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  const std::string_view space = cluster.text(pods.namespace_name[pod]);
  const std::string_view plane = cluster.text(pods.plane[pod]);
  const auto is_here = [&](const auto& each) {
    return each.namespace_name == space && each.plane == plane;
  };
  const bool evicted = std::ranges::any_of(ask.victims, [&](const PlanVictim& victim) {
    return is_here(victim) && victim.name == pods.name[pod.value];
  });
  if (evicted) return {};
  const std::vector<LossShare>& shares = cluster.notes(pods.notes[pod]).loss_units;
  for (const PlanStoppedUnit& stopped : ask.stopped_units) {
    const bool shared = std::ranges::find(shares, stopped.unit, &LossShare::unit) != shares.end();
    if (is_here(stopped) && shared) return stopped.unit;
  }
  const Unit& unit = cluster.units()[pods.unit[pod]];
  if (unit.kind != UnitKind::group) return {};
  const Group& group = cluster.groups()[unit.group];
  const bool stops = std::ranges::any_of(ask.disrupted_groups, [&](const PlanDisruptedGroup& each) {
    return is_here(each) && each.name == cluster.text(group.name) &&
           each.fate == GroupFate::degraded && each.running >= each.minimum;
  });
  return stops ? group_text(cluster, group) : std::string{};
}

}  // namespace makeway::cli

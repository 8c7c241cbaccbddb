#include "support/member_places.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "judge/check_plan_hearing.hpp"

namespace makeway {
namespace {

bool looks_at_others(const PodShape& shape) {
  return !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty() ||
         !shape.claims.empty();
}

}  // namespace

MemberPlaces::MemberPlaces(const Cluster& cluster, const Configuration& configuration,
                           const std::vector<PodIndex>& members)
    : cluster_(cluster), holders_(cluster.nodes().slots()) {
  const PodColumns& pods = cluster.pods();
  std::vector<PodIndex> by_name = members;
  std::ranges::sort(by_name, {}, [&](PodIndex pod) { return pods.name[pod.value]; });
  std::map<std::tuple<RequestId, ShapeId, LabelSetId>, std::size_t> positions;
  for (const PodIndex pod : by_name) {
    const auto [at, is_new] = positions.try_emplace(
        {pods.requests[pod], pods.shape[pod], pods.labels[pod]}, kinds_.size());
    if (is_new) kinds_.push_back(std::make_unique<Kind>(cluster, pod));
    kinds_[at->second]->members.push_back(pod);
    elsewhere_matters_ = elsewhere_matters_ || looks_at_others(cluster.shape(pods.shape[pod]));
  }
  if (kinds_.empty()) return;
  elsewhere_matters_ = elsewhere_matters_ || !kinds_.front()->world.repelling().empty();
  const UnitIndex own = pods.unit[members.front()];
  NaiveWorld world(cluster);
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const PodIndex pod : cluster.nodes().nominated[node]) {
      const Unit& unit = cluster.units()[pods.unit[pod]];
      const bool holds = unit.scheduling_priority >= cluster.units()[own].scheduling_priority ||
                         keeps_its_node(world, configuration, pod, node);
      const bool void_nomination = !NaiveFit(world, pod).fits_when_empty(node);
      if (holds && !void_nomination && pods.unit[pod] != own && !pods.node[pod].exists()) {
        holders_[node.value].push_back(pod);
      }
    }
  }
}

void MemberPlaces::remove(PodIndex pod) {
  for (const auto& kind : kinds_) kind->fit.remove(pod);
}

void MemberPlaces::place(PodIndex pod, NodeIndex node) {
  for (const auto& kind : kinds_) kind->fit.place(pod, node);
}

void MemberPlaces::put_back(PodIndex pod) { place(pod, cluster_.pods().node[pod]); }

bool MemberPlaces::of_use(NodeIndex node) const {
  return std::ranges::any_of(
      kinds_, [&](const auto& kind) { return !kind->fit.lasting_refusal(node).has_value(); });
}

bool MemberPlaces::stands(const MemberPlace& place) {
  const auto kind = std::ranges::find_if(
      kinds_, [&](const auto& each) { return std::ranges::count(each->members, place.pod) > 0; });
  NaiveFit& fit = (*kind)->fit;
  fit.remove(place.pod);
  bool fits = fit.fits(place.node);
  const std::vector<PodIndex>& holders = holders_[place.node.value];
  if (fits && !holders.empty()) {
    for (const PodIndex pod : holders) fit.place(pod, place.node);
    fits = fit.fits(place.node);
    for (const PodIndex pod : holders) fit.remove(pod);
  }
  fit.place(place.pod, place.node);
  return fits;
}

bool MemberPlaces::all_stand() {
  return std::ranges::all_of(placed_, [this](const MemberPlace& each) { return stands(each); });
}

bool MemberPlaces::stand(const std::vector<MemberPlace>& places) {
  for (const MemberPlace& each : places) place(each.pod, each.node);
  const bool all =
      std::ranges::all_of(places, [this](const MemberPlace& each) { return stands(each); });
  for (const MemberPlace& each : places) remove(each.pod);
  return all;
}

// ---- Trying everything --------------------------------------------------------------------------

std::vector<MemberPlace> MemberPlaces::best(const std::vector<NodeIndex>& nodes, std::size_t least,
                                            std::size_t most) {
  nodes_ = nodes;
  least_ = least;
  most_ = most;
  best_.clear();
  seen_.clear();
  counts_.assign(kinds_.size() * nodes.size(), 0);
  grow({});
  return best_;
}

void MemberPlaces::try_step(Step step) {
  Kind& kind = *kinds_[step.kind];
  const NodeIndex node = nodes_[step.node];
  if (kind.placed == kind.members.size() || !kind.fit.fits(node)) return;
  const PodIndex pod = kind.members[kind.placed];
  std::uint8_t& count = counts_[step.kind * nodes_.size() + step.node];
  ++count;
  // Two ways to the same places differ in nothing from here on.
  if (!elsewhere_matters_ || seen_.insert(counts_).second) {
    ++kind.placed;
    place(pod, node);
    placed_.push_back({.pod = pod, .node = node});
    grow(step);
    placed_.pop_back();
    remove(pod);
    --kind.placed;
  }
  --count;
}

/// Where order means nothing, only steps from the last one on.
void MemberPlaces::grow(Step from) {
  const bool more = placed_.size() > best_.size() && placed_.size() >= least_;
  if (more && all_stand()) best_ = placed_;
  if (placed_.size() == most_) return;
  if (elsewhere_matters_) from = {};
  for (std::size_t kind = from.kind; kind < kinds_.size(); ++kind) {
    for (std::size_t node = kind == from.kind ? from.node : 0; node < nodes_.size(); ++node) {
      if (best_.size() == most_) return;
      try_step({.kind = kind, .node = node});
    }
  }
}

}  // namespace makeway

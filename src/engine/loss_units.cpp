#include "engine/loss_units.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace makeway {

LossUnits::LossUnits(const Cluster& cluster) {
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, Shares> found;
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.sharing_pods()) {
    if (!pods.node[pod].exists()) continue;
    for (const LossShare& share : cluster.notes(pods.notes[pod]).loss_units) {
      const Key key(cluster.text(pods.plane[pod]), cluster.text(pods.namespace_name[pod]),
                    share.unit);
      found[key].emplace_back(pod, &share);
    }
  }
  for (const auto& [key, shares] : found) add(std::get<2>(key), shares);
  std::ranges::sort(unit_of_);
}

void LossUnits::add(std::string_view name, const Shares& shares) {
  const auto index = static_cast<std::uint32_t>(units_.size());
  Unit& unit = units_.emplace_back(Unit{.name = std::string(name)});
  std::map<std::string_view, std::uint32_t> parts;
  for (const auto& [pod, share] : shares) {
    unit_of_.emplace_back(pod, index);
    Member& member = unit.members.emplace_back(Member{.pod = pod});
    if (share->part.empty()) continue;
    const auto next = static_cast<std::uint32_t>(unit.allowed.size());
    const auto [at, is_new] = parts.try_emplace(share->part, next);
    if (is_new) unit.allowed.push_back(share->allowed);
    member.part = at->second;
    unit.allowed[member.part] = std::min(unit.allowed[member.part], share->allowed);
  }
}

std::vector<std::uint32_t> LossUnits::touched(std::span<const PodIndex> victims) const {
  std::vector<std::uint32_t> units;
  for (const PodIndex pod : victims) {
    for (auto at = std::ranges::lower_bound(unit_of_, std::pair(pod, 0U));
         at != unit_of_.end() && at->first == pod; ++at) {
      units.push_back(at->second);
    }
  }
  std::ranges::sort(units);
  const auto repeated = std::ranges::unique(units);
  units.erase(repeated.begin(), repeated.end());
  return units;
}

LossUnits::Tally::Tally(const Unit& counted)
    : unit(counted), gone_before(counted.allowed.size(), 0), gone_now(counted.allowed.size(), 0) {
  stopped.unit = counted.name;
}

void LossUnits::Tally::count(const Member& member, bool lost, bool there) {
  if (lost) stopped.lost.push_back(member.pod);
  if (there) stopped.rest.push_back(member.pod);
  if (member.part == no_part || there) return;
  ++(lost ? gone_now : gone_before)[member.part];
}

/// It stood before these left, and does not without them.
bool LossUnits::Tally::stops() const {
  bool stands = true;
  for (std::size_t part = 0; part < unit.allowed.size(); ++part) {
    if (gone_before[part] > unit.allowed[part]) return false;
    stands = stands && gone_before[part] + gone_now[part] <= unit.allowed[part];
  }
  return !stands;
}

}  // namespace makeway

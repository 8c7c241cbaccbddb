#include "engine/victim_lists.hpp"

#include <algorithm>
#include <ranges>

namespace makeway {

std::int64_t mark_violations(Budgets& budgets, VictimList& list, ChargeOrder order) {
  if (!budgets.any()) return 0;
  std::int64_t sum = 0;
  budgets.start_trial();
  const auto mark = [&](VictimUnit& unit) {
    unit.violations = 0;
    for (const PodIndex pod : list.pods_of(unit)) {
      if (budgets.charge(pod)) ++unit.violations;
    }
    sum += unit.violations;
  };
  if (order == ChargeOrder::most_important_first) {
    std::ranges::for_each(list.units, mark);
  } else {
    std::ranges::for_each(std::ranges::reverse_view(list.units), mark);
  }
  return sum;
}

bool keep_within_budgets(Budgets& budgets, VictimList& list) {
  if (!budgets.any()) return false;
  budgets.start_trial();
  std::vector<VictimUnit> allowed;
  for (VictimUnit& unit : std::ranges::reverse_view(list.units)) {
    unit.violations = 0;
    if (budgets.charge_all(list.pods_of(unit))) allowed.push_back(unit);
  }
  const bool kept_some = allowed.size() < list.units.size();
  std::ranges::reverse(allowed);
  list.units = std::move(allowed);
  return kept_some;
}

VictimList split_victims(const VictimList& list, std::span<const std::uint8_t> evicted,
                         std::vector<VictimUnit>& spared) {
  VictimList victims;
  for (std::size_t at = 0; at < list.units.size(); ++at) {
    VictimUnit unit = list.units[at];
    if (evicted[at] == 0) {
      spared.push_back(unit);
      continue;
    }
    const auto pods = list.pods_of(unit);
    unit.begin = static_cast<std::uint32_t>(victims.pods.size());
    victims.pods.insert(victims.pods.end(), pods.begin(), pods.end());
    victims.units.push_back(unit);
  }
  return victims;
}

}  // namespace makeway

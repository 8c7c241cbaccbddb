// What searches for victims do with a list of units: budgets, put-backs, and the split in the end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/budgets.hpp"
#include "engine/victims.hpp"
#include "model/configuration.hpp"

namespace makeway {

/// In which order units are charged to the budgets: the first ones are still allowed.
enum class ChargeOrder : std::uint8_t { most_important_first, least_important_first };

/// Sets `violations` of every unit by one walk over the budgets, and returns their sum.
std::int64_t mark_violations(Budgets& budgets, VictimList& list, ChargeOrder order);

/// For strict budgets: keeps the least important units that the budgets still allow. True: a unit
/// was taken out.
bool keep_within_budgets(Budgets& budgets, VictimList& list);

/// `evicted`: by position in the list's units, 1 for victims. The others are added to `spared`.
VictimList split_victims(const VictimList& list, std::span<const std::uint8_t> evicted,
                         std::vector<VictimUnit>& spared);

/// Tries to put units back, most important first, those that violate a budget before all others;
/// once or until nothing changes. `put_back(position)` says whether the unit came back.
template <class PutBackUnit>
void put_back_in_rounds(const VictimList& list, std::vector<std::uint8_t>& evicted, PutBack mode,
                        bool only_violating, const PutBackUnit& put_back) {
  if (mode == PutBack::none) return;
  for (bool changed = true; changed;) {
    changed = false;
    for (const bool violating : {true, false}) {
      if (only_violating && !violating) continue;
      for (std::size_t at = 0; at < list.units.size(); ++at) {
        if (evicted[at] == 0 || (list.units[at].violations > 0) != violating) continue;
        if (!put_back(at)) continue;
        evicted[at] = 0;
        changed = true;
      }
    }
    if (mode == PutBack::once) return;
  }
}

}  // namespace makeway

// choose_victim_set: which pods leave a queue that must free an amount of each resource.
//
// Candidates stand in classes of equal importance, the least important first. Of all irreducible
// sets that free the need, the one with the fewest members of the most important class, then of the
// next one below, and so on; then the least released beyond the need; then the names (decision
// 0008). Where every class has one member this is a walk down the classes; larger classes are
// searched, members that ask for the same being interchangeable, and greedily once the steps are
// used up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace makeway {

struct VictimSetTask {
  std::vector<std::int64_t> need;           ///< By resource; 0: there is enough.
  std::vector<std::int64_t> totals;         ///< Of the cluster, to compare what is released.
  std::vector<std::uint32_t> class_of;      ///< Of each candidate, never falling.
  std::vector<std::uint32_t> rank_by_name;  ///< Of each; empty: every class has one member.
  std::vector<std::int64_t> amounts;        ///< Candidate by candidate, resource by resource.
  std::int64_t steps_max = 0;

  std::size_t resources() const { return need.size(); }
  std::size_t candidates() const { return class_of.size(); }
  std::span<const std::int64_t> amounts_of(std::size_t candidate) const {
    return std::span(amounts).subspan(candidate * need.size(), need.size());
  }
};

struct VictimSet {
  std::vector<std::uint32_t> chosen;  ///< Candidates, the most important class first.
  bool out_of_steps = false;
  std::int64_t steps = 0;
};

/// All candidates together must free the need.
VictimSet choose_victim_set(const VictimSetTask& task);

}  // namespace makeway

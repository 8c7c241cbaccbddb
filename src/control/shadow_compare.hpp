// What another scheduler did for an ask, beside what we would have done (SPEC section 8,
// Shadow).
//
// Of both sides there are the nodes and the victims, with their priorities and how long they had
// run when the ask was first seen: that is measured for both in the same way, so that it can be
// compared. The verdict, in this order:
//  1. Which side found a place: both, only we, only they, neither.
//  2. The same victims: on the same nodes it is the same decision, else only the node differs.
//     Members of a group are alike, so only the numbers of members on the nodes count.
//  3. Fewer or more victims.
//  4. As many: theirs or ours have the higher highest priority, then the higher sum of priorities,
//     then have run for longer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "model/request.hpp"

namespace makeway {

struct ShadowVictim {
  std::string namespace_name;
  std::string name;
  std::string node;
  std::int32_t priority = 0;     ///< The unit's preemption priority.
  std::int64_t run_seconds = 0;  ///< When the ask was first seen.

  friend auto operator<=>(const ShadowVictim&, const ShadowVictim&) = default;
};

struct ShadowChoice {
  std::vector<std::string> nodes;     ///< One a pod, sorted; none: no place was found.
  std::vector<ShadowVictim> victims;  ///< Sorted.

  std::optional<std::int32_t> highest_priority() const;
  std::int64_t priority_sum() const;
  std::int64_t run_seconds() const;

  friend bool operator==(const ShadowChoice&, const ShadowChoice&) = default;
};

/// What our decision is, compared with theirs.
enum class ShadowVerdict : std::uint8_t {
  same,
  other_node,  ///< With the same victims.
  fewer_victims,
  cheaper_victims,
  other_victims,  ///< As many, and not cheaper.
  dearer_victims,
  more_victims,
  only_ours,    ///< They found no place in time.
  only_theirs,  ///< We found none.
  neither,
};
template <>
inline constexpr std::array<std::string_view, 10> choice_names<ShadowVerdict> = {
    "same",           "other-node",   "fewer-victims", "cheaper-victims", "other-victims",
    "dearer-victims", "more-victims", "only-ours",     "only-theirs",     "neither"};

ShadowVerdict compare(const ShadowChoice& ours, const ShadowChoice& theirs);

/// An ask, decided by both.
struct ShadowResult {
  AskName ask;
  std::int32_t priority = 0;
  Time seen;                             ///< First.
  std::string plan;                      ///< Its id.
  Outcome outcome = Outcome::not_found;  ///< Of ours.
  std::string reason;                    ///< Of ours, one sentence.
  ShadowChoice ours;
  ShadowChoice theirs;
  /// Until their last pod was bound; none: not within the patience.
  std::optional<Duration> wait;
  ShadowVerdict verdict = ShadowVerdict::same;
};

/// Sums over all that was compared; only where both found a place are victims summed up.
struct ShadowTotals {
  struct Side {
    std::int64_t victims = 0;
    std::int64_t priority_sum = 0;
    std::int64_t run_seconds = 0;

    friend bool operator==(const Side&, const Side&) = default;
  };
  std::array<std::int64_t, choice_names<ShadowVerdict>.size()> verdicts{};
  Side ours;
  Side theirs;

  void add(const ShadowResult& result);
  std::int64_t compared() const;
  std::int64_t of(ShadowVerdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }

  friend bool operator==(const ShadowTotals&, const ShadowTotals&) = default;
};

}  // namespace makeway

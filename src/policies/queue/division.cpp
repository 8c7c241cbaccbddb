#include "policies/queue/division.hpp"

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "base/wide.hpp"

namespace makeway {
namespace {

/// A level at which a claimant leaves its floor, or reaches its cap.
struct Turn {
  std::int64_t bound = 0;  ///< The level is bound / weight.
  std::int64_t weight = 1;
  bool leaves_floor = true;
};

bool before(const Turn& a, const Turn& b) {
  return Wide{a.bound} * b.weight < Wide{b.bound} * a.weight;
}

/// What claimants at neither bound share, and their weights.
struct Rest {
  Wide amount = 0;
  Wide weights = 0;
};

/// Raises the level until everything is given out.
Rest find_level(std::int64_t total, std::span<const Claimant> claimants) {
  std::vector<Turn> turns;
  turns.reserve(claimants.size() * 2);
  Rest rest{.amount = total, .weights = 0};
  for (const Claimant& claimant : claimants) {
    rest.amount -= claimant.floor;
    if (claimant.floor == claimant.cap) continue;
    turns.push_back({.bound = claimant.floor, .weight = claimant.weight});
    turns.push_back({.bound = claimant.cap, .weight = claimant.weight, .leaves_floor = false});
  }
  std::ranges::sort(turns, before);
  for (const Turn& turn : turns) {
    // At this level the others would have weights x bound / weight.
    if (rest.weights * turn.bound >= rest.amount * turn.weight && rest.weights > 0) break;
    const Wide sign = turn.leaves_floor ? 1 : -1;
    rest.amount += sign * turn.bound;
    rest.weights += sign * turn.weight;
  }
  return rest;
}

/// Gives what rounding left to the largest fractions.
void round_up(std::span<const Wide> fractions, std::int64_t left, std::span<Share> shares) {
  std::vector<std::uint32_t> order;
  order.reserve(shares.size());
  for (std::uint32_t at = 0; at < shares.size(); ++at) {
    if (fractions[at] != 0) order.push_back(at);
  }
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return fractions[a] > fractions[b]; });
  CHECK(left <= static_cast<std::int64_t>(order.size()), "a unit at most for each fraction");
  for (std::int64_t at = 0; at < left; ++at) ++shares[order[static_cast<std::size_t>(at)]].amount;
}

/// Puts every claimant at the level of `rest`, and shares what rounding leaves of `given`.
void share_at(const Rest& rest, std::int64_t given, std::span<const Claimant> claimants,
              std::span<Share> shares) {
  std::vector<Wide> fractions(claimants.size());
  Wide left = given;
  for (std::size_t at = 0; at < claimants.size(); ++at) {
    const Claimant& claimant = claimants[at];
    const Wide exact = rest.amount * claimant.weight;  // In parts of rest.weights.
    if (exact <= rest.weights * claimant.floor) {
      shares[at] = {.amount = claimant.floor, .certain = claimant.floor};
    } else if (exact >= rest.weights * claimant.cap) {
      shares[at] = {.amount = claimant.cap, .certain = claimant.cap};
    } else {
      fractions[at] = exact % rest.weights;
      const auto down = static_cast<std::int64_t>(exact / rest.weights);
      shares[at] = {.amount = down, .certain = down};
    }
    left -= shares[at].amount;
  }
  round_up(fractions, static_cast<std::int64_t>(left), shares);
}

void share_floors(std::int64_t total, std::span<const Claimant> claimants,
                  std::span<Share> shares) {
  std::vector<Claimant> by_floor;
  by_floor.reserve(claimants.size());
  Wide floors = 0;
  for (const Claimant& claimant : claimants) {
    floors += claimant.floor;
    by_floor.push_back({.weight = claimant.floor, .floor = 0, .cap = claimant.floor});
  }
  share_at({.amount = total, .weights = floors}, total, by_floor, shares);
}

}  // namespace

void divide(std::int64_t total, std::span<const Claimant> claimants, std::span<Share> shares) {
  Wide floors = 0;
  Wide caps = 0;
  for (const Claimant& claimant : claimants) {
    floors += claimant.floor;
    caps += claimant.cap;
  }
  if (floors > total) return share_floors(total, claimants, shares);
  if (caps <= total) {
    for (std::size_t at = 0; at < claimants.size(); ++at) {
      shares[at] = {.amount = claimants[at].cap, .certain = claimants[at].cap};
    }
    return;
  }
  share_at(find_level(total, claimants), total, claimants, shares);
}

}  // namespace makeway

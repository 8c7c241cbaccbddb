// Runs one property over many seeds.
//
//   TEST(StoreProperties, AgreesWithTheReference) {
//     for_each_case("store agrees with the reference", [](Prng& prng) { ... EXPECT_EQ(...); });
//   }
//
// MAKEWAY_PROPERTY_CASES says how many (default 2,000), MAKEWAY_PROPERTY_SEED where to start
// (default 1). The first case that fails ends the run, with its seed in the message.
//
// A property that cannot use some cases says so: `Skips` prints how many, and fails when too few
// are left. What is too slow for all cases runs on a share of them (`for_one_case_in`), never by
// skipping the others silently.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/prng.hpp"

namespace makeway {

std::uint64_t property_cases();
std::uint64_t property_first_seed();

void for_each_case(std::string_view name, const std::function<void(Prng&)>& check);

/// The same for one in so many of the cases that were asked for, at least one.
void for_one_case_in(std::uint64_t many, std::string_view name,
                     const std::function<void(Prng&)>& check);

/// Counts the cases that a property cannot use, and why.
///
///   Skips skips;
///   for_each_case("...", [&](Prng& random) {
///     if (too_big) return skips.add();
///     ...
///   });
///   skips.expect_at_most(10, "are too big to decide");  // percent
class Skips {
 public:
  void add() { ++count_; }
  /// Prints how many were skipped; fails when that is more than `percent` of `cases` (default: of
  /// all of them). A few cases prove nothing about the share.
  void expect_at_most(std::uint64_t percent, std::string_view why,
                      std::uint64_t cases = property_cases()) const;

 private:
  std::uint64_t count_ = 0;
};

}  // namespace makeway

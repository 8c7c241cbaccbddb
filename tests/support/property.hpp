// Runs one property over many seeds.
//
//   TEST(StoreProperties, AgreesWithTheReference) {
//     for_each_case("store agrees with the reference", [](Prng& prng) { ... EXPECT_EQ(...); });
//   }
//
// MAKEWAY_PROPERTY_CASES says how many (2,000 unless told), MAKEWAY_PROPERTY_SEED where to start
// (1 unless told). The first case that fails ends the run, with its seed in the message.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/prng.hpp"

namespace makeway {

std::uint64_t property_cases();
std::uint64_t property_first_seed();

void for_each_case(std::string_view name, const std::function<void(Prng&)>& check);

}  // namespace makeway

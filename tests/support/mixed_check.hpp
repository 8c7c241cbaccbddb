// What must hold for every world, whatever meets in it (tests/properties/mixed_properties.cpp, and
// the soak that looks at many more of them):
//  - the plan keeps the laws;
//  - shuffled input and a store that was filled one by one give the same plan to the byte;
//  - explaining changes no decision;
//  - a pending unit that asks alone gets a lawful plan, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/configuration.hpp"
#include "model/objects.hpp"

namespace makeway {

struct MixedVerdict {
  bool refused = false;  ///< As bad input: no plan is owed.
  std::vector<std::string> complaints;
};

enum class AskedAlone : std::uint8_t { one, each };

/// `seed` decides how the input is shuffled and which ask is asked alone.
MixedVerdict judge_world(const std::vector<Change>& objects, std::string_view preset,
                         std::uint64_t seed, AskedAlone asked_alone = AskedAlone::one);
/// The same under any configuration.
MixedVerdict judge_world(const std::vector<Change>& objects, const Configuration& configuration,
                         std::uint64_t seed, AskedAlone asked_alone);

}  // namespace makeway

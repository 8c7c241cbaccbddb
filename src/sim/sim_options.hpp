// How a load is simulated.
#pragma once

#include <cstdint>
#include <limits>

#include "base/time.hpp"
#include "sim/faults.hpp"
#include "sim/sim_behaviour.hpp"

namespace makeway {

class SimChronicle;

struct SimOptions {
  Duration cycle{1'000};
  Duration sample{60'000};  ///< How often inversion and fragmentation are measured; 0: never.
  Time start;
  Time until{std::numeric_limits<std::int64_t>::max() / 4};  ///< Nothing happens later.
  FaultOptions faults;
  std::uint64_t seed = 1;  ///< Of the faults.
  SimBehaviour behaviour;
  SimChronicle* chronicle = nullptr;  ///< Records what a report needs; outlives the world.
};

}  // namespace makeway

// Random configurations for tests: a preset, mostly with a few knobs changed. Only such as pass
// `validate`: what gives up a law waives it.
#pragma once

#include <string>

#include "base/prng.hpp"
#include "model/configuration.hpp"

namespace makeway {

Configuration random_configuration(Prng& random);

/// Adds a profile that differs in some knobs of asks.
void add_random_profile(Prng& random, std::string name, Configuration& configuration);

}  // namespace makeway

// Random configurations for tests: a preset, mostly with a few knobs changed. Only such as pass
// `validate`: what gives up a law waives it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "model/configuration.hpp"

namespace makeway {

Configuration random_configuration(Prng& random);

/// The preset with about `count` of all knobs set at random, `compatibility` among them, as
/// assignments for `--set`; none, where no such set is valid. Bounds of searches stay as they are.
std::vector<std::string> random_overrides(Prng& random, std::string_view preset, std::size_t count);

/// Adds a profile that differs in some knobs of asks.
void add_random_profile(Prng& random, std::string name, Configuration& configuration);

}  // namespace makeway

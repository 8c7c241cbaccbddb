// Random configurations for tests: a preset, mostly with a few knobs changed. Only such as pass
// `validate`: what gives up a law waives it.
#pragma once

#include "base/prng.hpp"
#include "model/configuration.hpp"

namespace makeway {

Configuration random_configuration(Prng& random);

}  // namespace makeway

// Random planes for objects that say nothing about theirs.
#pragma once

#include <vector>

#include "base/prng.hpp"
#include "model/objects.hpp"

namespace makeway {

/// Every change gets home or one of two other planes, so names repeat between planes and references
/// dangle or hit another plane's object of that name.
void scatter_over_planes(Prng& prng, std::vector<Change>& changes);

/// What is there is there once more in another plane: every reference holds there, too.
void repeat_in_plane(std::vector<Change>& objects);

}  // namespace makeway

// Makes a failing list of objects small: drops objects, then parts of objects, as long as it still
// fails. For users who look for the cause; the result is no proof that nothing smaller fails.
//
//   const std::vector<Change> small = shrink(objects, [](const auto& fewer) { return fails(fewer);
//   });
#pragma once

#include <functional>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

using StillFails = std::function<bool(const std::vector<Change>&)>;

std::vector<Change> shrink(std::vector<Change> objects, const StillFails& fails);

}  // namespace makeway

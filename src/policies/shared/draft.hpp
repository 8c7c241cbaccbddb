// Draft: the plan under construction, and the world that it changes.
//
// For code that adds to the plan. Code that only looks for room or victims gets the World alone.
#pragma once

#include "engine/world.hpp"
#include "model/plan.hpp"

namespace makeway {

struct Draft {
  World& world;
  Plan& plan;
  bool explain = true;  ///< See PlanRequest.
};

}  // namespace makeway

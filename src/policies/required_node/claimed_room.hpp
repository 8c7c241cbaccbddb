// What claims of replicas hold on a node against a pinned pod (SPEC section 1: neither side takes
// what the other holds).
//
// A claim is kept from cycle to cycle (SPEC section 4): its replica comes once its victims are
// gone. Those of them who are still there hold their part of the room themselves; the rest is kept
// free. Claims beyond what their deployment lacks, on a node that is not of its plane, or that is
// cordoned or of another regime, hold nothing.
#pragma once

#include <vector>

#include "engine/world.hpp"

namespace makeway {

/// By resource column; empty: nothing is held. `scratch` says who is still there.
std::vector<std::int64_t> claimed_room(const World& world, const Scratch& scratch, NodeIndex node);

}  // namespace makeway

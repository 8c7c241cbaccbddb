// What is restored after a crash: only what our own conditions on the server say (SPEC section
// 8).
#pragma once

#include "codec/object_state.hpp"
#include "model/objects.hpp"

namespace makeway::kube {

/// A nomination without our condition for the same node is a hint of others and holds no room;
/// a reservation is our condition, its time the time of the reservation. Notes in annotations are
/// for people: any user that may write a pod may write those.
void recall(const ObjectState& seen_object, Pod& pod);

}  // namespace makeway::kube

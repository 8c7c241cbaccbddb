// The opposite of what loading does: a pod's total request as several containers, so that the
// arithmetic of requests is compared with the peer's too.
#pragma once

#include "base/prng.hpp"
#include "codec/json_value.hpp"

namespace makeway {

/// Gives some pods of the List a second container, init containers, sidecars, requests of the pod
/// as a whole and an overhead. Their totals change.
void unfold_requests(Prng& random, JsonValue& list);

}  // namespace makeway

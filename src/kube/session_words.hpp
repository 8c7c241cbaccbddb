// What a Session says of its places, in its condition makeway.dev/Scheduled: for users that ask
// `kubectl get sessions` why nothing happens. It is never read back.
#pragma once

#include <string>
#include <string_view>

#include "kube/write_calls.hpp"
#include "model/plan.hpp"
#include "model/session_objects.hpp"

namespace makeway::kube {

ConditionUpdate started_word();
/// It has no place yet, or its room is not free yet. `brake`: what holds it back; may be empty.
/// An object of another namespace has a name in it only if `names_causes`.
ConditionUpdate waiting_word(const PlanAsk& ask, std::string_view brake, bool names_causes);
/// It leaves; the session is as its next status says, so that what follows can be reported.
ConditionUpdate ending_word(std::string reason, std::string_view why, const Session& session);

}  // namespace makeway::kube

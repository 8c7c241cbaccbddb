// What a Session says of its places, in its condition makeway.dev/Scheduled: for people who ask
// `kubectl get sessions` why nothing happens. Nobody reads it back.
#pragma once

#include <string>
#include <string_view>

#include "kube/write_calls.hpp"
#include "model/plan.hpp"
#include "model/session_objects.hpp"

namespace makeway::kube {

ConditionUpdate started_word();
/// It has no place yet, or its room is not free yet. `brake`: what holds it back; may be empty.
/// Whoever is in another namespace has a name in it only if `names_causes`.
ConditionUpdate waiting_word(const PlanAsk& ask, std::string_view brake, bool names_causes);
/// It leaves; the session is as its next status says, so that what follows can be told.
ConditionUpdate ending_word(std::string reason, std::string_view why, const Session& session);

}  // namespace makeway::kube

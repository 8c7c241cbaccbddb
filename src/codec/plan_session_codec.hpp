// The parts of a plan document that are about sessions. Private to plan_codec.cpp.
#pragma once

#include "codec/writer.hpp"
#include "model/plan.hpp"

namespace makeway {

/// The field `session` of an ask.
void write_plan_session(DocumentWriter& writer, const PlanSession& session);
/// The field `resourceGroups` of a plan; nothing where there are none.
void write_resource_groups(DocumentWriter& writer, const Plan& plan, std::size_t most);

}  // namespace makeway

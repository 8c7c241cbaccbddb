// The queue stage in plan documents: `queues` and `queueMoves`.
//
// Amounts are integers in the resource's unit, as everywhere in a plan: thousandths for cpu, whole
// units for the rest.
#pragma once

#include "codec/writer.hpp"
#include "model/plan.hpp"

namespace makeway {

/// Both fields, or nothing in a plan without queues.
void write_queues(DocumentWriter& writer, const Plan& plan);

}  // namespace makeway

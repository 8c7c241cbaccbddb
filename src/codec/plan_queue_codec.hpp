// The queue stage in plan documents: `queues`, `queueMoves` and `queueStatus`.
//
// Amounts are integers in the resource's unit, as everywhere in a plan: thousandths for cpu, whole
// units for the rest. Statuses are as Kubernetes writes them: they go into the Queue objects.
#pragma once

#include "codec/writer.hpp"
#include "model/plan.hpp"

namespace makeway {

/// The fields, or nothing in a plan without queues.
void write_queues(DocumentWriter& writer, const Plan& plan);

}  // namespace makeway

// How a plan's replicas are written. Private to plan_codec.
#pragma once

#include "codec/writer.hpp"
#include "model/plan.hpp"

namespace makeway {

/// The field "replicas" of an ask.
void write_replicas(DocumentWriter& writer, const PlanReplicas& replicas);
/// The fields of an action that scales a deployment.
void write_scale(DocumentWriter& writer, const PlanScale& scale);
/// One item of "netSchedule".
void write_net_schedule(DocumentWriter& writer, const PlanNetSchedule& schedule);
/// One item of "replicaStatus".
void write_replica_status(DocumentWriter& writer, const PlanReplicaStatus& status);

}  // namespace makeway

// What the owner of an object may read of the text of a plan (SPEC section 8: names may belong to
// another tenant).
//
// Plans, journals and logs are for operators, and name all objects. Conditions, events
// and statuses are read by the owner of their object: they name what is in its namespace, and of
// others only say that they are there. Cluster-scoped objects (nodes, queues, resource groups) have
// no owner to protect, and keep their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/plan.hpp"

namespace makeway::kube {

/// "only Session other/high may preempt" as "only a session of another namespace may preempt". A
/// name without a kind before it is one of a pod only if `named` has it: labels and resources look
/// the same.
std::string tenant_text(std::string_view text, std::string_view namespace_name,
                        const std::vector<PodPlacement>& named = {});

}  // namespace makeway::kube

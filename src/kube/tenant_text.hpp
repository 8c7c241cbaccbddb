// What the owner of an object may read of the text of a plan (SPEC section 8: names may belong to
// another tenant).
//
// Plans, journals and logs are for the operators of the cluster, and have every name. Conditions,
// events and statuses are read by the owner of their object: they name what is in its namespace,
// and of other objects only the kind. Cluster-scoped objects (nodes, queues, resource groups) have
// no owner to protect, and keep their names.
#pragma once

#include <string>
#include <string_view>

#include "model/sentence.hpp"

namespace makeway::kube {

/// Stands for a text that may name anything: one that was read back from a document.
inline constexpr std::string_view unknown_names_text =
    "the reason is in the plan; it may name objects of other namespaces";

/// "only Session other/high may preempt" as "only a session of another namespace may preempt".
std::string tenant_text(std::string_view text, const Mentions& mentions,
                        std::string_view namespace_name);

}  // namespace makeway::kube

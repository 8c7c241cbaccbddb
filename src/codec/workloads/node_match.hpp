// Whether a pod may run on a node at all, whatever else is there: its selector, its required node
// affinity and the taints, and nothing else. Controllers of DaemonSets ask no more.
#pragma once

#include <string_view>
#include <vector>

#include "model/objects.hpp"

namespace makeway {

/// Also a taint that only asks pods to stay away.
bool is_tolerated(const Taint& taint, const std::vector<Toleration>& tolerations);

bool may_run_on(const PodShape& shape, std::string_view name, const Labels& labels,
                const std::vector<Taint>& taints);

}  // namespace makeway

// A plan as a page for a browser (page/page.hpp): nodes as bars by priority, leaving and arriving
// pods, and the reasons. web/src/plan.tsx draws it.
//
// Its size is bounded: nodes are sums by priority, pods are named on nodes that the plan touches
// only, and of very many asks those that preempt or find no place come first; the page says
// what it leaves out.
#pragma once

#include <string>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// The JSON of the page. The plan was made for this cluster by these rules.
std::string plan_page_json(const Plan& plan, const Cluster& cluster,
                           const Configuration& configuration);
std::string plan_page(const Plan& plan, const Cluster& cluster, const Configuration& configuration);

}  // namespace makeway::cli

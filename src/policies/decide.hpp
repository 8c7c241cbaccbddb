// decide: one cycle. Cluster and configuration in, plan out; nothing else is read.
//
// Without names, every pending unit asks, in the order of scheduling priority, creation and name;
// what one ask gets, the next one cannot have. With names, only those units ask; other pending
// units count only where they hold a nomination. The plan has no id yet: that is a hash of its
// document (control/lawful_plan.hpp).
//
// Law 14: deciding one ask is a transaction. When a CHECK fails inside it and the request says
// `contain`, the ask is left out and the cycle starts afresh, since nothing that the failed one has
// touched can be trusted. Each start leaves out one more, so there are at most as many as asks.
#pragma once

#include <functional>

#include "model/request.hpp"

namespace makeway {

Decision decide(const Cluster& cluster, const Configuration& configuration,
                const PlanRequest& request);

/// The same; `watcher` is called with each ask that starts its turn. Tests make it fail for some.
Decision decide_watched(const Cluster& cluster, const Configuration& configuration,
                        const PlanRequest& request,
                        const std::function<void(const AskName&)>& watcher);

}  // namespace makeway

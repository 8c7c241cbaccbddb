// The rules of queues, and of objects that name them. Private to validation.cpp.
//
// Parents form a tree, since children divide their parent's share. Pods belong to leaves: a queue
// with children has nothing left for pods of its own (decision 0008).
#pragma once

#include "model/configuration.hpp"
#include "model/findings.hpp"

namespace makeway {

/// Parents that are not there or go in a circle, limits below guarantees, namespaces that are
/// listed twice or not on leaves, and pods or groups that name a queue with children. A queue that
/// is not there is a warning. O(pods + queues log queues); nothing without queues.
void check_queues(Findings& findings);

/// Guarantees that cannot be met or that are not used, limits that keep pods from ever running,
/// pods whose group belongs elsewhere.
void lint_queues(Findings& findings);
/// Only what no pod has to do with.
void lint_queue_bounds(Findings& findings);

}  // namespace makeway

// `makeway run`: the scheduler of the pods that name it, on a live cluster (SPEC section 8).
//
//  1. Without the rights that it needs, or on a cluster with kinds that it cannot serve yet, it
//     does not begin.
//  2. It seeks the Lease, and lists only when it has it: a new leader sees everything that the
//     last one wrote. While another one leads it stands by, watching, and writes nothing.
//  3. It schedules until it is told to end. Then it decides nothing more, lets what is being
//     written come to its end, and gives the Lease back.
//  4. A lost Lease ends it at once, with a status of its own: whoever starts it again starts anew.
//  5. With --dry-run it takes no Lease and writes nothing; decisions go to standard output.
//  6. Planes are watched from when it leads (plane_runs.hpp); without the cluster of the Lease
//     nothing is decided, without a plane only nothing there.
#pragma once

#include <memory>
#include <vector>

#include "cli/run/plane_runs.hpp"
#include "cli/run/run_request.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "control/loop_watcher.hpp"
#include "kube/connection.hpp"
#include "kube/resources.hpp"

namespace makeway::cli {

/// Everything that a run needs and somebody else has opened.
struct SchedulerParts {
  const RunRequest& request;
  const ConfigurationDocument& document;
  std::unique_ptr<kube::Connection> connection;
  std::vector<kube::ServedResource> served;  ///< What the cluster has of what we read.
  LoopWatcher* journal = nullptr;            ///< Null: there is none.
  std::vector<PlaneParts> planes;
};

ExitStatus run_scheduler(SchedulerParts parts, Terminal& terminal);

}  // namespace makeway::cli

// A cluster of files, or a live one, as the start of a simulation.
#pragma once

#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "model/cluster.hpp"
#include "sim/load.hpp"

namespace makeway::cli {

struct SnapshotStart {
  std::vector<Change> objects;
  Time now;  ///< --now, or the newest time in the input.
};

/// What -f, --plane and the live flags name. None: the problem was printed, and `status` says what
/// kind it is.
std::optional<SnapshotStart> read_snapshot_start(const Arguments& arguments, Terminal& terminal,
                                                 ExitStatus& status);

/// The objects of the snapshot instead of the nodes and queues of the load, and its tasks arrive
/// from the time of the snapshot on.
void start_from(const SnapshotStart& start, Time load_start, SimLoad& load);

}  // namespace makeway::cli

#include "cli/simulate/snapshot_start.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/help.hpp"
#include "cli/input.hpp"
#include "cli/load_notes.hpp"
#include "cli/text.hpp"
#include "model/cluster_objects.hpp"
#include "model/request.hpp"

namespace makeway::cli {
namespace {}  // namespace

std::optional<SnapshotStart> read_snapshot_start(const Arguments& arguments, Terminal& terminal,
                                                 ExitStatus& status) {
  auto input = input_of(arguments, terminal, LiveByDefault::no);
  if (!input) {
    status = usage_error("simulate", input.error().message, terminal);
    return std::nullopt;
  }
  std::optional<Time> said;
  if (arguments.has("now")) {
    const Result<Time> now = parse_time(arguments.text("now"));
    if (!now) {
      status = usage_error("simulate", fmt::format("--now: {}", now.error().message), terminal);
      return std::nullopt;
    }
    said = *now;
  }
  input->now = said;
  const std::optional<Loaded> loaded =
      load_or_report(*input, terminal, {.limits = {}, .asked = {}, .keep_going = false});
  if (!loaded) {
    status = ExitStatus::failed;
    return std::nullopt;
  }
  terminal.error.write(load_notes(*loaded));
  return SnapshotStart{.objects = objects_of(loaded->cluster),
                       .now = said ? *said : newest_time(loaded->cluster)};
}

void start_from(const SnapshotStart& start, Time load_start, SimLoad& load) {
  const bool had_nodes = !load.objects.empty();
  load.objects = start.objects;
  for (SimTask& task : load.tasks) task.arrival = start.now + (task.arrival - load_start);
  load.notes.emplace_back(
      had_nodes ? "The snapshot takes the place of the nodes and queues of the load; its pods run "
                  "until they are evicted."
                : "The pods of the snapshot run until they are evicted.");
}

}  // namespace makeway::cli

// `makeway run` on the embedded cluster: the loop that schedules live clusters, on the simulator,
// whose clock runs at a chosen speed.
//
//  1. One thread: it polls the world, waits until the cluster's clock shows the time of what it got
//     (paced_port.hpp), and lets the loop take and decide it. Keys and frames are attended to while
//     it waits, and between any two steps.
//  2. Before anything is shown some hours pass at once, so that the cluster is full.
//  3. With a screen it runs until the user quits, or --for is over. Without one, plain lines: a
//     line per preemption, a line with the figures every few seconds; it ends after a while.
//  4. The same load, seed and configuration give the same decisions whatever the speed; without a
//     screen also the same lines, but for how long decisions took.
//  5. Another preset is a new loop that reads everything again, like a restarted process.
#pragma once

#include <functional>
#include <string>

#include "base/time.hpp"
#include "cli/embedded/embedded_options.hpp"
#include "cli/palette.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "control/lawful_plan.hpp"
#include "control/loop_watcher.hpp"

namespace makeway::cli {

/// A clock of ours that never goes back, and sleep; tests have their own.
struct EmbeddedClock {
  std::function<Time()> now;
  std::function<void(Duration)> sleep;
};
EmbeddedClock real_clock();

struct EmbeddedParts {
  EmbeddedOptions options;
  ConfigurationDocument document;
  LoopWatcher* journal = nullptr;  ///< Null: there is none.
  PlanTools tools;
  EmbeddedClock clock;
  Palette palette{false};  ///< Of standard output.
};

ExitStatus run_embedded_cluster(EmbeddedParts parts, Terminal& terminal);

/// The part of the command: reads flags and rules, opens the journal.
ExitStatus run_embedded(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli

// `makeway apply`: carries out a reviewed plan on a live cluster (issue 23).
//
//  1. It does not start without the permissions that it needs. It takes the Lease of `makeway run`,
//     or refuses and names the holder: two writers would break each other's guards.
//  2. It reads the cluster, decides the plan again on it (control/approved_plan.hpp), lets the
//     judge check that, shows what has changed and what would be done, and asks for confirmation.
//  3. Then a ControlLoop carries it out through the same writer, guards and brakes as
//     `makeway run`,
//     until every ask is done or was dropped.
//  4. Ctrl-C, a lost Lease and `makeway.dev/pause` end it in order: writes in flight are finished,
//     and what is left is printed. The same command continues from there: it recognizes what is
//     done.
//  5. With --dry-run it ends after showing the changes; it takes no Lease and writes nothing.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/apply/apply_asks.hpp"
#include "cli/palette.hpp"
#include "cli/run/live_start.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "kube/connection.hpp"

namespace makeway::cli {

struct ApplyParts {
  const PlanDocument& plan;
  const ChosenAsks& chosen;
  const ConfigurationDocument& document;
  std::unique_ptr<kube::Connection> connection;
  std::vector<kube::ServedResource> served;
  std::vector<std::string> schedulers;  ///< schedulerNames of the pods that may be placed.
  LeaseWish lease;
  bool yes = false;
  bool dry_run = false;
};

ExitStatus run_apply_live(ApplyParts parts, Terminal& terminal, const Palette& palette);

}  // namespace makeway::cli

// `makeway apply`: carries out a plan that somebody has read, on a live cluster (issue 23).
//
//  1. Without the rights that it needs it does not begin. It takes the Lease of `makeway run`, or
//     refuses with who holds it: two that write at once would undo each other's guards.
//  2. It reads the cluster anew, decides the plan again on it (control/approved_plan.hpp), lets the
//     judge see that, shows what has changed and what would be done, and asks.
//  3. Then a ControlLoop carries it out through the same writer, guards and brakes as `makeway
//  run`,
//     until every ask is done or has fallen out.
//  4. Ctrl-C, a lost Lease and `makeway.dev/pause` end it in order: what is being written is
//     finished, and what is left is told. The same command goes on from there: what is done is
//     seen.
//  5. With --dry-run it ends after the showing; it takes no Lease and writes nothing.
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
  std::vector<std::string> schedulers;  ///< Whose pods may be placed.
  LeaseRequest lease;
  bool yes = false;
  bool dry_run = false;
};

ExitStatus run_apply_live(ApplyParts parts, Terminal& terminal, const Palette& palette);

}  // namespace makeway::cli

// Problems of the input, printed.
#pragma once

#include <string>
#include <vector>

#include "base/problem.hpp"
#include "cli/terminal.hpp"
#include "codec/load.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway::cli {

/// Errors first, otherwise in the order in which they were found.
std::vector<const Problem*> errors_first(const Problems& problems);

/// One line each, errors first: "error: a.yaml: Pod default/x: ..."; then how many more there are.
std::string problem_lines(const Problems& problems, const Palette& palette);
/// The same, to standard error.
void print_problems(const Problems& problems, Terminal& terminal);

/// The same for what was put into quarantine, and of how many objects it is; empty: nothing was.
/// Pods of one owner that have the same problem are one line; owners are looked up in `cluster`.
std::string quarantine_lines(const Quarantine& quarantine, const Cluster& cluster,
                             const Palette& palette);

// What was loaded and does not count for a plan, although its author may think so.

/// Lines for standard error: pods that were made from templates, workloads that make none, kinds
/// that have templates and are skipped, pods on nodes that are not there. Empty when there is
/// nothing to say.
std::string load_notes(const Loaded& loaded);

}  // namespace makeway::cli

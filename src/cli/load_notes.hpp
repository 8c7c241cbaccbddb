// What was loaded and does not count for a plan, although its author may think so.
#pragma once

#include <string>

#include "codec/load.hpp"

namespace makeway::cli {

/// Lines for standard error: pods that were made from templates, workloads that make none, kinds
/// that have templates and are skipped, pods on nodes that are not there. Empty when there is
/// nothing to say.
std::string load_notes(const Loaded& loaded);

}  // namespace makeway::cli

// Reports a plan that breaks a law, or an ask that could not be decided, as a bug of Makeway.
//
// The reproducer `makeway-bug-<plan id>.json` is one line of the batch format
// (codec/batch_line.hpp) with the configuration in it, so `makeway plan --batch FILE` shows the bug
// again. It is one for everything that went wrong with this input, and lists each ask and law once
// (law 14). Its id is that of the first plan that was refused, else of the one that was made.
#pragma once

#include <string>

#include "cli/plan/bug_files.hpp"
#include "codec/configuration_codec.hpp"
#include "control/lawful_plan.hpp"

namespace makeway::cli {

struct BugCase {
  const Cluster& cluster;
  const ConfigurationDocument& configuration;
  const PlanRequest& request;
  const LawfulPlan& made;
};

std::string reproducer_text(const BugCase& bug);

/// Keeps the reproducer in the current folder; returns the message for the user. Empty once there
/// are enough files.
std::string report_bug(const BugCase& bug, BugFiles& files);

}  // namespace makeway::cli

// A plan that breaks a law, told as what it is: our bug.
//
// The reproducer `makeway-bug-<plan id>.json` is one line of the batch format
// (codec/batch_line.hpp) with the configuration in it, so `makeway plan --batch FILE` shows the bug
// again.
#pragma once

#include <span>
#include <string>

#include "codec/configuration_codec.hpp"
#include "judge/check_plan.hpp"
#include "policies/decide.hpp"

namespace makeway::cli {

struct BugCase {
  const Cluster& cluster;
  const ConfigurationDocument& configuration;
  const PlanRequest& request;
  std::string plan_id;
  std::span<const LawBreach> breaches;
};

std::string reproducer_text(const BugCase& bug);

/// Writes the reproducer into the current folder; returns what to tell the user.
std::string report_bug(const BugCase& bug);

}  // namespace makeway::cli

// The output of `makeway apply`: what has changed since the plan was made, what would be done now,
// and what is being done.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "cli/terminal.hpp"
#include "codec/plan_document.hpp"
#include "control/approved_plan.hpp"

namespace makeway::cli {

// What of a plan document is to be carried out: the asks that the user wants, and that a cluster of
// pods and groups can be given.

/// An ask that is not even tried.
struct RefusedAsk {
  std::string ask;  ///< "ReplicaSchedule shop/web"
  std::string reason;
  std::string remedy;

  friend bool operator==(const RefusedAsk&, const RefusedAsk&) = default;
};

struct ChosenAsks {
  std::vector<ApprovedAsk> asks;
  std::vector<RefusedAsk> refused;
  std::size_t without_place = 0;  ///< Asks for which the plan itself has no actions.
  std::size_t not_wanted = 0;     ///< Asks left out by --only.
  /// By namespace and name of a pod: its version when the plan was made, if the plan has it.
  std::map<std::pair<std::string, std::string>, std::string> versions;
};

/// `only`: as on the command line; none: all. An error is one of usage.
Result<ChosenAsks> choose_asks(const PlanDocument& document, const std::vector<std::string>& only);

/// What an approved plan would do now.
struct ApplyPreview {
  std::vector<std::optional<PlanAsk>> asks;    ///< By ask: what would be done for it.
  std::map<std::size_t, std::string> dropped;  ///< By ask: why nothing would.
  std::set<std::size_t> done;                  ///< Asks whose pods run where they should.
  std::size_t evictions = 0;
  std::size_t binds = 0;
};

/// By namespace and name of a pod: its version in the plan, and its current version.
using MovedVersions =
    std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>>;

/// "Plan 353c... of 2026-01-01T12:00:00Z, 4m old."
std::string plan_line(const PlanDocument& document, Time now);

/// A line each, most about victims; empty: nothing that the plan names has changed.
std::string changes_text(const ChosenAsks& chosen, const Cluster& cluster,
                         const MovedVersions& moved, const ApplyPreview& preview);

/// An ask each, with its victims.
std::string preview_text(const ChosenAsks& chosen, const ApplyPreview& preview,
                         const Palette& palette);

/// "2 evictions, 3 binds"
std::string action_counts_text(const ApplyPreview& preview);

std::string event_line(const ApplyEvent& event, const ApplyProgress& progress,
                       const Palette& palette);

/// The result of every ask, and what is left.
std::string summary_text(const ChosenAsks& chosen, const ApplyProgress& progress,
                         const Palette& palette);

}  // namespace makeway::cli

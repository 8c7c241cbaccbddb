// From what a user asks to a plan: names are looked up, the plan is made (control/lawful_plan.hpp),
// and a bug of Makeway is reported as one. What `plan` and its batches have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/input.hpp"
#include "cli/plan/ask_name.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/load.hpp"
#include "control/lawful_plan.hpp"
#include "model/trust.hpp"

namespace makeway::cli {

// Reports a plan that breaks a law, or an ask that could not be decided, as a bug of Makeway.
//
// The reproducer `makeway-bug-<plan id>.json` is one line of the batch format
// (codec/batch_line.hpp) with the configuration in it, so `makeway plan --batch FILE` shows the bug
// again. It is one for everything that went wrong with this input, and lists each ask and law once
// (law 14). Its id is that of the first plan that was refused, else of the one that was made.

// BugFiles: the files of one run in which cases are kept that show a bug of ours.
//
// A case holds what scheduling reads of a cluster, and a run may stand in a folder where others
// write. So a file is always new (never through a link, never over something that is there), only
// its owner may read it, and a run leaves at most ten. A case that was kept before, byte for byte,
// is not kept again.

class BugFiles {
 public:
  static constexpr std::size_t files_max = 10;

  struct Kept {
    std::string name;     ///< In the current folder; empty: it is not kept.
    std::string failure;  ///< Why it could not be written; empty: there are enough already.
  };

  /// Keeps a case as makeway-bug-<id>.json, or with a number where that name is taken.
  Kept keep(std::string_view id, std::string_view text);
  bool is_full() const { return files_ == files_max; }

 private:
  std::size_t files_ = 0;
};

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

/// The real ones; whether they contain bugs is decided by the build (MAKEWAY_CONTAIN).
PlanTools real_tools();

/// Microseconds, and counters; sums over all cases.
struct PlanTiming {
  std::int64_t load = 0;      ///< Reading, parsing and building the cluster.
  std::int64_t snapshot = 0;  ///< Always 0: the cluster is decided on as it was loaded.
  std::int64_t decide = 0;
  std::int64_t check = 0;
  std::int64_t refused = 0;           ///< Plans that broke a law.
  std::int64_t left_out = 0;          ///< Asks that were left out.
  std::optional<std::int64_t> cases;  ///< Of a batch.
};

/// One JSON line.
std::string timing_line(const PlanTiming& timing);

/// Gives the configuration the name that plans call it by: its own, or "custom"; with trust as live
/// and knobs that were set on the command line it is another one: "makeway-live-changed".
void name_configuration(ConfigurationDocument& document, const ConfigurationChoice& choice);

struct PlanCase {
  const Cluster& cluster;
  const ConfigurationDocument& configuration;
  std::vector<WrittenAsk> asks;             ///< None: everything that is pending.
  std::span<const WorkloadPods> workloads;  ///< Their pods may be asked for.
  std::string_view ask_field = "--ask";     ///< The name of the field in problems.
  std::optional<Time> now;                  ///< None: the newest time in the cluster.
  std::vector<PodPlacement> placements;
  bool explain = true;
  // Reported in the plan; null: nothing.
  const Quarantine* quarantine = nullptr;
  const TrustReport* trust = nullptr;
};

struct PlanAttempt {
  std::optional<Plan> plan;  ///< None: see the others.
  Problems problems;         ///< Of what was asked for.
  bool shows_bug = false;    ///< Of ours.
  std::string bug;           ///< Lines for standard error about it.
};

/// SPEC section 10: marks that the configuration does not honour are taken off. `live` says that a
/// Configuration among the objects was not used.
TrustReport honour_marks(Loaded& loaded, const Configuration& configuration,
                         std::optional<Time> now, bool live);
/// Law 13: preemption priorities that the configuration forbids are taken back.
void keep_going_beyond_caps(Loaded& loaded, const Configuration& configuration);

/// Both, for a command that reports on standard error which marks do not count and what is in
/// quarantine.
TrustReport prepare_input(Loaded& loaded, const Configuration& configuration,
                          std::optional<Time> now, bool live, bool keeps_going, Terminal& terminal);

/// Warnings: input that is legal, changes the victims, and is probably not meant.
Problems plan_doubts(const Loaded& loaded, const Configuration& configuration);

/// A bug of ours leaves a file behind.
PlanAttempt make_plan(const PlanCase& item, const PlanTools& tools, PlanTiming& timing,
                      BugFiles& bug_files);

}  // namespace makeway::cli

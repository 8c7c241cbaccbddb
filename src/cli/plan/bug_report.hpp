// Reports a plan that breaks a law, or an ask that could not be decided, as a bug of Makeway.
//
// The reproducer `makeway-bug-<plan id>.json` is one line of the batch format
// (codec/batch_line.hpp) with the configuration in it, so `makeway plan --batch FILE` shows the bug
// again. It is one for everything that went wrong with this input, and lists each ask and law once
// (law 14). Its id is that of the first plan that was refused, else of the one that was made.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "codec/configuration_codec.hpp"
#include "control/lawful_plan.hpp"

namespace makeway::cli {

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

}  // namespace makeway::cli

// Journal: listens to the loop and writes down everything from which its decisions follow.
//
//   Result<std::unique_ptr<Journal>> journal = Journal::open({.path = "run.journal", ...});
//   ControlLoop loop(port, configuration, tools, {.watcher = journal->get()});
//
// The first batch becomes a base with all objects, every later one a record of its changes. Each
// cycle is written before its plan is submitted. A new base follows when much was written since the
// last one, and in every new file, so that each file can be read alone. A full disk ends the
// journal and nothing else: see `alarm`.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/loop_watcher.hpp"
#include "journal/journal_file.hpp"

namespace makeway {

class Journal final : public LoopWatcher {
 public:
  static Result<std::unique_ptr<Journal>> open(JournalOptions options);
  explicit Journal(JournalFile file) : file_(std::move(file)), cycles_(file_.cycles_before()) {}

  void start(const LoopStart& start) override;
  void batch(const AppliedBatch& batch, const Cluster& cluster) override;
  void cycle(const MadeCycle& cycle, const Cluster& cluster) override;

  const JournalFile& file() const { return file_; }
  /// Cycles that were recorded or lost, with those of the continued file.
  std::uint64_t cycles() const { return cycles_; }

 private:
  void write_base(Time now, const Cluster& cluster, bool begins);
  /// A base, or a new file, when it is time for one.
  void refresh(Time now, const Cluster& cluster);
  std::vector<AskState> changed_states(const MadeCycle& cycle) const;

  JournalFile file_;
  std::uint64_t cycles_ = 0;
  std::string rules_;  ///< The record of the configuration, for new files.
  bool begun_ = false;
  std::uint64_t base_end_ = 0;  ///< Where the last base ended in the file.
  std::map<AskName, AskState> waiting_;
};

}  // namespace makeway

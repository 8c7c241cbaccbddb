// JournalWorld: the cluster and the rules as they were at each record of a journal.
//
// Replay is base plus changes: applying all records before a cycle gives exactly the cluster that
// was decided on. A base in the middle is compared with what the changes led to, so a journal that
// is not what happened is noticed there at the latest.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "journal/journal_reader.hpp"
#include "model/cluster.hpp"

namespace makeway {

class JournalWorld {
 public:
  /// An error: the record does not follow from those before it.
  std::optional<Error> take(const JournalEntry& entry);

  const Cluster& cluster() const { return cluster_; }
  const Configuration& configuration() const { return configuration_; }
  const std::string& preset() const { return preset_; }
  /// What recorded plans have as their configurationHash; empty: that of the configuration.
  const std::string& configuration_hash() const { return configuration_hash_; }
  Time now() const { return now_; }
  /// There was a base: the cluster means something.
  bool begun() const { return begun_; }
  /// Bases that are not those of the next cycle: files are missing, swapped or of another run.
  std::uint64_t gaps() const { return gaps_; }
  /// Asks without a place.
  const std::map<AskName, AskState>& waiting() const { return waiting_; }

 private:
  std::optional<Error> take_base(const BaseRecord& base, bool after_gap);

  Cluster cluster_;
  Configuration configuration_;
  std::string preset_;
  std::string configuration_hash_;
  Time now_;
  std::uint64_t cycles_ = 0;  ///< The number of the last one.
  bool begun_ = false;
  std::uint64_t gaps_ = 0;
  std::map<AskName, AskState> waiting_;
};

/// Takes what came out of a cycle into account: a pod that is placed waits no more.
void note_states(std::map<AskName, AskState>& waiting, std::span<const AskState> changed);
/// A pod that is gone waits no more.
void note_removals(std::map<AskName, AskState>& waiting, std::span<const Change> changes);

}  // namespace makeway

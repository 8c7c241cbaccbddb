// What a journal records, and each record as text (DESIGN: Control, Journal).
//
// A text is JSON, one document a line. The first line is the record's own; in a base the List of
// all objects follows, in changes one line for each change, in cycles and refused plans the plan.
// Objects are written as in a dump: only what scheduling reads of them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "control/loop_watcher.hpp"

namespace makeway {

/// The type of the record in the file; never renumbered.
enum class JournalType : std::uint8_t {
  configuration = 1,
  base = 2,
  changes = 3,
  cycle = 4,
  receipts = 5,
  refused = 6,
};

/// What an ask came to, as long as it is not placed.
struct AskState {
  AskName ask;
  Outcome outcome = Outcome::infeasible;
  std::string reason;
  Time since;

  friend bool operator==(const AskState&, const AskState&) = default;
};

struct ConfigurationRecord {
  std::string preset;
  bool carries_out = true;  ///< False: plans are only made.
  Configuration configuration;
  /// That plans carry, where an older version wrote it; empty: that of the configuration.
  std::string hash = {};  // NOLINT(readability-redundant-member-init)

  friend bool operator==(const ConfigurationRecord&, const ConfigurationRecord&) = default;
};

struct BaseRecord {
  Time now;
  bool begins = false;            ///< A process starts here: nothing before it counts any more.
  std::uint64_t cycles = 0;       ///< So many were recorded before.
  std::vector<AskState> waiting;  ///< Asks without a place, by name.
  std::string objects;            ///< A List, for `read_changes`.

  friend bool operator==(const BaseRecord&, const BaseRecord&) = default;
};

struct ChangesRecord {
  Time now;
  std::vector<Change> changes;
  std::size_t effects = 0;  ///< So many of them, the last ones, are effects of our own actions.

  friend bool operator==(const ChangesRecord&, const ChangesRecord&) = default;
};

struct CycleRecord {
  std::uint64_t number = 0;  ///< From 1.
  Time now;
  bool judged = true;
  std::vector<AskName> due;
  std::string plan_id;            ///< Empty: there was no plan.
  std::vector<AskState> changed;  ///< Asks that came to something else than before.
  std::string plan;               ///< The document in one line, where the plan acts; else empty.

  friend bool operator==(const CycleRecord&, const CycleRecord&) = default;
};

struct ReceiptsRecord {
  Time now;
  std::vector<Receipt> receipts;

  friend bool operator==(const ReceiptsRecord&, const ReceiptsRecord&) = default;
};

/// A plan that the judge refused in the cycle of this number. The records before it say all that it
/// was made from.
struct RefusedRecord {
  std::uint64_t cycle = 0;
  Time now;
  std::string plan_id;
  std::vector<LawBreach> breaches;
  std::string plan;

  friend bool operator==(const RefusedRecord&, const RefusedRecord&) = default;
};

using JournalRecord = std::variant<ConfigurationRecord, BaseRecord, ChangesRecord, CycleRecord,
                                   ReceiptsRecord, RefusedRecord>;

/// The plan asks the world for something, or reports a bug.
bool acts(const Plan& plan);

struct BaseHead {
  Time now;
  bool begins = false;
  std::uint64_t cycles = 0;
  std::span<const AskState> waiting;
};

// Without copies of what they are made from.
std::string configuration_text(const LoopStart& start);
std::string base_text(const BaseHead& head, const Cluster& cluster);
std::string changes_text(const AppliedBatch& batch);
std::string cycle_text(std::uint64_t number, const MadeCycle& cycle,
                       std::span<const AskState> changed);
std::string receipts_text(Time now, std::span<const Receipt> receipts);
std::string refused_text(std::uint64_t cycle, Time now, const RefusedPlan& refused);

Result<JournalRecord> read_journal_record(std::uint8_t type, std::string_view text);

}  // namespace makeway

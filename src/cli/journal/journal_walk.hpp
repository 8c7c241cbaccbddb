// Reading a journal from its first record to its last, with the cluster as it was at each.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "journal/journal_reader.hpp"
#include "journal/journal_world.hpp"

namespace makeway::cli {

/// Called with a record; the world has taken it. For a cycle that changes nothing of the cluster,
/// so it is the one that was decided on. False: that is enough.
using JournalVisit = std::function<bool(const JournalEntry&, const JournalWorld&)>;

struct JournalWalk {
  std::optional<Error> error;      ///< Why reading ended early.
  std::vector<JournalPart> parts;  ///< What was read.
  bool stopped = false;            ///< By the visitor.
  /// Files that do not go on where the one before them ended, though nothing of it is torn.
  std::vector<std::string> strangers;
  JournalWorld world;  ///< As it was at the end.

  bool is_damaged() const;
  bool has_records() const;
};

/// All files of the journal, oldest first.
JournalWalk walk_journal(const std::string& path, const JournalVisit& visit);

/// Reports on standard error what is wrong with the files, and which version wrote them if it was
/// another one. False: the journal is damaged.
bool report_walk(const JournalWalk& walk, Terminal& terminal);

}  // namespace makeway::cli

// Reading a journal from its first record to its last, with the cluster as it was at each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/journal/why_story.hpp"
#include "cli/terminal.hpp"
#include "control/lawful_plan.hpp"
#include "journal/journal_reader.hpp"
#include "journal/journal_records.hpp"
#include "journal/journal_world.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

// The plan of a recorded cycle, made again.

/// By which rules; those of the journal, or others.
struct ReplayRules {
  const Configuration& configuration;
  std::string_view preset;
  std::string_view configuration_hash;  ///< Empty: that of the configuration.
};

/// On the cluster as it was. A cycle that was not judged is not judged now either.
LawfulPlan decide_again(const CycleRecord& cycle, const JournalWorld& world,
                        const ReplayRules& rules, const PlanTools& tools, bool explain);

// How a plan differs from the recorded one, of which there is the document, or only the id.

/// Byte for byte: the id, whether the plan acts, and the document.
bool is_recorded_plan(const CycleRecord& cycle, const std::optional<Plan>& plan);

/// Lines that say which asks came to something else, and what. Not empty.
std::string plan_difference(const CycleRecord& cycle, const std::optional<Plan>& plan);

/// Called with a record; the world has taken it. For a cycle that changes nothing of the cluster,
/// so it is the one that was decided on. False: that is enough.
using JournalVisit = std::function<bool(const JournalEntry&, const JournalWorld&)>;

struct JournalWalk {
  std::optional<Error> error;      ///< Why reading ended early.
  std::vector<JournalPart> parts;  ///< What was read.
  bool stopped = false;            ///< By the visitor.
  /// Files that do not go on where the one before them ended, though nothing of it is torn.
  std::vector<std::string> discontinuous_files;
  JournalWorld world;  ///< As it was at the end.

  bool is_damaged() const;
  bool has_records() const;
};

/// All files of the journal, oldest first.
JournalWalk walk_journal(const std::string& path, const JournalVisit& visit);

/// Reports on standard error what is wrong with the files, and which version wrote them if it was
/// another one. False: the journal is damaged.
bool report_walk(const JournalWalk& walk, Terminal& terminal);

// Reading a journal for the story of one object: most records are about others.
//
// Rules
//  1. Every record is checked and unpacked. Changes and cycles are parsed only if their text
//     contains a name of the story; the names are those that the story knows by then.
//  2. The cluster is built only if the story needs it (the decision of an eviction, the end
//     if an ask is still pending): from the last base before, and on from there within that
//     chapter. Skipped cycles do not change it, so of waiting asks it knows those of the story
//     and those of the base.
//  3. A base in the middle is not compared with the changes before it: `journal verify` does that.
//     That it continues where the file before it ended is checked.
//
// So it is linear in the journal, at the speed of unpacking. Input that is not a file on a disk
// cannot be read twice: it is read completely, as with StoryReading::everything.

enum class StoryReading : std::uint8_t { what_names_it, everything };

/// All files of the journal, oldest first; `world` at the end only if an ask is pending then.
/// `is_over` is called after each record; if it returns true, the walk is `stopped`.
JournalWalk walk_story(const std::string& path, WhyStory& story,
                       const std::function<bool()>& is_over,
                       StoryReading reading = StoryReading::what_names_it);

}  // namespace makeway::cli

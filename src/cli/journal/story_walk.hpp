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
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/journal/journal_walk.hpp"
#include "cli/journal/why_story.hpp"

namespace makeway::cli {

enum class StoryReading : std::uint8_t { what_names_it, everything };

/// All files of the journal, oldest first; `world` at the end only if an ask is pending then.
/// `is_over` is called after each record; if it returns true, the walk is `stopped`.
JournalWalk walk_story(const std::string& path, WhyStory& story,
                       const std::function<bool()>& is_over,
                       StoryReading reading = StoryReading::what_names_it);

}  // namespace makeway::cli

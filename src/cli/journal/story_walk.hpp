// Reading a journal for the story of one object: most records are about others.
//
// Rules
//  1. Every record is checked and unpacked. Of changes and cycles only those are read further in
//     whose text a name of the story stands; the names are those that the story knows by then.
//  2. The cluster is built only where the story wants it (the decision of an eviction, the end
//     where somebody still asks): from the last base before, and on from there while that chapter
//     lasts. Cycles of others change nothing of it, so of who waits it knows those of the story,
//     and those of the base.
//  3. A base in the middle is not compared with the changes before it: `journal verify` does that.
//     That it goes on where the file before it ended is checked.
//
// So it is linear in the journal, at the speed of unpacking. What is no file on a disk cannot be
// read twice: there everything is read, as with StoryReading::everything.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "cli/journal/journal_walk.hpp"
#include "cli/journal/why_story.hpp"

namespace makeway::cli {

enum class StoryReading : std::uint8_t { what_names_it, everything };

/// All files of the journal, oldest first; `world` at the end only where somebody asks then.
/// `is_over` is asked after each record; where it says so, the walk is `stopped`.
JournalWalk walk_story(const std::string& path, WhyStory& story,
                       const std::function<bool()>& is_over,
                       StoryReading reading = StoryReading::what_names_it);

}  // namespace makeway::cli

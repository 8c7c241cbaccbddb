// The journal of a simulation: a new file, of one configuration.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.hpp"
#include "cli/command.hpp"
#include "journal/journal.hpp"

namespace makeway::cli {

/// Null: none is wanted. An error that begins with a flag is one of usage.
Result<std::unique_ptr<Journal>> open_simulate_journal(const Arguments& arguments,
                                                       std::size_t configurations);

/// What --journal, --journal-size and --journal-files say. An error is one of usage.
Result<JournalOptions> journal_options(const Arguments& arguments);

/// Reports why the journal ended early, if it did; false then. `writer` continued without it.
bool report_journal(const Journal* journal, Terminal& terminal,
                    std::string_view writer = "the simulation");

}  // namespace makeway::cli

// `makeway journal list`, `stats` and `verify`: what is in a journal, and whether it is whole.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_journal_list(const Arguments& arguments, Terminal& terminal);
ExitStatus run_journal_stats(const Arguments& arguments, Terminal& terminal);
ExitStatus run_journal_verify(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli

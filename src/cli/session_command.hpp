// `makeway session resume`: a preempted session becomes pending again.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_session_resume(const Arguments& arguments, Terminal& terminal);

}  // namespace makeway::cli

// `makeway plan`: who must leave so that something more important can run.
#pragma once

#include "cli/command.hpp"
#include "cli/plan/plan_maker.hpp"

namespace makeway::cli {

ExitStatus run_plan(const Arguments& arguments, Terminal& terminal);

/// The same with other tools than the real ones.
ExitStatus run_plan_with(const Arguments& arguments, Terminal& terminal, const PlanTools& tools);

}  // namespace makeway::cli

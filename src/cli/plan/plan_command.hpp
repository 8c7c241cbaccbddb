// `makeway plan`: which pods must leave so that something more important can run.
#pragma once

#include <string_view>

#include "cli/command.hpp"
#include "cli/plan/plan_maker.hpp"

namespace makeway::cli {

ExitStatus run_plan(const Arguments& arguments, Terminal& terminal);

/// The command that its texts name: other commands that want a plan have their own flags and help.
struct PlanWording {
  std::string_view command = "plan";
  std::string_view ask_field = "--ask";  ///< What names the asks; empty: an operand without a flag.
};

/// The same for another command, or with other tools than the real ones.
ExitStatus run_plan_with(const Arguments& arguments, Terminal& terminal, const PlanTools& tools,
                         const PlanWording& wording = {});

}  // namespace makeway::cli

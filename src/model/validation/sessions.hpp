// What is wrong between sessions, resource groups and partitions. Private to validation*.cpp.
#pragma once

#include "model/findings.hpp"

namespace makeway {

/// What cannot be decided: references to nothing, a node in two groups, a status that contradicts
/// itself.
void check_sessions(Findings& findings);
/// Partitions that cannot work are errors, although a plan could be made; the rest are warnings.
void lint_sessions(Findings& findings);
/// Only what no status has to do with.
void lint_session_rules(Findings& findings);

}  // namespace makeway

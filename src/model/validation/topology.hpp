// What groups say about topology that can have no effect, or another than meant. Private to
// validation.cpp.
//
// Levels are meant to be nested: a rack lies in one block. Where it does not, each part of the rack
// counts as a domain of its own (policies/workload/group_domains.hpp), and that is reported.
#pragma once

#include "model/findings.hpp"

namespace makeway {

/// Labels that no node carries, levels that are not nested, constraints that differ from those of
/// the template. O(nodes) for each label and pair of levels that is named.
void lint_topology(Findings& findings);

}  // namespace makeway

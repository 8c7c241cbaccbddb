// The short notation of scenarios: a cluster as it would be written on a whiteboard, one object a
// line. tests/scenarios/README.md lists the kinds and the words.
//
//   node n1 cpu=8 gpu=4
//   pod low @n1 gpu=4 p=5
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace makeway {

/// The YAML documents that the lines stand for, in their order, an object a line: the line of a
/// message about the YAML is the line of the text, up to the first range or gang. YAML between two
/// lines "---" is kept as it is. An error names the line and the word.
Result<std::string> expand_short_notation(std::string_view text);

}  // namespace makeway

// Rule: which layer may include which.
//
// 1. A layer includes itself and what the table in layering.cpp lists for it; what is not listed
//    is forbidden. Tests beside a layer may also use tests/support.
// 2. Headers that are slow to compile or bring a foreign world with them are seen by the named
//    layers' .cpp files only, never by a header of ours.
// 3. Any other library must be entered into the table first.
#pragma once

#include <string_view>
#include <vector>

#include "tidy/source_text.hpp"

namespace makeway::tidy {

/// The layers of src/, lowest first.
std::vector<std::string_view> layers();

Findings check_includes(const SourceFile& file);

/// A header with a heavy library in it (an exception to 2) may be seen by its own layer only.
Findings check_reach(const Tree& tree);

}  // namespace makeway::tidy

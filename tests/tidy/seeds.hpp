// Rule: what docs/seeds.md names exists, and its tables are complete.
//
// 1. A code span `PATH` or `PATH: NAME, NAME`, with a path below src/, tests/, examples/, docs/ or
//    bench/, names a file and what occurs in it: tests as Suite.Name, embedded inputs in a text
//    scenario, otherwise functions, classes and other identifiers outside of comments.
// 2. A code span `section.name` or `section.name=value` whose section has knobs names a row of
//    docs/configuration.md. The words preset `NAME` name a document of src/codec/presets.
// 3. A link names a file.
// 4. Each of the five seeds has a table of rules. Its rows have six cells: what cannot be named is
//    "none", and then why, or "none yet".
#pragma once

#include "tidy/source_text.hpp"

namespace makeway::tidy {

inline constexpr std::string_view seeds_page = "docs/seeds.md";
inline constexpr std::size_t seeds_count = 5;

Findings check_seeds(const Tree& tree);

}  // namespace makeway::tidy

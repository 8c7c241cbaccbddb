// Rules about files as such: nothing dead, a README per folder, no paths of one machine.
#pragma once

#include "tidy/source_text.hpp"

namespace makeway::tidy {

/// A header of src/ that only its own .cpp and tests include does nothing for the program.
Findings check_dead_headers(const Tree& tree);

/// A .cpp that no pattern of the CMake files matches is never compiled.
Findings check_dead_sources(const Tree& tree);

/// Every fuzzer has a corpus and every corpus a fuzzer; every data folder below tests/ is named by
/// some test or tool.
Findings check_dead_data(const Tree& tree);

/// Every folder with sources below src/, tests/ and bench/ has a README.md with a paragraph.
Findings check_readmes(const Tree& tree);

/// Absolute paths of a developer's machine.
Findings check_machine_paths(const SourceFile& file);

}  // namespace makeway::tidy

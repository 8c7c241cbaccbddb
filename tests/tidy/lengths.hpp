// Rule: lengths. Lines have at most 100 columns, functions 70 lines, files 1,000 lines; no
// tabs, no blanks at the end of a line.
#pragma once

#include "tidy/source_text.hpp"

namespace makeway::tidy {

inline constexpr std::size_t line_columns_max = 100;
inline constexpr std::size_t function_lines_max = 70;
inline constexpr std::size_t file_lines_max = 1'000;

/// For C++, CMake, shell and make files.
Findings check_lines(const SourceFile& file);

struct FunctionExtent {
  std::string head;            ///< What stands before the body, on one line.
  std::size_t first_line = 0;  ///< Of the head.
  std::size_t last_line = 0;   ///< Of the closing brace.

  friend bool operator==(const FunctionExtent&, const FunctionExtent&) = default;
};

/// Every function with a body, outside of other functions; namespaces and classes are looked
/// into, initialisers are not functions.
std::vector<FunctionExtent> functions_of(std::string_view cpp);

Findings check_functions(const SourceFile& file);

}  // namespace makeway::tidy

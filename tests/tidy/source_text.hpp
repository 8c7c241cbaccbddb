// What every rule works on: files as text, findings, and C++ without its comments and literals.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace makeway::tidy {

struct SourceFile {
  std::string path;  ///< From the repository's root, with forward slashes.
  std::string text;
};

using Tree = std::vector<SourceFile>;

struct Finding {
  std::string path;
  std::size_t line = 0;  ///< Counted from 1; 0 when the file as a whole is meant.
  std::string message;   ///< What is wrong and what to do instead.

  friend bool operator==(const Finding&, const Finding&) = default;
};

using Findings = std::vector<Finding>;

/// `path:line: message`, as editors understand it.
std::string to_text(const Finding& finding);

/// Comments become blanks; every line and column keeps its place.
std::string without_comments(std::string_view cpp);

/// Comments, the insides of string and character literals, and preprocessor lines become blanks.
std::string code_only(std::string_view cpp);

std::vector<std::string_view> lines_of(std::string_view text);

/// The line, counted from 1, in which the byte at `offset` stands.
std::size_t line_at(std::string_view text, std::size_t offset);

bool is_identifier_character(char byte);

bool is_cpp(std::string_view path);

/// A test, fuzzer or benchmark that lives beside what it exercises.
bool is_companion(std::string_view path);

/// "codec" for "src/codec/yaml.cpp"; empty for what is in no layer.
std::string_view layer_of(std::string_view path);

/// Folder without the final slash: "src/codec" for "src/codec/yaml.cpp".
std::string_view folder_of(std::string_view path);

/// File name without folder and extension: "yaml" for "src/codec/yaml.cpp".
std::string_view stem_of(std::string_view path);

/// Every regular file below `root`, sorted by path; build and version control folders left out.
Tree read_tree(const std::filesystem::path& root);

}  // namespace makeway::tidy

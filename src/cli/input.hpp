// What commands read: clusters with -f and --plane, configurations with --preset, --config and
// --set.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "codec/load.hpp"

namespace makeway::cli {

/// Files of -f are at home; `planes` are values of --plane, "NAME=FILE". An error is one of usage.
Result<std::vector<LoadSource>> sources_of(std::span<const std::string> paths,
                                           std::span<const std::string> planes);

/// Loads; on a terminal, a line on standard error tells how far it is when it takes long.
LoadResult load_with_progress(std::span<const LoadSource> sources, Terminal& terminal,
                              const LoadWish& wish = {});

/// Loads for a command that needs a cluster: problems and warnings go to standard error, and
/// nothing is returned when there are errors.
std::optional<Loaded> load_or_report(std::span<const LoadSource> sources, Terminal& terminal,
                                     const LoadWish& wish = {});

struct ConfigurationChoice {
  std::string_view preset;  ///< Empty: `found` or the default one, unless there is a file.
  std::optional<std::string_view> file;  ///< "-" is standard input.
  std::span<const std::string> overrides;
  /// Counts instead of the default preset; null: there is none.
  const ConfigurationDocument* found = nullptr;

  /// The command line names one; nothing else counts then.
  bool is_named() const { return file || !preset.empty(); }
};

struct ChosenConfiguration {
  std::optional<ConfigurationDocument> document;  ///< Absent when there are errors.
  Problems problems;                              ///< Of the file.
  std::string usage;  ///< What is wrong on the command line; empty when nothing is.
};

/// Reads the file, which may be a pipe: ask once. Without one it reads nothing.
ChosenConfiguration choose_configuration(const ConfigurationChoice& choice);

/// What is wrong when the configuration and something else are both to be read from standard input;
/// empty when nothing is.
std::string standard_input_twice(const ConfigurationChoice& choice,
                                 std::span<const LoadSource> sources, std::string_view batch = {});

}  // namespace makeway::cli

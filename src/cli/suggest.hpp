// "did you mean": the end of a message about an unknown word.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace makeway::cli {

/// "; did you mean snapshot?", or nothing when no name is similar.
std::string did_you_mean(std::span<const std::string_view> names, std::string_view word);

/// The names of all commands.
std::vector<std::string_view> command_names();

}  // namespace makeway::cli

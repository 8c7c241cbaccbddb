#include "cli/suggest.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "model/knobs.hpp"

namespace makeway::cli {

std::string did_you_mean(std::span<const std::string_view> names, std::string_view word) {
  const std::string_view nearest = nearest_of(names, word);
  return nearest.empty() ? std::string{} : fmt::format("; did you mean {}?", nearest);
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  return names;
}

}  // namespace makeway::cli

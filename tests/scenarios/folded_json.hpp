// JSON as a person would write it: what fits in a line stands in a line. For scenarios, which
// assert values; how the program itself breaks its lines is asserted by one scenario a document.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace makeway {

/// `json` as the program prints it, with one member or element a line, in lines of at most 100
/// columns. With paths ("asks.0.victims") only the values there, each after its path. An error
/// names the path that leads nowhere.
Result<std::string> folded_json(std::string_view json, std::span<const std::string> paths);

}  // namespace makeway

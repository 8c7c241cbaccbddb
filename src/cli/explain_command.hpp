// `makeway explain`: the fields of Makeway's own kinds, as the decoder knows them.
#pragma once

#include "cli/command.hpp"

namespace makeway::cli {

ExitStatus run_explain(const Arguments& arguments, Terminal& terminal);

/// "queue", "queue.spec.weight", ...: what shells offer.
std::vector<std::string_view> explained_paths();

}  // namespace makeway::cli

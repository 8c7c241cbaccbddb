// `makeway snapshot --watch-for`: the state from watches, instead of from one list.
#pragma once

#include <optional>

#include "cli/input.hpp"

namespace makeway::cli {

/// Watches for that long, or until Ctrl-C. At the end every kind must be watched; one that is not
/// has a minute to recover. None: the problem was printed.
std::optional<Loaded> watch_cluster(const kube::TargetRequest& request, Duration span,
                                    Terminal& terminal);

}  // namespace makeway::cli

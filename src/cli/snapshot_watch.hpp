// `makeway snapshot --watch-for`: the store as watches tell it, instead of one reading.
#pragma once

#include <optional>

#include "cli/input.hpp"

namespace makeway::cli {

/// Watches for that long, or until Ctrl-C. At the end every kind must be in sight; one that is not
/// has a minute to come back. None: what went wrong was told.
std::optional<Loaded> watch_cluster(const kube::TargetRequest& wish, Duration span,
                                    Terminal& terminal);

}  // namespace makeway::cli

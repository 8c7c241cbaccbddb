// `makeway run --shadow`: decides beside another scheduler and tells what differs.
#pragma once

#include "cli/palette.hpp"
#include "cli/run/run_request.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "control/loop_watcher.hpp"
#include "kube/live_feed.hpp"

namespace makeway::cli {

/// Until its time is over or somebody ends it. The watcher may be null.
ExitStatus run_shadow(const RunRequest& request, const ConfigurationDocument& document,
                      kube::LiveFeed& feed, LoopWatcher* watcher, Terminal& terminal,
                      const Palette& palette);

}  // namespace makeway::cli

// `makeway run --shadow`: decides beside another scheduler and reports what differs.
#pragma once

#include <string>

#include "cli/run/run_request.hpp"
#include "cli/terminal.hpp"
#include "codec/configuration_codec.hpp"
#include "control/loop_watcher.hpp"
#include "control/shadow_loop.hpp"
#include "kube/live_feed.hpp"

namespace makeway::cli {

// What a shadow run prints: a line an ask and a summary, for people or as JSON lines.

/// What a shadow run came to.
struct ShadowSummary {
  std::string scheduler;
  std::string preset;
  Duration ran;
  std::size_t open = 0;  ///< Asks that could not be compared yet.
  ShadowTotals totals;
  ShadowStatistics statistics;
};

/// "fewer victims    Pod default/urgent: theirs: n1, 2 victims (...), bound after 3s; ours: n2,
/// ..."
std::string shadow_line(const ShadowResult& result, const Palette& palette);
std::string shadow_summary_text(const ShadowSummary& summary, const Palette& palette);

std::string shadow_json_line(const ShadowResult& result);
std::string shadow_summary_json(const ShadowSummary& summary);

/// Until its time is over or a signal ends it. The watcher may be null.
ExitStatus run_shadow(const RunRequest& request, const ConfigurationDocument& document,
                      kube::LiveFeed& feed, LoopWatcher* watcher, Terminal& terminal,
                      const Palette& palette);

}  // namespace makeway::cli

// What a run answers over HTTP: /healthz, /readyz and /metrics. No object is named.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "server/http_server.hpp"
#include "server/run_metrics.hpp"

namespace makeway::server {

// RunHealth: whether a run lives, and whether it is ready. Written by the run, read by the server;
// any thread.

enum class RunRole : std::uint8_t {
  starting,  ///< The leader is not known yet.
  standby,   ///< Another process leads.
  leader,
  dry_run,  ///< It writes nothing, so it needs no lead.
};

class RunHealth {
 public:
  /// A loop that has not run for so long is stuck.
  static constexpr Duration stands_after{60'000};

  /// The loop came round; times are of a clock that never goes back.
  void stepped(Time now) { stepped_ms_ = now.ms; }
  /// Every watched kind is synced.
  void sees(bool all) { sees_ = all; }
  void plays(RunRole role) { role_ = role; }

  bool is_alive(Time now) const { return now.ms - stepped_ms_.load() < stands_after.ms; }
  bool is_ready(Time now) const {
    return is_alive(now) && sees_.load() && role_.load() != RunRole::starting;
  }
  bool sees() const { return sees_.load(); }
  RunRole role() const { return role_.load(); }

 private:
  std::atomic<std::int64_t> stepped_ms_ = std::numeric_limits<std::int64_t>::min() / 2;
  std::atomic<bool> sees_ = false;
  std::atomic<RunRole> role_ = RunRole::starting;
};

/// `now` is of the same clock as the times in `health`.
HttpReply run_page(std::string_view path, const RunHealth& health, const RunMetrics& metrics,
                   Time now);

}  // namespace makeway::server

// What a run answers over HTTP: /healthz, /readyz and /metrics. No object is named.
#pragma once

#include <string_view>

#include "base/time.hpp"
#include "server/http_server.hpp"
#include "server/run_health.hpp"
#include "server/run_metrics.hpp"

namespace makeway::server {

/// `now` is of the same clock as the times in `health`.
HttpReply run_page(std::string_view path, const RunHealth& health, const RunMetrics& metrics,
                   Time now);

}  // namespace makeway::server

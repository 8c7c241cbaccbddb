#include "server/run_pages.hpp"

#include <fmt/format.h>

#include <string>

namespace makeway::server {
namespace {

constexpr int page_ok = 200;
constexpr int page_missing = 404;
constexpr int page_unavailable = 503;

std::string_view role_word(RunRole role) {
  switch (role) {
    case RunRole::starting: return "starting";
    case RunRole::standby: return "standby";
    case RunRole::leader: return "leader";
    case RunRole::dry_run: break;
  }
  return "dry-run";
}

std::string check_line(std::string_view name, bool is_well) {
  return fmt::format("[{}]{} {}\n", is_well ? '+' : '-', name, is_well ? "ok" : "failed");
}

HttpReply health_page(const RunHealth& health, Time now) {
  if (health.is_alive(now)) return {.status = page_ok, .body = "ok\n"};
  return {.status = page_unavailable,
          .body = fmt::format("the control loop has not run for {}\n",
                              to_text(RunHealth::stands_after))};
}

HttpReply ready_page(const RunHealth& health, Time now) {
  const bool is_ready = health.is_ready(now);
  const RunRole role = health.role();
  std::string body = check_line("loop", health.is_alive(now)) + check_line("sight", health.sees()) +
                     check_line("role", role != RunRole::starting);
  body += fmt::format("{}: {}\n", role_word(role), is_ready ? "ready" : "not ready");
  return {.status = is_ready ? page_ok : page_unavailable, .body = std::move(body)};
}

}  // namespace

HttpReply run_page(std::string_view path, const RunHealth& health, const RunMetrics& metrics,
                   Time now) {
  if (path == "/healthz" || path == "/livez") return health_page(health, now);
  if (path == "/readyz") return ready_page(health, now);
  if (path == "/metrics") {
    return {.status = page_ok,
            .content_type = "text/plain; version=0.0.4; charset=utf-8",
            .body = metrics.text()};
  }
  return {.status = page_missing, .body = "there are /healthz, /readyz and /metrics\n"};
}

}  // namespace makeway::server

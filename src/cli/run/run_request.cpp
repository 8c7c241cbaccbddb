#include "cli/run/run_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "cli/run/live_start.hpp"

namespace makeway::cli {
namespace {

std::unexpected<Error> wrong(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
}

constexpr std::array shadow_only = {std::string_view("count")};
constexpr std::array scheduler_only = {
    std::string_view("scheduler-name"), std::string_view("lease"),
    std::string_view("dry-run"),        std::string_view("listen"),
    std::string_view("token-file"),     std::string_view("tls-cert"),
    std::string_view("tls-key"),        std::string_view("plane")};

/// Flags of the other way to run.
std::string misplaced_flag(const Arguments& arguments) {
  if (arguments.has("shadow")) {
    for (const std::string_view flag : scheduler_only) {
      if (arguments.has(flag)) {
        return fmt::format("--{} is for the scheduler itself, without --shadow", flag);
      }
    }
    return {};
  }
  for (const std::string_view flag : shadow_only) {
    if (arguments.has(flag)) return fmt::format("--{} is for --shadow NAME", flag);
  }
  return {};
}

Result<std::int64_t> read_count(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1) {
    return wrong(fmt::format("--count '{}': expected a number from 1 on", shorten(text)));
  }
  return count;
}

}  // namespace

Result<RunRequest> read_run_request(const Arguments& arguments) {
  if (std::string text = misplaced_flag(arguments); !text.empty()) return wrong(std::move(text));
  RunRequest request{.shadow = std::string(arguments.text("shadow")),
                     .target = {.kubeconfig = std::string(arguments.text("kubeconfig")),
                                .context = std::string(arguments.text("context"))},
                     .json = arguments.text("output") == "json",
                     .schedulers = arguments.all("scheduler-name"),
                     .dry_run = arguments.has("dry-run"),
                     .journal = std::string(arguments.text("journal"))};
  if (arguments.given("shadow") == "")
    return wrong("--shadow '': expected the NAME of a scheduler");
  for (const std::string_view flag : {"kubeconfig", "context"}) {
    if (arguments.given(flag) == "") return wrong(fmt::format("--{} '': it is empty", flag));
  }
  if (request.schedulers.empty()) request.schedulers.emplace_back("makeway");
  if (std::ranges::find(request.schedulers, "") != request.schedulers.end()) {
    return wrong("--scheduler-name '': expected the schedulerName of pods");
  }
  LeaseRequest lease;
  if (std::string text =
          read_lease_request(arguments.given("lease").value_or(standard_lease), lease);
      !text.empty()) {
    return wrong(std::move(text));
  }
  request.lease_namespace = std::move(lease.namespace_name);
  request.lease_name = std::move(lease.name);
  Result<ListenWish> listen = read_listen_wish(arguments);
  if (!listen) return std::unexpected(listen.error());
  request.listen = *std::move(listen);
  if (const auto text = arguments.given("for")) {
    const Result<Duration> duration = parse_duration(*text);
    if (!duration) {
      return wrong(fmt::format("--for '{}': {}", shorten(*text), duration.error().message));
    }
    if (duration->ms == 0) return wrong("--for 0: expected a time such as 10m");
    request.ends_after = *duration;
  }
  if (const auto text = arguments.given("count")) {
    const Result<std::int64_t> count = read_count(*text);
    if (!count) return std::unexpected(count.error());
    request.count = *count;
  }
  Result<std::vector<LivePlane>> planes = live_planes_of(arguments.all("plane"));
  if (!planes) return std::unexpected(planes.error());
  request.planes = *std::move(planes);
  if (!arguments.has("journal") && arguments.has("journal-size")) {
    return wrong("--journal-size is for --journal FILE");
  }
  return request;
}

}  // namespace makeway::cli

#include "cli/run/run_request.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/printable.hpp"
#include "kube/connection.hpp"
#include "model/kinds.hpp"

namespace makeway::cli {
namespace {

/// Of ours: what `makeway run` schedules by, and writes the status of, or a condition in it.
constexpr std::array<std::string_view, 5> served_own_kinds = {
    "partitions", "queues", "replicaschedules", "resourcegroups", "sessions"};

}  // namespace

std::string waived_too_much(const Configuration& configuration) {
  for (const WaivedLaw law : configuration.engine.laws_waived) {
    if (!is_needed_live(law)) continue;
    return fmt::format(
        "compatibility: law {} is waived, and a live run keeps laws 1, 2, 3, 5 and 8; use "
        "another preset, or `makeway plan` and `run --shadow`, which change nothing",
        choice_name(law));
  }
  return {};
}

std::vector<std::string> own_kinds_written(const std::vector<kube::ServedResource>& served) {
  std::vector<std::string> plurals;
  for (const std::string_view plural : served_own_kinds) {
    const bool is_served = std::ranges::any_of(served, [&](const kube::ServedResource& each) {
      return each.resource->api_group == own_api_group && each.resource->plural == plural;
    });
    if (is_served) plurals.emplace_back(plural);
  }
  return plurals;
}

std::string host_name() {
  constexpr std::size_t bytes_max = 256;
  std::array<char, bytes_max> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unknown";
  return name.data();
}

std::string new_identity(const std::string& host) {
  return fmt::format("{}_{}_{:016x}", host, ::getpid(), kube::real_connection_tools().jitter_seed);
}

std::string read_lease_request(std::string_view text, LeaseRequest& request) {
  const std::size_t slash = text.find('/');
  const bool has_both = slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
                        text.find('/', slash + 1) == std::string_view::npos;
  if (!has_both) {
    return fmt::format("--lease '{}': expected NAMESPACE/NAME, such as {}", shorten(text),
                       standard_lease);
  }
  request.namespace_name = text.substr(0, slash);
  request.name = text.substr(slash + 1);
  return {};
}

namespace {

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
    return wrong_usage(fmt::format("--count '{}': expected a number from 1 on", shorten(text)));
  }
  return count;
}

}  // namespace

Result<RunRequest> read_run_request(const Arguments& arguments) {
  if (std::string text = misplaced_flag(arguments); !text.empty())
    return wrong_usage(std::move(text));
  RunRequest request{.shadow = std::string(arguments.text("shadow")),
                     .target = {.kubeconfig = std::string(arguments.text("kubeconfig")),
                                .context = std::string(arguments.text("context"))},
                     .json = arguments.text("output") == "json",
                     .schedulers = arguments.all("scheduler-name"),
                     .dry_run = arguments.has("dry-run"),
                     .journal = std::string(arguments.text("journal"))};
  if (arguments.given("shadow") == "")
    return wrong_usage("--shadow '': expected the NAME of a scheduler");
  for (const std::string_view flag : {"kubeconfig", "context"}) {
    if (arguments.given(flag) == "") return wrong_usage(fmt::format("--{} '': it is empty", flag));
  }
  if (request.schedulers.empty()) request.schedulers.emplace_back("makeway");
  if (std::ranges::find(request.schedulers, "") != request.schedulers.end()) {
    return wrong_usage("--scheduler-name '': expected the schedulerName of pods");
  }
  LeaseRequest lease;
  if (std::string text =
          read_lease_request(arguments.given("lease").value_or(standard_lease), lease);
      !text.empty()) {
    return wrong_usage(std::move(text));
  }
  request.lease_namespace = std::move(lease.namespace_name);
  request.lease_name = std::move(lease.name);
  Result<ListenOptions> listen = read_listen_options(arguments);
  if (!listen) return std::unexpected(listen.error());
  request.listen = *std::move(listen);
  if (const auto text = arguments.given("for")) {
    const Result<Duration> duration = parse_duration(*text);
    if (!duration) {
      return wrong_usage(fmt::format("--for '{}': {}", shorten(*text), duration.error().message));
    }
    if (duration->ms == 0) return wrong_usage("--for 0: expected a time such as 10m");
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
    return wrong_usage("--journal-size is for --journal FILE");
  }
  return request;
}

}  // namespace makeway::cli

#include "cli/embedded/embedded_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/printable.hpp"

namespace makeway::cli {
namespace {

constexpr std::array<std::string_view, 8> live_only = {
    "kubeconfig", "context", "shadow", "count", "dry-run", "lease", "plane", "scheduler-name"};
constexpr std::array<std::string_view, 4> embedded_only = {"embedded", "generate", "seed", "speed"};

/// More than fits, so that priorities matter within minutes; "pods" follows from the nodes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> standard_load = {
    {{"nodes", "8"},
     {"cpus", "64"},
     {"gpus", "8"},
     {"load", "400"},
     {"gangs", "15"},
     {"services", "10"},
     {"priorities", "4"}}};
constexpr std::int64_t pods_per_node = 2'500;
constexpr std::int64_t pods_most = 100'000;

std::unexpected<Error> usage_problem(std::string message) {
  return std::unexpected(Error{.code = ErrorCode::fix_usage, .message = std::move(message)});
}

template <std::size_t Size>
std::string_view first_given(const Arguments& arguments,
                             const std::array<std::string_view, Size>& flags) {
  const auto* const found =
      std::ranges::find_if(flags, [&](std::string_view flag) { return arguments.has(flag); });
  return found == flags.end() ? std::string_view{} : *found;
}

bool has_live_cluster(const kube::KubeEnvironment& environment) {
  if (environment.is_plugin || environment.is_in_cluster()) return true;
  // A list of missing files is an error to report, and not a request for another cluster.
  if (!environment.kubeconfig.empty()) return true;
  std::error_code ignored;
  return !environment.home.empty() &&
         std::filesystem::exists(environment.home + "/.kube/config", ignored);
}

Result<std::int64_t> number_in(const Arguments& arguments, std::string_view flag,
                               std::int64_t standard, std::int64_t least, std::int64_t most) {
  const auto text = arguments.given(flag);
  if (!text) return standard;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error == std::errc{} && end == text->data() + text->size() && value >= least &&
      value <= most) {
    return value;
  }
  return usage_problem(fmt::format("--{} '{}': expected a whole number from {} to {}", flag,
                                   shorten(*text), least, most));
}

bool names_part(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    if (part.substr(0, part.find('=')) == name) return true;
    list.remove_prefix(std::min(part.size() + 1, list.size()));
  }
  return false;
}

}  // namespace

Result<bool> wants_embedded(const Arguments& arguments, const kube::KubeEnvironment& environment) {
  const std::string_view live = first_given(arguments, live_only);
  const std::string_view embedded = first_given(arguments, embedded_only);
  if (!live.empty() && !embedded.empty()) {
    return usage_problem(fmt::format(
        "--{} is for the embedded cluster and --{} for a live one; leave one of them out", embedded,
        live));
  }
  if (!live.empty()) return false;
  return !embedded.empty() || !has_live_cluster(environment);
}

std::string embedded_notice(const Arguments& arguments) {
  if (!first_given(arguments, embedded_only).empty()) return {};
  const std::string journal(arguments.text("journal"));
  return fmt::format(
      "no Kubernetes cluster was found (KUBECONFIG is not set, there is no ~/.kube/config, and "
      "this is no pod), so a made-up one is scheduled{}; name yours with --kubeconfig FILE, or "
      "say --embedded",
      journal.empty() ? "" : fmt::format(" and recorded in {}", shorten(journal)));
}

Result<GenerateOptions> embedded_load(std::string_view text) {
  std::string list(text);
  for (const auto& [name, value] : standard_load) {
    if (!names_part(text, name)) {
      list += fmt::format("{}{}={}", list.empty() ? "" : ",", name, value);
    }
  }
  Result<GenerateOptions> options = parse_generate(list);
  if (!options) return usage_problem(options.error().message);
  if (!names_part(text, "pods")) {
    options->pods = std::min(options->nodes * pods_per_node, pods_most);
  }
  return options;
}

Result<EmbeddedOptions> read_embedded_options(const Arguments& arguments) {
  EmbeddedOptions options{.journal = std::string(arguments.text("journal")),
                          .json = arguments.text("output") == "json"};
  const auto load = embedded_load(arguments.given("generate").value_or(""));
  if (!load) return std::unexpected(load.error());
  options.load = *load;
  const auto seed = number_in(arguments, "seed", 1, 0, std::numeric_limits<std::int64_t>::max());
  if (!seed) return std::unexpected(seed.error());
  options.seed = static_cast<std::uint64_t>(*seed);
  const auto speed = number_in(arguments, "speed", options.speed, 1, pace_max);
  if (!speed) return std::unexpected(speed.error());
  options.speed = *speed;
  if (const auto text = arguments.given("for")) {
    const Result<Duration> duration = parse_duration(*text);
    if (!duration || duration->ms == 0) {
      return usage_problem(
          fmt::format("--for '{}': {}", shorten(*text),
                      duration ? "expected a time such as 10m" : duration.error().message));
    }
    options.ends_after = *duration;
  }
  Result<ListenOptions> listen = read_listen_options(arguments);
  if (!listen) return std::unexpected(listen.error());
  options.listen = *std::move(listen);
  return options;
}

}  // namespace makeway::cli

#include "cli/run/live_start.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

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

}  // namespace makeway::cli

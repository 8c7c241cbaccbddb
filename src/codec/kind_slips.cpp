#include "codec/kind_slips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ascii.hpp"
#include "codec/workloads/workload_names.hpp"
#include "codec/workloads/workloads.hpp"
#include "model/kinds.hpp"

namespace makeway {
namespace {

/// Shorter words differ in a letter too easily.
constexpr std::size_t slip_length_min = 6;

std::string plain(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), lower_byte);
  if (lower.ends_with('s')) lower.pop_back();
  return lower;
}

/// They differ in one letter, which is another one, missing or too much, or in two neighbours that
/// have changed places.
bool differ_by_a_slip(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() < slip_length_min || b.size() > a.size() + 1) return false;
  const auto [at_a, at_b] = std::ranges::mismatch(a, b);
  const std::string_view rest_a(at_a, a.end());
  const std::string_view rest_b(at_b, b.end());
  if (a.size() < b.size()) return rest_a == rest_b.substr(1);
  if (rest_a.empty() || rest_a.substr(1) == rest_b.substr(1)) return true;
  return rest_a[0] == rest_b[1] && rest_a[1] == rest_b[0] && rest_a.substr(2) == rest_b.substr(2);
}

bool looks_like(std::string_view kind, std::string_view wanted) {
  const std::string one = plain(kind);
  const std::string other = plain(wanted);
  return one == other || differ_by_a_slip(one, other);
}

/// What is read instead, "v1 Pod"; empty: it looks like nothing.
std::string meant_by(std::string_view api_version, std::string_view kind) {
  for (const KindRow& row : kind_rows) {
    if (!is_own(row) && looks_like(kind, row.name)) {
      return fmt::format("{} {}", row.api_version, row.name);
    }
  }
  if (is_unsupported_workload(api_version, kind)) return {};
  for (const WorkloadKindName& row : pod_making_kind_names()) {
    if (!looks_like(kind, row.name)) continue;
    return row.api_group.empty() ? fmt::format("v1 {}", row.name)
                                 : fmt::format("{} of {}", row.name, row.api_group);
  }
  return {};
}

}  // namespace

void warn_of_kind_slips(const std::map<std::string, std::uint64_t>& skipped, Problems& warnings) {
  for (const auto& [name, count] : skipped) {
    const std::size_t blank = name.rfind(' ');
    if (blank == std::string::npos) continue;
    const std::string meant =
        meant_by(std::string_view(name).substr(0, blank), std::string_view(name).substr(blank + 1));
    if (meant.empty()) continue;
    warnings.push_back({.severity = Severity::warning,
                        .value = name,
                        .message = fmt::format("skipped ({})", count),
                        .remedy = fmt::format("what is read is {}", meant)});
  }
}

}  // namespace makeway

#include "codec/workloads/resource_quotas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

#include "base/checked_math.hpp"
#include "codec/quantity.hpp"
#include "codec/workloads/json_edit.hpp"
#include "codec/workloads/manifest.hpp"
#include "model/object_text.hpp"
#include "model/plan.hpp"
#include "model/resource.hpp"
#include "model/validation/quarantine.hpp"

namespace makeway {
namespace {

/// What a pod requests of it, by the name in a quota; empty: pods do not count for it. Limits are
/// not in the store, and objects besides pods are not made here.
std::string_view resource_of(std::string_view name) {
  constexpr std::string_view prefix = "requests.";
  if (name == "count/pods") return pods_name;
  if (name.starts_with(prefix)) {
    const std::string_view rest = name.substr(prefix.size());
    return rest == "storage" ? std::string_view{} : rest;
  }
  const bool plain = name == pods_name || name == cpu_name || name == memory_name ||
                     name == storage_name || name.starts_with("hugepages-");
  return plain ? name : std::string_view{};
}

/// None: it is not there, or is no amount.
std::optional<std::int64_t> amount_of(const JsonValue& value, std::string_view resource) {
  const bool is_amount =
      value.as_integer() != nullptr || value.as_number() != nullptr || value.as_string() != nullptr;
  if (!is_amount) return std::nullopt;
  const std::string text = value.as_string() != nullptr ? *value.as_string() : compact_text(value);
  const Result<std::int64_t> amount =
      parse_quantity(text, counted_in_thousandths(resource) ? Scale::milli : Scale::one);
  return amount ? std::optional(*amount) : std::nullopt;
}

/// The server enforces what its status says; a manifest written by hand has none.
std::vector<QuotaLine> read_lines(const ManifestField& spec, const ManifestField& status) {
  const ManifestField in_status = status.at("hard");
  const ManifestField hard = in_status.is_present() ? in_status : spec.at("hard");
  std::vector<QuotaLine> lines;
  if (hard.value().as_object() == nullptr) return lines;
  for (const JsonMember& each : *hard.value().as_object()) {
    const std::string_view resource = resource_of(each.key);
    if (resource.empty()) continue;
    const std::optional<std::int64_t> amount = amount_of(each.value, resource);
    if (!amount) {
      hard.at(each.key).refuse("expected an amount");
      continue;
    }
    lines.push_back({.resource = std::string(resource),
                     .hard = *amount,
                     .used = amount_of(status.at("used").at(each.key).value(), resource)});
  }
  return lines;
}

/// None: nothing in the store says whether a pod is meant.
std::optional<QuotaScope> read_scope(std::string_view name, bool wanted,
                                     std::vector<std::string> values) {
  using Of = QuotaScope::Of;
  if (name == "PriorityClass") {
    return QuotaScope{.of = Of::priority_class, .wanted = wanted, .values = std::move(values)};
  }
  if (name == "BestEffort") return QuotaScope{.of = Of::best_effort, .wanted = true, .values = {}};
  if (name == "NotBestEffort") {
    return QuotaScope{.of = Of::best_effort, .wanted = false, .values = {}};
  }
  return std::nullopt;
}

/// False: the quota has one that the program cannot decide.
bool read_scopes(const ManifestField& spec, std::vector<QuotaScope>& scopes) {
  const auto take = [&](const ManifestField& field, std::string_view name, bool wanted,
                        std::vector<std::string> values) {
    std::optional<QuotaScope> scope = read_scope(name, wanted, std::move(values));
    if (!scope) {
      field.warn("it is unknown which pods have this scope, so the quota is not counted");
      return false;
    }
    scopes.push_back(*std::move(scope));
    return true;
  };
  bool known = true;
  for (const ManifestField& item : spec.at("scopes").items()) {
    known = take(item, item.text(), true, {}) && known;
  }
  for (const ManifestField& item : spec.at("scopeSelector").at("matchExpressions").items()) {
    const std::string operation = item.at("operator").text();
    constexpr std::array<std::string_view, 4> known_operators = {"In", "NotIn", "Exists",
                                                                 "DoesNotExist"};
    if (std::ranges::find(known_operators, operation) == known_operators.end()) {
      item.at("operator").refuse("expected In, NotIn, Exists or DoesNotExist");
      known = false;
      continue;
    }
    std::vector<std::string> values;
    for (const ManifestField& value : item.at("values").items()) values.push_back(value.text());
    const bool wanted = operation == "In" || operation == "Exists";
    known = take(item.at("scopeName"), item.at("scopeName").text(), wanted, values) && known;
  }
  return known;
}

/// What a quota has left.
class QuotaCount {
 public:
  QuotaCount(const ResourceQuota& quota, const Cluster& cluster)
      : quota_(quota), cluster_(cluster) {
    for (const QuotaLine& line : quota.lines) {
      left_.push_back(saturated_sub(line.hard, line.used.value_or(0)));
    }
  }

  /// A pod that is there; it is in what the API server says is used.
  void count_present(PodIndex pod);
  void count_new(PodIndex pod);
  /// Why the pod may not come; empty: it may.
  std::string refusal(PodIndex pod) const;

 private:
  std::int64_t request(PodIndex pod, std::string_view resource) const;
  bool has(const QuotaScope& scope, PodIndex pod) const;
  bool is_about(PodIndex pod) const;

  const ResourceQuota& quota_;
  const Cluster& cluster_;
  std::vector<std::int64_t> left_;  ///< By line.
};

std::int64_t QuotaCount::request(PodIndex pod, std::string_view resource) const {
  for (const ResourceAmount& item : cluster_.requests(cluster_.pods().requests[pod])) {
    if (cluster_.resources().name(item.resource) == resource) return item.amount;
  }
  return 0;
}

bool QuotaCount::has(const QuotaScope& scope, PodIndex pod) const {
  if (scope.of == QuotaScope::Of::best_effort) {
    return request(pod, cpu_name) == 0 && request(pod, memory_name) == 0;
  }
  std::string_view name = cluster_.text(cluster_.pods().priority_class[pod]);
  const PriorityClass* const usual = cluster_.default_priority_class();
  if (name.empty() && usual != nullptr && !cluster_.pods().flags[pod].priority_given) {
    name = usual->name;
  }
  return scope.values.empty() ? !name.empty()
                              : std::ranges::find(scope.values, name) != scope.values.end();
}

bool QuotaCount::is_about(PodIndex pod) const {
  return std::ranges::all_of(
      quota_.scopes, [&](const QuotaScope& scope) { return has(scope, pod) == scope.wanted; });
}

void QuotaCount::count_present(PodIndex pod) {
  if (!is_about(pod)) return;
  for (std::size_t at = 0; at < left_.size(); ++at) {
    const QuotaLine& line = quota_.lines[at];
    if (!line.used) left_[at] = saturated_sub(left_[at], request(pod, line.resource));
  }
}

void QuotaCount::count_new(PodIndex pod) {
  if (!is_about(pod)) return;
  for (std::size_t at = 0; at < left_.size(); ++at) {
    left_[at] = saturated_sub(left_[at], request(pod, quota_.lines[at].resource));
  }
}

std::string QuotaCount::refusal(PodIndex pod) const {
  if (!is_about(pod)) return {};
  for (std::size_t at = 0; at < left_.size(); ++at) {
    const QuotaLine& line = quota_.lines[at];
    const std::int64_t wanted = request(pod, line.resource);
    const bool must_request = line.resource == cpu_name || line.resource == memory_name;
    if (wanted == 0 && must_request) {
      return fmt::format("{} wants a request of {} from each pod",
                         object_text("ResourceQuota", quota_.namespace_name, quota_.name),
                         line.resource);
    }
    if (wanted == 0 || wanted <= left_[at]) continue;
    return fmt::format("{} leaves {} of {} {}, and it requests {}",
                       object_text("ResourceQuota", quota_.namespace_name, quota_.name),
                       exact_amount(line.resource, std::max<std::int64_t>(left_[at], 0)),
                       exact_amount(line.resource, line.hard), line.resource,
                       exact_amount(line.resource, wanted));
  }
  return {};
}

/// Pods of files that no API server has: they are pending and have no uid.
bool is_new(const Cluster& cluster, PodIndex pod) {
  return cluster.pending_pods().contains(pod) && cluster.pods().uid[pod.value].empty();
}

/// As they ask: priority, wave, creation, name.
std::vector<PodIndex> new_pods(const Cluster& cluster) {
  const PodColumns& pods = cluster.pods();
  std::vector<PodIndex> found;
  std::ranges::copy_if(cluster.pending_pods(), std::back_inserter(found),
                       [&](PodIndex pod) { return is_new(cluster, pod); });
  std::ranges::sort(found, {}, [&](PodIndex pod) {
    return std::tuple(-std::int64_t{cluster.units()[pods.unit[pod]].scheduling_priority},
                      cluster.notes(pods.notes[pod]).wave, pods.created[pod], cluster.pod_key(pod));
  });
  return found;
}

}  // namespace

std::optional<ResourceQuota> read_resource_quota(const Manifest& manifest, Problems& problems) {
  ManifestProblems found(manifest.object(), manifest.origin);
  const auto tree = parse_json_value(manifest.text);
  if (!tree) return std::nullopt;  // Reported when it was added.
  const ManifestField fields(&*tree, "", found);
  const ManifestField spec = fields.at("spec");
  ResourceQuota quota{.namespace_name = manifest.namespace_name,
                      .name = manifest.name,
                      .lines = read_lines(spec, fields.at("status")),
                      .scopes = {}};
  const bool counts = read_scopes(spec, quota.scopes) && !quota.lines.empty();
  problems.append(found.problems());
  return counts ? std::optional(std::move(quota)) : std::nullopt;
}

void hold_beyond_quotas(const std::vector<ResourceQuota>& quotas, Cluster& cluster) {
  if (quotas.empty()) return;
  std::multimap<std::string_view, QuotaCount> counts;
  for (const ResourceQuota& quota : quotas) {
    counts.emplace(quota.namespace_name, QuotaCount(quota, cluster));
  }
  const auto of_namespace = [&](PodIndex pod) {
    const auto range = counts.equal_range(cluster.text(cluster.pods().namespace_name[pod]));
    return std::ranges::subrange(range.first, range.second);
  };
  for (const PodIndex pod : cluster.each_pod()) {
    const bool at_home = cluster.pods().plane[pod] == StringId{0};
    if (!at_home || is_new(cluster, pod)) continue;
    for (auto& [name, quota] : of_namespace(pod)) quota.count_present(pod);
  }
  for (const PodIndex pod : new_pods(cluster)) {
    std::string why;
    for (const auto& [name, quota] : of_namespace(pod)) {
      if (why.empty()) why = quota.refusal(pod);
    }
    if (why.empty()) {
      for (auto& [name, quota] : of_namespace(pod)) quota.count_new(pod);
      continue;
    }
    Pod held = cluster.pod(pod);
    hold(held, why);
    cluster.apply(held);
  }
}

}  // namespace makeway

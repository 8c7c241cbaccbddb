// ResourceQuotas: which pods of files the API server would refuse to create.
//
// A quota is a rule of admission, not of scheduling: it counts when a pod is created. So it limits
// pods that are planned before they are there, made from a template or written by hand, and no pod
// that has a uid, since that was admitted. The pods of a namespace are taken in the order in which
// they ask; one that is too much for a quota is held with that reason, and the next one is tried.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/problem.hpp"
#include "model/cluster.hpp"

namespace makeway {

struct Manifest;

/// One resource of a quota.
struct QuotaLine {
  std::string resource;  ///< As pods request it: "cpu", "nvidia.com/gpu", "pods".
  std::int64_t hard = 0;
  std::optional<std::int64_t> used;  ///< As the API server counts it; none: count the pods.
};

/// Whether a quota is about a pod: by its class or by whether it requests cpu or memory.
struct QuotaScope {
  enum class Of : std::uint8_t { priority_class, best_effort };
  Of of = Of::priority_class;
  bool wanted = true;               ///< False: pods of which it is not so.
  std::vector<std::string> values;  ///< Of classes; empty: any.
};

struct ResourceQuota {
  std::string namespace_name;
  std::string name;
  std::vector<QuotaLine> lines;  ///< Those that pods count for.
  std::vector<QuotaScope> scopes;
};

/// Nothing for one whose scopes the pods of the store do not decide; `problems` says so.
std::optional<ResourceQuota> read_resource_quota(const Manifest& manifest, Problems& problems);

/// Holds the pending pods of home that are not created yet and are too much for a quota. The
/// priorities of the cluster are resolved.
void hold_beyond_quotas(const std::vector<ResourceQuota>& quotas, Cluster& cluster);

}  // namespace makeway

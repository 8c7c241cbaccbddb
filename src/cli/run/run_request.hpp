// What the command line of `makeway run` says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/command.hpp"
#include "cli/dashboard/dashboard_start.hpp"
#include "cli/input.hpp"
#include "kube/kubeconfig.hpp"
#include "kube/resources.hpp"
#include "model/configuration.hpp"

namespace makeway::cli {

// What every command that writes to a live cluster asks before it begins.

/// SPEC section 1: no live run without these laws. Empty: all are kept; else what is wrong.
std::string waived_too_much(const Configuration& configuration);

/// Kinds of ours that the cluster has and whose status is written: "queues".
std::vector<std::string> own_kinds_written(const std::vector<kube::ServedResource>& served);

std::string host_name();
/// Of this process among all that ever held the Lease.
std::string new_identity(const std::string& host);

struct LeaseRequest {
  std::string namespace_name;
  std::string name;
};
/// "NAMESPACE/NAME"; empty: all is well, else what is wrong with it.
std::string read_lease_request(std::string_view text, LeaseRequest& request);
inline constexpr std::string_view standard_lease = "kube-system/makeway";

struct RunRequest {
  std::string shadow;  ///< The scheduler that it compares with; empty: it is the scheduler itself.
  kube::TargetRequest target;
  std::optional<Duration> ends_after;
  bool json = false;
  // Of a shadow.
  std::optional<std::int64_t> count;
  // Of the scheduler.
  std::vector<std::string> schedulers;  ///< schedulerNames of our pods.
  std::string lease_namespace;
  std::string lease_name;
  bool dry_run = false;
  ListenOptions listen;
  std::string journal;            ///< Where it is written; empty: nowhere.
  std::vector<LivePlane> planes;  ///< Where Deployments are scaled.
};

/// An error is one of usage.
Result<RunRequest> read_run_request(const Arguments& arguments);

}  // namespace makeway::cli

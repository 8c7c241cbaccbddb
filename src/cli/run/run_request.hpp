// What the command line of `makeway run` says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/command.hpp"
#include "cli/dashboard/dashboard_start.hpp"
#include "cli/input.hpp"
#include "kube/kubeconfig.hpp"

namespace makeway::cli {

struct RunRequest {
  std::string shadow;  ///< Decides beside this scheduler; empty: it is the scheduler itself.
  kube::TargetRequest target;
  std::optional<Duration> ends_after;
  bool json = false;
  // Of a shadow.
  std::optional<std::int64_t> count;
  // Of the scheduler.
  std::vector<std::string> schedulers;  ///< Whose pods are ours, by schedulerName.
  std::string lease_namespace;
  std::string lease_name;
  bool dry_run = false;
  ListenWish listen;
  std::string journal;            ///< Where it is written; empty: nowhere.
  std::vector<LivePlane> planes;  ///< Where Deployments are scaled.
};

/// An error is one of usage.
Result<RunRequest> read_run_request(const Arguments& arguments);

}  // namespace makeway::cli

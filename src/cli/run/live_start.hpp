// What every command that writes to a live cluster asks before it begins.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/resources.hpp"
#include "model/configuration.hpp"

namespace makeway::cli {

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

}  // namespace makeway::cli

// Which rights a scheduler lacks, asked before it begins (SelfSubjectAccessReview, which every user
// may ask).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/api_client.hpp"

namespace makeway::kube {

struct Right {
  std::string api_group;       ///< Empty: the core of Kubernetes.
  std::string resource;        ///< "pods/binding"
  std::string verb;            ///< "create"
  std::string namespace_name;  ///< Empty: everywhere.
  std::string name;            ///< Empty: any.

  friend bool operator==(const Right&, const Right&) = default;
};

/// `{apiGroups: [""], resources: [pods/binding], verbs: [create]}`
std::string rule_for(const Right& right);

struct RightsRequest {
  std::string lease_namespace;
  std::string lease_name;
  bool evicts_by_api = false;          ///< Budgets are strict.
  bool has_groups = false;             ///< PodGroups are served.
  std::vector<std::string> own_kinds;  ///< Of ours, whose status is written: "queues".
};
/// What `makeway run` writes (SPEC section 8); the watches report what may not be read.
std::vector<Right> scheduler_rights(const RightsRequest& request);

/// What it writes in a plane (section 4).
std::vector<Right> plane_rights();

/// Those that the server clearly denies. A server that cannot be asked denies nothing here: the
/// write itself reports it.
std::vector<Right> missing_rights(ApiClient& client, const std::vector<Right>& rights);

}  // namespace makeway::kube

// The kinds whose controllers make pods, for messages that say what is understood.
#pragma once

#include <string_view>
#include <vector>

namespace makeway {

/// "Job", "Deployment", ...; by name.
std::vector<std::string_view> pod_making_kinds();

/// Whether pods that this kind controls run until they are stopped: "ReplicaSet", not "Job".
bool pods_run_for_ever(std::string_view kind);

struct WorkloadKindName {
  std::string_view api_group;  ///< Empty: the core of Kubernetes.
  std::string_view name;
};
/// The same with their groups.
std::vector<WorkloadKindName> pod_making_kind_names();

}  // namespace makeway

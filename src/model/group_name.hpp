// Names of groups. A PodGroup is known by its name. In the 1.35 form of the API there is no such
// object: a pod names a Workload, one of its templates and perhaps a replica; that group is called
// "workload/template" or "workload/template/replica", which no PodGroup can be (a slash).
#pragma once

#include <string>
#include <string_view>

namespace makeway {

inline std::string group_name(std::string_view workload, std::string_view template_name,
                              std::string_view replica) {
  std::string name = std::string(workload) + "/" + std::string(template_name);
  if (!replica.empty()) name += "/" + std::string(replica);
  return name;
}

/// Empty for the name of a PodGroup.
inline std::string_view workload_of_group_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash == std::string_view::npos ? std::string_view{} : name.substr(0, slash);
}

inline std::string_view template_of_group_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view rest = name.substr(slash + 1);
  return rest.substr(0, rest.find('/'));
}

inline std::string_view replica_of_group_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  const std::size_t second = name.find('/', slash == std::string_view::npos ? slash : slash + 1);
  return second == std::string_view::npos ? std::string_view{} : name.substr(second + 1);
}

}  // namespace makeway

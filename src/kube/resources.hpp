// The table of resources that a cluster is read from, and which of them a server has.
//
// Core kinds are always served. Others may be missing: PodGroup and Workload are off by default in
// Kubernetes 1.37, our own kinds are there when their definitions were installed. Where several
// versions are served, the first of the table is taken.
//
// What is read of a plane: a cluster whose Deployments are scaled and whose pods others place.
//
// Nothing of it need be discovered, so that a plane that cannot be reached when a run begins is
// watched all the same, and seen when it answers.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/problem.hpp"
#include "codec/json_value.hpp"
#include "control/plane_view.hpp"

namespace makeway::kube {

struct Resource {
  std::string_view plural;  ///< "pods"
  std::string_view kind;
  std::string_view api_group;                  ///< Empty: the core of Kubernetes.
  std::span<const std::string_view> versions;  ///< The best first.
  std::string_view selector;                   ///< Of fields; empty: all objects.
  bool is_always_served = false;
  bool is_metadata_only = false;  ///< Of its objects nothing else is asked for.

  /// The kind that answers name: without its rest, an object is another one.
  std::string_view answered_kind() const {
    return is_metadata_only ? "PartialObjectMetadata" : kind;
  }
  /// The form to ask for, of a list or of an object.
  std::string accept(bool is_list) const;
};

/// In the order in which they are read; pods last, so that all that they name is there already.
std::span<const Resource> resources();

struct ServedResource {
  const Resource* resource = nullptr;
  std::string version;

  /// "/apis/policy/v1/poddisruptionbudgets"
  std::string path() const;
};

/// Those that need not be discovered.
std::vector<ServedResource> always_served();

/// "/api/v1", "/apis/policy/v1"
std::string group_path(std::string_view api_group, std::string_view version);

/// Names and versions of groups, as GET /apis answers.
struct ServedGroups {
  std::vector<std::string> versions;  ///< "policy/v1"

  bool has(std::string_view api_group, std::string_view version) const;
};
std::expected<ServedGroups, Problem> parse_group_list(std::string_view json);

/// The resources of one group and version that can be listed, as GET /apis/GROUP/VERSION answers.
std::expected<std::vector<std::string>, Problem> parse_resource_list(std::string_view json);

inline constexpr std::string_view deployment_kind = "Deployment";
inline constexpr std::string_view autoscaler_kind = "HorizontalPodAutoscaler";

/// Of what was discovered, if it was, what matters in a plane; and its Deployments and autoscalers.
std::vector<ServedResource> plane_resources(const std::vector<ServedResource>& discovered);

/// Objects of these kinds are known by what they scale; the store does not keep them.
bool is_plane_news(std::string_view kind);

/// None: it has no name, or no number of replicas that can be read.
std::optional<DeploymentUpdate> read_deployment(const JsonValue& object);
std::optional<AutoscalerUpdate> read_autoscaler(const JsonValue& object);

}  // namespace makeway::kube

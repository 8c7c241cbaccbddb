// What is read of a plane: a cluster whose Deployments are scaled and whose pods others place.
//
// Nothing of it need be discovered, so that a plane that cannot be reached when a run begins is
// watched all the same, and seen when it answers.
#pragma once

#include <optional>
#include <vector>

#include "codec/json_value.hpp"
#include "control/plane_view.hpp"
#include "kube/resources.hpp"

namespace makeway::kube {

inline constexpr std::string_view deployment_kind = "Deployment";
inline constexpr std::string_view autoscaler_kind = "HorizontalPodAutoscaler";

/// Of what was discovered, if it was, what matters in a plane; and its Deployments and autoscalers.
std::vector<ServedResource> plane_resources(const std::vector<ServedResource>& discovered);

/// Objects of these kinds are known by what they scale; the store does not keep them.
bool is_plane_news(std::string_view kind);

/// None: it has no name, or no number of replicas that can be read.
std::optional<DeploymentNews> read_deployment(const JsonValue& object);
std::optional<AutoscalerNews> read_autoscaler(const JsonValue& object);

}  // namespace makeway::kube

// PlaneCache: a plane as the loop was last shown it, for the writes of its plans.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "control/plane_view.hpp"
#include "kube/version_cache.hpp"

namespace makeway::kube {

struct PlaneCache {
  bool sees = false;  ///< What is known is current: something may be asked of it.
  VersionCache objects;
  DeploymentCache deployments;
};

using PlaneCaches = std::map<std::string, PlaneCache, std::less<>>;  ///< By plane.

}  // namespace makeway::kube

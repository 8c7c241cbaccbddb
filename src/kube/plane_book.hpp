// PlaneBook: a plane as the loop was last shown it, for whoever writes its plans.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "control/plane_view.hpp"
#include "kube/sight_book.hpp"

namespace makeway::kube {

struct PlaneBook {
  bool sees = false;  ///< What is known is current: something may be asked of it.
  SightBook objects;
  DeploymentBook deployments;
};

using PlaneBooks = std::map<std::string, PlaneBook, std::less<>>;  ///< By plane.

}  // namespace makeway::kube

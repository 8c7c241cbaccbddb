// The taint that Kubernetes puts on cordoned nodes (`spec.unschedulable`). A pod that tolerates it
// may still go there.
#pragma once

#include <string_view>

namespace makeway::names {

inline constexpr std::string_view cordon_taint = "node.kubernetes.io/unschedulable";

}  // namespace makeway::names

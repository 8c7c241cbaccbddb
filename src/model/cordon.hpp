// The taint that Kubernetes puts on cordoned nodes (`spec.unschedulable`). Whoever tolerates it may
// go there all the same.
#pragma once

#include <string_view>

namespace makeway::names {

inline constexpr std::string_view cordon_taint = "node.kubernetes.io/unschedulable";

}  // namespace makeway::names

// Pods and groups ask (SPEC section 2). Pods that can run on one node only have a policy of their
// own (section 5), unless that is off.
#pragma once

#include <memory>

#include "policies/policy.hpp"

namespace makeway {

std::unique_ptr<Policy> make_workload_policy(const PolicyContext& context);

}  // namespace makeway

// What a plan says about an ask for replicas (SPEC section 4).
#pragma once

namespace makeway {

struct PlanReplicas {
  friend bool operator==(const PlanReplicas&, const PlanReplicas&) = default;
};

}  // namespace makeway

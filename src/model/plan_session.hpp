// What a plan says about sessions and resource groups (SPEC section 6).
#pragma once

namespace makeway {

struct PlanSession {
  friend bool operator==(const PlanSession&, const PlanSession&) = default;
};

/// A resource group with its sessions, as they are after the plan.
struct PlanResourceGroup {
  friend bool operator==(const PlanResourceGroup&, const PlanResourceGroup&) = default;
};

}  // namespace makeway

// Conditions that a group should show, whatever is decided for it.
//
// PodsNotMatchingPriority (the seed's name): some of its pods carry another priority than the
// group. The group's counts; pods are not changed. Its pods are those that are here, pending and
// bound.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

inline constexpr std::string_view pods_not_matching_priority = "PodsNotMatchingPriority";

struct PriorityMismatch {
  std::int64_t pods = 0;
  PodIndex first;  ///< By name, of those that differ; none when there is none.
};

/// O(its pods).
PriorityMismatch priority_mismatch(const Cluster& cluster, GroupIndex group);

/// "3 of its 8 pods carry another priority, the first is default/a with 10 instead of 100"; empty
/// when they all agree.
std::string priority_mismatch_text(const Cluster& cluster, GroupIndex group);

/// Into `plan.status`, by name: of every PodGroup of which some pods carry another priority,
/// whether it asks or not. A Workload has no status, so the message names the one that the group
/// came from.
void add_priority_conditions(const Cluster& cluster, Plan& plan);

}  // namespace makeway

// Evicting the members of a gang that must not stay (interrupted_gang_binds.hpp,
// interrupted_gang_evictions.hpp). No policy decides these evictions; the plan says why.
#pragma once

#include <string_view>
#include <vector>

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

/// Bound to a node and not leaving.
bool is_staying(const Cluster& cluster, PodIndex pod);
/// The members that stay, by name.
std::vector<Pod> staying_members(const Cluster& cluster, const Group& group);

/// As one: the write queue goes on with the others when a budget refuses a member.
enum class LeaveTogether : bool { no, yes };

/// Adds an ask for the group and an eviction for each of its members.
void evict_members(const Cluster& cluster, const Group& group, const std::vector<Pod>& members,
                   std::string_view reason, LeaveTogether together, Plan& plan);

}  // namespace makeway

// Profiles: which rules decide whose pods (SPEC section 8).
//
// Rules
//  1. A pod is decided by the profile that its schedulerName names, else by the configuration
//     itself. All share one cluster and one cycle.
//  2. A profile is the configuration with some knobs of asks changed (KnobScope). Knobs of the
//     cluster are the same for all: two asks of one cycle must agree on what a running pod is worth
//     and on what room is there.
//  3. A group, and each member that asks for itself, is decided by the profile of its first pod by
//     name. Queues, sessions and ReplicaSchedules have no schedulerName: they are decided by the
//     configuration itself.
//  4. A profile that changes nothing is as good as none: it leaves no trace in a plan.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.hpp"
#include "model/configuration.hpp"
#include "model/knobs.hpp"

namespace makeway {

/// The complete rules of one profile; they have no profiles.
struct ProfileRules {
  std::string scheduler_name;
  Configuration configuration;
};

inline constexpr std::size_t profiles_max = 100;

/// Why a profile cannot have a value of its own for this knob of the cluster.
Problem cluster_knob_problem(std::string_view scheduler_name, const Knob& knob,
                             std::string_view value);

/// The configuration with the profile's knobs; of a valid one (see `validate`).
Configuration rules_of(const Configuration& configuration, const Profile& profile);

/// Those that change something, by name. Empty where there are no profiles, at no cost.
std::vector<ProfileRules> differing_profiles(const Configuration& configuration);

/// The pod with the profile of the unit: its pod, or the first of a group by name. None: it is not
/// a unit of pods.
PodIndex first_pod_of(const Cluster& cluster, UnitIndex unit);

/// Its schedulerName; a pod without one means "default-scheduler".
std::string_view scheduler_of(const Cluster& cluster, PodIndex pod);

/// These names and those of all profiles, each once: whose pods a live run schedules.
std::vector<std::string> served_schedulers(std::vector<std::string> names,
                                           const Configuration& configuration);

}  // namespace makeway

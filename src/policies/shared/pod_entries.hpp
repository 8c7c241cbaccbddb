// What a plan says about single pods that leave, stay, or hold what an ask needs: the part that
// is the same for pods, groups and pinned pods.
//
// What follows from an ask whose pods we bind: actions, and conditions of pods.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/world.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"
#include "model/reason.hpp"

namespace makeway {

/// A pod of a victim; the caller adds budget and cause. `reason` is the rule that it loses by.
PlanVictim victim_entry(const Cluster& cluster, const VictimUnit& unit, PodIndex pod,
                        const Reason& reason);
/// Lists it while there are few.
void add_spared(const Cluster& cluster, PodIndex pod, std::int32_t priority,
                PlanExplanation& explanation);
/// Lists the pod if it holds of the resource that is short and there is a reason why it stays.
void add_holder(const World& world, PodIndex pod, const std::optional<Reason>& why,
                PlanRefusal& refusal);
/// What keeps the pod, if something does.
std::optional<Reason> stay_reason(const StaysBecause& because);
/// Most important first; the first few are kept.
void sort_holders(PlanRefusal& refusal);

void add_evictions(const Cluster& cluster, const PlanAsk& ask, Plan& plan);
/// Its pods are bound, or nominated where it does not fit yet.
void add_placements(const Cluster& cluster, const PlanAsk& ask, Plan& plan);
/// It waits, and no place is kept for it.
void add_wait(const PlanAsk& ask, Plan& plan);
/// The condition is false unless it fits.
void add_unscheduled(const PlanAsk& ask, std::string_view condition, Plan& plan);

std::string uid_of(const Cluster& cluster, const PodPlacement& placement);

}  // namespace makeway

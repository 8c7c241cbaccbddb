// What a plan says about single pods that leave, stay, or hold what an ask needs: the part that
// is the same for pods, groups and pinned pods.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/world.hpp"
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

}  // namespace makeway

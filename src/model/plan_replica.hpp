// What a plan says about an ask for replicas (SPEC section 4).
//
// Two phases. The normal one allocates room that is free: scale-ups. The preemption phase finds for
// each replica that stays unmet a claim: one node, and the pods that have to be gone from it. A
// claim scales nothing up; once its victims are gone, the normal phase of a later cycle does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/configuration.hpp"
#include "model/replica_schedule.hpp"

namespace makeway {

/// What is done to a victim.
enum class ReplicaAction : std::uint8_t {
  wait,          ///< It leaves by itself.
  force_delete,  ///< It is leaving, and its time is up.
  scale_down,    ///< Its deployment gets one replica less in the plane.
};
template <>
inline constexpr std::array<std::string_view, 3> choice_names<ReplicaAction> = {
    "wait", "force-delete", "scale-down"};

struct PlanReplicaVictim {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string plane;       ///< Of its key; empty: home, also where a label says the plane.
  std::string deployment;  ///< In that namespace; empty: of no ReplicaSchedule.
  std::int32_t priority = 0;
  ReplicaClass victim_class = ReplicaClass::committed;
  ReplicaAction action = ReplicaAction::wait;
  std::int64_t amount = 0;  ///< What it holds of `replica.resource`.
  /// scale-down: the commit of its deployment in the plane, before and after this victim. Another
  /// victim of the same deployment goes on from there.
  std::optional<std::int64_t> committed_before;
  std::optional<std::int64_t> committed_after;
  std::optional<Time> force_delete_from;  ///< wait, and a later cycle may force-delete it.
  std::string reason;
  // The cause (law 9).
  std::string cause_rule;
  std::string cause_alternative;
  std::string cause_key;

  friend bool operator==(const PlanReplicaVictim&, const PlanReplicaVictim&) = default;
};

/// Room for one replica, once the victims are gone.
struct PlanReplicaClaim {
  std::string plane;
  std::string node;
  std::int64_t plane_score = 0;
  Time since;
  bool kept = false;           ///< From the previous plan.
  std::int64_t needed = 0;     ///< Of `replica.resource`, for one replica.
  std::int64_t free = 0;       ///< Of that, on the node already.
  std::int64_t left_over = 0;  ///< Of that, freed by victims of other claims beyond their need.
  std::vector<PlanReplicaVictim> victims;  ///< Least intrusive first.

  friend bool operator==(const PlanReplicaClaim&, const PlanReplicaClaim&) = default;
};

/// Where the next pods probably land; Kubernetes may know better.
struct PlanExpectedNode {
  std::string node;
  std::int64_t replicas = 0;

  friend bool operator==(const PlanExpectedNode&, const PlanExpectedNode&) = default;
};

struct PlanScaleUp {
  std::string plane;
  std::int64_t plane_score = 0;
  std::int64_t committed_before = 0;
  std::int64_t committed_after = 0;
  std::vector<PlanExpectedNode> expected;  ///< By name.

  friend bool operator==(const PlanScaleUp&, const PlanScaleUp&) = default;
};

struct PlanReplicas {
  std::string deployment;
  std::string resource;  ///< What GPUs are called here: `replica.resource`.
  std::int64_t unmet = 0;
  std::vector<PlanScaleUp> scale_ups;    ///< Normal phase; by plane.
  std::vector<PlanReplicaClaim> claims;  ///< Preemption phase; kept ones first.
  std::int64_t without = 0;              ///< Replicas for which nothing was found.
  /// The ask whose claim took a replica of this deployment, and where: until that is finished, it
  /// neither asks nor takes.
  std::string out_for;
  std::string out_plane;

  friend bool operator==(const PlanReplicas&, const PlanReplicas&) = default;
};

/// The commit of a deployment in a plane changes.
struct PlanScale {
  std::string plane;
  std::int64_t committed_before = 0;
  std::int64_t committed_after = 0;

  friend bool operator==(const PlanScale&, const PlanScale&) = default;
};

/// What one plan makes of a deployment's commit in one plane, all steps together.
struct PlanNetScale {
  std::string plane;
  std::int64_t committed_before = 0;
  std::int64_t committed_after = 0;
  std::vector<std::string> asks;  ///< The asks it is for, in the order of the plan.

  friend bool operator==(const PlanNetScale&, const PlanNetScale&) = default;
};

/// The net schedule: what becomes of a ReplicaSchedule when the plan is carried out. Replicas that
/// are scaled down are unmet from then on.
struct PlanNetSchedule {
  std::string namespace_name;
  std::string name;
  std::string deployment;
  std::int64_t unmet_before = 0;
  std::int64_t unmet_after = 0;
  std::vector<PlanNetScale> planes;  ///< Those that change, by name.

  friend bool operator==(const PlanNetSchedule&, const PlanNetSchedule&) = default;
};

/// The status that a ReplicaSchedule gets, where it changes.
struct PlanReplicaStatus {
  std::string namespace_name;
  std::string name;
  ReplicaStatus status;

  friend bool operator==(const PlanReplicaStatus&, const PlanReplicaStatus&) = default;
};

/// "2 of 3 GPUs are leaving by themselves; 1 replica of shop/batch in plane eu-2 goes"
std::string claim_text(const PlanReplicas& replicas, const PlanReplicaClaim& claim);

/// How many replicas its victims' deployments lose.
std::int64_t scaled_down(const PlanReplicas& replicas);

}  // namespace makeway

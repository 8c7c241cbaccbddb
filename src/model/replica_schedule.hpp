// ReplicaSchedule: a deployment that is scaled per plane and placed by another scheduler (SPEC
// section 4).
//
// The spec says what is wanted: so many replicas committed to each plane, so many unmet. A pod
// belongs to it by the label makeway.dev/deployment and its namespace; the plane is that of its
// node. The status is what the last plan left behind, and so an input of the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/amounts.hpp"
#include "model/kinds.hpp"

namespace makeway {

/// A plane as one deployment sees it.
struct ReplicaPlane {
  std::string name;
  std::int64_t committed = 0;  ///< Replicas that it should have there.
  std::int64_t score = 0;      ///< A penalty: lower is preferred.

  friend auto operator<=>(const ReplicaPlane&, const ReplicaPlane&) = default;
};

/// A pod whose room a claim counts on. Its plane is the claim's.
struct ClaimedVictim {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string deployment;  ///< In that namespace; empty: none.
  /// It was taken by lowering its deployment's commit in the plane to this. None: it was leaving,
  /// or surplus, when it was claimed.
  std::optional<std::int64_t> committed;
  std::optional<Time> force_deleted;  ///< When a plan had it force-deleted.

  friend auto operator<=>(const ClaimedVictim&, const ClaimedVictim&) = default;
};

/// Room on a node for one replica, once the victims are gone.
struct ReplicaClaim {
  Time since;
  std::string plane;
  std::string node;
  std::vector<ClaimedVictim> victims;  ///< Sorted.

  friend auto operator<=>(const ReplicaClaim&, const ReplicaClaim&) = default;
};

/// A pod of the deployment that is more than the commit of its plane.
struct SurplusPod {
  std::string name;
  std::string plane;  ///< Of its key; empty: home, also where a label says the plane.
  Time since;

  friend auto operator<=>(const SurplusPod&, const SurplusPod&) = default;
};

/// Where a claim of this schedule came to nothing: the deployment was scaled down for it, and
/// Kubernetes removed another pod than the one on the node.
struct MissedVictim {
  std::string plane;
  std::string node;
  std::string namespace_name;
  std::string deployment;
  std::int64_t committed = 0;  ///< The lowest commit with which that happened.

  friend auto operator<=>(const MissedVictim&, const MissedVictim&) = default;
};

struct ReplicaStatus {
  std::vector<ReplicaClaim> claims;  ///< Of its unmet replicas; sorted.
  std::vector<MissedVictim> missed;  ///< While it has unmet replicas; sorted.
  std::vector<SurplusPod> surplus;   ///< Sorted.

  friend bool operator==(const ReplicaStatus&, const ReplicaStatus&) = default;
};

struct ReplicaSchedule {
  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string plane;  ///< Empty: home.
  std::optional<Time> created;
  std::string deployment;  ///< Never empty: its own name where nothing is said.
  std::string priority_class;
  std::optional<std::int32_t> priority;
  Amounts requests;  ///< Of one replica.
  Labels selector;   ///< Only pods with all of these belong to it (trust.hpp); empty: all.
  std::int64_t unmet = 0;
  std::vector<ReplicaPlane> planes;  ///< Sorted by name.
  ReplicaStatus status;

  friend bool operator==(const ReplicaSchedule&, const ReplicaSchedule&) = default;
};

/// Limits that keep sums of counts far from the ends of int64.
inline constexpr std::int64_t replicas_max = 1'000'000;
inline constexpr std::int64_t plane_score_max = 1'000'000'000;

/// Fills in the deployment's name and sorts the lists.
void normalize(ReplicaSchedule& schedule);

}  // namespace makeway

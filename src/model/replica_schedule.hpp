// ReplicaSchedule: a deployment that is scaled per plane and placed by somebody else (SPEC section
// 4).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/amounts.hpp"
#include "model/object_kind.hpp"

namespace makeway {

/// A plane as one deployment sees it.
struct ReplicaPlane {
  std::string name;
  std::int64_t committed = 0;  ///< Replicas that it should have there.
  std::int64_t score = 0;      ///< A penalty: lower is preferred.

  friend auto operator<=>(const ReplicaPlane&, const ReplicaPlane&) = default;
};

struct ReplicaSchedule {
  static constexpr ObjectKind kind = ObjectKind::replica_schedule;
  static constexpr std::string_view kind_name = "ReplicaSchedule";
  static constexpr bool is_namespaced = true;

  std::string namespace_name;
  std::string name;
  std::string uid;
  std::string priority_class;
  std::optional<std::int32_t> priority;
  Amounts requests;  ///< Of one replica.
  std::int64_t unmet = 0;
  std::vector<ReplicaPlane> planes;  ///< Sorted by name.

  friend bool operator==(const ReplicaSchedule&, const ReplicaSchedule&) = default;
};

}  // namespace makeway

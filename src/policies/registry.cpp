#include "policies/registry.hpp"

#include <array>

#include "policies/queue/queue_policy.hpp"
#include "policies/replica/replica_policy.hpp"
#include "policies/required_node/required_node_policy.hpp"
#include "policies/session/session_policy.hpp"
#include "policies/workload/workload_policy.hpp"

namespace makeway {

std::span<const PolicyRow> policies() {
  static constexpr std::array rows = {
      PolicyRow{.stage = Stage::before_asks, .make = make_queue_policy},
      PolicyRow{.stage = Stage::asks, .make = make_required_node_policy},
      PolicyRow{.stage = Stage::asks, .make = make_workload_policy},
      PolicyRow{.stage = Stage::asks, .make = make_session_policy},
      PolicyRow{.stage = Stage::after_asks, .make = make_replica_policy},
  };
  return rows;
}

}  // namespace makeway

// Which policies there are, and which stage of a cycle they belong to (SPEC section 1).
#pragma once

#include <memory>
#include <span>

#include "policies/policy.hpp"

namespace makeway {

/// In this order.
enum class Stage : std::uint8_t {
  before_asks,  ///< Queues divide the cluster and take back what is theirs.
  asks,         ///< All asks in one list; each is handled by exactly one policy.
  after_asks,   ///< Replicas whose placement is not ours get what is left.
};

struct PolicyRow {
  Stage stage;
  /// Null: it has nothing to do in this cycle.
  std::unique_ptr<Policy> (*make)(const PolicyContext& context);
};

/// In the order in which their asks are collected.
std::span<const PolicyRow> policies();

}  // namespace makeway

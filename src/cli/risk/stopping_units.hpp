// What a running pod stops with: it may stay where it is and still be of no use, because others of
// its JobSet, its gang, its group of a LeaderWorkerSet, ... leave (SPEC section 7).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway::cli {

/// A unit that stops as a whole.
struct StoppingUnit {
  std::string unit;                ///< "JobSet shop/train", "PodGroup shop/gang"
  std::int64_t losses = 1;         ///< Where so many of its pods are evicted, the others stop.
  std::vector<std::string> nodes;  ///< Of the others whose loss counts; sorted, each once.
};

/// Units that stop the pod when others of them are evicted; by name.
std::vector<StoppingUnit> stopping_units(const Cluster& cluster, PodIndex pod);

/// The unit with which the pod stops when the ask's victims leave; empty: it does not stop, or is
/// evicted itself.
std::string stops_with(const PlanAsk& ask, const Cluster& cluster, PodIndex pod);

}  // namespace makeway::cli

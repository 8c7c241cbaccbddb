// What would be different in this cluster if Makeway scheduled it: for users who come from
// kube-scheduler, Kueue, Volcano, YuniKorn or KAI (docs/adopt.md).
//
// No problems: everything listed here is legal and works today. O(pods + nodes).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

struct Difference {
  static constexpr std::size_t examples_max = 3;

  std::string what;                   ///< "pods of scheduler volcano"
  std::uint64_t count = 0;            ///< Of these.
  std::vector<std::string> examples;  ///< The first by name, at most three.
  std::string today;
  std::string here;
  std::string remedy;  ///< Empty: nothing needs to be done.

  friend bool operator==(const Difference&, const Difference&) = default;
};

/// What needs action comes first; within one sort by name. As a live run would treat the cluster.
std::vector<Difference> find_differences(const Cluster& cluster,
                                         const Configuration& configuration);

}  // namespace makeway

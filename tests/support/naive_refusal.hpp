// What the judge's feasibility says about default/ask, for tables of small clusters.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string_view>

#include "judge/naive_fit.hpp"

namespace makeway {

template <class... Objects>
Cluster cluster_of(const Objects&... objects) {
  Cluster cluster;
  (cluster.apply(objects), ...);
  return cluster;
}

/// The reason why default/ask does not fit on the node; nothing when it fits.
inline std::optional<RefusalReason> refusal(const Cluster& cluster, std::string_view on) {
  NaiveWorld world(cluster);
  const NaiveFit fit(world, *cluster.find_pod("default", "ask"));
  const NodeIndex at = *cluster.find_node(on);
  const MaybeRefusal refused = fit.refusal(at);
  EXPECT_EQ(fit.fits(at), !refused);
  if (!refused) return std::nullopt;
  return refused->reason;
}

}  // namespace makeway

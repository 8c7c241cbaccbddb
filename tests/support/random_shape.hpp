// Random demands of pods on their place, over small pools of labels, so that they meet.
// Part of random_planning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "model/objects.hpp"
#include "support/random_planning.hpp"
#include "support/random_volumes.hpp"

namespace makeway {

inline constexpr std::string_view zone_key = "topology.kubernetes.io/zone";

class RandomShapes {
 public:
  RandomShapes(Prng& random, const RandomPlanning& options) : random_(random), options_(options) {}

  std::string space();  ///< The name of a namespace.
  std::vector<Namespace> namespaces();
  Labels labels();  ///< Of a pod.
  std::string zone();
  std::vector<Taint> taints();
  LabelSelector selector();

  RandomVolumes volumes() { return {random_, std::string(zone_key), "zone"}; }

  /// What matters of a pod that has its place: the pods that it repels and its ports, mostly.
  PodShape of_bound(const Pod& pod);
  PodShape of_ask(const Pod& pod);
  /// Whether they cannot be on one node because of their ports.
  static bool clash(const PodShape& a, const PodShape& b);

 private:
  bool on(bool feature, std::uint64_t percent) { return feature && random_.chance(percent); }
  std::string application();
  Taint taint();
  Toleration toleration();
  HostPort port();
  std::string topology_key();
  Requirement label_requirement();
  Requirement node_requirement();
  NodeSelectorTerm node_term();
  PodAffinityTerm term(const Pod& pod, bool of_itself);
  SpreadConstraint constraint(const Pod& pod);
  void demand_nodes(PodShape& shape);
  void add_preferences(const Pod& pod, PodShape& shape);

  Prng& random_;
  const RandomPlanning& options_;
};

}  // namespace makeway

// Full clusters and the asks that want in, for the planning benchmark. The same on every machine.
//
// Every node has 64 cpu, 256Gi of memory and room for 110 pods, and its pods hold all of the cpu
// and memory. An ask needs two and a half average pods' worth, so about three must leave for it.
//   random    priorities 0 to 899, sizes and start times at random
//   uniform   all nodes alike, all pods alike: every bound ties
// A gang asks with members of that size, all of which it needs. The pods in its way leave one by
// one, or belong to gangs of about eight that are spread over the cluster and leave as a whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "model/cluster.hpp"

namespace makeway::bench {

/// The moment for which these clusters are made, and their newest time: 2026-01-01T00:00:00Z.
inline constexpr Time plan_now{1'767'225'600'000};

enum class ClusterKind : std::uint8_t { random, uniform };

std::string_view kind_text(ClusterKind kind);  ///< "random"

/// What is pending.
enum class AskMix : std::uint8_t {
  one,        ///< default/ask
  classes,    ///< Many, in 100 classes of equal size and priority.
  different,  ///< Many, all of different size and priority.
};

struct ClusterCase {
  std::size_t nodes = 0;
  std::size_t pods_per_node = 0;
  ClusterKind kind = ClusterKind::random;
  bool budgets = false;        ///< Budgets govern one app in ten; every other one allows nothing.
  bool anti_affinity = false;  ///< The ask repels three of the 50 apps from its node.
  bool spread = false;         ///< The ask is spread over three zones with the pods of one app.
  bool verdict = false;        ///< On every node, a pod more important than the ask is in the way.
  AskMix mix = AskMix::one;
  std::size_t asks = 1;
  std::size_t members = 0;    ///< Not 0: the ask is the gang default/ask of so many.
  bool victim_gangs = false;  ///< The pods there belong to gangs that leave as a whole.
  std::size_t domains = 1;    ///< More than 1: the gang must be in one of so many racks.
};

/// "random-5000x30-budgets"
std::string case_name(const ClusterCase& item);

/// What stands behind the size in the name: "budgets", "-" for nothing.
std::string options_text(const ClusterCase& item);

Cluster make_cluster(const ClusterCase& item);

/// The same cluster, its objects applied in another order.
Cluster make_shuffled_cluster(const ClusterCase& item);

/// Members that a rack (without racks, the cluster) holds when all other pods have left.
std::size_t members_max(const ClusterCase& item);

}  // namespace makeway::bench

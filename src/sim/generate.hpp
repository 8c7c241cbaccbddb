// A generated load: Poisson arrivals with a daily rhythm, run times with a heavy tail.
//
//   nodes=100,pods=10000,cpus=64,gpus=8,load=120,gangs=20,priorities=3,queues=0,services=10
//
// Tasks that want to be near want all their pods in one zone; tasks that want to be apart, no two
// of them on one node; tasks that are spread have at most one pod more in a zone than in any other
// (for pods that are alone: of all such pods).
//
// Integers and tables only, so that the same seed gives the same bytes on every machine. The span
// of arrivals follows from `load`: the work that arrives in it is that share of what the nodes can
// do in it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "sim/load.hpp"

namespace makeway {

struct GenerateOptions {
  std::int64_t nodes = 100;
  std::int64_t pods = 10'000;
  std::int64_t cpus = 64;       ///< Of a node.
  std::int64_t gpus = 0;        ///< Of a node.
  std::int64_t load = 120;      ///< Percent of what the nodes can do.
  std::int64_t gangs = 10;      ///< Percent of the tasks.
  std::int64_t services = 10;   ///< Percent of the tasks.
  std::int64_t priorities = 3;  ///< 0, 100, 200, ...; the higher, the rarer.
  std::int64_t queues = 0;      ///< 0: none.
  std::int64_t checkpoint = 0;  ///< Seconds between two; 0: work is never saved.
  std::int64_t daemons = 0;     ///< DaemonSets that are rolled out over all nodes.
  /// Percent of the tasks, and of the nodes: these belong to resource groups.
  std::int64_t sessions = 0;
  /// Percent of the tasks, and of the nodes: these belong to planes.
  std::int64_t replicas = 0;
  std::int64_t planes = 2;
  /// Percent of the tasks that are jobs, gangs or services: they want to be near, or apart.
  std::int64_t affinity = 0;
  std::int64_t anti_affinity = 0;
  std::int64_t spread = 0;  ///< Over the zones, in the same way.
  std::int64_t zones = 3;   ///< That the nodes are in, where a task asks for it.
};

/// "nodes=10,pods=500"; the others have their defaults.
Result<GenerateOptions> parse_generate(std::string_view text);

SimLoad generate_load(const GenerateOptions& options, std::uint64_t seed, Time start);

}  // namespace makeway

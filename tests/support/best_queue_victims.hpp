// The best victims of a queue by trying every set of candidates: what "Victims inside a queue" in
// docs/decisions/0008-queues.md demands, letter by letter. For small queues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/naive_queues.hpp"
#include "model/cluster.hpp"
#include "model/configuration.hpp"

namespace makeway {

/// Pods by namespace/name, sorted. Nothing: the queue has more candidates than can be tried.
/// `needed`: what must leave of each divided resource; if that is more than can, all that can.
std::optional<std::vector<std::string>> best_queue_victims(const Cluster& cluster,
                                                           const Configuration& configuration,
                                                           Time now, const NaiveQueues& queues,
                                                           std::size_t queue,
                                                           const std::vector<std::int64_t>& needed);

}  // namespace makeway

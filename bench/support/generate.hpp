// Inputs for the benchmarks: PodLists as text, clusters as objects. The same on every machine.
#pragma once

#include <cstddef>
#include <string>

#include "base/prng.hpp"
#include "model/objects.hpp"

namespace makeway::bench {

/// A pod of a Deployment on a cluster of `nodes`, number `index` of many.
Pod sample_pod(std::size_t index, std::size_t nodes, Prng& random);
Node sample_node(std::size_t index);

/// As `kubectl get pods -o json` prints them: indented, 5 to 7 KB a pod.
std::string kubectl_pod_list(std::size_t pods, std::size_t nodes);
/// One of its pods as a watch shows it: the same on one line.
std::string wire_pod(std::size_t index, std::size_t nodes, Prng& random);
/// Only what matters, on one line: about 530 bytes a pod.
std::string compact_pod_list(std::size_t pods, std::size_t nodes);

}  // namespace makeway::bench

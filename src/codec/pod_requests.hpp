// What a pod asks for in all: the arithmetic of Kubernetes, without any text format.
//
// Per resource, on exact quantities, rounded up once at the end:
//  1. A container's request is what it says; what it only limits, it requests (as the API server
//     fills in). With an in-place resize under way it is the largest of the request, what the node
//     has allocated and what the container really runs with; when the resize was found infeasible,
//     the request does not count.
//  2. sum(containers) + sum(restartable init containers, "sidecars") ...
//  3. ... but at least what each init container needs while it runs: itself plus the sidecars
//     started before it.
//  4. Pod-level requests replace the sums for cpu, memory and huge pages; they are resized like 1.
//  5. Overhead comes on top.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "codec/quantity.hpp"
#include "model/objects.hpp"

namespace makeway {

struct ResourceQuantity {
  std::string_view resource;
  ExactQuantity quantity;
};
using ResourceList = std::vector<ResourceQuantity>;  ///< Few entries, each resource once.

struct ContainerResources {
  std::string_view name;
  bool restartable = false;  ///< Of an init container: restartPolicy Always.
  ResourceList requests;
  ResourceList limits;
  // From the status of a container that can be resized in place.
  bool has_status = false;
  ResourceList allocated;
  ResourceList actual;
};

struct PodResources {
  std::vector<ContainerResources> containers;
  std::vector<ContainerResources> init_containers;
  ResourceList requests;  ///< Pod level.
  ResourceList limits;
  ResourceList allocated;  ///< Pod level, from the status, while a resize is under way.
  ResourceList actual;
  ResourceList overhead;
  bool resize_infeasible = false;
};

/// The total in the resources' units, sorted, without zeros. An amount beyond what a quantity may
/// be is cut to the largest one: the sum of refusable parts has been refused before.
Amounts pod_requests(const PodResources& pod);
/// The same into a buffer that is used again.
void pod_requests(const PodResources& pod, Amounts& amounts);

}  // namespace makeway

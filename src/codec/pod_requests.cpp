#include "codec/pod_requests.hpp"

#include <algorithm>

#include "model/resource.hpp"

namespace makeway {
namespace {

Quantity* find(ResourceList& list, std::string_view resource) {
  const auto found = std::ranges::find(list, resource, &ResourceQuantity::resource);
  return found == list.end() ? nullptr : &found->quantity;
}

void add(ResourceList& total, const ResourceList& more) {
  for (const ResourceQuantity& item : more) {
    if (Quantity* const there = find(total, item.resource)) {
      *there = checked_add(*there, item.quantity).value_or(*there);
    } else {
      total.push_back(item);
    }
  }
}

void raise(ResourceList& total, const ResourceList& floor) {
  for (const ResourceQuantity& item : floor) {
    if (Quantity* const there = find(total, item.resource)) {
      *there = std::max(*there, item.quantity);
    } else {
      total.push_back(item);
    }
  }
}

/// Adds those entries of `defaults` that the list does not have.
void complete(ResourceList& list, const ResourceList& defaults) {
  for (const ResourceQuantity& item : defaults) {
    if (find(list, item.resource) == nullptr) list.push_back(item);
  }
}

ResourceList container_requests(const ContainerResources& container, bool resize_infeasible) {
  ResourceList requests = container.requests;
  complete(requests, container.limits);
  if (!container.has_status) return requests;
  if (resize_infeasible) requests.clear();
  raise(requests, container.actual);
  raise(requests, container.allocated);
  return requests;
}

bool counts_at_pod_level(std::string_view resource) {
  return resource == cpu_name || resource == memory_name || resource.starts_with("hugepages-");
}

void apply_pod_level(ResourceList& total, const PodResources& pod) {
  ResourceList level = pod.requests;
  if (!level.empty()) {
    if (pod.resize_infeasible && !pod.actual.empty()) level.clear();
    raise(level, pod.actual);
    raise(level, pod.allocated);
  }
  for (const ResourceQuantity& item : level) {
    if (!counts_at_pod_level(item.resource)) continue;
    if (Quantity* const there = find(total, item.resource)) {
      *there = item.quantity;
    } else {
      total.push_back(item);
    }
  }
  // A limit alone is the request, unless the containers asked for something themselves; huge pages
  // are never overcommitted, so there the pod's limit counts in any case.
  for (const ResourceQuantity& item : pod.limits) {
    if (!counts_at_pod_level(item.resource)) continue;
    Quantity* const there = find(total, item.resource);
    if (there == nullptr) {
      total.push_back(item);
    } else if (item.resource.starts_with("hugepages-") && find(level, item.resource) == nullptr) {
      *there = item.quantity;
    }
  }
}

}  // namespace

namespace {

ResourceList total_of(const PodResources& pod) {
  ResourceList total;
  for (const ContainerResources& container : pod.containers) {
    add(total, container_requests(container, pod.resize_infeasible));
  }
  ResourceList sidecars;
  ResourceList peak;
  for (const ContainerResources& container : pod.init_containers) {
    // Only sidecars can be resized; an ordinary init container runs as it was specified.
    ContainerResources seen = container;
    seen.has_status = container.has_status && container.restartable;
    ResourceList requests = container_requests(seen, pod.resize_infeasible);
    if (container.restartable) {
      add(total, requests);
      add(sidecars, requests);
      requests = sidecars;
    } else {
      add(requests, sidecars);
    }
    raise(peak, requests);
  }
  raise(total, peak);
  apply_pod_level(total, pod);
  add(total, pod.overhead);
  return total;
}

/// One container that says what it requests: most pods, and nothing has to be added up.
bool is_plain(const PodResources& pod) {
  return pod.containers.size() == 1 && pod.init_containers.empty() && pod.requests.empty() &&
         pod.limits.empty() && pod.overhead.empty() && pod.containers.front().limits.empty() &&
         !pod.containers.front().has_status;
}

}  // namespace

void pod_requests(const PodResources& pod, Amounts& amounts) {
  amounts.clear();
  ResourceList sums;
  const bool plain = is_plain(pod);
  if (!plain) sums = total_of(pod);
  for (const ResourceQuantity& item : plain ? pod.containers.front().requests : sums) {
    const Scale scale = counted_in_thousandths(item.resource) ? Scale::milli : Scale::one;
    const std::int64_t amount = rounded_up(item.quantity, scale).value_or(quantity_amount_max);
    if (amount <= 0 || item.resource == pods_name) continue;
    amounts.push_back({.resource = std::string(item.resource), .amount = amount});
  }
  std::ranges::sort(amounts);
}

Amounts pod_requests(const PodResources& pod) {
  Amounts amounts;
  pod_requests(pod, amounts);
  return amounts;
}

}  // namespace makeway

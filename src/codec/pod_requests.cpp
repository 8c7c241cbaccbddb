#include "codec/pod_requests.hpp"

#include <algorithm>
#include <unordered_map>

#include "model/resource.hpp"

namespace makeway {
namespace {

/// Amounts by resource. A few are found by looking, many by an index: hostile pods name thousands.
class ResourceSums {
 public:
  explicit ResourceSums(ResourceList list = {}) : list_(std::move(list)) {}

  const ResourceList& list() const { return list_; }
  void clear() {
    list_.clear();
    index_.clear();
    indexed_ = 0;
  }

  ExactQuantity* find(std::string_view resource) {
    constexpr std::size_t few = 32;
    if (list_.size() <= few) {
      const auto found = std::ranges::find(list_, resource, &ResourceQuantity::resource);
      return found == list_.end() ? nullptr : &found->quantity;
    }
    for (; indexed_ < list_.size(); ++indexed_) {
      index_.try_emplace(list_[indexed_].resource, indexed_);
    }
    const auto found = index_.find(resource);
    return found == index_.end() ? nullptr : &list_[found->second].quantity;
  }

  void put(const ResourceQuantity& item) {
    if (ExactQuantity* const there = find(item.resource)) {
      *there = item.quantity;
    } else {
      list_.push_back(item);
    }
  }
  void add(const ResourceQuantity& item) {
    if (ExactQuantity* const there = find(item.resource)) {
      *there = checked_add(*there, item.quantity).value_or(*there);
    } else {
      list_.push_back(item);
    }
  }
  void raise(const ResourceQuantity& floor) {
    if (ExactQuantity* const there = find(floor.resource)) {
      *there = std::max(*there, floor.quantity);
    } else {
      list_.push_back(floor);
    }
  }
  void add(const ResourceList& more) {
    for (const ResourceQuantity& item : more) add(item);
  }
  void raise(const ResourceList& floor) {
    for (const ResourceQuantity& item : floor) raise(item);
  }
  /// Takes those entries of `defaults` that it does not have.
  void complete(const ResourceList& defaults) {
    for (const ResourceQuantity& item : defaults) {
      if (find(item.resource) == nullptr) list_.push_back(item);
    }
  }

 private:
  ResourceList list_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::size_t indexed_ = 0;  ///< So many of the list are in the index.
};

ResourceList container_requests(const ContainerResources& container, bool resize_infeasible) {
  ResourceSums requests(container.requests);
  requests.complete(container.limits);
  if (!container.has_status) return requests.list();
  if (resize_infeasible) requests.clear();
  requests.raise(container.actual);
  requests.raise(container.allocated);
  return requests.list();
}

bool counts_at_pod_level(std::string_view resource) {
  return resource == cpu_name || resource == memory_name || resource.starts_with("hugepages-");
}

void apply_pod_level(ResourceSums& total, const PodResources& pod) {
  ResourceSums level(pod.requests);
  if (!pod.requests.empty()) {
    if (pod.resize_infeasible && !pod.actual.empty()) level.clear();
    level.raise(pod.actual);
    level.raise(pod.allocated);
  }
  for (const ResourceQuantity& item : level.list()) {
    if (counts_at_pod_level(item.resource)) total.put(item);
  }
  // A limit alone is the request, unless the containers asked for something themselves; huge pages
  // are never overcommitted, so there the pod's limit counts in any case.
  for (const ResourceQuantity& item : pod.limits) {
    if (!counts_at_pod_level(item.resource)) continue;
    const bool huge = item.resource.starts_with("hugepages-");
    if (total.find(item.resource) == nullptr || (huge && level.find(item.resource) == nullptr)) {
      total.put(item);
    }
  }
}

ResourceList total_of(const PodResources& pod) {
  ResourceSums total;
  for (const ContainerResources& container : pod.containers) {
    total.add(container_requests(container, pod.resize_infeasible));
  }
  ResourceSums sidecars;
  ResourceSums peak;
  for (const ContainerResources& container : pod.init_containers) {
    // Only sidecars can be resized; an ordinary init container runs as it was specified.
    const bool resized = container.has_status && container.restartable;
    const ResourceList requests = resized || !container.has_status
                                      ? container_requests(container, pod.resize_infeasible)
                                      : container_requests({.name = container.name,
                                                            .requests = container.requests,
                                                            .limits = container.limits},
                                                           pod.resize_infeasible);
    if (container.restartable) {
      total.add(requests);
      sidecars.add(requests);
    }
    // Of what it does not name the sidecars before it have been counted.
    for (const ResourceQuantity& item : requests) {
      ExactQuantity here = item.quantity;
      if (const ExactQuantity* const running = sidecars.find(item.resource)) {
        here = container.restartable ? *running : checked_add(here, *running).value_or(here);
      }
      peak.raise({.resource = item.resource, .quantity = here});
    }
  }
  total.raise(peak.list());
  apply_pod_level(total, pod);
  total.add(pod.overhead);
  return total.list();
}

/// One container that says what it requests: most pods, and nothing has to be added up.
bool is_plain(const PodResources& pod) {
  constexpr std::size_t few = 32;  // Among many a name may come twice.
  return pod.containers.size() == 1 && pod.containers.front().requests.size() <= few &&
         pod.init_containers.empty() && pod.requests.empty() && pod.limits.empty() &&
         pod.overhead.empty() && pod.containers.front().limits.empty() &&
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

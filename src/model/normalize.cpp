#include "model/normalize.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_math.hpp"
#include "model/names.hpp"
#include "model/resource.hpp"

namespace makeway {
namespace {

/// Most lists are short and already in order: look before sorting.
template <class T>
void sort_unique(std::vector<T>& items) {
  if (items.size() < 2) return;
  if (!std::ranges::is_sorted(items)) std::ranges::sort(items);
  const auto repeated = std::ranges::unique(items);
  items.erase(repeated.begin(), repeated.end());
}

void normalize(Requirement& requirement) { sort_unique(requirement.values); }
void normalize(NodeSelectorTerm& term);
void normalize(PodAffinityTerm& term);

template <class Term>
void normalize_all(std::vector<Term>& terms) {
  for (Term& term : terms) normalize(term);
  sort_unique(terms);
}

void normalize(NodeSelectorTerm& term) {
  normalize_all(term.labels);
  normalize_all(term.fields);
}

void normalize(PodAffinityTerm& term) {
  if (term.selector) makeway::normalize(*term.selector);
  if (term.namespace_selector) makeway::normalize(*term.namespace_selector);
  sort_unique(term.namespaces);
}

void identify(ClaimUse& use, const Pod& pod) {
  const bool own = use.kind == ClaimKind::own_volume || use.kind == ClaimKind::own_resource;
  use.namespace_name = pod.namespace_name;
  use.pod = own ? pod.name : "";
  use.pod_uid = own ? pod.uid : "";
  if (!own) use.local.clear();
  if (use.kind == ClaimKind::own_volume) use.name = pod.name + "-" + use.local;
}

bool is_of_volume(const ClaimUse& use) {
  return use.kind == ClaimKind::volume || use.kind == ClaimKind::own_volume;
}

}  // namespace

/// Of a key given twice the last value counts, as in Go's maps and so in Kubernetes.
void normalize(Labels& labels) {
  if (std::ranges::adjacent_find(labels, std::ranges::greater_equal{}, &Label::key) ==
      labels.end()) {
    return;
  }
  std::vector<std::size_t> by_key(labels.size());
  for (std::size_t at = 0; at < by_key.size(); ++at) by_key[at] = at;
  std::ranges::sort(by_key, {}, [&labels](std::size_t at) {
    return std::pair(std::string_view(labels[at].key), at);
  });
  Labels sorted;
  for (std::size_t k = 0; k < by_key.size(); ++k) {
    Label& label = labels[by_key[k]];
    const bool given_again = k + 1 < by_key.size() && labels[by_key[k + 1]].key == label.key;
    if (!given_again) sorted.push_back(std::move(label));
  }
  labels = std::move(sorted);
}

void normalize(Amounts& amounts) {
  const bool positive = std::ranges::all_of(
      amounts, [](const Amount& amount) { return amount.amount > 0 && !amount.resource.empty(); });
  const bool ascending = std::ranges::adjacent_find(amounts, std::ranges::greater_equal{},
                                                    &Amount::resource) == amounts.end();
  if (positive && ascending) return;  // Nearly always.
  std::ranges::sort(amounts);
  Amounts merged;
  for (Amount& amount : amounts) {
    if (amount.amount <= 0 || amount.resource.empty()) continue;
    if (!merged.empty() && merged.back().resource == amount.resource) {
      merged.back().amount = saturated_add(merged.back().amount, amount.amount);
    } else {
      merged.push_back(std::move(amount));
    }
  }
  amounts = std::move(merged);
}

void normalize(LabelSelector& selector) { normalize_all(selector.requirements); }

void normalize(PodShape& shape) {
  normalize(shape.node_selector);
  normalize_all(shape.node_terms);
  sort_unique(shape.tolerations);
  sort_unique(shape.ports);
  normalize_all(shape.affinity);
  normalize_all(shape.anti_affinity);
  for (auto* const constraints : {&shape.spread, &shape.preferences.spread}) {
    for (SpreadConstraint& constraint : *constraints) {
      if (constraint.selector) normalize(*constraint.selector);
    }
    sort_unique(*constraints);
  }
  // The same preference twice counts twice.
  for (NodePreference& preference : shape.preferences.nodes) normalize(preference.term);
  for (PodPreference& preference : shape.preferences.pods) normalize(preference.term);
  std::ranges::sort(shape.preferences.nodes);
  std::ranges::sort(shape.preferences.pods);
  sort_unique(shape.claims);
  sort_unique(shape.unsupported);
}

void normalize(Pod& pod) {
  normalize(pod.labels);
  normalize(pod.notes.marks);
  normalize(pod.requests);
  std::erase_if(pod.requests, [](const Amount& amount) { return amount.resource == pods_name; });
  // A term that names no namespace means the pod's own.
  const auto complete = [&](PodAffinityTerm& term) {
    if (!term.namespaces.empty() || term.namespace_selector) return;
    term.namespaces.push_back(pod.namespace_name);
  };
  for (PodAffinityTerm& term : pod.shape.affinity) complete(term);
  for (PodAffinityTerm& term : pod.shape.anti_affinity) complete(term);
  for (PodPreference& preference : pod.shape.preferences.pods) complete(preference.term);
  for (ClaimUse& use : pod.shape.claims) identify(use, pod);
  normalize(pod.shape);
  sort_unique(pod.owners);
  sort_unique(pod.notes.loss_units);
  if (pod.scheduler == names::default_scheduler) pod.scheduler.clear();
  // A bound pod has its place, and a pod that is being deleted will never come (law 7).
  if (!pod.node.empty() || pod.deletion) pod.nominated_node.clear();
  if (pod.node.empty()) return;
  pod.shape.unsupported.clear();
  std::erase_if(pod.shape.claims, [](const ClaimUse& use) { return !is_of_volume(use); });
}

void normalize(Node& node) {
  normalize(node.labels);
  normalize(node.allocatable);
  sort_unique(node.taints);
}

void normalize(StorageClass& object) { normalize_all(object.topologies); }

void normalize(PersistentVolume& volume) {
  normalize(volume.zones);
  normalize_all(volume.node_terms);
}

void normalize(CsiNode& object) { sort_unique(object.limits); }

void normalize(ResourceClaim& claim) {
  normalize_all(claim.node_terms);
  sort_unique(claim.reserved_for);
}

void normalize(DisruptionBudget& budget) {
  if (budget.selector) normalize(*budget.selector);
  sort_unique(budget.disrupted_pods);
}

void normalize(Workload& workload) {
  std::ranges::stable_sort(workload.templates, {}, &GroupTemplate::name);
}

void normalize(Namespace& object) { normalize(object.labels); }

void normalize(Queue& queue) {
  normalize(queue.guarantee);
  normalize(queue.preempting);
  std::ranges::sort(queue.limit);
  std::ranges::sort(queue.allocated);
}

void normalize(ResourceGroup& group) {
  sort_unique(group.nodes);
  sort_unique(group.namespaces);
  normalize(group.node_selector);
}

void normalize(Partition& partition) { sort_unique(partition.nodes); }

void normalize(Session& session) {
  normalize(session.labels);
  normalize(session.annotations);
  for (Kernel& kernel : session.kernels) {
    normalize(kernel.requests);
    std::erase_if(kernel.requests, [](const Amount& item) { return item.resource == pods_name; });
    if (!kernel.node.empty()) kernel.nominated_node.clear();
  }
  std::ranges::sort(session.kernels, {}, &Kernel::name);
}

}  // namespace makeway

#include "model/columns.hpp"

namespace makeway {
namespace {

/// Calls `visit` with every fixed-width column of the pods.
template <class Columns, class Visit>
void each_column(Columns& pods, const Visit& visit) {
  visit(pods.flags);
  visit(pods.node);
  visit(pods.nominated);
  visit(pods.unit);
  visit(pods.requests);
  visit(pods.shape);
  visit(pods.labels);
  visit(pods.priority);
  visit(pods.priority_class);
  visit(pods.plane);
  visit(pods.namespace_name);
  visit(pods.scheduler);
  visit(pods.queue);
  visit(pods.owners);
  visit(pods.notes);
  visit(pods.created);
  visit(pods.started);
  visit(pods.deletion);
  visit(pods.deletion_grace_seconds);
  visit(pods.observed);
  visit(pods.name);
  visit(pods.uid);
}

template <class Columns, class Visit>
void each_node_column(Columns& nodes, const Visit& visit) {
  visit(nodes.flags);
  visit(nodes.plane);
  visit(nodes.name);
  visit(nodes.labels);
  visit(nodes.taints);
  visit(nodes.allocatable);
  visit(nodes.node_class);
  visit(nodes.claims);
  visit(nodes.created);
  visit(nodes.observed);
  visit(nodes.pods);
  visit(nodes.kernels);
  visit(nodes.leaving);
  visit(nodes.nominated);
  visit(nodes.uid);
}

}  // namespace

void PodColumns::resize(std::size_t slots) {
  each_column(*this, [slots](auto& column) { column.resize(slots); });
}

void PodColumns::shrink_to_fit() {
  each_column(*this, [](auto& column) { column.shrink_to_fit(); });
}

std::size_t PodColumns::bytes() const {
  std::size_t total = 0;
  each_column(*this, [&total](const auto& column) { total += column.bytes(); });
  return total;
}

void NodeColumns::resize(std::size_t slots) {
  each_node_column(*this, [slots](auto& column) { column.resize(slots); });
}

std::size_t NodeColumns::bytes() const {
  std::size_t total = 0;
  each_node_column(*this, [&total](const auto& column) { total += column.bytes(); });
  return total;
}

std::uint64_t hash_of(const NodeClass& node_class) {
  return hash_combine(hash_combine(node_class.labels.value, node_class.taints.value),
                      node_class.unschedulable ? 1 : 0);
}

std::uint64_t hash_of(const LabelPair& pair) {
  return hash_combine(pair.key.value, pair.value.value);
}

}  // namespace makeway

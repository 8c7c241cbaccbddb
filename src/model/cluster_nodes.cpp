// Nodes in the store: slots, classes, and nodes that are only named.
#include <algorithm>

#include "model/cluster.hpp"

namespace makeway {

std::optional<NodeIndex> Cluster::find_node(std::string_view name) const {
  const std::optional<StringId> id = strings_.find(name);
  if (!id) return std::nullopt;
  const auto found = nodes_by_key_.find(
      mix64(id->value), [&](std::uint32_t slot) { return nodes_.name[NodeIndex{slot}] == *id; });
  if (!found) return std::nullopt;
  return NodeIndex{*found};
}

NodeIndex Cluster::node_slot(std::string_view name) {
  if (const auto found = find_node(name)) return *found;
  NodeIndex slot;
  if (free_nodes_.empty()) {
    slot = NodeIndex::from(nodes_.slots());
    nodes_.resize(nodes_.slots() + 1);
    if (!bulk_) order_.resize_nodes(nodes_.slots());
  } else {
    slot = free_nodes_.back();
    free_nodes_.pop_back();
  }
  const StringId id = strings_.intern(name);
  nodes_.flags[slot] = {.used = true};
  nodes_.name[slot] = id;
  nodes_.labels[slot] = LabelSetId{0};
  nodes_.taints[slot] = taint_sets_.intern({});
  nodes_.allocatable[slot] = RequestId{0};
  nodes_.node_class[slot] = {};
  nodes_.created[slot] = no_time;
  nodes_.pods[slot] = 0;
  nodes_.kernels[slot] = 0;
  nodes_.leaving[slot] = 0;
  nodes_by_key_.insert(mix64(id.value), slot.value);
  return slot;
}

bool Cluster::apply(const Node& node) {
  const NodeIndex slot = node_slot(node.name);
  const bool is_new = !nodes_.flags[slot].exists;
  if (is_new) ++node_count_;
  if (is_new && !bulk_) list_node(slot);
  nodes_.flags[slot] = {.exists = true, .used = true, .unschedulable = node.unschedulable};
  nodes_.uid.set(slot.value, node.uid);
  nodes_.labels[slot] = intern_labels(node.labels);
  nodes_.taints[slot] = taint_sets_.intern(node.taints);
  nodes_.allocatable[slot] = intern_requests(node.allocatable, false);
  nodes_.created[slot] = node.created.value_or(no_time);
  if (!bulk_) classify(slot);
  return is_new;
}

bool Cluster::remove_node(std::string_view name) {
  const std::optional<NodeIndex> found = find_node(name);
  if (!found || !nodes_.flags[*found].exists) return false;
  --node_count_;
  std::erase(nodes_by_name_, *found);
  nodes_.flags[*found] = {.used = true};
  nodes_.uid.set(found->value, {});
  nodes_.labels[*found] = LabelSetId{0};
  nodes_.taints[*found] = taint_sets_.intern({});
  nodes_.allocatable[*found] = RequestId{0};
  nodes_.node_class[*found] = {};
  nodes_.created[*found] = no_time;
  drop_node_if_unused(*found);
  return true;
}

void Cluster::drop_node_if_unused(NodeIndex node) {
  if (nodes_.flags[node].exists || nodes_.pods[node] + nodes_.kernels[node] > 0) return;
  if (!nodes_.nominated[node].empty()) return;
  nodes_by_key_.erase(mix64(nodes_.name[node].value), node.value);
  nodes_.flags[node] = {};
  free_nodes_.push_back(node);
}

void Cluster::list_node(NodeIndex node) {
  const auto name_of = [this](NodeIndex each) { return text(nodes_.name[each]); };
  nodes_by_name_.insert(std::ranges::lower_bound(nodes_by_name_, name_of(node), {}, name_of), node);
}

void Cluster::list_all_nodes() {
  nodes_by_name_.clear();
  for (std::uint32_t slot = 0; slot < nodes_.slots(); ++slot) {
    if (nodes_.flags[NodeIndex{slot}].exists) nodes_by_name_.push_back(NodeIndex{slot});
  }
  std::ranges::sort(nodes_by_name_, {}, [this](NodeIndex node) { return text(nodes_.name[node]); });
}

void Cluster::classify(NodeIndex node) {
  std::vector<LabelPair> kept;
  for (const LabelPair& pair : label_sets_[nodes_.labels[node]]) {
    if (std::ranges::binary_search(selecting_keys_, pair.key)) kept.push_back(pair);
  }
  nodes_.node_class[node] =
      node_classes_.intern({.labels = label_sets_.intern(kept),
                            .taints = nodes_.taints[node],
                            .unschedulable = nodes_.flags[node].unschedulable});
}

void Cluster::classify_all() {
  node_classes_ = {};
  for (std::uint32_t slot = 0; slot < nodes_.slots(); ++slot) {
    if (nodes_.flags[NodeIndex{slot}].exists) classify(NodeIndex{slot});
  }
}

}  // namespace makeway

// Nodes in the store: slots, classes, and nodes that are only named.
#include <algorithm>
#include <utility>

#include "model/cluster.hpp"

namespace makeway {

namespace {

std::uint64_t node_hash(StringId plane, StringId name) {
  return mix64((std::uint64_t{plane.value} << 32U) | name.value);
}

}  // namespace

std::optional<NodeIndex> Cluster::find_node(std::string_view name, std::string_view plane) const {
  const std::optional<StringId> id = strings_.find(name);
  const std::optional<StringId> in = plane.empty() ? StringId{0} : strings_.find(plane);
  if (!id || !in) return std::nullopt;
  const auto found = nodes_by_key_.find(node_hash(*in, *id), [&](std::uint32_t slot) {
    return nodes_.name[NodeIndex{slot}] == *id && nodes_.plane[NodeIndex{slot}] == *in;
  });
  if (!found) return std::nullopt;
  return NodeIndex{*found};
}

NodeIndex Cluster::node_slot(std::string_view name, std::string_view plane) {
  if (const auto found = find_node(name, plane)) return *found;
  NodeIndex slot;
  if (free_nodes_.empty()) {
    slot = NodeIndex::from(nodes_.slots());
    nodes_.resize(nodes_.slots() + 1);
    if (!bulk_) order_.resize_nodes(nodes_.slots());
  } else {
    slot = free_nodes_.back();
    free_nodes_.pop_back();
  }
  nodes_.flags[slot] = {.used = true};
  nodes_.plane[slot] = strings_.intern(plane);
  nodes_.name[slot] = strings_.intern(name);
  nodes_.labels[slot] = LabelSetId{0};
  nodes_.taints[slot] = taint_sets_.intern({});
  nodes_.allocatable[slot] = RequestId{0};
  nodes_.node_class[slot] = {};
  nodes_.claims[slot] = {};
  nodes_.created[slot] = no_time;
  nodes_.observed[slot] = no_time;
  nodes_.pods[slot] = 0;
  nodes_.kernels[slot] = 0;
  nodes_.leaving[slot] = 0;
  nodes_by_key_.insert(node_hash(nodes_.plane[slot], nodes_.name[slot]), slot.value);
  return slot;
}

bool Cluster::apply(const Node& node) {
  const NodeIndex slot = node_slot(node.name, node.plane);
  const bool is_new = !nodes_.flags[slot].exists;
  if (is_new) ++node_count_;
  if (is_new && !bulk_) list_node(slot);
  nodes_.flags[slot] = {.exists = true, .used = true, .unschedulable = node.unschedulable};
  nodes_.uid.set(slot.value, node.uid);
  nodes_.labels[slot] = intern_labels(node.labels);
  nodes_.taints[slot] = taint_sets_.intern(node.taints);
  nodes_.allocatable[slot] = intern_requests(node.allocatable, false);
  nodes_.created[slot] = node.created.value_or(no_time);
  nodes_.observed[slot] = node.observed.value_or(no_time);
  if (!bulk_) {
    classify(slot);
    claim(slot);
  }
  return is_new;
}

bool Cluster::remove(KindTag<Node> /*kind*/, const Removal& removal) {
  const std::optional<NodeIndex> found = find_node(removal.name, removal.plane);
  if (!found || !nodes_.flags[*found].exists) return false;
  --node_count_;
  const bool listed = std::erase(nodes_by_name_, *found) > 0;  // Not while loading in bulk.
  if (listed && nodes_.plane[*found] == StringId{0}) --home_node_count_;
  set_claims(*found, {});
  nodes_.flags[*found] = {.used = true};
  nodes_.uid.set(found->value, {});
  nodes_.labels[*found] = LabelSetId{0};
  nodes_.taints[*found] = taint_sets_.intern({});
  nodes_.allocatable[*found] = RequestId{0};
  nodes_.node_class[*found] = {};
  nodes_.created[*found] = no_time;
  nodes_.observed[*found] = no_time;
  drop_node_if_unused(*found);
  return true;
}

void Cluster::drop_node_if_unused(NodeIndex node) {
  if (nodes_.flags[node].exists || nodes_.pods[node] + nodes_.kernels[node] > 0) return;
  if (!nodes_.nominated[node].empty()) return;
  nodes_by_key_.erase(node_hash(nodes_.plane[node], nodes_.name[node]), node.value);
  nodes_.flags[node] = {};
  free_nodes_.push_back(node);
}

bool Cluster::before_by_name(NodeIndex a, NodeIndex b) const {
  if (nodes_.plane[a] != nodes_.plane[b]) return text(nodes_.plane[a]) < text(nodes_.plane[b]);
  return text(nodes_.name[a]) < text(nodes_.name[b]);
}

void Cluster::list_node(NodeIndex node) {
  const auto before = [this](NodeIndex a, NodeIndex b) { return before_by_name(a, b); };
  nodes_by_name_.insert(std::ranges::lower_bound(nodes_by_name_, node, before), node);
  if (nodes_.plane[node] == StringId{0}) ++home_node_count_;
}

void Cluster::list_all_nodes() {
  nodes_by_name_.clear();
  home_node_count_ = 0;
  for (std::uint32_t slot = 0; slot < nodes_.slots(); ++slot) {
    const NodeIndex node{slot};
    if (!nodes_.flags[node].exists) continue;
    nodes_by_name_.push_back(node);
    if (nodes_.plane[node] == StringId{0}) ++home_node_count_;
  }
  std::ranges::sort(nodes_by_name_,
                    [this](NodeIndex a, NodeIndex b) { return before_by_name(a, b); });
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

// ---- Claims on nodes ----------------------------------------------------------------------------

void Cluster::set_claims(NodeIndex node, NodeClaims claims) {
  const auto any = [](NodeClaims each) { return each.sessions || each.replicas ? 1 : 0; };
  claimed_node_count_ += static_cast<std::size_t>(any(claims));
  claimed_node_count_ -= static_cast<std::size_t>(any(nodes_.claims[node]));
  nodes_.claims[node] = claims;
}

/// O(its labels + selectors of resource groups).
void Cluster::claim(NodeIndex node) {
  const std::span<const LabelPair> labels = label_sets_[nodes_.labels[node]];
  const auto selects = [&](const ResourceGroup& group) {
    return !group.node_selector.empty() &&
           std::ranges::all_of(group.node_selector, [&](const Label& wanted) {
             return std::ranges::any_of(labels, [&](const LabelPair& pair) {
               return text(pair.key) == wanted.key && text(pair.value) == wanted.value;
             });
           });
  };
  const bool home = nodes_.plane[node] == StringId{0};
  const bool listed =
      listed_nodes_.contains(text(nodes_.name[node])) ||
      (selecting_groups_ > 0 && std::ranges::any_of(own<ResourceGroup>(), [&](const auto& entry) {
         return selects(entry.second);
       }));
  const bool labelled =
      std::ranges::any_of(labels, [this](const LabelPair& pair) { return pair.key == plane_key_; });
  set_claims(node, {.sessions = home && listed, .replicas = !home || labelled});
}

void Cluster::claim_all() {
  for (const NodeIndex node : nodes_by_name_) claim(node);
}

bool Cluster::apply(const ResourceGroup& group) {
  auto& groups = map_of<ResourceGroup>(group.plane);
  const auto [at, is_new] = groups.try_emplace(owned(key_of(group)));
  const ResourceGroup before = std::exchange(at->second, group);
  if (!is_new) list_nodes(before, -1);
  list_nodes(group, 1);
  claim_listed(before);
  claim_listed(group);
  return is_new;
}

bool Cluster::remove(KindTag<ResourceGroup> /*kind*/, const Removal& removal) {
  auto& groups = map_of<ResourceGroup>(removal.plane);
  const auto found = groups.find({removal.namespace_name, removal.name, removal.plane});
  if (found == groups.end()) return false;
  const ResourceGroup before = std::move(found->second);
  groups.erase(found);
  list_nodes(before, -1);
  claim_listed(before);
  return true;
}

/// Groups of other planes claim nothing.
void Cluster::list_nodes(const ResourceGroup& group, int delta) {
  if (!group.plane.empty()) return;
  if (!group.node_selector.empty()) selecting_groups_ += delta;
  for (const std::string& name : group.nodes) {
    const auto at = listed_nodes_.try_emplace(name, 0).first;
    at->second += delta;
    if (at->second == 0) listed_nodes_.erase(at);
  }
}

/// The nodes that the group may have gained or lost.
void Cluster::claim_listed(const ResourceGroup& group) {
  if (bulk_ || !group.plane.empty()) return;
  if (!group.node_selector.empty()) return claim_all();
  for (const std::string& name : group.nodes) {
    const auto node = find_node(name);
    if (node && nodes_.flags[*node].exists) claim(*node);
  }
}

}  // namespace makeway

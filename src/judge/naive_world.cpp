#include "judge/naive_world.hpp"

#include <limits>
#include <span>

#include "base/check.hpp"
#include "base/checked_math.hpp"

namespace makeway {
namespace {

constexpr std::int64_t amount_max = std::numeric_limits<std::int64_t>::max();

}  // namespace

NaiveWorld::NaiveWorld(const Cluster& cluster, const NaiveRegimes* regimes)
    : cluster_(cluster),
      regimes_(regimes),
      columns_(cluster.resources().size()),
      where_(cluster.pods().node),
      saturated_(cluster.nodes().slots()),
      used_(cluster.nodes().slots() * columns_) {
  for (std::uint32_t slot = 0; slot < cluster.nodes().slots(); ++slot) {
    const NodeIndex node{slot};
    const bool home = cluster.nodes().plane[node] == StringId{0};  // Asks are at home.
    if (cluster.nodes().flags[node].exists && home) nodes_.push_back(node);
    const std::span<const std::int64_t> used = cluster.order().used(node);
    for (std::size_t column = 0; column < used.size(); ++column) {
      used_[slot * columns_ + column] = used[column];
      if (used[column] == amount_max) saturated_[node] = true;
    }
  }
  find_repelling();
}

void NaiveWorld::find_repelling() {
  const PodColumns& pods = cluster_.pods();
  std::vector<char> answers;  // By shape: 0 not asked yet, 1 no, 2 yes.
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    const ShapeId shape = pods.shape[pod];
    if (shape == ShapeId{0} || !pods.flags[pod].exists) continue;
    if (shape.value >= answers.size()) answers.resize(shape.value + 1);
    char& answer = answers[shape.value];
    if (answer == 0) answer = cluster_.shape(shape).anti_affinity.empty() ? 1 : 2;
    if (answer == 2) repelling_.push_back(pod);
  }
}

std::int64_t NaiveWorld::used(NodeIndex node, ResourceIndex resource) const {
  if (!saturated_[node]) return used_[node.value * columns_ + resource.value];
  std::int64_t sum = 0;
  for (const PodIndex pod : pods_on(node)) {
    for (const ResourceAmount& amount : cluster_.requests(cluster_.pods().requests[pod])) {
      if (amount.resource == resource) sum = saturated_add(sum, amount.amount);
    }
  }
  return sum;
}

std::vector<PodIndex> NaiveWorld::pods_on(NodeIndex node) const {
  std::vector<PodIndex> pods;
  for (const PodIndex pod : cluster_.order().pods(node)) {
    if (where_[pod] == node) pods.push_back(pod);
  }
  const auto placed = placed_.find(node);
  if (placed != placed_.end()) {
    pods.insert(pods.end(), placed->second.begin(), placed->second.end());
  }
  return pods;
}

const NodeDomains& NaiveWorld::domains(std::string_view label) {
  const auto [at, is_new] = domains_.try_emplace(label);
  NodeDomains& domains = at->second;
  if (!is_new) return domains;
  domains.of = IndexedVector<NodeIndex, std::uint32_t>(cluster_.nodes().slots(), NodeDomains::none);
  const std::optional<StringId> key = cluster_.strings().find(label);
  if (!key) return domains;
  std::map<StringId, std::uint32_t> numbers;
  for (const NodeIndex node : nodes_) {
    const std::optional<StringId> value = node_label(node, *key);
    if (value) domains.of[node] = numbers.try_emplace(*value, domains.count).first->second;
    domains.count = static_cast<std::uint32_t>(numbers.size());
  }
  return domains;
}

std::optional<StringId> NaiveWorld::node_label(NodeIndex node, StringId key) const {
  for (const LabelPair& pair : cluster_.labels(cluster_.nodes().labels[node])) {
    if (pair.key == key) return pair.value;
  }
  return std::nullopt;
}

void NaiveWorld::remove(PodIndex pod) {
  const NodeIndex node = where_[pod];
  CHECK(node.exists(), "removing a pod that is nowhere");
  ++changes_;
  where_[pod] = {};
  const auto placed = placed_.find(node);
  if (placed != placed_.end()) std::erase(placed->second, pod);
  for (const ResourceAmount& amount : cluster_.requests(cluster_.pods().requests[pod])) {
    std::int64_t& used = used_[node.value * columns_ + amount.resource.value];
    used = saturated_sub(used, amount.amount);
  }
}

void NaiveWorld::place(PodIndex pod, NodeIndex node) {
  CHECK(!where_[pod].exists(), "placing a pod that is somewhere");
  ++changes_;
  where_[pod] = node;
  if (cluster_.pods().node[pod] != node) placed_[node].push_back(pod);
  for (const ResourceAmount& amount : cluster_.requests(cluster_.pods().requests[pod])) {
    std::int64_t& used = used_[node.value * columns_ + amount.resource.value];
    used = saturated_add(used, amount.amount);
    if (used == amount_max) saturated_[node] = true;
  }
}

}  // namespace makeway

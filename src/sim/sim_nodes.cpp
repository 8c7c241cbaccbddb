#include "sim/sim_nodes.hpp"

#include <algorithm>
#include <variant>

#include "base/check.hpp"
#include "codec/workloads/node_match.hpp"
#include "model/cordon.hpp"

namespace makeway {
namespace {

constexpr std::string_view pods_resource = "pods";

}  // namespace

std::string place_name(const std::string& plane, const std::string& node) {
  return plane.empty() ? node : plane + ":" + node;
}

bool fits(const ResourceVector& wanted, const ResourceVector& used, const ResourceVector& room) {
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    if (wanted[at] == 0) continue;
    if (at >= room.size() || used[at] + wanted[at] > room[at]) return false;
  }
  return true;
}

SimNodes::SimNodes(const SimLoad& load) {
  for (const Change& object : load.objects) {
    if (const Node* const node = std::get_if<Node>(&object)) {
      for (const Amount& item : node->allocatable) column(item.resource);
    }
    if (const Pod* const pod = std::get_if<Pod>(&object)) row(pod->requests);
  }
  for (const SimTask& task : load.tasks) row(task.requests);
  column(std::string(pods_resource));
  for (const Change& object : load.objects) {
    if (const Node* const node = std::get_if<Node>(&object)) write(*node);
  }
}

void SimNodes::write(const Node& node) {
  const std::string name = place_name(node.plane, node.name);
  const auto [at, is_new] = nodes_.try_emplace(name);
  SimNode& entry = at->second;
  entry.object = node;
  entry.room = row(node.allocatable);
  entry.room.resize(std::max(entry.room.size(), entry.used.size()));
  entry.used.resize(entry.room.size());
  if (is_new) names_.insert(std::ranges::lower_bound(names_, name), name);
}

void SimNodes::remove(const std::string& name) {
  nodes_.erase(name);
  std::erase(names_, name);
}

std::size_t SimNodes::column(const std::string& resource) {
  const auto [at, is_new] = columns_.try_emplace(resource, columns_.size());
  if (is_new) resources_.push_back(resource);
  return at->second;
}

ResourceVector SimNodes::row(const Amounts& amounts) {
  ResourceVector result(columns_.size());
  for (const Amount& item : amounts) {
    const std::size_t at = column(item.resource);
    if (at >= result.size()) result.resize(at + 1);
    result[at] = item.amount;
  }
  return result;
}

ResourceVector SimNodes::pod_row(const Amounts& amounts) {
  ResourceVector result = row(amounts);
  ++result[column(std::string(pods_resource))];
  return result;
}

const SimNode* SimNodes::find(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() || !found->second.there ? nullptr : &found->second;
}

bool SimNodes::has_room(const std::string& node, const ResourceVector& wanted) const {
  const SimNode* const entry = find(node);
  return entry != nullptr && fits(wanted, entry->used, entry->room);
}

void SimNodes::occupy(const std::string& name, std::int32_t priority, const ResourceVector& amounts,
                      std::int64_t sign) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end() || !found->second.there) return;
  SimNode& node = found->second;
  ResourceVector& level = node.by_priority[priority];
  if (level.size() < amounts.size()) level.resize(amounts.size());
  if (node.used.size() < amounts.size()) {
    node.used.resize(amounts.size());
    node.room.resize(amounts.size());
  }
  for (std::size_t at = 0; at < amounts.size(); ++at) {
    node.used[at] += sign * amounts[at];
    level[at] += sign * amounts[at];
  }
}

bool SimNodes::may_run_on(const PodShape& shape, const SimNode& node) {
  if (!node.object.plane.empty()) return false;
  static const Taint cordon{.key = std::string(names::cordon_taint)};
  if (node.object.unschedulable && !is_tolerated(cordon, shape.tolerations)) return false;
  return makeway::may_run_on(shape, node.object.name, node.object.labels, node.object.taints);
}

void SimNodes::lose(const std::string& name, Time now) {
  SimNode& node = nodes_.at(name);
  node.there = false;
  node.lost_at = now;
  node.used.assign(node.room.size(), 0);
  node.by_priority.clear();
}

const Node& SimNodes::bring_back(const std::string& name, Time now) {
  SimNode& node = nodes_.at(name);
  CHECK(!node.there);
  node.there = true;
  node.away.ms += (now - node.lost_at).ms;
  return node.object;
}

}  // namespace makeway

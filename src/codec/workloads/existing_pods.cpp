#include "codec/workloads/existing_pods.hpp"

#include <algorithm>
#include <iterator>

namespace makeway {

ExistingPods::ExistingPods(const Cluster& cluster) : cluster_(&cluster) {
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_pod()) {
    if (pods.plane[pod] != StringId{0}) continue;
    const std::string namespace_name(cluster.text(pods.namespace_name[pod]));
    const auto& owners = cluster.owners(pods.owners[pod]);
    const auto controller = std::ranges::find(owners, true, &OwnerReference::controller);
    if (controller == owners.end()) {
      orphans_[namespace_name].push_back(pod);
    } else {
      by_controller_[{namespace_name, controller->kind, controller->name}].push_back(pod);
    }
  }
}

std::vector<PodIndex> ExistingPods::of(std::string_view namespace_name,
                                       const OwnerReference& controller) const {
  std::vector<PodIndex> own;
  const auto found = by_controller_.find(Key(namespace_name, controller.kind, controller.name));
  if (found == by_controller_.end()) return own;
  std::ranges::copy_if(found->second, std::back_inserter(own),
                       [&](PodIndex pod) { return is_controlled(pod, controller); });
  return own;
}

bool ExistingPods::is_controlled(PodIndex pod, const OwnerReference& controller) const {
  const auto& owners = cluster_->owners(cluster_->pods().owners[pod]);
  const auto owner = std::ranges::find(owners, true, &OwnerReference::controller);
  return owner != owners.end() && owner->kind == controller.kind &&
         owner->name == controller.name &&
         (owner->uid.empty() || controller.uid.empty() || owner->uid == controller.uid);
}

std::vector<std::string> ExistingPods::controllers(std::string_view namespace_name,
                                                   std::string_view kind,
                                                   std::string_view prefix) const {
  std::vector<std::string> names;
  for (auto at = by_controller_.lower_bound(Key(namespace_name, kind, prefix));
       at != by_controller_.end(); ++at) {
    const auto& [space, owner_kind, name] = at->first;
    if (space != namespace_name || owner_kind != kind || !name.starts_with(prefix)) break;
    names.push_back(name);
  }
  return names;
}

std::span<const PodIndex> ExistingPods::orphans(std::string_view namespace_name) const {
  const auto found = orphans_.find(namespace_name);
  return found == orphans_.end() ? std::span<const PodIndex>{} : std::span(found->second);
}

bool ExistingPods::has(std::string_view namespace_name, std::string_view name) const {
  return cluster_->find_pod(namespace_name, name).has_value();
}

bool ExistingPods::is_active(PodIndex pod) const {
  return cluster_->pods().deletion[pod] == no_time;
}

bool ExistingPods::is_pending(PodIndex pod) const {
  return is_active(pod) && !cluster_->pods().node[pod].exists();
}

std::optional<std::string_view> ExistingPods::label(PodIndex pod, std::string_view key) const {
  for (const LabelPair& pair : cluster_->labels(cluster_->pods().labels[pod])) {
    if (cluster_->text(pair.key) == key) return cluster_->text(pair.value);
  }
  return std::nullopt;
}

}  // namespace makeway

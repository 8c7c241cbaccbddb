#include "judge/naive_claims.hpp"

#include <algorithm>
#include <map>

#include "model/names.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

bool of_volume(const ClaimUse& use) {
  return use.kind == ClaimKind::volume || use.kind == ClaimKind::own_volume;
}

bool made_for_pod(const ClaimUse& use) {
  return use.kind == ClaimKind::own_volume || use.kind == ClaimKind::own_resource;
}

template <class Claim>
bool made_for(const Claim& claim, const ClaimUse& use) {
  const bool uids = !claim.owner_uid.empty() && !use.pod_uid.empty();
  return uids ? claim.owner_uid == use.pod_uid : claim.owner == use.pod;
}

template <class Object>
const Object* look_up(const Cluster& cluster, const std::string& space, const std::string& name) {
  const ObjectMap<Object>& all = cluster.own<Object>();
  const auto at = all.find(ObjectKey{.namespace_name = space, .name = name});
  return at == all.end() ? nullptr : &at->second;
}

}  // namespace

NaiveClaims::NaiveClaims(const NaiveWorld& world, PodIndex ask)
    : world_(world),
      cluster_(world.cluster()),
      ask_(ask),
      uses_(cluster_.shape(cluster_.pods().shape[ask]).claims) {
  for (const ClaimUse& use : uses_) {
    const std::optional<RefusalReason> refused = verdict(use);
    if (!refused) continue;
    if (!refusal_everywhere_ || *refused == RefusalReason::claim) refusal_everywhere_ = refused;
  }
  for (const ClaimUse& use : uses_) {
    const PersistentVolumeClaim* const claim = volume_claim(use);
    if (use.kind != ClaimKind::volume || claim == nullptr || !claim->one_pod) continue;
    const PodColumns& pods = cluster_.pods();
    for (const PodIndex pod : cluster_.each_row()) {
      if (pod == ask || pods.plane[pod] != pods.plane[ask]) continue;
      const std::vector<ClaimUse>& theirs = cluster_.shape(pods.shape[pod]).claims;
      if (std::ranges::find(theirs, use) != theirs.end()) rivals_.push_back(pod);
    }
  }
}

const PersistentVolumeClaim* NaiveClaims::volume_claim(const ClaimUse& use) const {
  if (!of_volume(use)) return nullptr;
  return look_up<PersistentVolumeClaim>(cluster_, use.namespace_name, use.name);
}

const ResourceClaim* NaiveClaims::resource_claim(const ClaimUse& use) const {
  if (of_volume(use)) return nullptr;
  return look_up<ResourceClaim>(cluster_, use.namespace_name, use.name);
}

const PersistentVolume* NaiveClaims::volume(const PersistentVolumeClaim& claim) const {
  return look_up<PersistentVolume>(cluster_, {}, claim.volume);
}

const StorageClass* NaiveClaims::storage_class(const PersistentVolumeClaim& claim) const {
  if (claim.storage_class) return look_up<StorageClass>(cluster_, {}, *claim.storage_class);
  std::vector<const StorageClass*> defaults;
  for (const auto& [key, object] : cluster_.own<StorageClass>()) {
    if (object.is_default) defaults.push_back(&object);
  }
  // The newest; of equals the first by name.
  const auto best = std::ranges::max_element(defaults, [](const auto* a, const auto* b) {
    return a->created != b->created ? a->created < b->created : a->name > b->name;
  });
  return best == defaults.end() ? nullptr : *best;
}

std::optional<RefusalReason> NaiveClaims::verdict(const ClaimUse& use) const {
  if (of_volume(use)) {
    const PersistentVolumeClaim* const claim = volume_claim(use);
    if (claim == nullptr || claim->lost || claim->deletion) return RefusalReason::claim;
    if (made_for_pod(use) && !made_for(*claim, use)) return RefusalReason::claim;
    if (!claim->bound) return unbound_verdict(*claim);
    if (volume(*claim) == nullptr) return RefusalReason::claim;
    return std::nullopt;
  }
  const ResourceClaim* const claim = resource_claim(use);
  if (claim == nullptr || claim->deletion) return RefusalReason::claim;
  if (made_for_pod(use) && !made_for(*claim, use)) return RefusalReason::claim;
  if (!claim->allocated) return RefusalReason::unsupported;
  if (claim->reserved_for.size() > 255) return RefusalReason::claim;
  return std::nullopt;
}

std::optional<RefusalReason> NaiveClaims::unbound_verdict(
    const PersistentVolumeClaim& claim) const {
  const StorageClass* const storage = storage_class(claim);
  const bool scheduler_binds = storage != nullptr && storage->waits_for_pod && claim.volume.empty();
  if (!scheduler_binds) return RefusalReason::claim;
  if (claim.selected_node.empty()) {
    for (const auto& [key, each] : cluster_.own<PersistentVolume>()) {
      if (each.storage_class != storage->name) continue;
      const bool unclaimed = each.claim_namespace.empty() && each.claim_name.empty();
      const bool kept =
          each.claim_namespace == claim.namespace_name && each.claim_name == claim.name;
      if (kept || (unclaimed && each.available)) return RefusalReason::unsupported;
    }
  }
  const bool makes =
      !storage->provisioner.empty() && storage->provisioner != "kubernetes.io/no-provisioner";
  return makes ? std::nullopt : std::optional(RefusalReason::claim);
}

// ---- From one node ------------------------------------------------------------------------------

std::optional<std::string> NaiveClaims::label(NodeIndex node, std::string_view key) const {
  const std::optional<StringId> id = cluster_.strings().find(key);
  const std::optional<StringId> value = id ? world_.node_label(node, *id) : std::nullopt;
  if (!value) return std::nullopt;
  return std::string(cluster_.text(*value));
}

bool NaiveClaims::selected(const std::vector<NodeSelectorTerm>& terms, NodeIndex node,
                           bool by_name) const {
  if (terms.empty()) return true;
  const std::string_view name = by_name ? cluster_.text(cluster_.nodes().name[node]) : "";
  for (const NodeSelectorTerm& term : terms) {
    bool holds = !term.labels.empty() || !term.fields.empty();
    for (const Requirement& wanted : term.labels) {
      const std::optional<std::string> value = label(node, wanted.key);
      holds = holds && matches(wanted, value ? std::optional<std::string_view>(*value)
                                             : std::optional<std::string_view>());
    }
    for (const Requirement& wanted : term.fields) holds = holds && matches(wanted, name);
    if (holds) return true;
  }
  return false;
}

bool NaiveClaims::in_zone(const PersistentVolume& volume, NodeIndex node) const {
  static const std::map<std::string_view, std::string_view> newer = {
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"}};
  const bool zoned = std::ranges::any_of(newer, [&](const auto& keys) {
    return label(node, keys.first).has_value() || label(node, keys.second).has_value();
  });
  if (!zoned) return true;
  return std::ranges::all_of(volume.zones, [&](const Label& wanted) {
    std::optional<std::string> here = label(node, wanted.key);
    const auto other = newer.find(wanted.key);
    if (!here && other != newer.end()) here = label(node, other->second);
    return here && ("__" + wanted.value + "__").contains("__" + *here + "__");
  });
}

bool NaiveClaims::volume_reaches(const ClaimUse& use, NodeIndex node) const {
  const PersistentVolumeClaim& claim = *volume_claim(use);
  if (claim.bound) {
    const PersistentVolume& bound = *volume(claim);
    return selected(bound.node_terms, node, false) &&
           (use.kind == ClaimKind::own_volume || in_zone(bound, node));
  }
  const bool chosen = claim.selected_node.empty() ||
                      claim.selected_node == cluster_.text(cluster_.nodes().name[node]);
  return chosen && selected(storage_class(claim)->topologies, node, false);
}

bool NaiveClaims::device_reaches(const ClaimUse& use, NodeIndex node) const {
  return selected(resource_claim(use)->node_terms, node, true);
}

bool NaiveClaims::can_be_had(NodeIndex node) const {
  if (refusal_everywhere_) return false;
  return std::ranges::all_of(uses_, [&](const ClaimUse& use) {
    return of_volume(use) ? volume_reaches(use, node) : device_reaches(use, node);
  });
}

// ---- Beside others ------------------------------------------------------------------------------

void NaiveClaims::add_volumes(PodIndex pod, std::set<Volume>& volumes) const {
  for (const ClaimUse& use : cluster_.shape(cluster_.pods().shape[pod]).claims) {
    const PersistentVolumeClaim* const claim = volume_claim(use);
    if (claim == nullptr || (made_for_pod(use) && !made_for(*claim, use))) continue;
    const PersistentVolume* const real = claim->volume.empty() ? nullptr : volume(*claim);
    const StorageClass* const storage = storage_class(*claim);
    Volume found;
    if (real != nullptr) {
      found = {real->driver, real->handle};
    } else if (storage != nullptr) {
      found = {storage->provisioner, "unmade/" + claim->namespace_name + "/" + claim->name};
    }
    if (!found.first.empty() && !found.second.empty()) volumes.insert(std::move(found));
  }
}

MaybeRefusal NaiveClaims::refusal_beside(NodeIndex node, const std::set<Volume>& there) const {
  const std::string name(cluster_.text(cluster_.nodes().name[node]));
  const auto* const limits = look_up<CsiNode>(cluster_, {}, name);
  if (limits == nullptr) return std::nullopt;
  std::set<Volume> mine;
  add_volumes(ask_, mine);
  std::map<std::string_view, std::int64_t> brings;
  for (const Volume& each : mine) {
    if (!there.contains(each)) ++brings[each.first];
  }
  for (const VolumeLimit& limit : limits->limits) {
    const auto brought = brings.find(limit.driver);
    if (brought == brings.end()) continue;
    std::int64_t count = brought->second;
    for (const Volume& each : there) count += each.first == limit.driver ? 1 : 0;
    if (count > limit.count) return NaiveRefusal{RefusalReason::volume_limit, {}};
  }
  return std::nullopt;
}

MaybeRefusal NaiveClaims::refusal(NodeIndex node) const {
  if (uses_.empty()) return std::nullopt;
  const bool taken =
      std::ranges::any_of(rivals_, [this](PodIndex pod) { return world_.where(pod).exists(); });
  if (taken) return NaiveRefusal{RefusalReason::volume_in_use, {}};
  std::set<Volume> there;
  for (const PodIndex pod : world_.pods_on(node)) add_volumes(pod, there);
  return refusal_beside(node, there);
}

MaybeRefusal NaiveClaims::lasting_refusal(NodeIndex node) const {
  if (uses_.empty()) return std::nullopt;
  // What the ask shares with a pod there is not attached once more.
  std::set<Volume> mine;
  std::set<Volume> shared;
  add_volumes(ask_, mine);
  for (const PodIndex pod : world_.pods_on(node)) add_volumes(pod, shared);
  std::erase_if(shared, [&](const Volume& each) { return !mine.contains(each); });
  return refusal_beside(node, shared);
}

}  // namespace makeway

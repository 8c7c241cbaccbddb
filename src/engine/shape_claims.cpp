#include "engine/shape_claims.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "model/claim_problem.hpp"
#include "model/names.hpp"
#include "model/node_match.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr std::size_t consumers_max = 256;

template <class Object>
const Object* find_object(const Cluster& cluster, std::string_view space, std::string_view name) {
  const ObjectMap<Object>& objects = cluster.own<Object>();
  const auto found =
      objects.find(ObjectKeyView{.namespace_name = space, .name = name, .plane = {}});
  return found == objects.end() ? nullptr : &found->second;
}

/// By uid where both are known: a pod of the same name may have come and gone.
template <class Claim>
bool belongs_to(const Claim& claim, const ClaimUse& use) {
  if (!claim.owner_uid.empty() && !use.pod_uid.empty()) return claim.owner_uid == use.pod_uid;
  return claim.owner == use.pod;
}

class Resolver {
 public:
  Resolver(const Cluster& cluster, StringPool& texts) : cluster_(cluster), texts_(texts) {}

  ShapeClaims resolve(const PodShape& shape);

 private:
  void volume_claim(const ClaimUse& use);
  void bound_claim(const ClaimUse& use, const PersistentVolumeClaim& claim);
  void unbound_claim(const ClaimUse& use, const PersistentVolumeClaim& claim);
  void resource_claim(const ClaimUse& use);
  void count_volume(const PersistentVolumeClaim& claim);
  const StorageClass* class_of(const PersistentVolumeClaim& claim) const;
  bool may_take_existing(const PersistentVolumeClaim& claim, std::string_view class_name) const;
  /// What is certain wins over what cannot be said.
  void refuse(const ClaimUse& use, ClaimProblem problem, std::string_view argument = {},
              RefusalReason reason = RefusalReason::claim);
  ClaimPlace place(const ClaimUse& use) { return {.note = texts_.intern(name_of(use))}; }
  static std::string name_of(const ClaimUse& use);

  const Cluster& cluster_;
  StringPool& texts_;
  ShapeClaims found_;
};

std::string Resolver::name_of(const ClaimUse& use) {
  const bool volume = use.kind == ClaimKind::volume || use.kind == ClaimKind::own_volume;
  return claim_text(volume, use.name.empty() ? use.local : use.name);
}

void Resolver::refuse(const ClaimUse& use, ClaimProblem problem, std::string_view argument,
                      RefusalReason reason) {
  const bool known = found_.refused && (found_.refused->reason == RefusalReason::claim ||
                                        reason == RefusalReason::unsupported);
  if (known) return;
  found_.refused = {.reason = reason,
                    .note = texts_.intern(claim_problem_text(name_of(use), problem, argument))};
}

ShapeClaims Resolver::resolve(const PodShape& shape) {
  for (const ClaimUse& use : shape.claims) {
    const bool volume = use.kind == ClaimKind::volume || use.kind == ClaimKind::own_volume;
    volume ? volume_claim(use) : resource_claim(use);
  }
  std::ranges::sort(found_.volumes);
  const auto repeated = std::ranges::unique(found_.volumes);
  found_.volumes.erase(repeated.begin(), repeated.end());
  return std::move(found_);
}

void Resolver::volume_claim(const ClaimUse& use) {
  const bool own = use.kind == ClaimKind::own_volume;
  const StringId key = texts_.intern(use.namespace_name + "/" + use.name);
  if (!own) found_.volume_claims.push_back(key);
  const auto* const claim =
      find_object<PersistentVolumeClaim>(cluster_, use.namespace_name, use.name);
  if (claim == nullptr) {
    return refuse(use, own ? ClaimProblem::not_created : ClaimProblem::missing);
  }
  if (own && !belongs_to(*claim, use)) {
    return refuse(use, ClaimProblem::of_another_pod);
  }
  if (!own && claim->one_pod) found_.one_pod.push_back(key);
  count_volume(*claim);
  if (claim->lost) return refuse(use, ClaimProblem::volume_lost);
  if (claim->deletion) return refuse(use, ClaimProblem::being_deleted);
  claim->bound ? bound_claim(use, *claim) : unbound_claim(use, *claim);
}

void Resolver::bound_claim(const ClaimUse& use, const PersistentVolumeClaim& claim) {
  const auto* const volume = find_object<PersistentVolume>(cluster_, {}, claim.volume);
  if (volume == nullptr) {
    return refuse(use, ClaimProblem::volume_missing, claim.volume);
  }
  ClaimPlace where = place(use);
  if (!volume->node_terms.empty()) where.terms = &volume->node_terms;
  // Zones of ephemeral volumes are in their affinity only.
  if (use.kind == ClaimKind::volume && !volume->zones.empty()) where.zones = &volume->zones;
  if (where.terms != nullptr || where.zones != nullptr) found_.places.push_back(where);
}

void Resolver::unbound_claim(const ClaimUse& use, const PersistentVolumeClaim& claim) {
  const StorageClass* const storage = class_of(claim);
  if (!claim.volume.empty()) {
    return refuse(use, ClaimProblem::volume_unbound, claim.volume);
  }
  if (storage == nullptr || !storage->waits_for_pod) {
    return refuse(use, ClaimProblem::unbound);
  }
  const bool chosen = !claim.selected_node.empty();
  if (!chosen && may_take_existing(claim, storage->name)) {
    return refuse(use, ClaimProblem::may_take_existing_volume, storage->name,
                  RefusalReason::unsupported);
  }
  if (storage->provisioner.empty() || storage->provisioner == names::no_provisioner) {
    return refuse(use, ClaimProblem::no_volume, storage->name);
  }
  ClaimPlace where = place(use);
  if (chosen) where.node = claim.selected_node;
  if (!storage->topologies.empty()) where.terms = &storage->topologies;
  if (where.node || where.terms != nullptr) found_.places.push_back(where);
}

/// The newest default counts, as the API server fills it in.
const StorageClass* Resolver::class_of(const PersistentVolumeClaim& claim) const {
  if (claim.storage_class) return find_object<StorageClass>(cluster_, {}, *claim.storage_class);
  const StorageClass* best = nullptr;
  for (const auto& [key, object] : cluster_.own<StorageClass>()) {
    if (object.is_default && (best == nullptr || object.created > best->created)) best = &object;
  }
  return best;
}

/// A free volume of the class, or one that is kept for this claim. Which of them it would be, and
/// whether it is large enough, is not looked at.
bool Resolver::may_take_existing(const PersistentVolumeClaim& claim,
                                 std::string_view class_name) const {
  return std::ranges::any_of(cluster_.own<PersistentVolume>(), [&](const auto& entry) {
    const PersistentVolume& volume = entry.second;
    if (volume.storage_class != class_name) return false;
    const bool free = volume.claim_name.empty() && volume.claim_namespace.empty();
    if (free) return volume.available;
    return volume.claim_namespace == claim.namespace_name && volume.claim_name == claim.name;
  });
}

/// A volume that is not there yet counts for the driver that will make it.
void Resolver::count_volume(const PersistentVolumeClaim& claim) {
  const auto* const volume =
      claim.volume.empty() ? nullptr : find_object<PersistentVolume>(cluster_, {}, claim.volume);
  const auto add = [&](std::string_view driver, std::string_view handle) {
    if (driver.empty() || handle.empty()) return;
    found_.volumes.push_back({.driver = texts_.intern(driver), .handle = texts_.intern(handle)});
  };
  if (volume != nullptr) return add(volume->driver, volume->handle);
  const StorageClass* const storage = class_of(claim);
  if (storage == nullptr) return;
  add(storage->provisioner, "new " + claim.namespace_name + "/" + claim.name);
}

void Resolver::resource_claim(const ClaimUse& use) {
  const bool own = use.kind == ClaimKind::own_resource;
  const ResourceClaim* const claim =
      use.name.empty() ? nullptr
                       : find_object<ResourceClaim>(cluster_, use.namespace_name, use.name);
  if (claim == nullptr) {
    return refuse(use, use.name.empty() ? ClaimProblem::not_created : ClaimProblem::missing);
  }
  if (claim->deletion) return refuse(use, ClaimProblem::being_deleted);
  if (own && !belongs_to(*claim, use)) {
    return refuse(use, ClaimProblem::of_another_pod);
  }
  if (!claim->allocated) {
    return refuse(use, ClaimProblem::not_allocated, {}, RefusalReason::unsupported);
  }
  if (claim->reserved_for.size() >= consumers_max) {
    return refuse(use, ClaimProblem::in_use, std::to_string(claim->reserved_for.size()));
  }
  if (claim->node_terms.empty()) return;
  ClaimPlace where = place(use);
  where.terms = &claim->node_terms;
  where.by_field = true;
  found_.places.push_back(where);
}

/// Nodes without any label of zone or region are in a cluster of one zone.
bool in_zones(const Labels& zones, const Labels& labels) {
  constexpr std::array keys = {names::beta_zone, names::beta_region, names::zone, names::region};
  const bool any = std::ranges::any_of(
      keys, [&](std::string_view key) { return find_label(labels, key).has_value(); });
  if (!any) return true;
  return std::ranges::all_of(zones, [&](const Label& wanted) {
    std::optional<std::string_view> value = find_label(labels, wanted.key);
    if (!value && wanted.key == names::beta_zone) value = find_label(labels, names::zone);
    if (!value && wanted.key == names::beta_region) value = find_label(labels, names::region);
    if (!value) return false;
    constexpr std::string_view separator = "__";
    std::string_view rest = wanted.value;
    while (true) {
      const std::size_t end = rest.find(separator);
      if (rest.substr(0, end) == *value) return true;
      if (end == std::string_view::npos) return false;
      rest.remove_prefix(end + separator.size());
    }
  });
}

}  // namespace

ShapeClaims resolve_claims(const Cluster& cluster, const PodShape& shape, StringPool& texts) {
  return Resolver(cluster, texts).resolve(shape);
}

bool can_be_had(const ClaimPlace& place, const Labels& labels, std::string_view node_name) {
  if (place.node && *place.node != node_name) return false;
  // Volumes and classes know nodes by their labels only.
  const std::string_view name = place.by_field ? node_name : std::string_view{};
  const bool selected = place.terms == nullptr ||
                        std::ranges::any_of(*place.terms, [&](const NodeSelectorTerm& term) {
                          return selects_node(term, labels, name);
                        });
  return selected && (place.zones == nullptr || in_zones(*place.zones, labels));
}

}  // namespace makeway

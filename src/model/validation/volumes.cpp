#include "model/validation/volumes.hpp"

#include <algorithm>

#include "model/findings.hpp"

namespace makeway {
namespace {

template <class Object>
const Object* home_object(const Cluster& cluster, std::string_view space, std::string_view name) {
  const ObjectMap<Object>& objects = cluster.own<Object>();
  const auto found =
      objects.find(ObjectKeyView{.namespace_name = space, .name = name, .plane = {}});
  return found == objects.end() ? nullptr : &found->second;
}

void lint_volume_claim(Findings& findings, const std::string& pod, const ClaimUse& use) {
  const Cluster& cluster = findings.cluster();
  const auto* const claim =
      home_object<PersistentVolumeClaim>(cluster, use.namespace_name, use.name);
  if (claim == nullptr) {
    return findings.warning(
        {.object = pod,
         .field = "spec.volumes",
         .value = shorten(use.name),
         .message =
             "no PersistentVolumeClaim of this name is in the input, so the pod cannot be placed",
         .remedy = "add it (kubectl get persistentvolumeclaims -A -o yaml)"});
  }
  if (!claim->bound || home_object<PersistentVolume>(cluster, {}, claim->volume) != nullptr) return;
  findings.warning({.object = pod,
                    .field = "spec.volumes",
                    .value = shorten(use.name),
                    .message = fmt::format("its claim is bound to PersistentVolume {}, which is "
                                           "not in the input, so the pod has no place",
                                           shorten(claim->volume)),
                    .remedy = "add it (kubectl get persistentvolumes -o yaml)"});
}

void lint_resource_claim(Findings& findings, const std::string& pod, const ClaimUse& use) {
  const auto* const claim =
      home_object<ResourceClaim>(findings.cluster(), use.namespace_name, use.name);
  if (claim != nullptr && claim->allocated) return;
  const std::string& name = use.name.empty() ? use.local : use.name;
  findings.warning(
      {.object = pod,
       .field = "spec.resourceClaims",
       .value = shorten(name),
       .message = claim == nullptr ? "no ResourceClaim of this name is in the input, so the pod "
                                     "has no place"
                                   : "the ResourceClaim is not allocated, and Makeway allocates "
                                     "none, so it will refuse to place the pod",
       .remedy = claim == nullptr ? "add it (kubectl get resourceclaims -A -o yaml)" : ""});
}

}  // namespace

void lint_pod_claims(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  std::vector<PodIndex> pending(cluster.pending_pods().begin(), cluster.pending_pods().end());
  std::erase_if(pending, [&](PodIndex pod) {
    return cluster.shape(cluster.pods().shape[pod]).claims.empty();
  });
  std::ranges::sort(pending, {}, [&](PodIndex pod) { return cluster.pod_key(pod); });
  for (const PodIndex pod : pending) {
    for (const ClaimUse& use : cluster.shape(cluster.pods().shape[pod]).claims) {
      const bool volume = use.kind == ClaimKind::volume || use.kind == ClaimKind::own_volume;
      const auto lint = volume ? lint_volume_claim : lint_resource_claim;
      lint(findings, "Pod " + cluster.pod_key(pod), use);
    }
  }
}

}  // namespace makeway

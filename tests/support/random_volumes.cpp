#include "support/random_volumes.hpp"

#include <fmt/format.h>

#include "model/names.hpp"
#include "model/normalize.hpp"

namespace makeway {
namespace {

constexpr std::uint64_t classes = 3;
constexpr std::uint64_t volumes = 6;
constexpr std::uint64_t claims = 5;
constexpr std::uint64_t resource_claims = 3;

}  // namespace

std::string RandomVolumes::numbered(const char* stem, std::uint64_t pool) {
  return fmt::format("{}-{}", stem, random_.below(pool));
}

std::string RandomVolumes::class_name() { return numbered("disks", classes); }
std::string RandomVolumes::volume_name() { return numbered("volume", volumes); }
std::string RandomVolumes::claim_name() { return numbered("claim", claims); }
std::string RandomVolumes::resource_claim_name() { return numbered("device", resource_claims); }
std::string RandomVolumes::zone() { return fmt::format("{}-{}", zone_stem_, random_.below(3)); }

NodeSelectorTerm RandomVolumes::term() {
  NodeSelectorTerm term;
  term.labels.push_back({.key = zone_key_, .operation = Operator::in, .values = {zone()}});
  if (random_.chance(60)) term.labels.back().values.push_back(zone());
  return term;
}

StorageClass RandomVolumes::storage_class(const std::string& name) {
  StorageClass object{.name = name, .provisioner = driver()};
  if (random_.chance(15)) object.provisioner = names::no_provisioner;
  object.waits_for_pod = random_.chance(70);
  object.is_default = random_.chance(30);
  if (random_.chance(40)) object.topologies.push_back(term());
  if (random_.chance(30)) object.created = Time{random_.between(0, 2) * 1000};
  normalize(object);
  return object;
}

PersistentVolume RandomVolumes::volume(const std::string& name) {
  PersistentVolume volume{.name = name};
  if (random_.chance(40)) {
    const bool list = random_.chance(50);
    const std::string first = zone();
    volume.zones = {{.key = random_.chance(70) ? zone_key_ : std::string(names::beta_zone),
                     .value = list ? first + "__" + zone() : first}};
  }
  // A free volume of a class leaves open which one a claim takes: not checked, so not often.
  volume.available = random_.chance(20);
  if (random_.chance(50)) volume.storage_class = class_name();
  if (random_.chance(30)) {
    volume.claim_namespace = "default";
    volume.claim_name = claim_name();
  }
  while (random_.chance(40)) volume.node_terms.push_back(term());
  if (random_.chance(80)) {
    volume.driver = driver();
    volume.handle = numbered("handle", volumes);
  }
  normalize(volume);
  return volume;
}

PersistentVolumeClaim RandomVolumes::claim(const std::string& space, const std::string& name) {
  PersistentVolumeClaim claim{.namespace_name = space, .name = name};
  if (random_.chance(80)) claim.volume = volume_name();
  claim.bound = !claim.volume.empty() && random_.chance(95);
  if (random_.chance(80)) claim.storage_class = random_.chance(90) ? class_name() : "";
  if (!claim.bound && random_.chance(20)) claim.selected_node = numbered("node", 4);
  claim.one_pod = random_.chance(25);
  claim.lost = random_.chance(3);
  if (random_.chance(3)) claim.deletion = Time{1000};
  if (random_.chance(10)) {
    claim.owner = numbered("pod", 4);
    if (random_.chance(50)) claim.owner_uid = numbered("uid", 4);
  }
  return claim;
}

CsiNode RandomVolumes::csi_node(const std::string& name) {
  CsiNode object{.name = name};
  for (const char* const each : {"driver-0", "driver-1"}) {
    if (!random_.chance(70)) continue;
    object.limits.push_back(
        {.driver = each, .count = static_cast<std::int32_t>(random_.between(0, 3))});
  }
  return object;
}

ResourceClaim RandomVolumes::resource_claim(const std::string& space, const std::string& name) {
  ResourceClaim claim{.namespace_name = space, .name = name, .allocated = random_.chance(85)};
  if (claim.allocated && random_.chance(60)) claim.node_terms.push_back(term());
  if (claim.allocated && random_.chance(20)) {
    claim.node_terms.push_back({.labels = {},
                                .fields = {{.key = "metadata.name",
                                            .operation = Operator::in,
                                            .values = {numbered("node", 4)}}}});
  }
  if (random_.chance(50)) claim.reserved_for = {{.resource = "pods", .name = "pod-0", .uid = "u"}};
  if (random_.chance(3)) claim.deletion = Time{1000};
  normalize(claim);
  return claim;
}

std::vector<ClaimUse> RandomVolumes::uses() {
  std::vector<ClaimUse> found;
  const std::uint64_t count = 1 + random_.below(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t drawn = random_.below(100);
    if (drawn < 80) {
      found.push_back({.kind = ClaimKind::volume, .name = claim_name()});
    } else if (drawn < 85) {
      found.push_back({.kind = ClaimKind::own_volume, .local = "scratch"});
    } else if (drawn < 97) {
      found.push_back({.kind = ClaimKind::resource, .name = resource_claim_name()});
    } else {
      found.push_back({.kind = ClaimKind::own_resource,
                       .name = random_.chance(50) ? resource_claim_name() : "",
                       .local = i == 0 ? "device" : "second"});  // Names differ in a pod.
    }
  }
  return found;
}

std::vector<Change> RandomVolumes::objects(const std::vector<std::string>& spaces,
                                           const std::vector<std::string>& nodes) {
  std::vector<Change> all;
  for (std::uint64_t i = 0; i < classes; ++i) {
    if (random_.chance(90)) all.emplace_back(storage_class(fmt::format("disks-{}", i)));
  }
  for (std::uint64_t i = 0; i < volumes; ++i) {
    if (random_.chance(97)) all.emplace_back(volume(fmt::format("volume-{}", i)));
  }
  for (const std::string& space : spaces) {
    for (std::uint64_t i = 0; i < claims; ++i) {
      if (random_.chance(97)) all.emplace_back(claim(space, fmt::format("claim-{}", i)));
    }
    for (std::uint64_t i = 0; i < resource_claims; ++i) {
      if (random_.chance(97)) all.emplace_back(resource_claim(space, fmt::format("device-{}", i)));
    }
  }
  for (const std::string& node : nodes) {
    if (random_.chance(80)) all.emplace_back(csi_node(node));
  }
  return all;
}

Change RandomVolumes::any(const std::string& space, const std::string& node) {
  switch (random_.below(5)) {
    case 0: return storage_class(class_name());
    case 1: return volume(volume_name());
    case 2: return claim(space, claim_name());
    case 3: return csi_node(node);
    default: return resource_claim(space, resource_claim_name());
  }
}

}  // namespace makeway

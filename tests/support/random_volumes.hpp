// Random volumes, claims, storage classes and limits, and pods' uses of them.
//
// Names come from small pools, so that pods share claims, claims name volumes and nodes reach their
// limits; some of what is named is not there.
#pragma once

#include <string>
#include <vector>

#include "base/prng.hpp"
#include "model/objects.hpp"

namespace makeway {

class RandomVolumes {
 public:
  /// Volumes are in zones with the label `zone_key`, whose values are `zone_stem`-0, -1 and -2.
  RandomVolumes(Prng& random, std::string zone_key, std::string zone_stem)
      : random_(random), zone_key_(std::move(zone_key)), zone_stem_(std::move(zone_stem)) {}

  StorageClass storage_class(const std::string& name);
  PersistentVolume volume(const std::string& name);
  PersistentVolumeClaim claim(const std::string& space, const std::string& name);
  CsiNode csi_node(const std::string& name);
  ResourceClaim resource_claim(const std::string& space, const std::string& name);

  std::string class_name();
  std::string volume_name();
  std::string claim_name();
  std::string resource_claim_name();

  /// One or two claims; few of a bound pod mean anything but volumes.
  std::vector<ClaimUse> uses();
  /// Every object that `uses` of pods in these namespaces may need, and limits of these nodes.
  std::vector<Change> objects(const std::vector<std::string>& spaces,
                              const std::vector<std::string>& nodes);
  /// One of any kind.
  Change any(const std::string& space, const std::string& node);

 private:
  std::string numbered(const char* stem, std::uint64_t pool);
  std::string driver() { return numbered("driver", 2); }
  std::string zone();
  NodeSelectorTerm term();

  Prng& random_;
  std::string zone_key_;
  std::string zone_stem_;
};

}  // namespace makeway

// Volumes and claims as values: what decides on which nodes a pod can have them.
//
// As kube-scheduler's plugins VolumeBinding, VolumeZone, VolumeRestrictions, NodeVolumeLimits and
// DynamicResources read them; docs/input.md says what they mean and what is not read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "model/amounts.hpp"
#include "model/selection.hpp"

namespace makeway {

struct PersistentVolumeClaim {
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< Empty: home.
  std::optional<Time> deletion;
  std::string owner;  ///< The pod that it was made for; empty: none.
  std::string owner_uid;
  std::string volume;  ///< spec.volumeName
  /// None: the cluster's default class; empty: no class at all.
  std::optional<std::string> storage_class;
  std::string selected_node;  ///< Annotation: where its volume is being made.
  bool bound = false;         ///< To its volume, for good.
  bool lost = false;          ///< Its volume is gone.
  bool one_pod = false;       ///< ReadWriteOncePod.

  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

struct PersistentVolume {
  std::string name;
  std::string plane;  ///< Empty: home.
  Labels zones;       ///< Labels of zone and region; a value may be a list, "a__b".
  std::string storage_class;
  std::string claim_namespace;  ///< claimRef; empty: not claimed.
  std::string claim_name;
  bool available = true;                     ///< It may be bound to a claim.
  std::vector<NodeSelectorTerm> node_terms;  ///< Any of them; empty: reachable from everywhere.
  std::string driver;                        ///< Of CSI; empty: something else.
  std::string handle;

  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

struct StorageClass {
  std::string name;
  std::string plane;  ///< Empty: home.
  std::optional<Time> created;
  std::string provisioner;
  bool waits_for_pod = false;                ///< WaitForFirstConsumer
  bool is_default = false;                   ///< Of claims that name no class.
  std::vector<NodeSelectorTerm> topologies;  ///< Any of them; empty: volumes are made everywhere.

  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

/// How many volumes of one driver a node takes.
struct VolumeLimit {
  std::string driver;
  std::int32_t count = 0;

  friend auto operator<=>(const VolumeLimit&, const VolumeLimit&) = default;
};

/// Named as its node.
struct CsiNode {
  std::string name;
  std::string plane;                ///< Empty: home.
  std::vector<VolumeLimit> limits;  ///< Sorted; drivers without one are not there.

  friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

/// The pod that has reserved a ResourceClaim.
struct ClaimConsumer {
  std::string resource;  ///< "pods"
  std::string name;
  std::string uid;

  friend auto operator<=>(const ClaimConsumer&, const ClaimConsumer&) = default;
};

struct ResourceClaim {
  std::string namespace_name;
  std::string name;
  std::string plane;  ///< Empty: home.
  std::optional<Time> deletion;
  std::string owner;  ///< The pod that it was made for; empty: none.
  std::string owner_uid;
  bool allocated = false;
  std::vector<NodeSelectorTerm> node_terms;  ///< Of its allocation; empty: everywhere.
  std::vector<ClaimConsumer> reserved_for;   ///< Sorted.

  friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

}  // namespace makeway

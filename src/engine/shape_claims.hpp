// ShapeClaims: what the claims of a pod mean for its place, found out once for each shape.
//
// The rules of kube-scheduler's plugins VolumeBinding, VolumeZone, VolumeRestrictions,
// NodeVolumeLimits and DynamicResources, except what docs/input.md names. A claim either keeps the
// pod off every node, or says which nodes will do; some count against what other pods hold: a claim
// that one pod at a time may use, volumes of a driver that a node takes only so many of.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/intern.hpp"
#include "model/cluster.hpp"
#include "model/plan.hpp"

namespace makeway {

/// Nodes that will do for one claim; all that is set must hold.
struct ClaimPlace {
  StringId note;                                         ///< The claim, for messages.
  const std::vector<NodeSelectorTerm>* terms = nullptr;  ///< Any of them.
  bool by_field = false;                                 ///< Terms may name a node.
  const Labels* zones = nullptr;                         ///< Of a volume, if there are any.
  std::optional<std::string_view> node;                  ///< This one only.
};

/// A volume as node limits count it: equal ones count once.
struct AttachedVolume {
  StringId driver;
  StringId handle;

  friend auto operator<=>(const AttachedVolume&, const AttachedVolume&) = default;
};

struct ClaimRefusal {
  RefusalReason reason = RefusalReason::claim;  ///< Or unsupported: it cannot be said.
  StringId note;
};

struct ShapeClaims {
  std::optional<ClaimRefusal> refused;  ///< On every node.
  std::vector<ClaimPlace> places;       ///< All must hold.
  std::vector<StringId> volume_claims;  ///< "namespace/name", of volumes by name.
  std::vector<StringId> one_pod;        ///< Those of them that one pod at a time may use.
  std::vector<AttachedVolume> volumes;  ///< Sorted, each once.
};

/// For a pod of home. `texts` gets the names and notes.
ShapeClaims resolve_claims(const Cluster& cluster, const PodShape& shape, StringPool& texts);

/// Whether what is claimed can be had on a node with these labels.
bool can_be_had(const ClaimPlace& place, const Labels& labels, std::string_view node_name);

}  // namespace makeway

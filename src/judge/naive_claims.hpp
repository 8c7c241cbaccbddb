// NaiveClaims: whether a pod can have on a node what it claims. The judge's own answer.
//
// PersistentVolumeClaims and ResourceClaims as kube-scheduler reads them, straight from the objects
// each time that it is asked: no classes of pods, no counts that follow the world.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "judge/naive_world.hpp"

namespace makeway {

class NaiveClaims {
 public:
  NaiveClaims(const NaiveWorld& world, PodIndex ask);

  /// Why no node will ever fit: `claim`, or `unsupported` where that cannot be said.
  const std::optional<RefusalReason>& refusal_everywhere() const { return refusal_everywhere_; }
  /// Whether volumes and devices can be reached from the node, whatever other pods use them.
  bool can_be_had(NodeIndex node) const;
  /// What others hold: claims for one pod, volumes that the node takes.
  MaybeRefusal refusal(NodeIndex node) const;
  /// The ask alone has more volumes than the node takes.
  MaybeRefusal lasting_refusal(NodeIndex node) const;

 private:
  using Volume = std::pair<std::string, std::string>;  ///< Driver and handle.

  const PersistentVolumeClaim* volume_claim(const ClaimUse& use) const;
  const ResourceClaim* resource_claim(const ClaimUse& use) const;
  const StorageClass* storage_class(const PersistentVolumeClaim& claim) const;
  const PersistentVolume* volume(const PersistentVolumeClaim& claim) const;
  std::optional<RefusalReason> verdict(const ClaimUse& use) const;
  std::optional<RefusalReason> unbound_verdict(const PersistentVolumeClaim& claim) const;
  bool volume_reaches(const ClaimUse& use, NodeIndex node) const;
  bool device_reaches(const ClaimUse& use, NodeIndex node) const;
  bool selected(const std::vector<NodeSelectorTerm>& terms, NodeIndex node, bool by_name) const;
  bool in_zone(const PersistentVolume& volume, NodeIndex node) const;
  std::optional<std::string> label(NodeIndex node, std::string_view key) const;
  void add_volumes(PodIndex pod, std::set<Volume>& volumes) const;
  MaybeRefusal refusal_beside(NodeIndex node, const std::set<Volume>& there) const;

  const NaiveWorld& world_;
  const Cluster& cluster_;
  PodIndex ask_;
  const std::vector<ClaimUse>& uses_;
  std::optional<RefusalReason> refusal_everywhere_;
  std::vector<PodIndex> rivals_;  ///< Pods that may use a one-pod claim of the ask.
};

}  // namespace makeway

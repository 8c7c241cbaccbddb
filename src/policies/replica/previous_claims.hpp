// PreviousClaims: what the last plan left in the status of the ReplicaSchedules.
//
// A claim stands while its node is open and in its plane, its victims that are still there may
// still be waited for or taken, and the replica fits once they are gone. A victim that was taken by
// lowering a commit is on its way while the commit is not lowered yet, or the pod is surplus or
// leaving. When the commit is lowered and the pod is an ordinary one again, Kubernetes has removed
// another pod: the claim is over, and with it the exclusion of the deployment that lost it.
//
// That is remembered (`status.missed`) while the ask has unmet replicas. For this node it has the
// share scaled down again only below the commit with which that happened; otherwise the share would
// lose the same replica and grow back for ever.
//
// Which of several victims of one share goes with which step of the commit means nothing: steps
// that are not carried out yet are counted per share.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "policies/replica/node_victims.hpp"

namespace makeway {

struct PreviousClaim {
  DeploymentIndex ask;
  const ReplicaClaim* record = nullptr;
  PlaceIndex place;  ///< None: the node is not in the plane any more, or not the ask's.
  ShareIndex share;  ///< The ask's.
  std::vector<ReplicaIndex> victims;  ///< Those that are still there.
  bool unknown_victim = false;        ///< One is there that is not a replica of the fleet.
};

class PreviousClaims {
 public:
  explicit PreviousClaims(const Fleet& fleet);

  /// In the order of their age.
  std::span<const PreviousClaim> of(DeploymentIndex ask) const;
  std::optional<PlaneIndex> plane_of(const PreviousClaim& claim) const {
    return plane_named(claim.record->plane);
  }
  bool stands(const PreviousClaim& claim, const ReplicaNeed& need) const;
  /// What of its request the place must keep free until the victims are gone, per column.
  std::vector<std::int64_t> held(const PreviousClaim& claim) const;
  /// The claim is kept: the steps of commits that its victims wait for are no other claim's.
  void keep(const PreviousClaim& claim);
  /// The claim's victims that Kubernetes has spared, one for each share: their commit is lowered
  /// and they are ordinary pods again. `steps`: what is not carried out yet; asks come in order.
  std::vector<MissedVictim> missed(const PreviousClaim& claim, const ReplicaNeed& need,
                                   IndexedVector<ShareIndex, std::int64_t>& steps) const;
  const IndexedVector<ShareIndex, std::int64_t>& steps() const { return steps_; }
  /// Nothing: it is not there any more, or has fewer committed than ever; that is worth a try.
  std::optional<MissedPlace> find(const MissedVictim& missed) const;
  /// What any claim said about the pod; null: nothing.
  const ClaimedVictim* about(PodIndex pod) const;

 private:
  std::optional<PlaneIndex> plane_named(std::string_view name) const;
  PreviousClaim resolve(DeploymentIndex ask, const ReplicaClaim& record);
  void count_step(const ReplicaClaim& record, const ClaimedVictim& victim);
  std::optional<std::int64_t> lowered_to(const ReplicaClaim& record,
                                         const FleetReplica& replica) const;
  std::int64_t committed_victims(const PreviousClaim& claim, ShareIndex share) const;
  bool still_leaves(const PreviousClaim& claim, ReplicaIndex victim, const ReplicaNeed& need) const;

  const Fleet& fleet_;
  std::vector<PreviousClaim> claims_;  ///< By ask.
  IndexedVector<DeploymentIndex, std::uint32_t> begin_;
  std::map<PodIndex, const ClaimedVictim*> about_;
  IndexedVector<ShareIndex, std::int64_t> steps_;  ///< Not carried out yet, and not used.
};

}  // namespace makeway

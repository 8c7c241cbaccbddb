// ClaimRanking: the best place for a replica among all places of its planes.
//
// Asks come by falling priority. For each request and plane the places stand in a heap by what they
// cost; all places of a plane have the same score, so the heap is the same for every ask, and an
// ask compares the heads of its planes. A place that changes gets a new version and a new entry.
//
// A lower priority only makes committed replicas unusable. These stand at the end of a place's
// order, by rising priority, so a place keeps its cost until its dearest committed victim is out of
// reach, and then it is out for good.
//
// An ask that has missed victims somewhere (MissedPlace) has other costs at these places than all
// other asks: there they are computed for it alone, and the entries of the heaps are set aside.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policies/replica/node_victims.hpp"

namespace makeway {

class ClaimRanking {
 public:
  ClaimRanking(const Fleet& fleet, NodeVictims& victims);

  struct Best {
    PlaceCost cost;
    ShareIndex share;        ///< The ask's share of the plane.
    PlaceIndex alternative;  ///< None: there is no other place.
    Reason decided_by;
  };
  /// For one more replica of the deployment.
  std::optional<Best> best(DeploymentIndex deployment, const ReplicaNeed& need);
  /// Room or replicas of the place, or what its replicas' shares can spare, have changed.
  void changed(PlaceIndex place);

 private:
  struct Heap {
    bool built = false;
    std::vector<PlaceCost> entries;
  };
  struct Head {
    const PlaceCost* cost = nullptr;
    ShareIndex share;
    std::int64_t score = 0;
  };

  Heap& heap_of(std::uint32_t request, PlaneIndex plane, const ReplicaNeed& need);
  const PlaceCost* head(Heap& heap, const ReplicaNeed& need);
  std::vector<PlaceCost> costs_of_missed(const ReplicaNeed& need);
  void put_back_aside(const ReplicaNeed& need);
  void pop(Heap& heap, const ReplicaNeed& need);
  void push(Heap& heap, const PlaceCost& cost, const ReplicaNeed& need);
  void start_priority(std::int32_t priority);
  ReplicaNeed need_of(std::uint32_t request) const;
  Best with_runner_up(std::uint32_t request, const ReplicaNeed& need, const Head& first,
                      Head second);
  void offer(const ReplicaNeed& need, const Head& head, Head& best, Head& second) const;

  const Fleet& fleet_;
  NodeVictims& victims_;
  std::vector<Heap> heaps_;  ///< By request and plane.
  std::vector<std::uint32_t> built_requests_;
  IndexedVector<PlaceIndex, std::uint32_t> versions_;
  std::vector<std::pair<Heap*, PlaceCost>> aside_;
  std::optional<std::int32_t> priority_;
};

}  // namespace makeway

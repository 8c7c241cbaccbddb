#include "policies/replica/claim_ranking.hpp"

#include <algorithm>

namespace makeway {
namespace {

bool is_missed(const ReplicaNeed& need, PlaceIndex place) {
  return std::ranges::binary_search(need.missed, place, {}, &MissedPlace::place);
}

}  // namespace

ClaimRanking::ClaimRanking(const Fleet& fleet, NodeVictims& victims)
    : fleet_(fleet),
      victims_(victims),
      heaps_(fleet.request_count() * fleet.planes().size()),
      versions_(fleet.places().size()) {}

ReplicaNeed ClaimRanking::need_of(std::uint32_t request) const {
  return {.request = fleet_.request(request),
          .priority = *priority_,
          .one = fleet_.request(request)[Fleet::counted] == 1};
}

void ClaimRanking::start_priority(std::int32_t priority) {
  if (priority_ == priority) return;
  priority_ = priority;
  for (const PlaceIndex place : fleet_.conditional_places()) changed(place);
}

ClaimRanking::Heap& ClaimRanking::heap_of(std::uint32_t request, PlaneIndex plane,
                                          const ReplicaNeed& need) {
  Heap& heap = heaps_[request * fleet_.planes().size() + plane.value];
  if (heap.built) return heap;
  heap.built = true;
  if (std::ranges::find(built_requests_, request) == built_requests_.end()) {
    built_requests_.push_back(request);
  }
  const FleetPlane& row = fleet_.planes()[plane];
  for (std::uint32_t at = row.begin; at < row.end; ++at) {
    PlaceCost cost;
    if (!victims_.evaluate(PlaceIndex{at}, need_of(request), cost)) continue;
    cost.version = versions_[PlaceIndex{at}];
    heap.entries.push_back(cost);
  }
  std::ranges::make_heap(heap.entries, [&](const PlaceCost& a, const PlaceCost& b) {
    return victims_.compare(need, b, 0, a, 0) < 0;
  });
  return heap;
}

void ClaimRanking::pop(Heap& heap, const ReplicaNeed& need) {
  std::ranges::pop_heap(heap.entries, [&](const PlaceCost& a, const PlaceCost& b) {
    return victims_.compare(need, b, 0, a, 0) < 0;
  });
  heap.entries.pop_back();
}

void ClaimRanking::push(Heap& heap, const PlaceCost& cost, const ReplicaNeed& need) {
  heap.entries.push_back(cost);
  std::ranges::push_heap(heap.entries, [&](const PlaceCost& a, const PlaceCost& b) {
    return victims_.compare(need, b, 0, a, 0) < 0;
  });
}

/// The best entry that still holds, and is not set aside.
const PlaceCost* ClaimRanking::head(Heap& heap, const ReplicaNeed& need) {
  while (!heap.entries.empty()) {
    const PlaceCost& top = heap.entries.front();
    const bool current = top.version == versions_[top.place];
    const bool in_reach = top.committed == 0 || top.committed_priority < need.priority;
    const bool holds = current && in_reach;
    if (holds && !is_missed(need, top.place)) return &top;
    if (holds) aside_.emplace_back(&heap, top);
    pop(heap, need);
  }
  return nullptr;
}

void ClaimRanking::put_back_aside(const ReplicaNeed& need) {
  for (const auto& [heap, cost] : aside_) push(*heap, cost, need);
  aside_.clear();
}

std::vector<PlaceCost> ClaimRanking::costs_of_missed(const ReplicaNeed& need) {
  std::vector<PlaceCost> costs;
  costs.reserve(need.missed.size());
  PlaceIndex before;
  for (const MissedPlace& missed : need.missed) {
    if (missed.place == before) continue;
    before = missed.place;
    PlaceCost cost;
    if (victims_.evaluate(missed.place, need, cost)) costs.push_back(cost);
  }
  return costs;
}

void ClaimRanking::offer(const ReplicaNeed& need, const Head& head, Head& best,
                         Head& second) const {
  const auto better = [&](const Head& a, const Head& b) {
    return b.cost == nullptr || victims_.compare(need, *a.cost, a.score, *b.cost, b.score) < 0;
  };
  if (better(head, best)) {
    second = best;
    best = head;
  } else if (better(head, second)) {
    second = head;
  }
}

std::optional<ClaimRanking::Best> ClaimRanking::best(DeploymentIndex deployment,
                                                     const ReplicaNeed& need) {
  start_priority(need.priority);
  const FleetDeployment& row = fleet_.deployments()[deployment];
  const std::vector<PlaceCost> alone = costs_of_missed(need);
  Head first;
  Head second;
  for (std::uint32_t at = row.begin; at < row.end; ++at) {
    const FleetShare& share = fleet_.shares()[ShareIndex{at}];
    const auto offer_here = [&](const PlaceCost& cost) {
      offer(need, {.cost = &cost, .share = ShareIndex{at}, .score = share.score}, first, second);
    };
    const PlaceCost* const top = head(heap_of(row.request, share.plane, need), need);
    if (top != nullptr) offer_here(*top);
    for (const PlaceCost& cost : alone) {
      if (fleet_.places()[cost.place].plane == share.plane) offer_here(cost);
    }
  }
  std::optional<Best> best;
  if (first.cost != nullptr) best = with_runner_up(row.request, need, first, second);
  put_back_aside(need);
  return best;
}

ClaimRanking::Best ClaimRanking::with_runner_up(std::uint32_t request, const ReplicaNeed& need,
                                                const Head& first, Head second) {
  Best best{.cost = *first.cost, .share = first.share};
  const std::int64_t score = first.score;
  Heap& heap = heap_of(request, fleet_.shares()[first.share].plane, need);
  // The runner-up may stand in the same plane. The head is about to change anyway.
  const bool is_head = !is_missed(need, best.cost.place);
  if (is_head) {
    pop(heap, need);
    const PlaceCost* const next = head(heap, need);
    const bool same_plane =
        next != nullptr && (second.cost == nullptr ||
                            victims_.compare(need, *next, score, *second.cost, second.score) < 0);
    if (same_plane) second = {.cost = next, .share = best.share, .score = score};
  }
  if (second.cost != nullptr) {
    best.alternative = second.cost->place;
    victims_.compare(need, best.cost, score, *second.cost, second.score, &best.decided_by);
  }
  if (is_head) push(heap, best.cost, need);
  return best;
}

void ClaimRanking::changed(PlaceIndex place) {
  ++versions_[place];
  const PlaneIndex plane = fleet_.places()[place].plane;
  for (const std::uint32_t request : built_requests_) {
    Heap& heap = heaps_[request * fleet_.planes().size() + plane.value];
    if (!heap.built) continue;
    const ReplicaNeed need = need_of(request);
    PlaceCost cost;
    if (!victims_.evaluate(place, need, cost)) continue;
    cost.version = versions_[place];
    push(heap, cost, need);
  }
}

}  // namespace makeway

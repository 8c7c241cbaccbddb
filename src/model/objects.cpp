#include "model/objects.hpp"

#include <utility>

namespace makeway {

Change::Change() = default;
Change::Change(const Change& other) = default;
Change::Change(Change&& other) noexcept = default;
Change& Change::operator=(const Change& other) = default;
Change& Change::operator=(Change&& other) noexcept = default;
Change::~Change() = default;

template <class Object>
  requires ClusterObject<Object> || std::is_same_v<Object, Removal>
Change::Change(Object object) : Variant(std::in_place_type<Object>, std::move(object)) {}

template Change::Change(Namespace);
template Change::Change(PriorityClass);
template Change::Change(Node);
template Change::Change(StorageClass);
template Change::Change(PersistentVolume);
template Change::Change(PersistentVolumeClaim);
template Change::Change(CsiNode);
template Change::Change(ResourceClaim);
template Change::Change(DisruptionBudget);
template Change::Change(Workload);
template Change::Change(PodGroup);
template Change::Change(Queue);
template Change::Change(ReplicaSchedule);
template Change::Change(ResourceGroup);
template Change::Change(Partition);
template Change::Change(Session);
template Change::Change(Pod);
template Change::Change(Removal);

bool operator==(const Change& a, const Change& b) {
  return static_cast<const Change::Variant&>(a) == static_cast<const Change::Variant&>(b);
}

}  // namespace makeway

#include "model/cluster_compaction.hpp"

#include <algorithm>

namespace makeway {

/// Free slots cost little, but something.
template <class Copy>
void ClusterCompaction::copy_slots(std::size_t slots, std::size_t objects, const Copy& copy) {
  constexpr std::size_t slots_for_one = 8;
  const std::size_t end = std::min(slots, slot_ + objects * slots_for_one);
  for (std::size_t copied = 0; slot_ < end && copied < objects; ++slot_) {
    if (copy(slot_)) ++copied;
  }
  if (slot_ < slots) return;
  slot_ = 0;
  ++kind_;
}

void ClusterCompaction::copy_some(KindTag<Pod> /*kind*/, const Cluster& from, std::size_t objects) {
  copy_slots(from.pods().slots(), objects, [&](std::uint32_t slot) {
    const PodFlags flags = from.pods().flags[PodIndex{slot}];
    if (!flags.exists || flags.kernel) return false;
    fresh_.apply(from.pod(PodIndex{slot}));
    return true;
  });
}

void ClusterCompaction::copy_some(KindTag<Node> /*kind*/, const Cluster& from,
                                  std::size_t objects) {
  copy_slots(from.nodes().slots(), objects, [&](std::uint32_t slot) {
    if (!from.nodes().flags[NodeIndex{slot}].exists) return false;
    fresh_.apply(from.node(NodeIndex{slot}));
    return true;
  });
}

void ClusterCompaction::copy_some(KindTag<PodGroup> /*kind*/, const Cluster& from,
                                  std::size_t objects) {
  copy_slots(from.groups_.size(), objects, [&](std::uint32_t slot) {
    const auto& object = from.groups_[GroupIndex{slot}].object;
    if (object) fresh_.apply(*object);
    return object.has_value();
  });
}

void ClusterCompaction::copy_some(KindTag<Workload> /*kind*/, const Cluster& from,
                                  std::size_t objects) {
  copy_slots(from.workloads_.size(), objects, [&](std::uint32_t slot) {
    const auto& object = from.workloads_[WorkloadIndex{slot}].object;
    if (object) fresh_.apply(*object);
    return object.has_value();
  });
}

template <MappedObject Object>
void ClusterCompaction::copy_some(KindTag<Object> /*kind*/, const Cluster& from,
                                  std::size_t objects) {
  const auto& map = std::get<ObjectMap<Object>>(elsewhere_ ? from.elsewhere_ : from.home_);
  auto at = last_ ? map.upper_bound(*last_) : map.begin();
  for (std::size_t count = 0; count < objects && at != map.end(); ++count, ++at) {
    fresh_.apply(at->second);
    last_ = at->first;
  }
  if (at != map.end()) return;
  last_.reset();
  if (elsewhere_) ++kind_;
  elsewhere_ = !elsewhere_;
}

bool ClusterCompaction::step(const Cluster& from, std::size_t objects) {
  // Pods in the end: what they belong to is there, and nothing has to be worked out again.
  std::size_t number = 0;
  const std::size_t wanted = kind_;
  each_kind([&](const auto& kind) {
    using Object = std::decay_t<decltype(kind)>::Type;
    if constexpr (std::is_same_v<Object, Pod>) return;
    if (number++ == wanted) copy_some(kind, from, objects);
  });
  if (wanted == number) copy_some(KindTag<Pod>{}, from, objects);
  return kind_ > number;
}

}  // namespace makeway

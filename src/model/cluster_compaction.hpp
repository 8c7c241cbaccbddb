// ClusterCompaction: the same cluster without what removed objects left behind, made bit by bit.
//
//   ClusterCompaction compaction;
//   while (!compaction.step(cluster, 1'000)) { ... cluster.apply(c), compaction.apply(c) ... }
//   cluster = compaction.take();
//
// Interned texts, label sets and rows are never removed one by one: ids would have to be counted
// wherever they stand. Instead a second store is filled while the first goes on, so that no cycle
// waits for it; the price is twice the memory for that time. Indices of the one mean nothing in the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/cluster.hpp"

namespace makeway {

class ClusterCompaction {
 public:
  /// Copies about so many objects more; true: all are there. Always of the same cluster.
  bool step(const Cluster& from, std::size_t objects);
  /// What the other cluster has taken since the first step.
  void apply(const Change& change) { fresh_.apply(change); }
  /// All are there.
  Cluster take() { return std::move(fresh_); }

 private:
  template <MappedObject Object>
  void copy_some(KindTag<Object> kind, const Cluster& from, std::size_t objects);
  void copy_some(KindTag<Node> kind, const Cluster& from, std::size_t objects);
  void copy_some(KindTag<Pod> kind, const Cluster& from, std::size_t objects);
  void copy_some(KindTag<PodGroup> kind, const Cluster& from, std::size_t objects);
  void copy_some(KindTag<Workload> kind, const Cluster& from, std::size_t objects);
  /// Calls `copy(slot)` for the next slots; it says whether there was an object.
  template <class Copy>
  void copy_slots(std::size_t slots, std::size_t objects, const Copy& copy);

  Cluster fresh_;
  std::size_t kind_ = 0;           ///< Which is being copied; pods come last.
  std::uint32_t slot_ = 0;         ///< Of a kind in columns: the next one.
  bool elsewhere_ = false;         ///< Of a kind in maps: those of home are there.
  std::optional<ObjectKey> last_;  ///< Of a kind in maps: the last one.
};

}  // namespace makeway

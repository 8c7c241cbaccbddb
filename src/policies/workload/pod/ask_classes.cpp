#include "policies/workload/pod/ask_classes.hpp"

#include <algorithm>

namespace makeway {
namespace {

constexpr std::size_t bytes_max = std::size_t{64} << 20;
constexpr std::size_t bytes_per_node = 160;

}  // namespace

AskClass::AskClass(World& world, PodIndex ask)
    : after(world.survey(), world.after(), ask, world.holds()),
      changes_seen(world.changed_nodes().size()),
      promises_seen(world.promises_made()) {}

AskClasses::AskClasses(const Draft& draft, std::span<const PodIndex> pods)
    : world_(draft.world),
      kept_max_(std::max<std::size_t>(
          bytes_max / (bytes_per_node * (draft.world.survey().nodes().size() + 1)), 1)) {
  const World& world = draft.world;
  if (pods.size() < 2 || draft.explain || world.survey().nodes().empty()) return;
  for (const PodIndex pod : pods) {
    if (!world.cluster().pods().nominated[pod].exists()) ++slots_[key_of(pod)].asks;
  }
  std::erase_if(slots_, [](const auto& item) { return item.second.asks < 2; });
}

AskKey ask_key(const Cluster& cluster, PodIndex pod) {
  const PodColumns& pods = cluster.pods();
  const Unit& unit = cluster.units()[pods.unit[pod]];
  // Labels matter to selectors only: its own, and those of pods that repel others.
  const PodShape& shape = cluster.shape(pods.shape[pod]);
  const bool selected = !cluster.repelling_pods().empty() || !shape.affinity.empty() ||
                        !shape.anti_affinity.empty() || !shape.spread.empty();
  // No queue limits mirror pods and those of critical classes.
  const bool queues = !cluster.own<Queue>().empty();
  return {pods.requests[pod],
          pods.shape[pod],
          selected ? pods.labels[pod] : LabelSetId{0},
          pods.namespace_name[pod],
          pods.notes[pod],
          unit.scheduling_priority,
          unit.never_preempts,
          queues ? unit.queue : StringId{0},
          queues && pods.flags[pod].mirror,
          queues ? pods.priority_class[pod] : StringId{0}};
}

AskClasses::Key AskClasses::key_of(PodIndex pod) const {
  const Cluster& cluster = world_.cluster();
  return {ask_key(cluster, pod), world_.profile_number(cluster.pods().unit[pod])};
}

AskClasses::Slot* AskClasses::slot_of(PodIndex pod) {
  if (slots_.empty() || world_.cluster().pods().nominated[pod].exists()) return nullptr;
  const auto found = slots_.find(key_of(pod));
  return found == slots_.end() ? nullptr : &found->second;
}

AskClass* AskClasses::of(PodIndex pod) {
  Slot* const slot = slot_of(pod);
  if (slot == nullptr) return nullptr;
  if (!slot->kept) {
    kept_.push_back(slot);
    if (kept_.size() > kept_max_) forget_oldest();
    slot->kept = std::make_unique<AskClass>(world_, pod);
  }
  AskClass& kept = *slot->kept;
  // Promises are kept or broken by what happens elsewhere, so rankings know nothing of them.
  if (kept.promises_seen != world_.promises_made()) {
    kept.room.reset();
    kept.ranking.reset();
    kept.nothing.reset();
    kept.promises_seen = world_.promises_made();
  }
  kept.after.ask_for(pod);
  if (world_.differs() && !kept.now) {
    kept.now.emplace(world_.survey(), world_.now(), pod, world_.holds());
  }
  if (kept.now) kept.now->ask_for(pod);
  const bool counts_only = !world_.has_promises() && !kept.after.constraints().any();
  if (!counts_only) {
    kept.room.reset();
    kept.ranking.reset();
    return &kept;
  }
  // Pods that came since may matter to its preferences, on any node.
  if (kept.after.constraints().has_preferences()) kept.room.reset();
  if (!kept.room) kept.room.emplace(world_, kept.after);
  for (; kept.changes_seen < world_.changed_nodes().size(); ++kept.changes_seen) {
    const NodeIndex node = world_.changed_nodes()[kept.changes_seen];
    kept.room->changed(node);
    if (kept.ranking) kept.ranking->changed(node);
  }
  return &kept;
}

void AskClasses::done(PodIndex pod) {
  Slot* const slot = slot_of(pod);
  if (slot == nullptr || --slot->asks > 0) return;
  slot->kept.reset();
  std::erase(kept_, slot);
}

void AskClasses::forget_oldest() {
  kept_.front()->kept.reset();
  kept_.erase(kept_.begin());
}

}  // namespace makeway

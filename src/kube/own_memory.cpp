#include "kube/own_memory.hpp"

#include "kube/write_calls.hpp"

namespace makeway::kube {

void recall(const ObjectState& seen_object, Pod& pod) {
  const SeenCondition* const nominated = seen_object.condition(nominated_condition);
  const bool is_ours = nominated != nullptr && nominated->status == "True" &&
                       noted_node(nominated->message) == pod.nominated_node;
  if (!is_ours) pod.nominated_node.clear();
  pod.notes.evicted_for.clear();
  pod.notes.plan.clear();
  pod.notes.promised = false;
  pod.notes.reserved_since.reset();
  // These say in dumps what controllers and views have found out.
  pod.kept = KeptBy::none;
  pod.notes.loss_units.clear();
  pod.notes.made_from.clear();
  pod.notes.wave = 0;
  pod.notes.wave_after.clear();
  const SeenCondition* const reserved = seen_object.condition(reserved_condition);
  if (reserved == nullptr || reserved->status != "True") return;
  if (const auto since = parse_time(reserved->changed)) {
    pod.notes.reserved_since = *since;
    pod.notes.promised = reserved->reason == "Promised";
  }
}

}  // namespace makeway::kube

// Sessions in the store: the rows of their kernels.
//
// A kernel is one row among the pods. Where its session belongs to a partition it may be suspended
// one day and keep its memory, so there the memory is a row of its own.
#include <algorithm>
#include <limits>

#include "model/cluster.hpp"
#include "model/names.hpp"

namespace makeway {

bool Cluster::apply(const Session& session) {
  leave_kernels(key_of(session));
  enter_kernels(session);
  return put(session);
}

bool Cluster::remove(KindTag<Session> /*kind*/, const Removal& removal) {
  leave_kernels({removal.namespace_name, removal.name, removal.plane});
  return drop<Session>(removal);
}

void Cluster::leave_kernels(const ObjectKeyView& key) {
  const auto found = kernel_rows_.find(key);
  if (found == kernel_rows_.end()) return;
  for (const KernelRows& rows : found->second) {
    for (const PodIndex row : {rows.row, rows.memory}) {
      if (!row.exists()) continue;
      remove_pod(row);
      --kernel_count_;
    }
  }
  kernel_rows_.erase(found);
}

PodIndex Cluster::enter_kernel(const Session& session, const Kernel& kernel, bool memory) {
  const SessionStatus& status = session.status;
  const bool suspends = status.fate == SessionFate::suspends;
  // No rules of other policies apply to it: above every pod, and never a pod that asks.
  Pod pod{.name = session.namespace_name + "/" + session.name + "/" + kernel.name,
          .uid = session.uid,
          .priority = std::numeric_limits<std::int32_t>::max(),
          .preemption_policy = PreemptionPolicy::never,
          .created = session.created,
          .started = status.started};
  if (memory) pod.name += "#memory";
  // What keeps pods off the nodes of its group does not keep it off.
  for (const std::string& value : {std::string(), session.resource_group}) {
    pod.shape.tolerations.push_back(
        {.key = std::string(names::resource_group), .value = value, .effect = {}});
  }
  const bool split = !session.partition.empty();
  for (const Amount& amount : kernel.requests) {
    if (!split || memory == (amount.resource == memory_name)) pod.requests.push_back(amount);
  }
  const bool there =
      status.phase == SessionPhase::running || (status.phase == SessionPhase::suspended && memory);
  if (there) {
    pod.node = kernel.node;
    if (!(memory && suspends)) pod.deletion = status.ends_at;
  } else if (status.phase == SessionPhase::pending || status.phase == SessionPhase::preempted) {
    pod.nominated_node = kernel.nominated_node;
  }
  upsert(pod, true);
  ++kernel_count_;
  return *find_pod({}, pod.name);
}

void Cluster::enter_kernels(const Session& session) {
  if (!session.plane.empty()) return;
  std::vector<KernelRows>& rows = kernel_rows_[owned(key_of(session))];
  if (session.status.phase == SessionPhase::ended) return;
  rows.reserve(session.kernels.size());
  for (const Kernel& kernel : session.kernels) {
    KernelRows row{.row = enter_kernel(session, kernel, false), .memory = {}};
    const bool has_memory = std::ranges::any_of(
        kernel.requests, [](const Amount& amount) { return amount.resource == memory_name; });
    if (has_memory && !session.partition.empty()) row.memory = enter_kernel(session, kernel, true);
    rows.push_back(row);
  }
}

}  // namespace makeway

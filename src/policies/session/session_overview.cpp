// How resource groups look to this cycle, for people: SessionPolicy::describe_groups.
#include <algorithm>

#include "model/session_names.hpp"
#include "policies/session/session_policy.hpp"

namespace makeway {
namespace {

PlanSessionEntry described(const SessionTable& table, const SessionEntry& entry) {
  const Session& session = *entry.object;
  PlanSessionEntry told{.namespace_name = session.namespace_name,
                        .name = session.name,
                        .type = session.type,
                        .priority = entry.priority,
                        .partition = session.partition,
                        .tier = entry.tier,
                        .nodes = {},
                        .since = {},
                        .why_not = {},
                        .preemptions = session.status.preemptions,
                        .preempted_by = session.status.preempted_by,
                        .fate = session.status.fate,
                        .resume_after = session.status.resume_after};
  for (const SessionKernel& kernel : table.kernels(entry)) {
    if (kernel.node.exists()) told.nodes.push_back(node_name(table.cluster(), kernel.node));
  }
  std::ranges::sort(told.nodes);
  const auto repeated = std::ranges::unique(told.nodes);
  told.nodes.erase(repeated.begin(), repeated.end());
  switch (entry.standing) {
    case SessionStanding::pending: told.since = session.created; break;
    case SessionStanding::leaving: told.since = session.status.ends_at; break;
    case SessionStanding::running:
    case SessionStanding::suspended: told.since = session.status.started; break;
    case SessionStanding::off_queue: told.since = session.status.preempted_at; break;
    case SessionStanding::ended: break;
  }
  return told;
}

/// Those who leave first, then those who stay, by name.
void describe_running(const SessionTable& table, SessionCandidates& candidates, std::uint32_t group,
                      PlanResourceGroup& told) {
  for (const std::uint32_t index : candidates.all(group)) {
    const SessionEntry& entry = table.sessions()[index];
    if (entry.standing != SessionStanding::running) continue;
    told.running.push_back(described(table, entry));
    told.running.back().preemptible = true;
  }
  for (const std::uint32_t index : table.groups()[group].sessions) {
    const SessionEntry& entry = table.sessions()[index];
    if (entry.standing != SessionStanding::running || candidates.preemptible(entry)) continue;
    told.running.push_back(described(table, entry));
    told.running.back().why_not = candidates.why_not(entry);
  }
}

/// Who comes back by itself is first, then by name.
bool back_before(const PlanSessionEntry& a, const PlanSessionEntry& b) {
  if (a.resume_after.has_value() != b.resume_after.has_value()) return a.resume_after.has_value();
  return a.resume_after && *a.resume_after < *b.resume_after;
}

}  // namespace

void SessionPolicy::describe_groups() {
  for (std::uint32_t at = 0; at < groups_.size(); ++at) {
    const SessionGroup& group = table_.groups()[at];
    PlanResourceGroup& told = cycle_.plan.resource_groups.emplace_back();
    told.name = group.object->name;
    told.nodes = group.nodes_end - group.nodes_begin;
    told.preemptible_priority = group.preemptible_priority;
    told.preemption_order = choice_name(group.order);
    told.divided = group.divided;
    for (const std::uint32_t index : groups_[at].order) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing == SessionStanding::pending) {
        told.pending.push_back(described(table_, entry));
      }
    }
    describe_running(table_, candidates_, at, told);
    for (const std::uint32_t index : group.sessions) {
      const SessionEntry& entry = table_.sessions()[index];
      const auto add = [&](std::vector<PlanSessionEntry>& list) {
        list.push_back(described(table_, entry));
      };
      if (entry.standing == SessionStanding::leaving) add(told.leaving);
      if (entry.standing == SessionStanding::suspended) add(told.suspended);
      if (entry.standing == SessionStanding::off_queue) add(told.off_queue);
    }
    std::ranges::stable_sort(told.off_queue, back_before);
  }
}

}  // namespace makeway

// How resource groups look to this cycle, for people: SessionPolicy::describe_groups.
#include <algorithm>
#include <limits>

#include "model/session_names.hpp"
#include "policies/session/session_policy.hpp"
#include "policies/shared/cluster_text.hpp"
#include "policies/shared/plan_writer.hpp"

namespace makeway {
namespace {

PlanSessionEntry described(const SessionTable& table, const SessionEntry& entry) {
  const Session& session = *entry.object;
  PlanSessionEntry shown{.namespace_name = session.namespace_name,
                         .name = session.name,
                         .plane = session.plane,
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
    if (kernel.node.exists()) shown.nodes.push_back(node_name(table.cluster(), kernel.node));
  }
  std::ranges::sort(shown.nodes);
  const auto repeated = std::ranges::unique(shown.nodes);
  shown.nodes.erase(repeated.begin(), repeated.end());
  switch (entry.standing) {
    case SessionStanding::pending: shown.since = session.created; break;
    case SessionStanding::leaving: shown.since = session.status.ends_at; break;
    case SessionStanding::running:
    case SessionStanding::suspended: shown.since = session.status.started; break;
    case SessionStanding::off_queue: shown.since = session.status.preempted_at; break;
    case SessionStanding::ended: break;
  }
  return shown;
}

/// The first ones of each list, up to `limit`; all are counted.
class GroupExplainer {
 public:
  GroupExplainer(const SessionTable& table, SessionCandidates& candidates, std::size_t limit)
      : table_(table), candidates_(candidates), limit_(limit) {}

  PlanSessionEntry* add(const SessionEntry& entry, PlanSessionList& list) const {
    ++list.count;
    if (list.first.size() == limit_) return nullptr;
    list.first.push_back(described(table_, entry));
    return &list.first.back();
  }

  /// Sessions that leave first, then those that stay, by name.
  void add_running(SessionGroupIndex group, PlanSessionList& list) {
    for (const SessionIndex index : candidates_.all(group)) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing != SessionStanding::running) continue;
      if (PlanSessionEntry* const shown = add(entry, list)) shown->preemptible = true;
    }
    for (const SessionIndex index : table_.groups()[group].sessions) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing != SessionStanding::running || candidates_.preemptible(entry)) continue;
      if (PlanSessionEntry* const shown = add(entry, list)) {
        const std::optional<Reason> why = candidates_.why_not(entry);
        if (why) shown->why_not = write_text(table_.cluster(), *why);
      }
    }
  }

 private:
  const SessionTable& table_;
  SessionCandidates& candidates_;
  std::size_t limit_;
};

}  // namespace

void SessionPolicy::describe_groups() {
  GroupExplainer explainer(table_, candidates_,
                           draft_.explain ? plan_sessions_all : plan_sessions_listed_max);
  for (std::uint32_t slot = 0; slot < groups_.size(); ++slot) {
    const SessionGroupIndex at{slot};
    const SessionGroup& group = table_.groups()[at];
    PlanResourceGroup& shown = draft_.plan.resource_groups.emplace_back();
    shown.name = group.object->name;
    shown.nodes = group.nodes_end.value - group.nodes_begin.value;
    shown.preemptible_priority = group.preemptible_priority;
    shown.preemption_order = choice_name(group.order);
    shown.divided = group.divided;
    for (const SessionIndex index : groups_[at].order) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing == SessionStanding::pending) explainer.add(entry, shown.pending);
    }
    explainer.add_running(at, shown.running);
    std::vector<SessionIndex> off_queue;
    for (const SessionIndex index : group.sessions) {
      const SessionEntry& entry = table_.sessions()[index];
      if (entry.standing == SessionStanding::leaving) explainer.add(entry, shown.leaving);
      if (entry.standing == SessionStanding::suspended) explainer.add(entry, shown.suspended);
      if (entry.standing == SessionStanding::off_queue) off_queue.push_back(index);
    }
    // A session that comes back by itself is first, then by name.
    std::ranges::stable_sort(off_queue, {}, [this](SessionIndex index) {
      const std::optional<Time>& back = table_.sessions()[index].object->status.resume_after;
      return back.value_or(Time{std::numeric_limits<std::int64_t>::max()});
    });
    for (const SessionIndex index : off_queue) {
      explainer.add(table_.sessions()[index], shown.off_queue);
    }
  }
}

}  // namespace makeway

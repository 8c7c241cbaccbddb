#include "control/waiting_asks.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/checked_math.hpp"
#include "model/replica_priority.hpp"
#include "model/unit_ask.hpp"

namespace makeway {
namespace {

using WaitingByName = std::map<AskName, WaitingAsk>;

void add_waiting(WaitingByName& asks, WaitingAsk part) {
  const auto [at, is_new] = asks.try_emplace(part.name, part);
  if (is_new) return;
  WaitingAsk& ask = at->second;
  ask.pods = saturated_add(ask.pods, part.pods);
  if (part.since && (!ask.since || *part.since < *ask.since)) ask.since = part.since;
}

void add_waiting_pods(WaitingByName& asks, const Cluster& cluster,
                      std::span<const std::string> schedulers) {
  for (const PodIndex pod : cluster.pending_pods()) {
    const std::string_view scheduler = cluster.text(cluster.pods().scheduler[pod]);
    if (!schedulers.empty() && std::ranges::find(schedulers, scheduler) == schedulers.end()) {
      continue;
    }
    const UnitIndex unit = cluster.pods().unit[pod];
    const Time created = cluster.pods().created[pod];
    add_waiting(asks, {.name = ask_name_of(cluster, unit),
                       .priority = cluster.units()[unit].scheduling_priority,
                       .pods = 1,
                       .since = created == no_time ? std::nullopt : std::optional(created)});
  }
}

bool waits(const SessionStatus& status) {
  return status.phase == SessionPhase::pending || status.phase == SessionPhase::suspended ||
         (status.phase == SessionPhase::preempted && status.fate == SessionFate::requeues);
}

void add_waiting_sessions(WaitingByName& asks, const Cluster& cluster,
                          const SessionSettings& rules) {
  for (const auto& [key, session] : cluster.own<Session>()) {
    if (!waits(session.status)) continue;
    add_waiting(
        asks,
        {.name = {.kind = AskKind::session,
                  .namespace_name = session.namespace_name,
                  .name = session.name},
         .priority = session.priority.value_or(static_cast<std::int32_t>(rules.default_priority)),
         .pods = 1,
         .since = session.created,
         .remark = rules.enabled ? "" : "these rules start no sessions (session.enabled: false)"});
  }
}

/// Where replicas are not scaled, the pods of deployments ask for themselves.
void add_waiting_schedules(WaitingByName& asks, const Cluster& cluster,
                           const Configuration& configuration) {
  if (!configuration.replica.enabled) return;
  for (const auto& [key, schedule] : cluster.own<ReplicaSchedule>()) {
    if (schedule.unmet <= 0) continue;
    add_waiting(asks, {.name = {.kind = AskKind::replica_schedule,
                                .namespace_name = schedule.namespace_name,
                                .name = schedule.name},
                       .priority = priority_of(cluster, schedule),
                       .pods = schedule.unmet,
                       .since = schedule.created});
  }
}

}  // namespace

void WaitingAsks::note(const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    note(ask_name_of(ask), {.outcome = ask.outcome, .reason = ask.reason});
  }
}

const AskAnswer* WaitingAsks::answer_of(const AskName& ask) const {
  const auto found = answers_.find(ask);
  return found == answers_.end() ? nullptr : &found->second;
}

void WaitingAsks::look(const Cluster& cluster, const Configuration& configuration,
                       std::span<const std::string> schedulers) {
  WaitingByName asks;
  add_waiting_pods(asks, cluster, schedulers);
  add_waiting_sessions(asks, cluster, configuration.session);
  add_waiting_schedules(asks, cluster, configuration);
  std::erase_if(answers_, [&](const auto& each) { return !asks.contains(each.first); });
  asks_.clear();
  asks_.reserve(asks.size());
  for (auto& [name, ask] : asks) asks_.push_back(std::move(ask));
  // By name already; of large clusters thousands wait, and names are long.
  std::ranges::stable_sort(asks_, {}, [](const WaitingAsk& ask) {
    constexpr Time unknown{std::numeric_limits<std::int64_t>::max()};
    return std::tuple(-std::int64_t{ask.priority}, ask.since.value_or(unknown).ms);
  });
}

}  // namespace makeway

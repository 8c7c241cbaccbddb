#include "policies/session/session_candidates.hpp"

#include <algorithm>
#include <tuple>

#include "base/check.hpp"

namespace makeway {

SessionCandidates::SessionCandidates(const SessionTable& table, const Configuration& configuration)
    : table_(table),
      configuration_(configuration),
      sorted_(table.groups().size()),
      known_(table.groups().size()) {}

SessionCandidates::Stays SessionCandidates::stays(const SessionEntry& entry) const {
  const Session& session = *entry.object;
  const SessionGroup& group = table_.group_of(entry);
  const Partition* const partition = table_.partition_of(entry);
  const SessionSettings& settings = configuration_.session;
  const ProtectionSettings& protection = configuration_.protection;
  if (entry.standing == SessionStanding::leaving) return Stays::leaving;
  if (entry.standing != SessionStanding::running) return Stays::not_running;
  if (partition != nullptr) {
    if (!session.preemptible.value_or(partition->preemptible)) return Stays::not_preemptible;
  } else if (entry.priority > group.preemptible_priority) {
    return Stays::above_threshold;
  }
  if (settings.max_preemptions > 0 && session.status.preemptions >= settings.max_preemptions) {
    return Stays::preempted_often;
  }
  if (std::ranges::find(protection.namespaces, session.namespace_name) !=
      protection.namespaces.end()) {
    return Stays::protected_namespace;
  }
  // A clock that runs behind makes no session younger than 0.
  const Duration runtime = std::max(Duration{}, table_.now() - entry.started);
  if (runtime < protection.minimum_runtime) return Stays::too_young;
  if (partition != nullptr && runtime < partition->exempt_time) return Stays::exempt;
  return Stays::nothing_keeps_it;
}

bool SessionCandidates::preemptible(const SessionEntry& entry) const {
  return stays(entry) == Stays::nothing_keeps_it;
}

std::optional<Reason> SessionCandidates::why_not(const SessionEntry& entry) const {
  const Partition* const partition = table_.partition_of(entry);
  switch (stays(entry)) {
    case Stays::nothing_keeps_it: return std::nullopt;
    case Stays::not_running: return Reason{.code = ReasonCode::stays_not_running};
    case Stays::leaving: return Reason{.code = ReasonCode::stays_leaving};
    case Stays::not_preemptible:
      return Reason{.code = entry.object->preemptible ? ReasonCode::stays_by_spec
                                                      : ReasonCode::stays_by_partition};
    case Stays::above_threshold:
      return Reason{.code = ReasonCode::priority_above,
                    .arguments = {table_.group_of(entry).preemptible_priority}};
    case Stays::preempted_often: return Reason{.code = ReasonCode::stays_preempted_often};
    case Stays::protected_namespace: return Reason{.code = ReasonCode::stays_in_namespace};
    case Stays::too_young: return Reason{.code = ReasonCode::stays_too_young};
    case Stays::exempt:
      return Reason{.code = ReasonCode::exempt_until,
                    .arguments = {entry.started + partition->exempt_time}};
  }
  return std::nullopt;
}

std::int64_t SessionCandidates::order_key(const SessionEntry& entry, PreemptionOrder order) const {
  switch (order) {
    case PreemptionOrder::oldest:
    case PreemptionOrder::fewest: return entry.started.ms;
    case PreemptionOrder::newest: return -entry.started.ms;
    case PreemptionOrder::least_lost_work: return table_.lost_work_seconds(entry);
  }
  CHECK(false, "unknown order");
}

void SessionCandidates::sort_group(SessionGroupIndex group) {
  struct Key {
    std::int32_t tier;
    std::int32_t priority;
    std::int64_t order;
    SessionIndex session;

    auto operator<=>(const Key&) const = default;
  };
  const SessionGroup& entry = table_.groups()[group];
  std::vector<Key> keys;
  keys.reserve(entry.sessions.size());
  for (const SessionIndex index : entry.sessions) {
    const SessionEntry& session = table_.sessions()[index];
    if (!preemptible(session)) continue;
    keys.push_back({.tier = session.tier,
                    .priority = session.priority,
                    .order = order_key(session, entry.order),
                    .session = index});
  }
  std::ranges::sort(keys);
  sorted_[group].reserve(keys.size());
  for (const Key& key : keys) sorted_[group].push_back(key.session);
  known_[group] = 1;
}

std::span<const SessionIndex> SessionCandidates::all(SessionGroupIndex group) {
  if (known_[group] == 0) sort_group(group);
  return sorted_[group];
}

std::span<const SessionIndex> SessionCandidates::of(const SessionEntry& ask) {
  const std::span<const SessionIndex> group = all(ask.group);
  const bool divided = ask.partition.exists();
  const auto end = std::ranges::partition_point(group, [&](SessionIndex index) {
    const SessionEntry& entry = table_.sessions()[index];
    return divided ? entry.tier < ask.tier : entry.priority < ask.priority;
  });
  return group.first(static_cast<std::size_t>(end - group.begin()));
}

Reason SessionCandidates::decided_by(SessionIndex first, SessionIndex second) const {
  const SessionEntry& a = table_.sessions()[first];
  const SessionEntry& b = table_.sessions()[second];
  if (a.tier != b.tier) return {.code = ReasonCode::by_tier, .arguments = {a.tier, b.tier}};
  if (a.priority != b.priority) {
    return {.code = ReasonCode::by_priority, .arguments = {a.priority, b.priority}};
  }
  const PreemptionOrder order = table_.group_of(a).order;
  if (order == PreemptionOrder::least_lost_work) {
    const std::int64_t mine = table_.lost_work_seconds(a);
    const std::int64_t other = table_.lost_work_seconds(b);
    if (mine != other) return {.code = ReasonCode::by_lost_work, .arguments = {mine, other}};
  } else if (a.started != b.started) {
    return {.code = ReasonCode::by_start, .arguments = {order_reason(order), a.started, b.started}};
  }
  return {.code = ReasonCode::by_name};
}

Reason SessionCandidates::order_reason(PreemptionOrder order) {
  switch (order) {
    case PreemptionOrder::oldest: return {.code = ReasonCode::oldest_first};
    case PreemptionOrder::newest: return {.code = ReasonCode::newest_first};
    case PreemptionOrder::least_lost_work: return {.code = ReasonCode::least_lost_work_first};
    case PreemptionOrder::fewest: return {.code = ReasonCode::fewest_sessions};
  }
  CHECK(false, "unknown order");
}

}  // namespace makeway

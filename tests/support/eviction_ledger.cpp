#include "support/eviction_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/history_laws.hpp"

namespace makeway {
namespace {

/// By affinity, anti-affinity, spread or a claim: such an ask may lose its place when any pod
/// moves.
bool depends_on_others(const Cluster& cluster, const PlanAsk& ask) {
  return std::ranges::any_of(ask.placements, [&](const PodPlacement& place) {
    const auto pod = cluster.find_pod(place.namespace_name, place.name);
    if (!pod || cluster.pods().flags[*pod].kernel) return false;
    const PodShape shape = cluster.pod(*pod).shape;
    return !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty() ||
           !shape.claims.empty();
  });
}

}  // namespace

void EvictionLedger::happened_on(const std::string& node) {
  for (auto& [ask, entry] : entries_) entry.cause = entry.cause || entry.nodes.contains(node);
}

void EvictionLedger::happened_everywhere() {
  for (auto& [ask, entry] : entries_) entry.cause = true;
}

void EvictionLedger::left_undone(const std::string& ask) {
  if (const auto found = entries_.find(ask); found != entries_.end()) found->second.cause = true;
}

EvictionLedger::Whereabouts EvictionLedger::whereabouts(const Cluster& cluster, const Entry& entry,
                                                        const Key& victim) {
  if (entry.sessions) {
    const auto found = cluster.own<Session>().find(ObjectKey{victim.first, victim.second});
    const bool runs = found != cluster.own<Session>().end() &&
                      found->second.status.phase == SessionPhase::running;
    if (!runs) return Whereabouts::gone;
    return found->second.status.ends_at ? Whereabouts::leaving : Whereabouts::stays;
  }
  const auto index = cluster.find_pod(victim.first, victim.second);
  if (!index) return Whereabouts::gone;
  return cluster.pod(*index).deletion ? Whereabouts::leaving : Whereabouts::stays;
}

/// A pod on one of its nodes should have left long ago: an ask that counted on that may need more.
bool EvictionLedger::has_overdue_pods(const Cluster& cluster, const Entry& entry, Time now) const {
  const bool by_pod = std::ranges::any_of(cluster.pods_by_name(), [&](PodIndex index) {
    if (cluster.pods().flags[index].kernel) return false;
    const Pod pod = cluster.pod(index);
    return pod.deletion && entry.nodes.contains(pod.node) &&
           !still_awaited(pod, configuration_, now);
  });
  return by_pod || std::ranges::any_of(cluster.own<Session>(), [&](const auto& item) {
           const Session& session = item.second;
           const auto here = [&](const Kernel& kernel) {
             return entry.nodes.contains(kernel.node);
           };
           return session.status.ends_at && std::ranges::any_of(session.kernels, here) &&
                  now - *session.status.ends_at >= configuration_.engine.leave_timeout;
         });
}

bool EvictionLedger::has_cause(const Cluster& cluster, const Entry& entry, Time now) const {
  if (entry.cause || has_overdue_pods(cluster, entry, now)) return true;
  bool all_gone = true;
  for (const Key& victim : entry.victims) {
    const Whereabouts where = whereabouts(cluster, entry, victim);
    if (where == Whereabouts::stays) return true;
    all_gone = all_gone && where == Whereabouts::gone;
  }
  if (entry.sessions) return false;
  if (entry.pinned) {
    return configuration_.required_node.leaving_room != PinnedLeavingRoom::credited;
  }
  return configuration_.workload.leaving_room != LeavingRoom::credited && all_gone;
}

void EvictionLedger::note_takers(const Cluster& cluster, const Plan& plan) {
  const bool queues = configuration_.queue.enabled && !cluster.own<Queue>().empty();
  for (const PlanAsk& ask : plan.asks) {
    const std::string text = ask_text(ask);
    // A pod with terms about others may keep them away from any node.
    const bool everywhere = (queues || depends_on_others(cluster, ask)) && !ask.placements.empty();
    for (auto& [other, entry] : entries_) {
      if (other == text || (entry.priority >= ask.priority && !ask.reservation)) continue;
      entry.cause = entry.cause || everywhere ||
                    std::ranges::any_of(ask.placements, [&](const PodPlacement& place) {
                      return entry.nodes.contains(place.node);
                    });
    }
  }
}

EvictionLedger::Entry EvictionLedger::entry_of(const Cluster& cluster, const PlanAsk& ask) {
  Entry entry{.priority = ask.priority,
              .sessions = ask.session.has_value(),
              .pinned = ask.reservation.has_value()};
  for (const PodPlacement& place : ask.placements) entry.nodes.insert(place.node);
  if (ask.session) {
    for (const PlanSessionVictim& victim : ask.session->victims) {
      entry.victims.insert({victim.namespace_name, victim.name});
    }
  } else {
    for (const PlanVictim& victim : ask.victims) {
      entry.victims.insert({victim.namespace_name, victim.name});
    }
  }
  entry.cause = depends_on_others(cluster, ask);
  return entry;
}

std::vector<std::string> EvictionLedger::judge(const Cluster& cluster, const Plan& plan) {
  std::vector<std::string> complaints;
  // A pod that left too late has failed the ask even when it is gone at last.
  for (auto& [text, entry] : entries_) entry.cause = has_cause(cluster, entry, plan.now);
  note_takers(cluster, plan);
  for (const PlanAsk& ask : plan.asks) {
    const bool judged = ask.kind == AskKind::pod || ask.kind == AskKind::pod_group || ask.session;
    const std::string text = ask_text(ask);
    if (ask.outcome == Outcome::fits) entries_.erase(text);  // It is served, or a part of it.
    if (!judged || ask.outcome != Outcome::preempts) continue;
    Entry entry = entry_of(cluster, ask);
    // Where leaving room is not credited, they are named again while they leave.
    const bool others = std::ranges::any_of(entry.victims, [&](const Key& victim) {
      return whereabouts(cluster, entry, victim) == Whereabouts::stays;
    });
    if (!others) continue;
    ++chosen_;
    if (const auto before = entries_.find(text); before != entries_.end()) {
      ++again_;
      if (!has_cause(cluster, before->second, plan.now)) {
        complaints.push_back(fmt::format(
            "{}: others have to leave for it once more, and nothing has happened to its place",
            text));
      }
    }
    entries_[text] = std::move(entry);
  }
  return complaints;
}

}  // namespace makeway

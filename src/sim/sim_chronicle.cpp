#include "sim/sim_chronicle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

namespace makeway {
namespace {

std::string full_name(std::string_view namespace_name, std::string_view name,
                      std::string_view plane) {
  const std::string at_home =
      namespace_name.empty() ? std::string(name) : fmt::format("{}/{}", namespace_name, name);
  return plane.empty() ? at_home : fmt::format("{}:{}", plane, at_home);
}

std::string place_text(const PlanAsk& ask) {
  std::set<std::string> nodes;
  for (const PodPlacement& placement : ask.placements) {
    nodes.insert(full_name({}, placement.node, placement.plane));
  }
  if (nodes.empty()) return {};
  return nodes.size() == 1 ? *nodes.begin() : fmt::format("{} nodes", nodes.size());
}

/// A queue that takes back what it deserves has none.
std::optional<std::int32_t> priority_of(const PlanAsk& ask) {
  return ask.kind == AskKind::queue ? std::nullopt : std::optional(ask.priority);
}

std::int64_t victims_of(const PlanAsk& ask) {
  return std::ssize(ask.victims) + (ask.replicas ? scaled_down(*ask.replicas) : 0);
}

/// Calls `visit(victim)` for each replica that is scaled down for the ask.
template <class Visit>
void each_replica_victim(const PlanAsk& ask, const Visit& visit) {
  if (!ask.replicas) return;
  for (const PlanReplicaClaim& claim : ask.replicas->claims) {
    for (const PlanReplicaVictim& victim : claim.victims) {
      if (victim.action == ReplicaAction::scale_down) visit(claim, victim);
    }
  }
}

ChronicledDecision decision_of(const PlanAsk& ask, Time now) {
  ChronicledDecision decision{.when = now,
                              .ask = ask_text(ask),
                              .priority = priority_of(ask),
                              .outcome = ask.outcome,
                              .waited_seconds = ask.pending_seconds.value_or(0),
                              .place = place_text(ask),
                              .victims = victims_of(ask),
                              .cost = ask.cost,
                              .reason = ask.reason};
  const auto add = [&](ChronicledVictim victim, const auto& cause) {
    if (decision.first_victims.empty()) {
      decision.rule = cause.cause_rule;
      decision.alternative = cause.cause_alternative;
      decision.key = cause.cause_key;
    }
    if (decision.first_victims.size() < SimChronicle::victims_listed_max) {
      decision.first_victims.push_back(std::move(victim));
    }
  };
  for (const PlanVictim& victim : ask.victims) {
    add({.name = full_name(victim.namespace_name, victim.name, victim.plane),
         .node = victim.node,
         .priority = victim.priority,
         .reason = victim.reason},
        victim);
  }
  each_replica_victim(ask, [&](const PlanReplicaClaim& claim, const PlanReplicaVictim& victim) {
    add({.name = full_name(victim.namespace_name, victim.name, victim.plane),
         .node = claim.node,
         .priority = victim.priority,
         .reason = victim.reason},
        victim);
  });
  return decision;
}

/// Smaller comes first; names make both orders total.
auto slow_key(const ChronicledDecision& decision) {
  return std::tuple(-decision.waited_seconds, decision.when.ms, std::string_view(decision.ask));
}
auto disruptive_key(const ChronicledDecision& decision) {
  return std::tuple(-decision.victims, -decision.cost.pod_seconds, decision.when.ms,
                    std::string_view(decision.ask));
}

/// Puts it where it belongs, and forgets the last one when there are too many.
template <class Key>
void enter(std::vector<ChronicledDecision>& list, ChronicledDecision decision, const Key& key) {
  const auto before = [&](const ChronicledDecision& a, const ChronicledDecision& b) {
    return key(a) < key(b);
  };
  list.insert(std::ranges::upper_bound(list, decision, before), std::move(decision));
  if (list.size() > SimChronicle::decisions_max) list.pop_back();
}

std::optional<std::int64_t> optional_range(std::optional<std::int64_t> priority,
                                           std::int64_t grain) {
  return priority ? std::optional(range_of(*priority, grain)) : std::nullopt;
}

bool gets_place(const PlanAsk& ask) {
  return ask.outcome == Outcome::fits || ask.outcome == Outcome::preempts;
}

}  // namespace

std::int64_t range_of(std::int64_t priority, std::int64_t grain) {
  const std::int64_t rest = priority % grain;
  return priority - rest - (rest < 0 ? grain : 0);
}

void PreemptionMatrix::add(std::optional<std::int32_t> asker, std::int32_t victim) {
  const auto [cell, fresh] =
      counts_.try_emplace({optional_range(asker, grain_), range_of(victim, grain_)}, 0);
  ++cell->second;
  while (fresh && has_too_many()) coarsen();
}

bool PreemptionMatrix::has_too_many() const {
  std::set<std::optional<std::int64_t>> askers;
  std::set<std::int64_t> victims;
  for (const auto& [priorities, count] : counts_) {
    if (priorities.first) askers.insert(priorities.first);
    victims.insert(priorities.second);
  }
  return std::max(askers.size(), victims.size()) > priorities_max;
}

void PreemptionMatrix::coarsen() {
  grain_ *= 10;
  std::map<Key, std::int64_t> joined;
  for (const auto& [priorities, count] : counts_) {
    joined[{optional_range(priorities.first, grain_), range_of(priorities.second, grain_)}] +=
        count;
  }
  counts_ = std::move(joined);
}

void SimChronicle::name_rows(const std::vector<std::string>& names) {
  nodes_in_row_ = (names.size() + node_rows_max - 1) / node_rows_max;
  for (std::size_t first = 0; first < names.size(); first += nodes_in_row_) {
    const std::size_t last = std::min(first + nodes_in_row_, names.size()) - 1;
    node_rows_.push_back(first == last ? names[first]
                                       : fmt::format("{} to {}", names[first], names[last]));
  }
}

void SimChronicle::sampled(Time now, const SimNodes& nodes, std::size_t scarce) {
  const std::vector<std::string>& names = nodes.names();
  if (names.empty()) return;
  if (nodes_in_row_ == 0) name_rows(names);
  for (std::size_t at = 0; at < names.size(); ++at) {
    const SimNode& node = nodes.at(names[at]);
    if (!node.there || node.room[scarce] <= 0) continue;
    // Nodes that came later belong to the last row.
    const std::size_t row = std::min(at / nodes_in_row_, node_rows_.size() - 1);
    node_use_.add(row, now, node.used[scarce] * 1'000 / node.room[scarce]);
  }
}

void SimChronicle::planned(const Plan& plan, std::string_view scarce) {
  note_queues(plan, scarce);
  for (const PlanAsk& ask : plan.asks) {
    for (const PlanVictim& victim : ask.victims) matrix_.add(priority_of(ask), victim.priority);
    each_replica_victim(ask,
                        [&](const PlanReplicaClaim& /*claim*/, const PlanReplicaVictim& victim) {
                          matrix_.add(priority_of(ask), victim.priority);
                        });
    note_decision(ask, plan.now);
  }
}

void SimChronicle::note_queues(const Plan& plan, std::string_view scarce) {
  for (const PlanQueue& queue : plan.queues) {
    if (!queue.leaf) continue;
    const auto share = std::ranges::find(queue.shares, scarce, &PlanQueueShare::resource);
    if (share == queue.shares.end()) continue;
    auto found = queues_.find(queue.name);
    if (found == queues_.end()) {
      has_more_queues_ = has_more_queues_ || queues_.size() == queues_max;
      if (queues_.size() == queues_max) continue;
      found = queues_.emplace(queue.name, queues_.size()).first;
    }
    queue_used_.add(found->second, plan.now, share->used - share->leaving);
    queue_deserved_.add(found->second, plan.now, share->deserved);
  }
}

void SimChronicle::note_decision(const PlanAsk& ask, Time now) {
  const std::int64_t victims = victims_of(ask);
  const bool full = most_disruptive_.size() == decisions_max;
  if (victims > 0 && (!full || victims >= most_disruptive_.back().victims)) {
    enter(most_disruptive_, decision_of(ask, now), disruptive_key);
  }
  const std::int64_t waited = ask.pending_seconds.value_or(0);
  if (!gets_place(ask) || waited == 0) return;
  if (slowest_.size() == decisions_max && waited < slowest_.back().waited_seconds) return;
  // An ask that evicts first gets its place later: the last of its decisions counts.
  const std::string name = ask_text(ask);
  std::erase_if(slowest_, [&](const ChronicledDecision& old) { return old.ask == name; });
  enter(slowest_, decision_of(ask, now), slow_key);
}

}  // namespace makeway

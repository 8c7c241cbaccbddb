#include "support/history_laws.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <variant>

#include "judge/naive_fit.hpp"
#include "model/resource.hpp"

namespace makeway {
namespace {

PodKey key_of(const PodPlacement& placement) { return {placement.namespace_name, placement.name}; }

PodKey key_of(const PlanVictim& victim) { return {victim.namespace_name, victim.name}; }

/// What a pod takes of a node; one of `pods` too.
Amounts taken_by(const Pod& pod) {
  Amounts amounts = pod.requests;
  amounts.push_back({.resource = std::string(pods_name), .amount = 1});
  return amounts;
}

/// What is used of each resource of each node.
using Usage = std::map<std::pair<std::string, std::string>, std::int64_t>;

void add(Usage& usage, const std::string& node, const Pod& pod) {
  for (const Amount& amount : taken_by(pod)) usage[{node, amount.resource}] += amount.amount;
}

Pod pod_named(const Cluster& cluster, const PodPlacement& placement) {
  return cluster.pod(*cluster.find_pod(placement.namespace_name, placement.name));
}

std::int64_t allocatable(const Cluster& cluster, const std::string& node,
                         std::string_view resource) {
  const Amounts amounts = cluster.node(*cluster.find_node(node)).allocatable;
  const auto at = std::ranges::find(amounts, resource, &Amount::resource);
  return at == amounts.end() ? 0 : at->amount;
}

std::set<PodKey> victims_of(const Plan& plan) {
  std::set<PodKey> victims;
  for (const PlanAsk& ask : plan.asks) {
    for (const PlanVictim& victim : ask.victims) victims.insert(key_of(victim));
  }
  return victims;
}

bool looks_at_others(const Cluster& cluster, const std::vector<PodPlacement>& placements) {
  return std::ranges::any_of(placements, [&](const PodPlacement& place) {
    const PodShape shape = pod_named(cluster, place).shape;
    return !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty() ||
           !shape.claims.empty();
  });
}

/// None: it is outside every queue.
QueueRow queue_of(const Cluster& cluster, const Configuration& configuration,
                  const PodPlacement& placement) {
  const PodIndex pod = *cluster.find_pod(placement.namespace_name, placement.name);
  return QueueMembership(cluster, configuration).of(pod);
}

std::string places_text(const std::vector<PodPlacement>& placements) {
  std::vector<std::string> texts;
  texts.reserve(placements.size());
  for (const PodPlacement& each : placements) {
    texts.push_back(fmt::format("{}/{} on {}", each.namespace_name, each.name, each.node));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

bool still_awaited(const Pod& pod, const Configuration& configuration, Time now) {
  return pod.deletion && !pod.node.empty() &&
         now - *pod.deletion < configuration.engine.leave_timeout;
}

// ---- What happens -------------------------------------------------------------------------------

void HistoryLaws::start(const LoopStart& /*start*/) {
  seen_.clear();
  forget();
}

bool HistoryLaws::is_awaited(const Seen& seen, Time now) const {
  return seen.deletion && !seen.node.empty() &&
         now - *seen.deletion < configuration_.engine.leave_timeout;
}

void HistoryLaws::batch(const AppliedBatch& batch, const Cluster& cluster) {
  if (!batch.receipts.empty()) forget();
  for (const Change& change : batch.changes) note(change);
  judge_gangs(cluster);
}

void HistoryLaws::note(const Change& change) {
  if (const Pod* const pod = std::get_if<Pod>(&change)) return note_pod(*pod);
  const Removal* const gone = std::get_if<Removal>(&change);
  if (gone != nullptr && gone->kind == ObjectKind::pod) {
    return note_gone({gone->namespace_name, gone->name});
  }
  // These are written because of the plans.
  const bool status = std::holds_alternative<Queue>(change) ||
                      std::holds_alternative<DisruptionBudget>(change) ||
                      std::holds_alternative<ReplicaSchedule>(change);
  if (!status) forget();
}

void HistoryLaws::note_pod(const Pod& pod) {
  const auto [at, is_new] = seen_.try_emplace(PodKey{pod.namespace_name, pod.name});
  Seen& seen = at->second;
  const bool deleted = pod.deletion && !seen.deletion && !pod.disrupted_by_preemption;
  if (is_new || seen.uid != pod.uid || deleted) forget();
  seen = {.uid = pod.uid, .node = pod.node, .deletion = pod.deletion};
}

/// A pod that was not awaited any more was counted as staying, also by pods that want to be near
/// it.
void HistoryLaws::note_gone(const PodKey& key) {
  const auto found = seen_.find(key);
  if (found == seen_.end()) return;
  if (!is_awaited(found->second, last_cycle_)) forget();
  seen_.erase(found);
}

void HistoryLaws::cycle(const MadeCycle& cycle, const Cluster& cluster) {
  for (const RefusedPlan& refused : cycle.made.refused) {
    for (const LawBreach& breach : refused.breaches) {
      complaints_.push_back(fmt::format("law {}, {}: {}", breach.law, breach.ask, breach.text));
    }
    plans_.push_back(refused.plan);
  }
  for (const auto& [key, seen] : seen_) {
    // It is not awaited any more: an ask that counted on its room may need more.
    if (is_awaited(seen, last_cycle_) && !is_awaited(seen, cycle.now)) forget();
  }
  last_cycle_ = cycle.now;
  if (!cycle.made.plan) return;
  plans_.push_back(*cycle.made.plan);
  judge(cluster, plans_.back());
}

void HistoryLaws::judge(const Cluster& cluster, const Plan& plan) {
  ++cycle_;
  if (gangs_unknown_) note_gangs(cluster);
  judge_victims(plan);
  if (complaints_.empty()) judge_rooms(cluster, plan);
  judge_promises(cluster, plan);
  remember(cluster, plan);
}

namespace {

std::int64_t running(const Cluster& cluster, const Group& group) {
  return std::ranges::count_if(group.members,
                               [&](PodIndex pod) { return cluster.pods().node[pod].exists(); });
}

}  // namespace

void HistoryLaws::note_gangs(const Cluster& cluster) {
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    if (running(cluster, group) > 0) gangs_.insert(group.unit);
  }
  gangs_unknown_ = false;
}

/// Of the state that a plan has led to.
void HistoryLaws::judge_gangs(const Cluster& cluster) {
  if (gangs_unknown_) return;  // A bind did not come off.
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    const Unit& unit = cluster.units()[group.unit];
    const std::int64_t count = running(cluster, group);
    if (!unit.gang || count == 0 || gangs_.contains(group.unit)) continue;
    gangs_.insert(group.unit);
    if (count >= unit.minimum) continue;
    complaints_.push_back(fmt::format("law 3, PodGroup {}/{}: {} of its minimum {} run",
                                      cluster.text(group.namespace_name), cluster.text(group.name),
                                      count, unit.minimum));
  }
}

/// An ask that is held only by the pods it preempted: it does not say that it will fit.
bool HistoryLaws::may_still_fit(const PlanAsk& ask) const {
  return configuration_.workload.nomination_held_by == NominationHeldBy::preempted_pods &&
         ask.outcome == Outcome::waits && ask.reason.starts_with("waits for preempted pods");
}

/// What is promised does not depend on what the next cycle fails to see.
bool HistoryLaws::promises_last() const {
  return configuration_.workload.leaving_room == LeavingRoom::credited;
}

bool HistoryLaws::any_leaving(const Cluster& cluster, const std::set<PodKey>& victims) const {
  return std::ranges::any_of(victims, [&](const PodKey& victim) {
    return cluster.find_pod(victim.first, victim.second).has_value();
  });
}

// ---- Law 8 --------------------------------------------------------------------------------------

void HistoryLaws::judge_victims(const Plan& plan) {
  std::set<PodKey> placed;
  for (const PlanAsk& ask : plan.asks) {
    for (const PodPlacement& placement : ask.placements) placed.insert(key_of(placement));
  }
  std::map<PodKey, std::string> taken;
  for (const PlanAsk& ask : plan.asks) {
    for (const PlanVictim& victim : ask.victims) {
      const auto [first, is_new] = taken.try_emplace(key_of(victim), ask_text(ask));
      if (!is_new) {
        complaints_.push_back(fmt::format("law 8, {}: its victim {}/{} leaves for {} already",
                                          ask_text(ask), victim.namespace_name, victim.name,
                                          first->second));
      }
      if (placed.contains(key_of(victim))) {
        complaints_.push_back(fmt::format("law 8, {}: its victim {}/{} is placed by the same plan",
                                          ask_text(ask), victim.namespace_name, victim.name));
      }
    }
  }
}

/// Every pod stays, or comes, at once: of what a placed pod asks for, no node may run out.
void HistoryLaws::judge_rooms(const Cluster& cluster, const Plan& plan) {
  const bool credited = configuration_.workload.leaving_room == LeavingRoom::credited;
  const std::set<PodKey> victims = victims_of(plan);
  Usage usage;
  for (const PodIndex index : cluster.pods_by_name()) {
    const Pod pod = cluster.pod(index);
    if (pod.node.empty() || victims.contains({pod.namespace_name, pod.name})) continue;
    if (credited && still_awaited(pod, configuration_, plan.now)) continue;
    add(usage, pod.node, pod);
  }
  std::vector<PodPlacement> coming;
  for (const PlanAsk& ask : plan.asks) {
    if (may_still_fit(ask)) continue;
    coming.insert(coming.end(), ask.placements.begin(), ask.placements.end());
  }
  for (const PodPlacement& each : coming) add(usage, each.node, pod_named(cluster, each));
  for (const PodPlacement& each : coming) {
    for (const Amount& wanted : taken_by(pod_named(cluster, each))) {
      const std::int64_t used = usage[{each.node, wanted.resource}];
      const std::int64_t whole = allocatable(cluster, each.node, wanted.resource);
      if (used <= whole) continue;
      complaints_.push_back(fmt::format(
          "law 8, Pod {}/{}: its room on node {} is counted on by others too: {} {} of {}",
          each.namespace_name, each.name, each.node, wanted.resource, used, whole));
    }
  }
}

// ---- Laws 3 and 7, from cycle to cycle ----------------------------------------------------------

void HistoryLaws::judge_promises(const Cluster& cluster, const Plan& plan) {
  if (promises_.empty()) return;
  const std::vector<PodIndex> pods = cluster.pods_by_name();
  const bool all_gone = std::ranges::none_of(pods, [&](PodIndex pod) {
    return still_awaited(cluster.pod(pod), configuration_, plan.now);
  });
  for (const PlanAsk& ask : plan.asks) {
    const auto promise = promises_.find(ask_text(ask));
    bool counts = promise != promises_.end() &&
                  (promises_last() || any_leaving(cluster, promise->second.victims));
    if (counts && !promises_last() && !ask.victims.empty() &&
        lost_its_partner(cluster, plan, ask, promise->second)) {
      ++partners_lost_;
      counts = false;
    }
    if (counts) judge_kept(plan, ask, promise->second, all_gone);
    void_taken(cluster, ask);
  }
}

/// A lone pod's node refuses it at its turn only because of the pods that it must be near; groups
/// are held whatever their nodes say.
bool HistoryLaws::lost_its_partner(const Cluster& cluster, const Plan& plan, const PlanAsk& ask,
                                   const Promise& promise) const {
  if (ask.kind != AskKind::pod) return false;
  NaiveWorld world(cluster);
  for (const PlanAsk& before : plan.asks) {
    if (&before == &ask) break;
    for (const PlanVictim& victim : before.victims) {
      const auto pod = cluster.find_pod(victim.namespace_name, victim.name);
      if (pod && world.where(*pod).exists()) world.remove(*pod);
    }
    for (const PodPlacement& place : before.placements) {
      const auto pod = cluster.find_pod(place.namespace_name, place.name);
      if (pod) world.place(*pod, *cluster.find_node(place.node));
    }
  }
  const PodPlacement& own = promise.placements.front();
  const NaiveFit fit(world, *cluster.find_pod(own.namespace_name, own.name));
  const MaybeRefusal refused = fit.refusal(*cluster.find_node(own.node));
  return refused && refused->reason == RefusalReason::affinity;
}

/// Which members a group places itself, and which ask for themselves, may change: a pod that goes
/// where it was promised to go is right, whether it or its group asks.
void HistoryLaws::judge_kept(const Plan& plan, const PlanAsk& ask, const Promise& promise,
                             bool all_gone) {
  const auto complain = [&](int law, std::string_view text) {
    complaints_.push_back(fmt::format(
        "law {}, {}: in cycle {} it was promised {}; nothing but these plans has "
        "happened since, and in cycle {} {}",
        law, ask_text(ask), promise.cycle, places_text(promise.placements), cycle_, text));
  };
  if (!ask.victims.empty()) {
    std::vector<std::string> names;
    names.reserve(ask.victims.size());
    for (const PlanVictim& victim : ask.victims) names.push_back(victim.name);
    return complain(7, fmt::format("it has victims again: {}", fmt::join(names, ", ")));
  }
  if (!promises_last()) return;
  if (ask.placements.empty()) {
    return complain(3, fmt::format("its outcome is {}: {}", choice_name(ask.outcome), ask.reason));
  }
  if (!all_gone) return;
  const bool where_planned =
      std::ranges::all_of(promise.placements, [&](const PodPlacement& place) {
        return std::ranges::any_of(plan.asks, [&](const PlanAsk& each) {
          return each.outcome == Outcome::fits &&
                 std::ranges::find(each.placements, place) != each.placements.end();
        });
      });
  if (ask.outcome == Outcome::fits && where_planned) return;
  complain(3, fmt::format("all leaving pods are gone, but its outcome is {} with {}",
                          choice_name(ask.outcome), places_text(ask.placements)));
}

/// Law 7: a strictly higher ask may take the place, which ends the nomination. Where one of the two
/// looks at others, it may do so from any node.
void HistoryLaws::void_taken(const Cluster& cluster, const PlanAsk& ask) {
  std::set<std::string> taken;
  for (const PodPlacement& place : ask.placements) taken.insert(place.node);
  if (const auto own = promises_.find(ask_text(ask)); own != promises_.end()) {
    if (takers_ == Takers::higher_placeless) return;
    for (const PodPlacement& place : own->second.placements) taken.erase(place.node);
  }
  const bool looks = looks_at_others(cluster, ask.placements);
  const bool queues = configuration_.queue.enabled && !cluster.own<Queue>().empty();
  const QueueRow queue = ask.placements.empty()
                             ? QueueRow{}
                             : queue_of(cluster, configuration_, ask.placements.front());
  // A gang that loses running members may lack what it needs to come.
  std::set<std::pair<std::string, std::string>> torn;
  for (const PlanVictim& victim : ask.victims) {
    const auto index = cluster.find_pod(victim.namespace_name, victim.name);
    if (!index) continue;  // A kernel.
    const Pod pod = cluster.pod(*index);
    if (!pod.group.empty()) torn.emplace(pod.namespace_name, pod.group);
  }
  std::erase_if(promises_, [&](const auto& entry) {
    const Promise& promise = entry.second;
    if (promise.priority >= ask.priority || taken.empty()) return false;
    const Pod promised = pod_named(cluster, promise.placements.front());
    if (torn.contains({promised.namespace_name, promised.group})) return true;
    return looks || promise.looks_at_others || (queues && promise.queue == queue) ||
           std::ranges::any_of(promise.placements, [&](const PodPlacement& place) {
             return taken.contains(place.node);
           });
  });
}

void HistoryLaws::remember(const Cluster& cluster, const Plan& plan) {
  std::map<std::string, Promise> promised;
  for (const PlanAsk& ask : plan.asks) {
    if (ask.placements.empty() || ask.outcome == Outcome::fits) continue;
    const std::string text = ask_text(ask);
    const auto before = promises_.find(text);
    if (before != promises_.end() && before->second.placements == ask.placements) {
      promised.insert(*before);
    } else if (!may_still_fit(ask)) {
      Promise& promise = promised[text];
      promise = {.priority = ask.priority,
                 .placements = ask.placements,
                 .looks_at_others = looks_at_others(cluster, ask.placements),
                 .queue = queue_of(cluster, configuration_, ask.placements.front()),
                 .cycle = cycle_};
      for (const PlanVictim& victim : ask.victims) {
        // kube-scheduler looks for leaving pods on the nominated nodes only.
        const bool seen = promises_last() ||
                          std::ranges::find(ask.placements, victim.node, &PodPlacement::node) !=
                              ask.placements.end();
        if (seen) promise.victims.insert(key_of(victim));
      }
    }
  }
  promises_ = std::move(promised);
}

}  // namespace makeway

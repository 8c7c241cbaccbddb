#include "control/backlog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "control/scheduler_name.hpp"
#include "model/hold.hpp"
#include "model/names.hpp"
#include "model/node_match.hpp"
#include "model/required_node.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

std::string pod_text(const std::string& namespace_name, const std::string& name) {
  return namespace_name + "/" + name;
}

bool is_pending(const Pod& pod) { return pod.node.empty() && !pod.deletion && pod.plane.empty(); }

/// The policy for replicas places it (SPEC section 4).
bool is_replica(const Pod& pod, const Cluster& cluster) {
  if (cluster.own<ReplicaSchedule>().empty()) return false;
  const auto label = std::ranges::find(pod.labels, names::deployment, &Label::key);
  if (label == pod.labels.end()) return false;
  return std::ranges::any_of(cluster.own<ReplicaSchedule>(), [&](const auto& entry) {
    const ReplicaSchedule& schedule = entry.second;
    return schedule.namespace_name == pod.namespace_name && schedule.deployment == label->value;
  });
}

bool may_ask(const Pod& pod, const BacklogOptions& options) {
  if (options.pods && !options.pods->contains(pod_text(pod.namespace_name, pod.name))) return false;
  return names_scheduler(pod, options.schedulers);
}

/// Gangs of the same pods find a place or do not by their minimum and mode; other groups are few.
/// Pods of several schedulers may have several rules.
std::string class_mark(const Unit& unit, AskKind kind, const Pod& pod,
                       const std::vector<std::string>& schedulers) {
  const std::string_view scheduler = schedulers.size() == 1 ? std::string_view{} : pod.scheduler;
  if (kind != AskKind::pod_group) return std::string(scheduler);
  return fmt::format("{} {} {} {}", unit.minimum, unit.gang, unit.mode == DisruptionMode::all,
                     scheduler);
}

/// Some of its pods run.
bool has_begun(const Cluster& cluster, const Unit& unit) {
  if (unit.kind != UnitKind::group || !unit.group.exists()) return false;
  return std::ranges::any_of(cluster.groups()[unit.group].members,
                             [&](PodIndex pod) { return cluster.pods().node[pod].exists(); });
}

/// Room that another ask of the same plan makes could not have woken it before.
bool waits_for_victim_of(const Plan& plan, const PlanAsk& ask) {
  return std::ranges::any_of(plan.actions, [&](const PlanAction& action) {
    return action.type == ActionType::evict &&
           std::ranges::any_of(ask.waits_for, [&](const PodPlacement& leaving) {
             return leaving.namespace_name == action.namespace_name && leaving.name == action.name;
           });
  });
}

/// The pod's nomination, void as soon as it may be: what keeps nothing must not keep an ask from
/// being tried. A reservation counts by its priority only, for the same reason.
Hold surely_held(const Cluster& cluster, PodIndex pod, NodeIndex node) {
  const PodColumns& pods = cluster.pods();
  const NodeColumns& nodes = cluster.nodes();
  const PodShape& shape = cluster.shape(pods.shape[pod]);
  const RequestRow room = cluster.requests(nodes.allocatable[node]);
  const bool too_large =
      std::ranges::any_of(cluster.requests(pods.requests[pod]), [&](const ResourceAmount& wanted) {
        const auto has = std::ranges::find(room, wanted.resource, &ResourceAmount::resource);
        return wanted.amount > (has == room.end() ? 0 : has->amount);
      });
  const bool tainted =
      nodes.flags[node].unschedulable ||
      std::ranges::any_of(cluster.taints(nodes.taints[node]), [&](const Taint& taint) {
        return keeps_away(taint) && !tolerates(shape, taint);
      });
  const std::string_view name = cluster.text(nodes.name[node]);
  const std::string& only = cluster.notes(pods.notes[pod]).required_node;
  const bool refused = tainted || !shape.claims.empty() || !shape.unsupported.empty() ||
                       (!only.empty() && only != name) ||
                       !allows_node(shape, cluster.label_objects(nodes.labels[node]), name);
  const auto deployment = cluster.own<ReplicaSchedule>().empty()
                              ? std::nullopt
                              : cluster.strings().find(names::deployment);
  const bool may_be_replica = deployment && std::ranges::any_of(cluster.labels(pods.labels[pod]),
                                                                [&](const LabelPair& label) {
                                                                  return label.key == *deployment;
                                                                });
  const bool own_regime =
      nodes.claims[node] == NodeClaims{} && !pods.flags[pod].kernel && !may_be_replica;
  Hold hold = nomination_hold(
      cluster, pod, node,
      {.regime_admits = own_regime, .node_takes = !too_large && !refused, .pinned = true});
  hold.reserved = false;
  return hold;
}

/// Whether the spec of a pod has changed; its notes are written by us, too.
template <class Key>
bool asks_for_other(const Key& now, const Key& before) {
  return std::get<LabelSetId>(now) != std::get<LabelSetId>(before) ||
         std::get<RequestId>(now) != std::get<RequestId>(before) ||
         std::get<ShapeId>(now) != std::get<ShapeId>(before) ||
         std::get<std::int64_t>(now) != std::get<std::int64_t>(before);
}

}  // namespace

// ---- What changes -------------------------------------------------------------------------------

void Backlog::foresee(const Change& change, const Cluster& cluster) {
  if (const auto* const budget = std::get_if<DisruptionBudget>(&change)) {
    return foresee_budget(*budget, cluster);
  }
  if (const Queue* const queue = std::get_if<Queue>(&change)) {
    const auto found = cluster.own<Queue>().find(ObjectKeyView{{}, queue->name, {}});
    Queue before = found == cluster.own<Queue>().end() ? Queue{} : found->second;
    before.used = queue->used;
    queue_moves_ = queue_moves_ || before != *queue;
    return;
  }
  std::optional<PodIndex> pod;
  std::string_view goes_to;
  bool stays = false;   // A pod that begins to leave is still there,
  bool leaves = false;  // but others may count on its room from now on.
  if (const Pod* const object = std::get_if<Pod>(&change)) {
    pod = cluster.find_pod(object->namespace_name, object->name, object->plane);
    goes_to = object->node;
    stays = !is_pending(*object);
    leaves = object->deletion.has_value();
  } else if (const Removal* const gone = std::get_if<Removal>(&change)) {
    if (gone->kind == ObjectKind::pod) {
      pod = cluster.find_pod(gone->namespace_name, gone->name, gone->plane);
    }
  }
  if (!pod) return;
  const NodeIndex node = cluster.pods().node[*pod];
  const Removal* const removal = std::get_if<Removal>(&change);
  if (removal != nullptr && node.exists() && removal->plane.empty()) {
    gone_from_[pod_text(removal->namespace_name, removal->name)] =
        cluster.text(cluster.nodes().name[node]);
  }
  const NodeIndex nominated = cluster.pods().nominated[*pod];
  const bool begins = leaves && cluster.pods().deletion[*pod] == no_time;
  if (node.exists() && (!stays || begins)) freed_.insert(node);
  // Room that was promised to it is free when it goes elsewhere.
  const bool takes_it =
      stays && nominated.exists() && cluster.text(cluster.nodes().name[nominated]) == goes_to;
  if (nominated.exists() && !takes_it) freed_.insert(nominated);
}

/// One that only allows less helps no ask.
void Backlog::foresee_budget(const DisruptionBudget& budget, const Cluster& cluster) {
  const auto budgets = cluster.budgets();
  const auto before = std::ranges::find_if(budgets, [&](const DisruptionBudget* each) {
    return each->name == budget.name && each->namespace_name == budget.namespace_name &&
           each->plane == budget.plane;
  });
  if (before != budgets.end()) {
    DisruptionBudget same = budget;
    same.disruptions_allowed = (*before)->disruptions_allowed;
    const bool less =
        budget.disruptions_allowed.value_or(0) <= same.disruptions_allowed.value_or(0);
    if (less && same == **before) return;
  }
  budget_eases_ = true;
}

void Backlog::note(const Change& change, const Cluster& cluster, Time now) {
  if (const Pod* const pod = std::get_if<Pod>(&change)) {
    if (!pod->plane.empty()) return;
    if (!is_pending(*pod) || is_replica(*pod, cluster) || !may_ask(*pod, options_)) {
      remove(pod->namespace_name, pod->name);
      return wake_if(&Class::depends_on_other_pods);
    }
    const auto index = cluster.find_pod(pod->namespace_name, pod->name);
    if (index) add(*pod, *index, cluster, now);
  } else if (const Node* const node = std::get_if<Node>(&change)) {
    const auto index = cluster.find_node(node->name, node->plane);
    if (index) freed_.insert(*index);
  } else if (const PodGroup* const group = std::get_if<PodGroup>(&change)) {
    const auto found = asks_.find(
        {.kind = AskKind::pod_group, .namespace_name = group->namespace_name, .name = group->name});
    if (found != asks_.end()) wake(ClassKey(found->second.key), false);
  } else if (std::holds_alternative<Queue>(change)) {
    if (queue_moves_) wake_if(&Class::queued);
  } else if (std::holds_alternative<DisruptionBudget>(change)) {
    if (budget_eases_) wake_all();
  } else if (const auto* const claim = std::get_if<PersistentVolumeClaim>(&change)) {
    if (claim->bound) release_claimants();
    wake_all();
  } else if (const Removal* const gone = std::get_if<Removal>(&change);
             gone != nullptr && gone->kind == ObjectKind::pod) {
    if (!gone->plane.empty()) return;
    remove(gone->namespace_name, gone->name);
    wake_if(&Class::queued);
    wake_if(&Class::depends_on_other_pods);
    call_waiting_for(pod_text(gone->namespace_name, gone->name));
  } else if (gone == nullptr || gone->kind != ObjectKind::pod_group) {
    wake_all();
  }
}

void Backlog::restart(const Cluster& cluster, Time now) {
  Backlog fresh(options_);
  fresh.missed_ = missed_;
  fresh.starved_ = starved_;
  fresh.recheck_at_ = recheck_at_;
  fresh.delays_ = delays_;
  *this = std::move(fresh);
  for (const PodIndex index : cluster.pending_pods()) note(cluster.pod(index), cluster, now);
}

/// Asks that back off are not called. Whether any was.
bool Backlog::call(const std::set<Turn>& turns) {
  bool any = false;
  for (const Turn& turn : turns) {
    if (asks_.at(std::get<AskName>(turn)).held) continue;
    awaiting_due_.insert(turn);
    any = true;
  }
  return any;
}

/// Rule 3.
void Backlog::call_waiting_for(const std::string& gone) {
  const auto left = gone_from_.extract(gone);
  const auto here = left.empty() ? waits_.end() : waits_.find(left.mapped());
  if (here == waits_.end() || !call(here->second)) return call_awaiting();
  if (const auto anywhere = waits_.find({}); anywhere != waits_.end()) call(anywhere->second);
}

void Backlog::await_departures(Entry& entry, const PlanAsk& ask) {
  stop_awaiting(entry);
  awaiting_.insert(entry.turn);
  for (const PodPlacement& place : ask.placements) entry.nodes.insert(place.node);
  for (const PodPlacement& leaving : ask.waits_for) entry.nodes.insert(leaving.node);
  for (const PlanVictim& victim : ask.victims) entry.nodes.insert(victim.node);
  if (entry.nodes.empty()) entry.nodes.insert(std::string());
  for (const std::string& node : entry.nodes) waits_[node].insert(entry.turn);
}

void Backlog::stop_awaiting(Entry& entry) {
  awaiting_.erase(entry.turn);
  for (const std::string& node : entry.nodes) {
    const auto at = waits_.find(node);
    at->second.erase(entry.turn);
    if (at->second.empty()) waits_.erase(at);
  }
  entry.nodes.clear();
}

void Backlog::add(const Pod& pod, PodIndex index, const Cluster& cluster, Time now) {
  const PodColumns& pods = cluster.pods();
  const Unit& unit = cluster.units()[pods.unit[index]];
  AskName name{.kind = pod.group.empty() ? AskKind::pod : AskKind::pod_group,
               .namespace_name = pod.namespace_name,
               .name = pod.group.empty() ? pod.name : pod.group};
  const auto [at, is_new] = asks_.try_emplace(name);
  ask_of_[pod_text(pod.namespace_name, pod.name)] = name;
  Entry& entry = at->second;
  const bool comes = entry.members.insert(pod.name).second;
  ClassKey key{pods.namespace_name[index],
               pods.labels[index],
               pods.requests[index],
               pods.shape[index],
               pods.notes[index],
               unit.scheduling_priority,
               class_mark(unit, name.kind, pod, options_.schedulers)};
  if (!is_new && name.kind == AskKind::pod && asks_for_other(key, entry.key)) {
    drop(name);  // What was found out about it means nothing any more.
    return add(pod, index, cluster, now);
  }
  if (!is_new) {
    // Whether a nomination was written or a member came: what it needs may be different now.
    if (name.kind != AskKind::pod_group || !comes) return;
    if (key != entry.key) stand_alone(entry);
    return wake(ClassKey(entry.key), false);
  }
  entry.turn = {-std::int64_t{unit.scheduling_priority}, pod.created.value_or(now).ms, name};
  entry.key = std::move(key);
  const PodShape& shape = cluster.shape(pods.shape[index]);
  entry.depends_on_other_pods =
      !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty();
  entry.claims = !shape.claims.empty();
  entry.queued = unit.queue.value != 0 || !cluster.own<Queue>().empty();
  entry.pinned = is_pinned(cluster, index);
  be_idle(entry);
  if (!class_of(entry).parked_at) awake_.insert(entry.key);
  if (has_begun(cluster, unit)) stand_alone(entry);
}

Backlog::Class& Backlog::class_of(const Entry& entry) {
  Class& own = classes_[entry.key];
  own.depends_on_other_pods = entry.depends_on_other_pods;
  own.queued = entry.queued;
  own.pinned = entry.pinned;
  return own;
}

/// Results for other asks of its class no longer apply to it.
void Backlog::stand_alone(Entry& entry) {
  auto& mark = std::get<std::string>(entry.key);
  const std::string own = "group " + std::get<AskName>(entry.turn).name;
  if (mark == own) return;
  leave_class(entry);
  mark = own;
  if (entry.held) return;
  if (!awaiting_.contains(entry.turn)) be_idle(entry);
  if (!class_of(entry).parked_at) awake_.insert(entry.key);
}

void Backlog::leave_class(const Entry& entry) {
  const auto own = classes_.find(entry.key);
  if (own == classes_.end()) return;
  own->second.idle.erase(entry.turn);
  own->second.fresh.erase(entry.turn);
  if (own->second.fresh.empty()) fresh_.erase(entry.key);
  if (!own->second.idle.empty()) return;
  wake(ClassKey(entry.key), false);
  awake_.erase(entry.key);
  classes_.erase(own);
}

void Backlog::remove(const std::string& namespace_name, const std::string& name) {
  const auto found = ask_of_.find(pod_text(namespace_name, name));
  if (found == ask_of_.end()) return;
  const AskName ask = found->second;
  ask_of_.erase(found);
  const auto at = asks_.find(ask);
  if (at == asks_.end()) return;
  at->second.members.erase(name);
  if (at->second.members.empty()) return drop(ask);
  stand_alone(at->second);
}

void Backlog::drop(const AskName& ask) {
  const auto at = asks_.find(ask);
  stop_awaiting(at->second);
  awaiting_due_.erase(at->second.turn);
  left_behind_.erase(at->second.turn);
  if (at->second.held) holds_.erase({at->second.held_until, ask});
  leave_class(at->second);
  asks_.erase(at);
}

void Backlog::be_idle(const Entry& entry) {
  Class& own = class_of(entry);
  own.idle.insert(entry.turn);
  if (entry.decided || !options_.tries_all) return;
  own.fresh.insert(entry.turn);
  if (own.parked_at) fresh_.insert(entry.key);
}

void Backlog::park(const ClassKey& key, Class& entry, Time now) {
  if (!entry.fresh.empty()) fresh_.insert(key);
  if (entry.parked_at) return;
  entry.parked_at = now;
  entry.by_time = false;
  entry.burst = burst_min;
  awake_.erase(key);
  parked_.emplace(now, key);
}

void Backlog::wake(const ClassKey& key, bool by_time) {
  const auto found = classes_.find(key);
  if (found == classes_.end()) return;
  Class& entry = found->second;
  if (!by_time) entry.by_time = false;
  if (!entry.parked_at) return;
  parked_.erase({*entry.parked_at, key});
  fresh_.erase(key);
  entry.parked_at.reset();
  entry.by_time = by_time;
  awake_.insert(key);
}

void Backlog::wake_all() {
  call_awaiting();
  while (!parked_.empty()) wake(ClassKey(parked_.begin()->second), false);
}

void Backlog::wake_if(bool Class::* what) {
  std::vector<ClassKey> woken;
  for (const auto& [since, key] : parked_) {
    if (classes_.at(key).*what) woken.push_back(key);
  }
  for (const ClassKey& key : woken) wake(key, false);
}

/// Even if all pods of lower priority and all leaving pods left, beside room that is promised: an
/// upper bound, so no ask is missed.
bool Backlog::could_hold(const Cluster& cluster, NodeIndex node, const ClassKey& key) const {
  if (!cluster.nodes().flags[node].exists) return false;
  const auto priority = static_cast<std::int32_t>(std::get<std::int64_t>(key));
  const NodeOrder& order = cluster.order();
  const std::size_t count = order.count_at_least(node, priority);
  const auto counted = order.pods(node).first(count);
  const auto used = order.used_by_first(node, count);
  const RequestRow room = cluster.requests(cluster.nodes().allocatable[node]);
  std::vector<PodIndex> leaving;  // Of those that are not of lower priority.
  std::ranges::copy_if(cluster.leaving_pods(), std::back_inserter(leaving), [&](PodIndex pod) {
    return cluster.pods().node[pod] == node && std::ranges::find(counted, pod) != counted.end();
  });
  const auto amount = [](RequestRow row, ResourceIndex resource) {
    const auto has = std::ranges::find(row, resource, &ResourceAmount::resource);
    return has == row.end() ? 0 : has->amount;
  };
  const HoldAsk ask{.rank = {.priority = priority}};
  for (const ResourceAmount& wanted : cluster.requests(std::get<RequestId>(key))) {
    std::int64_t left = amount(room, wanted.resource) - used[wanted.resource.value];
    for (const PodIndex pod : leaving) {
      left += amount(cluster.requests(cluster.pods().requests[pod]), wanted.resource);
    }
    for (const PodIndex pod : cluster.nominated_pods()) {
      if (cluster.pods().nominated[pod] != node) continue;
      // What is promised to itself, or to its like, does not keep it away.
      if (cluster.pods().requests[pod] == std::get<RequestId>(key) &&
          cluster.pods().shape[pod] == std::get<ShapeId>(key)) {
        continue;
      }
      if (!blocks(surely_held(cluster, pod, node), ask)) continue;
      left -= amount(cluster.requests(cluster.pods().requests[pod]), wanted.resource);
    }
    if (left < wanted.amount) return false;
  }
  return true;
}

// ---- Back-off -----------------------------------------------------------------------------------

void Backlog::back_off(const AskName& ask, RefusedBy by, Time now, std::optional<Time> again_at) {
  const auto at = asks_.find(ask);
  if (at == asks_.end()) return;
  Entry& entry = at->second;
  if (entry.held) return;
  // An ask that was not refused for long begins again with the first delay.
  const Backoff& backoff = options_.back_off;
  if (entry.held_until + backoff.max + backoff.max < now) entry.failures = 0;
  entry.held = true;
  entry.by = by;
  entry.held_until = backoff.next_try(now, ++entry.failures, again_at);
  holds_.emplace(entry.held_until, ask);
  awaiting_due_.erase(entry.turn);
  left_behind_.erase(entry.turn);
  leave_class(entry);
}

void Backlog::back_off(const Receipt& receipt, Time now) {
  wake_all();  // Room that it was given in the plan is there for others.
  const ObjectRef& concerned = receipt.concerned();
  std::optional<AskName> ask = as_ask(concerned);
  if (!ask || (ask->kind != AskKind::pod && ask->kind != AskKind::pod_group)) return;
  const auto member = ask_of_.find(pod_text(concerned.namespace_name, concerned.name));
  if (ask->kind == AskKind::pod && member != ask_of_.end()) ask = member->second;
  back_off(*ask, RefusedBy::world, now, receipt.again_at);
}

/// An ask that was refused may have waited for this volume.
void Backlog::release_claimants() {
  std::vector<std::pair<Time, AskName>> released;
  for (const auto& hold : holds_) {
    if (asks_.at(hold.second).claims) released.push_back(hold);
  }
  for (const auto& hold : released) {
    holds_.erase(hold);
    release(hold.second);
  }
}

void Backlog::release(const AskName& ask) {
  Entry& entry = asks_.at(ask);
  entry.held = false;
  if (awaiting_.contains(entry.turn)) {
    awaiting_due_.insert(entry.turn);
    return;
  }
  be_idle(entry);
  if (class_of(entry).parked_at) return wake(ClassKey(entry.key), false);
  awake_.insert(entry.key);
}

// ---- Room ---------------------------------------------------------------------------------------

void Backlog::wake_by_room(const Cluster& cluster) {
  std::vector<ClassKey> woken;
  for (const auto& [since, key] : parked_) {
    const bool may = classes_.at(key).pinned || std::ranges::any_of(freed_, [&](NodeIndex node) {
                       return could_hold(cluster, node, key);
                     });
    if (may) woken.push_back(key);
  }
  for (const ClassKey& key : woken) wake(key, false);
}

// ---- Asks that are due --------------------------------------------------------------------------

std::vector<AskName> Backlog::take_due(const Cluster& cluster, Time now) {
  if (!freed_.empty() && !parked_.empty()) wake_by_room(cluster);
  freed_.clear();
  queue_moves_ = false;
  budget_eases_ = false;
  if (recheck_at_ && *recheck_at_ <= now) {
    recheck_at_.reset();
    call_awaiting();
    if (options_.time_wakes) wake_all();
  }
  while (!delays_.empty() && *delays_.begin() <= now) {
    delays_.erase(delays_.begin());
    call_awaiting();
  }
  while (!parked_.empty() && parked_.begin()->first + options_.retry_after <= now) {
    wake(ClassKey(parked_.begin()->second), true);
  }
  while (!holds_.empty() && holds_.begin()->first <= now) {
    const AskName ask = holds_.begin()->second;
    holds_.erase(holds_.begin());
    release(ask);
  }
  std::set<Turn> turns = awaiting_due_;
  for (const ClassKey& key : awake_) {
    const Class& entry = classes_.at(key);
    std::size_t left = entry.burst;
    for (auto turn = entry.idle.begin(); turn != entry.idle.end() && left > 0; ++turn, --left) {
      turns.insert(*turn);
    }
  }
  for (const ClassKey& key : fresh_) {
    const std::set<Turn>& fresh = classes_.at(key).fresh;
    turns.insert(fresh.begin(), fresh.end());
  }
  std::vector<AskName> due;
  due.reserve(std::min(turns.size(), options_.asks_max));
  for (const Turn& turn : first_of(turns, now)) {
    due.push_back(std::get<AskName>(turn));
    awaiting_due_.erase(turn);  // The others have their turn in the next cycle.
  }
  return due;
}

/// As many as a cycle takes; up to half of them are there because they were left behind for long.
std::vector<Backlog::Turn> Backlog::first_of(const std::set<Turn>& turns, Time now) {
  if (turns.size() <= options_.asks_max) {
    left_behind_.clear();
    return {turns.begin(), turns.end()};
  }
  std::set<Turn> taken;
  for (const Turn& turn : turns) {
    if (taken.size() >= options_.asks_max / 2) break;
    const auto behind = left_behind_.find(turn);
    if (behind == left_behind_.end() || behind->second + options_.starvation_age > now) continue;
    taken.insert(turn);
    ++starved_;
  }
  for (const Turn& turn : turns) {
    if (taken.size() == options_.asks_max) break;
    taken.insert(turn);
  }
  for (const Turn& turn : turns) {
    if (taken.contains(turn)) {
      left_behind_.erase(turn);
    } else {
      left_behind_.try_emplace(turn, now);
    }
  }
  return {taken.begin(), taken.end()};
}

void Backlog::learn(const std::vector<AskName>& taken, const Plan& plan,
                    const std::optional<Time>& recheck_at, Time now) {
  std::set<ClassKey> failed;
  std::set<ClassKey> placed;
  for (const PlanAsk& ask : plan.asks) {
    const auto at = asks_.find(ask_name_of(ask));
    if (at == asks_.end()) continue;
    Entry& entry = at->second;
    if (entry.held) continue;
    const bool waits = ask.outcome == Outcome::preempts || ask.outcome == Outcome::waits;
    Class& own = class_of(entry);
    if (waits) {
      if (ask.waits_until) delays_.insert(*ask.waits_until);
      await_departures(entry, ask);
      own.idle.erase(entry.turn);
    } else {
      stop_awaiting(entry);
      own.idle.insert(entry.turn);  // A bind takes it out when the world shows it.
    }
    const bool found = waits || ask.outcome == Outcome::fits;
    if (found && std::exchange(own.by_time, false) && !waits_for_victim_of(plan, ask)) ++missed_;
    (found ? placed : failed).insert(entry.key);
  }
  for (const AskName& ask : taken) {
    const auto at = asks_.find(ask);
    if (at == asks_.end()) continue;
    at->second.decided = true;
    if (const auto own = classes_.find(at->second.key); own != classes_.end()) {
      own->second.fresh.erase(at->second.turn);
      if (own->second.fresh.empty()) fresh_.erase(own->first);
    }
    if (at->second.held) continue;
    const ClassKey& key = at->second.key;
    if (!placed.contains(key) && classes_.contains(key)) failed.insert(key);
  }
  for (const ClassKey& key : failed) park(key, classes_.at(key), now);
  for (const ClassKey& key : placed) {
    if (failed.contains(key)) continue;
    Class& entry = classes_.at(key);
    if (entry.burst < options_.asks_max) entry.burst *= 2;
    if (!entry.parked_at) awake_.insert(key);
  }
  recheck_at_ = recheck_at;  // It looks at the whole cluster, so the newest one counts.
}

std::optional<Time> Backlog::next_due(Time now, bool retries) const {
  if (!awaiting_due_.empty() || !fresh_.empty()) return now;
  for (const ClassKey& key : awake_) {
    if (!classes_.at(key).idle.empty()) return now;
  }
  std::optional<Time> next = asks_.empty() ? std::nullopt : recheck_at_;
  if (!delays_.empty() && (!next || *delays_.begin() < *next)) next = *delays_.begin();
  for (const auto& [until, ask] : holds_) {
    if (!retries && asks_.at(ask).by == RefusedBy::judge) continue;
    if (!next || until < *next) next = until;
    break;
  }
  if (retries && !parked_.empty()) {
    const Time retry = parked_.begin()->first + options_.retry_after;
    if (!next || retry < *next) next = retry;
  }
  return next;
}

}  // namespace makeway

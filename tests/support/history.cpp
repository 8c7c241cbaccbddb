#include "support/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <variant>

#include "base/check.hpp"
#include "codec/dump.hpp"
#include "codec/plan_codec.hpp"
#include "model/selector.hpp"
#include "policies/decide.hpp"

namespace makeway {
namespace {

PodKey key_of(const Pod& pod) { return {pod.namespace_name, pod.name}; }

PodKey key_of(const PlanAction& action) { return {action.namespace_name, action.name}; }

std::string text_of(const PodKey& key) { return fmt::format("{}/{}", key.first, key.second); }

Removal removal_of(const Pod& pod) {
  return {.kind = ObjectKind::pod, .namespace_name = pod.namespace_name, .name = pod.name};
}

/// For the story: what kind of thing happened to whom.
std::string change_text(const Change& change) {
  if (const auto* const pod = std::get_if<Pod>(&change)) {
    return fmt::format("Pod {} comes or changes{}{}", text_of(key_of(*pod)),
                       pod->node.empty() ? "" : ", on " + pod->node,
                       pod->deletion ? ", leaving" : "");
  }
  if (const auto* const node = std::get_if<Node>(&change)) {
    return fmt::format("Node {} comes or changes{}", node->name,
                       node->unschedulable ? ", cordoned" : "");
  }
  if (const auto* const group = std::get_if<PodGroup>(&change)) {
    return fmt::format("PodGroup {}/{} comes or changes", group->namespace_name, group->name);
  }
  if (const auto* const gone = std::get_if<Removal>(&change)) {
    return fmt::format("{} {}/{} goes", gone->kind == ObjectKind::node ? "Node" : "object",
                       gone->namespace_name, gone->name);
  }
  return "another object comes or changes";
}

}  // namespace

std::string short_text(const Plan& plan) {
  std::string text;
  for (const PlanAsk& ask : plan.asks) {
    text += fmt::format("    {} ({}) {}", ask_text(ask), ask.priority, choice_name(ask.outcome));
    for (const PodPlacement& place : ask.placements) {
      text += fmt::format(", {} on {}", place.name, place.node);
    }
    for (const PlanVictim& victim : ask.victims) {
      text +=
          fmt::format(", evicts {}/{} ({})", victim.namespace_name, victim.name, victim.priority);
    }
    for (const PodPlacement& awaited : ask.waits_for) {
      text += fmt::format(", waits for {}/{}", awaited.namespace_name, awaited.name);
    }
    text += '\n';
  }
  for (const PlanQueue& queue : plan.queues) {
    text += fmt::format("    Queue {}:", queue.name);
    for (const PlanQueueShare& share : queue.shares) {
      text +=
          fmt::format(" {} deserves {} has {} uses {} ({} leaving) preempting {};", share.resource,
                      share.deserved, share.allocated, share.used, share.leaving, share.preempting);
    }
    text += '\n';
  }
  return text;
}

bool same_decisions(const Plan& a, const Plan& b) {
  const auto decided = [](const PlanAsk& ask) {
    std::vector<PodKey> victims;
    victims.reserve(ask.victims.size());
    for (const PlanVictim& each : ask.victims) victims.emplace_back(each.namespace_name, each.name);
    return std::tuple(ask_text(ask), ask.outcome, ask.placements, std::move(victims));
  };
  return std::ranges::equal(a.asks, b.asks, {}, decided, decided);
}

std::vector<Queue> queues_after(const Cluster& cluster, const Plan& plan) {
  std::vector<Queue> written;
  for (const PlanQueueStatus& told : plan.queue_status) {
    Queue queue = cluster.own<Queue>().find({"", told.name})->second;
    queue.deserved = told.deserved;
    queue.allocated = told.allocated;
    queue.used = told.used;
    queue.preempting = told.preempting;
    std::erase_if(queue.preempting, [](const Amount& item) { return item.amount == 0; });
    written.push_back(std::move(queue));
  }
  return written;
}

History::History(Cluster cluster, Configuration configuration, Time now, HistoryOptions options)
    : cluster_(std::move(cluster)),
      configuration_(std::move(configuration)),
      now_(now),
      options_(options),
      random_(options.seed),
      laws_(configuration_, options.takers) {
  for (const Pod& each : pods()) {
    if (each.deletion && !each.node.empty()) plan_departure(each);
  }
}

// ---- One cycle ----------------------------------------------------------------------------------

const Plan& History::step() {
  cycle();
  pass({random_.between(options_.step_min.ms, options_.step_max.ms)});
  return plans_.back();
}

const Plan& History::cycle() {
  Decision decision = decide(cluster_, configuration_,
                             {.now = now_, .preset = "history", .asks = {}, .placements = {}});
  CHECK(decision.plan.has_value(), "a request for everybody is a good one");
  plans_.push_back(*std::move(decision.plan));
  plans_.back().id = plan_identity(plans_.back());
  const Plan& plan = plans_.back();
  tell(fmt::format("cycle {}\n{}", plans_.size(), short_text(plan)));
  std::vector<std::string> complaints = laws_.judge(cluster_, plan);
  if (!complaints.empty() && complaints_.empty()) world_then_ = dump(cluster_, DumpFormat::yaml);
  if (complaints.empty()) {
    carry_out(plan);
    complaints = laws_.judge_gangs(cluster_);
  }
  complaints_.insert(complaints_.end(), complaints.begin(), complaints.end());
  return plans_.back();
}

void History::carry_out(const Plan& plan) {
  drop_nominations(plan);
  write_queues(plan);
  for (const PlanAction& action : plan.actions) {
    if (action.type == ActionType::wait) continue;
    CHECK(pod(key_of(action)).uid == action.uid, "an action is about the pod that was seen");
    switch (action.type) {
      case ActionType::bind: bind(action); break;
      case ActionType::nominate:
      case ActionType::reserve: nominate(action); break;
      case ActionType::evict: evict(action, plan); break;
      case ActionType::wait: break;
      case ActionType::scale_up:
      case ActionType::scale_down:
      case ActionType::force_delete:
      case ActionType::requeue:
      case ActionType::suspend:
      case ActionType::resume: CHECK(false, "these histories have only pods and groups");
    }
  }
}

void History::write_queues(const Plan& plan) {
  for (const Queue& queue : queues_after(cluster_, plan)) cluster_.apply(queue);
}

void History::bind(const PlanAction& action) {
  if (random_.chance(options_.late_bind_percent)) {
    tell(fmt::format("the bind of {} does not come off", text_of(key_of(action))));
    return laws_.forget();
  }
  Pod bound = pod(key_of(action));
  bound.node = action.node;
  bound.nominated_node.clear();
  bound.started = now_;
  bound.ready = true;
  cluster_.apply(bound);
}

void History::nominate(const PlanAction& action) {
  Pod nominated = pod(key_of(action));
  nominated.nominated_node = action.node;
  if (action.since) nominated.notes.reserved_since = action.since;
  cluster_.apply(nominated);
}

void History::evict(const PlanAction& action, const Plan& plan) {
  Pod victim = pod(key_of(action));
  victim.disrupted_by_preemption = true;
  victim.notes.evicted_for = action.ask;
  victim.notes.plan = plan.id;
  if (!victim.deletion) {
    const Duration grace{random_.between(0, options_.grace_max.ms / 1000) * 1000};
    victim.deletion = now_ + grace;
    victim.deletion_grace_seconds = static_cast<std::int32_t>(grace.ms / 1000);
    ++evictions_;
    spend_budgets(victim);
    plan_departure(victim);
  }
  cluster_.apply(victim);
}

/// As the disruption controller would: one disruption less is allowed.
void History::spend_budgets(const Pod& victim) {
  std::vector<DisruptionBudget> spent;
  for (const DisruptionBudget* const budget : cluster_.budgets()) {
    if (!governs(*budget, victim.namespace_name, victim.labels)) continue;
    if (budget->disruptions_allowed.value_or(0) > 0) spent.push_back(*budget);
  }
  for (DisruptionBudget& budget : spent) {
    --*budget.disruptions_allowed;
    cluster_.apply(budget);
  }
}

/// A nomination that no plan repeats is over: of a pod, and of a member whose group has places that
/// are not its own. Groups for which nothing was found keep theirs.
void History::drop_nominations(const Plan& plan) {
  for (const PlanAsk& ask : plan.asks) {
    std::vector<PodKey> without;
    if (ask.kind == AskKind::pod && ask.placements.empty()) {
      without.emplace_back(ask.namespace_name, ask.name);
    }
    if (ask.kind == AskKind::pod_group && !ask.placements.empty()) {
      const GroupIndex group = *cluster_.find_group(ask.namespace_name, ask.name);
      for (const PodIndex index : cluster_.groups()[group].members) {
        const PodKey key = key_of(cluster_.pod(index));
        const bool placed = std::ranges::any_of(ask.placements, [&](const PodPlacement& place) {
          return PodKey(place.namespace_name, place.name) == key;
        });
        if (!placed) without.push_back(key);
      }
    }
    for (const PodKey& key : without) {
      Pod pending = pod(key);
      if (pending.nominated_node.empty()) continue;
      pending.nominated_node.clear();
      cluster_.apply(pending);
    }
  }
}

// ---- Time ---------------------------------------------------------------------------------------

/// Decides when a leaving pod will be gone. Who should be gone long since is stuck.
void History::plan_departure(const Pod& pod) {
  const auto told = told_late_.find(key_of(pod));
  if (told != told_late_.end()) {
    departures_[key_of(pod)] =
        told->second ? std::optional(*pod.deletion + *told->second) : std::nullopt;
    return;
  }
  const bool stuck = random_.chance(options_.stuck_percent);
  const Duration late{random_.between(0, options_.late_max.ms)};
  if (stuck || !still_awaited(pod, configuration_, now_)) {
    departures_[key_of(pod)] = std::nullopt;
  } else {
    departures_[key_of(pod)] = *pod.deletion + late;
  }
}

void History::leaves_late(const PodKey& key, std::optional<Duration> late) {
  told_late_[key] = late;
  if (has_pod(key) && pod(key).deletion) plan_departure(pod(key));
}

void History::pass(Duration duration) {
  now_ = now_ + duration;
  for (const Pod& each : pods()) {
    const auto departure = departures_.find(key_of(each));
    if (departure == departures_.end()) continue;
    if (departure->second && *departure->second <= now_) {
      tell(fmt::format("{} is gone", text_of(key_of(each))));
      // Whom nobody awaited any more was counted as staying, also by those who want to be near it.
      if (!still_awaited(each, configuration_, Time{now_.ms - duration.ms})) laws_.forget();
      disappear(each);
      continue;
    }
    // Nobody waits for it any more, from some cycle on: what counted on its room may need more.
    const bool before = still_awaited(each, configuration_, Time{now_.ms - duration.ms});
    if (before && !still_awaited(each, configuration_, now_)) {
      tell(fmt::format("{} should have left long ago", text_of(key_of(each))));
      laws_.forget();
    }
  }
}

void History::disappear(const Pod& gone) {
  departures_.erase(key_of(gone));
  cluster_.apply(removal_of(gone));
  if (options_.recreate) recreate(gone);
}

void History::recreate(const Pod& gone) {
  if (gone.mirror || std::ranges::none_of(gone.owners, &OwnerReference::controller)) return;
  Pod again = gone;
  const std::string stem = gone.name.substr(0, gone.name.find("-again-"));
  again.name = fmt::format("{}-again-{}", stem, ++recreated_);
  again.uid = fmt::format("uid-again-{}", recreated_);
  again.node.clear();
  again.nominated_node.clear();
  again.created = now_;
  again.started.reset();
  again.deletion.reset();
  again.deletion_grace_seconds = 0;
  again.ready = false;
  again.disrupted_by_preemption = false;
  again.notes.evicted_for.clear();
  again.notes.plan.clear();
  tell(fmt::format("{} is recreated as {}", gone.name, again.name));
  cluster_.apply(again);
  laws_.forget();
}

void History::happens(const Change& change) {
  tell(change_text(change));
  laws_.forget();
  if (const auto* const gone = std::get_if<Removal>(&change);
      gone != nullptr && gone->kind == ObjectKind::pod) {
    return disappear(pod({gone->namespace_name, gone->name}));
  }
  cluster_.apply(change);
  const auto* const changed = std::get_if<Pod>(&change);
  if (changed != nullptr && changed->deletion && !departures_.contains(key_of(*changed))) {
    plan_departure(*changed);
  }
}

// ---- Looking at it ------------------------------------------------------------------------------

bool History::has_pod(const PodKey& key) const {
  return cluster_.find_pod(key.first, key.second).has_value();
}

Pod History::pod(const PodKey& key) const {
  const std::optional<PodIndex> found = cluster_.find_pod(key.first, key.second);
  CHECK(found.has_value(), "there is such a pod");
  return cluster_.pod(*found);
}

std::vector<Pod> History::pods() const {
  std::vector<Pod> result;
  result.reserve(cluster_.pod_count());
  for (const PodIndex index : cluster_.pods_by_name()) result.push_back(cluster_.pod(index));
  return result;
}

bool History::anybody_leaving() const {
  return std::ranges::any_of(departures_,
                             [](const auto& entry) { return entry.second.has_value(); });
}

void History::tell(std::string line) {
  story_.push_back(fmt::format("{} {}", to_text(now_), std::move(line)));
}

std::string History::story() const {
  const std::string last = plans_.empty() ? "" : plan_text_json(plans_.back());
  return fmt::format("{}\n{}\nthe last plan: {}\nthe world at the first complaint:\n{}",
                     fmt::join(complaints_, "\n"), fmt::join(story_, "\n"), last, world_then_);
}

}  // namespace makeway

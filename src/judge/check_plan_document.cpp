// What the plan says about itself: causes, actions, scores, and what is lost (law 9).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/checked_math.hpp"
#include "judge/check_plan_hearing.hpp"
#include "model/gpus.hpp"
#include "model/group_name.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

/// An action without what the law does not speak about: the uid of a pod that is bound.
struct ActionKey {
  ActionType type = ActionType::bind;
  std::string pod;
  std::string node;
  std::string uid;
  std::string ask;
  bool promised = false;

  friend auto operator<=>(const ActionKey&, const ActionKey&) = default;
};

class ActionJudge {
 public:
  explicit ActionJudge(Hearing& hearing) : hearing_(hearing) {}

  void judge() {
    for (const HeardAsk& ask : hearing_.asks) expect(ask);
    for (const PlanAction& action : hearing_.plan.actions) {
      const bool of_replicas = action.scale || action.type == ActionType::force_delete;
      const auto concerns = [&](const OwnRules* own) { return own->concerns(action); };
      if (action.type == ActionType::wait || of_replicas) continue;
      if (std::ranges::any_of(all_own_rules, concerns)) continue;
      --open_[key_of(action)];
    }
    for (const auto& [key, count] : open_) {
      if (count == 0) continue;
      hearing_.breaches.add(9, key.ask, "action {} {} on node {} {}", choice_name(key.type),
                            key.pod, key.node, count > 0 ? "is missing" : "has no reason");
    }
  }

 private:
  void expect(const HeardAsk& ask) {
    if (ask.own_rules != nullptr) return;
    const ActionType type =
        ask.entry->outcome == Outcome::fits ? ActionType::bind : ActionType::nominate;
    for (const PodPlacement& placement : ask.entry->placements) {
      const std::string pod = key_text({placement.namespace_name, placement.name, placement.plane});
      asks_of_placed_.try_emplace(pod, ask.text);
      ++open_[{.type = type, .pod = pod, .node = placement.node, .ask = ask.text}];
    }
    if (ask.entry->reservation) {
      ++open_[{.type = ActionType::reserve,
               .pod = key_text({ask.entry->namespace_name, ask.entry->name, ask.entry->plane}),
               .node = ask.entry->reservation->node,
               .ask = ask.text,
               .promised = !ask.entry->placements.empty()}];
    }
    for (const PlanVictim& victim : ask.entry->victims) {
      ++open_[{.type = ActionType::evict,
               .pod = key_text({victim.namespace_name, victim.name, victim.plane}),
               .node = victim.node,
               .uid = victim.uid,
               .ask = ask.text}];
    }
  }

  /// An eviction names the ask that it is for; a bind or nomination belongs to the ask that places
  /// that pod.
  ActionKey key_of(const PlanAction& action) const {
    ActionKey key{.type = action.type,
                  .pod = key_text({action.namespace_name, action.name, action.plane}),
                  .node = action.node,
                  .promised = action.promised};
    if (action.type == ActionType::evict) {
      key.uid = action.uid;
      key.ask = ref_text(action.ask);
      return key;
    }
    const auto placed = asks_of_placed_.find(key.pod);
    key.ask = placed == asks_of_placed_.end() ? fmt::format("Pod {}", key.pod) : placed->second;
    return key;
  }

  Hearing& hearing_;
  std::map<ActionKey, int> open_;                      ///< Expected less found.
  std::map<std::string, std::string> asks_of_placed_;  ///< By pod.
};

void judge_causes(Hearing& hearing, const HeardAsk& ask) {
  const auto report = [&](const HeardVictim& victim, std::string_view text) {
    hearing.breaches.add(9, ask.text, "{} {}", victim.text, text);
  };
  const Cluster& cluster = hearing.cluster;
  for (const HeardVictim& victim : ask.victims) {
    const PlanVictim& entry = *victim.entry;
    if (entry.reason.empty()) report(victim, "has no reason");
    if (entry.cause_for != ask.text) report(victim, "does not name the ask that it is evicted for");
    if (entry.cause_rule.empty()) report(victim, "does not say under which rule it leaves");
    if (entry.cause_alternative.empty()) report(victim, "does not say what it was compared with");
    if (entry.cause_key.empty()) report(victim, "does not say what decided");
    if (entry.uid != cluster.pods().uid[victim.pod.value]) report(victim, "has another uid");
    const NodeIndex node = cluster.pods().node[victim.pod];
    if (entry.node != cluster.text(cluster.nodes().name[node])) {
      report(victim, "runs on another node");
    }
  }
}

void judge_score(Hearing& hearing, const HeardAsk& ask, const EvictionRules& rules) {
  if (ask.victims.empty()) return;
  const auto count = static_cast<std::int64_t>(ask.entry->victims.size());
  std::int64_t highest = priority_min;
  for (const HeardVictim& victim : ask.victims) {
    highest = std::max<std::int64_t>(highest, rules.priority(victim.pod));
  }
  const bool by_unit = ask.rules->workload.score_priority == ScorePriority::unit;
  for (const ScoreTerm& term : ask.entry->score) {
    std::int64_t truth = term.value;
    if (term.key == ScoreKey::victims) truth = count;
    if (term.key == ScoreKey::highest_priority && by_unit) truth = highest;
    if (term.value == truth) continue;
    hearing.breaches.add(9, ask.text, "its score says {} {}, and it is {}", choice_name(term.key),
                         term.value, truth);
  }
}

// ---- What is lost -------------------------------------------------------------------------------

/// Recounts costs and disrupted groups from the objects, ask by ask.
class LossJudge {
 public:
  explicit LossJudge(Hearing& hearing) : hearing_(hearing), cluster_(hearing.cluster) {
    find_units();
  }

  void judge() {
    PlanCost total;
    for (const HeardAsk& ask : hearing_.asks) {
      const bool counts_itself = ask.own_rules != nullptr || ask.entry->replicas;
      if (counts_itself) total = sum(total, ask.entry->cost);
      if (ask.own_rules == nullptr) judge(ask);
    }
    if (!all_counted_ || hearing_.asks.size() != hearing_.plan.asks.size()) return;
    for (const PodIndex pod : lost_) total = sum(total, cost(pod));
    compare("", "the plan", hearing_.plan.cost, total);
    judge_stopped();
  }

 private:
  void find_units() {
    const bool any_victims = std::ranges::any_of(hearing_.asks, [](const HeardAsk& ask) {
      return ask.own_rules == nullptr && !ask.victims.empty();
    });
    if (!any_victims) return;
    const PodColumns& pods = cluster_.pods();
    for (const PodIndex pod : cluster_.each_pod()) {
      if (!pods.node[pod].exists()) continue;
      for (const LossShare& share : cluster_.notes(pods.notes[pod]).loss_units) {
        units_[{std::string(cluster_.text(pods.namespace_name[pod])), share.unit,
                std::string(cluster_.text(pods.plane[pod]))}]
            .push_back(pod);
      }
    }
  }

  /// SPEC section 7: a pod stops once, and not at all when it leaves for some ask of the plan.
  void judge_stopped() {
    std::set<PodIndex> known = gone_;
    for (const auto& [ask, pods] : stopped_in_units_) {
      const auto truth =
          std::ranges::count_if(pods, [&](PodIndex pod) { return known.insert(pod).second; });
      if (truth == ask->entry->stopped_pods) continue;
      hearing_.breaches.add(9, ask->text, "it says that it stops {} pods, and it is {}",
                            ask->entry->stopped_pods, truth);
    }
  }

  void judge(const HeardAsk& ask) {
    // A victim that is not bound, or named twice, is reported already.
    if (ask.victims.size() != ask.entry->victims.size()) {
      all_counted_ = false;
      return;
    }
    PlanCost total;
    std::map<GroupName, std::vector<PodIndex>> lost;
    for (const HeardVictim& victim : ask.victims) {
      const PlanCost truth = cost(victim.pod);
      compare(ask.text, victim.text, victim.entry->cost, truth);
      total = sum(total, truth);
      const Pod pod = cluster_.pod(victim.pod);
      if (has_group(pod)) lost[{pod.namespace_name, pod.group, pod.plane}].push_back(victim.pod);
    }
    std::set<PodIndex> stopped;
    for (const auto& [name_of_group, pods] : lost) {
      for (const PodIndex pod : stopped_with(pods)) stopped.insert(pod);
    }
    judge_units(ask, stopped);
    for (const PodIndex pod : stopped) total = sum(total, cost(pod));
    lost_.insert(stopped.begin(), stopped.end());
    compare(ask.text, "the ask", ask.entry->cost, total);
    judge_score(ask, stopped, total.pod_seconds);
    const auto name = [](const PlanDisruptedGroup& group) {
      return GroupName(group.namespace_name, group.name, group.plane);
    };
    const auto first = [](const auto& entry) { return entry.first; };
    if (!std::ranges::equal(ask.entry->disrupted_groups, lost, {}, name, first)) {
      hearing_.breaches.add(9, ask.text, "it does not name the groups that its victims belong to");
    } else {
      auto pods = lost.begin();
      for (const PlanDisruptedGroup& entry : ask.entry->disrupted_groups) {
        judge_group(ask, entry, (pods++)->second);
      }
    }
    for (const HeardVictim& victim : ask.victims) {
      all_counted_ = gone_.insert(victim.pod).second && all_counted_;
      lost_.insert(victim.pod);
    }
  }

  void judge_group(const HeardAsk& ask, const PlanDisruptedGroup& entry,
                   const std::vector<PodIndex>& lost) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[lost.front()]];
    PlanDisruptedGroup truth{.namespace_name = entry.namespace_name,
                             .name = entry.name,
                             .plane = entry.plane,
                             .mode = unit.mode,
                             .lost = static_cast<std::int64_t>(lost.size()),
                             .minimum = unit.gang ? unit.minimum : 0};
    for (const PodIndex member : cluster_.groups()[unit.group].members) {
      if (runs(cluster_.pod(member), member)) ++truth.running;
    }
    truth.remaining = truth.running - truth.lost;
    if (truth.remaining < truth.minimum) truth.fate = GroupFate::degraded;
    if (truth.remaining == 0) truth.fate = GroupFate::leaves;
    for (const PodIndex pod : lost) truth.cost = sum(truth.cost, cost(pod));
    for (const PodIndex pod : stopped_with(lost)) truth.cost = sum(truth.cost, cost(pod));
    if (entry == truth) return;
    hearing_.breaches.add(
        9, ask.text,
        "PodGroup {}/{} loses {} of {} pods, minimum {}, and {}; that is not what it says",
        entry.namespace_name, entry.name, truth.lost, truth.running, truth.minimum,
        choice_name(truth.fate));
  }

  /// SPEC section 2: the pods that stay of a gang which had its minimum and lacks it without these.
  std::vector<PodIndex> stopped_with(const std::vector<PodIndex>& lost) const {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[lost.front()]];
    if (unit.kind != UnitKind::group || !unit.gang) return {};
    std::vector<PodIndex> stay;
    std::int64_t running = 0;
    for (const PodIndex member : cluster_.groups()[unit.group].members) {
      if (!runs(cluster_.pod(member), member)) continue;
      ++running;
      if (std::ranges::find(lost, member) == lost.end()) stay.push_back(member);
    }
    const bool stops =
        running >= unit.minimum && static_cast<std::int64_t>(stay.size()) < unit.minimum;
    return stops ? stay : std::vector<PodIndex>{};
  }

  /// Adds the pods that stop with a loss unit to the stopped pods.
  void judge_units(const HeardAsk& ask, std::set<PodIndex>& stopped) {
    std::set<PodIndex> lost;
    std::set<GroupName> losing;
    for (const HeardVictim& victim : ask.victims) {
      lost.insert(victim.pod);
      const Pod pod = cluster_.pod(victim.pod);
      for (const LossShare& share : pod.notes.loss_units) {
        losing.insert({pod.namespace_name, share.unit, pod.plane});
      }
    }
    std::vector<PlanStoppedUnit> truth;
    std::set<PodIndex>& in_units =
        stopped_in_units_.emplace_back(&ask, std::set<PodIndex>{}).second;
    for (const GroupName& key : losing) {
      const auto& [namespace_name, name, plane] = key;
      const std::vector<PodIndex>& members = units_.at(key);
      const std::vector<PodIndex> stay = stopped_in(members, name, lost);
      if (stay.empty()) continue;
      PlanStoppedUnit unit{
          .namespace_name = namespace_name,
          .plane = plane,
          .unit = name,
          .lost = std::ranges::count_if(members, [&](PodIndex pod) { return lost.contains(pod); }),
          .stopped = std::ssize(stay)};
      for (const PodIndex pod : stay) {
        unit.cost = sum(unit.cost, cost(pod));
        stopped.insert(pod);
        in_units.insert(pod);
      }
      truth.push_back(std::move(unit));
    }
    const auto same = [&](const PlanStoppedUnit& unit) {
      return std::ranges::count(ask.entry->stopped_units, unit) == 1;
    };
    if (truth.size() == ask.entry->stopped_units.size() && std::ranges::all_of(truth, same)) return;
    hearing_.breaches.add(9, ask.text, "it does not say what stops with its victims");
  }

  /// SPEC section 7: the remaining pods of a unit that worked before these were lost and does not
  /// work any more. None: it still works, or no pod remains. A part that lost more than it may has
  /// ended its unit.
  std::vector<PodIndex> stopped_in(const std::vector<PodIndex>& members, const std::string& unit,
                                   const std::set<PodIndex>& lost) const {
    std::map<std::string_view, std::int64_t> losses_allowed;  // By part.
    std::map<std::string_view, std::int64_t> losses_before;   // To asks before this one.
    std::map<std::string_view, std::int64_t> losses;
    std::vector<PodIndex> stay;
    for (const PodIndex pod : members) {
      const bool taken_before = gone_.contains(pod);
      const bool counts = taken_before || runs(cluster_.pod(pod), pod);  // Else it was leaving.
      for (const LossShare& share : cluster_.notes(cluster_.pods().notes[pod]).loss_units) {
        if (share.unit != unit || share.part.empty()) continue;
        const auto at = losses_allowed.try_emplace(share.part, share.allowed).first;
        at->second = std::min(at->second, share.allowed);
        losses_before[share.part] += taken_before ? 1 : 0;
        losses[share.part] += counts && lost.contains(pod) ? 1 : 0;
      }
      if (counts && !taken_before && !lost.contains(pod)) stay.push_back(pod);
    }
    bool stops = false;
    for (const auto& [part, allowed] : losses_allowed) {
      if (losses_before[part] > allowed) return {};
      stops = stops || losses_before[part] + losses[part] > allowed;
    }
    return stops ? stay : std::vector<PodIndex>{};
  }

  void judge_score(const HeardAsk& ask, const std::set<PodIndex>& stopped,
                   std::int64_t lost_seconds) {
    const auto stopped_pods = static_cast<std::int64_t>(ask.victims.size() + stopped.size());
    for (const ScoreTerm& term : ask.entry->score) {
      std::int64_t truth = term.value;
      if (term.key == ScoreKey::stopped_pods) truth = stopped_pods;
      if (term.key == ScoreKey::lost_work) truth = lost_seconds;
      if (term.value == truth) continue;
      hearing_.breaches.add(9, ask.text, "its score says {} {}, and it is {}",
                            choice_name(term.key), term.value, truth);
    }
  }

  bool runs(const Pod& pod, PodIndex index) const {
    const bool leaving = hearing_.configuration.workload.leaving_room != LeavingRoom::victims &&
                         pod.deletion.has_value();
    return !pod.node.empty() && !leaving && !gone_.contains(index);
  }

  PlanCost cost(PodIndex index) const {
    const Pod pod = cluster_.pod(index);
    PlanCost result{.pod_seconds = lost_seconds(pod)};
    for (const Amount& amount : pod.requests) {
      if (!is_gpu(amount.resource)) continue;
      const std::int64_t seconds = saturated_mul(result.pod_seconds, amount.amount);
      result.gpu_seconds = saturated_add(result.gpu_seconds, seconds);
    }
    return result;
  }

  /// The workload of a pod's group.
  const Workload* workload_named(const Pod& pod, const std::optional<PodGroup>& group) const {
    if (pod.group.empty()) return nullptr;
    const std::string_view name =
        group ? std::string_view(group->workload) : workload_of_group_name(pod.group);
    if (name.empty()) return nullptr;
    for (const Workload* const workload : cluster_.workloads()) {
      if (workload->name != name || workload->namespace_name != pod.namespace_name ||
          workload->plane != pod.plane) {
        continue;
      }
      // Without an object of its own, the group is there if the workload has its template.
      const bool described =
          group || std::ranges::find(workload->templates, template_of_group_name(pod.group),
                                     &GroupTemplate::name) != workload->templates.end();
      return described ? workload : nullptr;
    }
    return nullptr;
  }

  std::optional<PodGroup> group_of(const Pod& pod) const {
    const auto found = cluster_.find_group(pod.namespace_name, pod.group, pod.plane);
    return found && !pod.group.empty() ? cluster_.groups()[*found].object : std::nullopt;
  }

  /// SPEC section 2: bound pods of a group that is not there count as lone pods.
  bool has_group(const Pod& pod) const {
    return group_of(pod) || workload_named(pod, std::nullopt) != nullptr;
  }

  /// SPEC section 2: a cost that is stated, else since the checkpoint or the start, the later one.
  std::int64_t lost_seconds(const Pod& pod) const {
    const std::optional<PodGroup> group = group_of(pod);
    const Workload* const workload = workload_named(pod, group);
    if (pod.notes.preemption_cost_seconds) return *pod.notes.preemption_cost_seconds;
    if (group && group->preemption_cost_seconds) return *group->preemption_cost_seconds;
    if (workload != nullptr && workload->preemption_cost_seconds) {
      return *workload->preemption_cost_seconds;
    }
    std::optional<Time> since = pod.notes.last_checkpoint;
    if (!since && group) since = group->last_checkpoint;
    if (!since && workload != nullptr) since = workload->last_checkpoint;
    if (pod.started && (!since || *since < *pod.started)) since = pod.started;
    const Time now = hearing_.plan.now;
    return since && *since < now ? (now - *since).ms / 1000 : 0;
  }

  void compare(const std::string& ask, std::string_view whose, const PlanCost& said,
               const PlanCost& truth) {
    if (said == truth) return;
    hearing_.breaches.add(
        9, ask, "{} loses {} pod-seconds and {} GPU-seconds, and that is said to be {} and {}",
        whose, truth.pod_seconds, truth.gpu_seconds, said.pod_seconds, said.gpu_seconds);
  }

  using GroupName = std::tuple<std::string, std::string, std::string>;  ///< With its plane.

  Hearing& hearing_;
  const Cluster& cluster_;
  std::set<PodIndex> gone_;  ///< Victims of asks before.
  std::set<PodIndex> lost_;  ///< The same, and the pods that stopped with them.
  bool all_counted_ = true;
  std::vector<std::pair<const HeardAsk*, std::set<PodIndex>>> stopped_in_units_;
  /// The bound pods of loss units (SPEC section 7), by namespace, name and plane.
  std::map<GroupName, std::vector<PodIndex>> units_;
};

}  // namespace

void judge_document(Hearing& hearing) {
  const EvictionRules rules(hearing.cluster, hearing.configuration, hearing.plan.now);
  for (const HeardAsk& ask : hearing.asks) {
    if (ask.own_rules != nullptr) continue;
    judge_causes(hearing, ask);
    judge_score(hearing, ask, rules);
  }
  LossJudge(hearing).judge();
  ActionJudge(hearing).judge();
  for (const OwnRules* const own : all_own_rules) own->judge_actions(hearing);
}

}  // namespace makeway

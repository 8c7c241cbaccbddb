// Which pods may be evicted, and which leave with them: laws 2, 5 and 8, and that no pod is evicted
// twice (law 6).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "judge/check_plan_walk.hpp"
#include "model/names.hpp"
#include "model/selector.hpp"

namespace makeway {

// ---- Rules --------------------------------------------------------------------------------------

std::int32_t EvictionRules::priority(PodIndex pod) const {
  const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
  return configuration_.workload.honour_preemption_priority ? unit.preemption_priority
                                                            : unit.scheduling_priority;
}

std::string_view EvictionRules::protection(PodIndex pod, OptOut opt_out) const {
  const KeptBy kept = cluster_.pods().flags[pod].kept;
  if (kept == KeptBy::other_scheduler) return "another scheduler has placed it";
  if (kept == KeptBy::two_budgets) return "two disruption budgets govern it";
  const std::string_view reason = protection_from_scale_down(pod, opt_out);
  const bool other_rules = opt_out == OptOut::is_a_class;  // Section 5 has its own filter.
  if (reason.empty() && configuration_.protection.pinned && !other_rules &&
      counts_as_pinned(cluster_, pod,
                       {PinnedBy::affinity, PinnedBy::annotation, PinnedBy::owner})) {
    return "it can run on one node only";
  }
  if (!reason.empty() || !of_schedule(cluster_, configuration_, pod)) return reason;
  return "it belongs to a ReplicaSchedule, which is only scaled down";
}

std::string_view EvictionRules::protection_from_scale_down(PodIndex pod, OptOut opt_out) const {
  const ProtectionSettings& settings = configuration_.protection;
  const PodColumns& pods = cluster_.pods();
  const PodFlags flags = pods.flags[pod];
  const Unit& unit = cluster_.units()[pods.unit[pod]];
  if (flags.kernel) return "it is a kernel of a session";
  if (settings.protect_mirror_pods && flags.mirror) return "it is a mirror pod";
  if (settings.protect_opted_out && opt_out == OptOut::protects) {
    if (flags.opted_out) return "it opted out of preemption";
    const bool in_group = unit.kind == UnitKind::group;
    if (in_group && cluster_.groups()[unit.group].object &&
        cluster_.groups()[unit.group].object->opted_out) {
      return "its group opted out of preemption";
    }
  }
  const std::string_view space = cluster_.text(pods.namespace_name[pod]);
  if (std::ranges::find(settings.namespaces, space) != settings.namespaces.end()) {
    return "its namespace is protected";
  }
  // A pod whose start is unknown counts as just started.
  const Duration runtime = pods.started[pod] == no_time ? Duration{} : now_ - pods.started[pod];
  if (settings.minimum_runtime > Duration{} && runtime < settings.minimum_runtime) {
    return "it is younger than protection.minimumRuntime";
  }
  const std::string_view named = cluster_.text(pods.priority_class[pod]);
  const bool critical = named == names::node_critical || named == names::cluster_critical;
  if (settings.protect_system_critical && critical) return "it is critical to the system";
  const bool leaves_alone = unit.kind == UnitKind::pod || unit.mode == DisruptionMode::single;
  if (configuration_.workload.protect_marked_members && flags.is_protected && leaves_alone) {
    return "it is a protected member";
  }
  return {};
}

bool EvictionRules::overdue(PodIndex pod) const {
  const Time end = cluster_.pods().deletion[pod] + configuration_.engine.leave_timeout;
  return end <= now_;
}

bool EvictionRules::late(PodIndex pod) const {
  if (configuration_.workload.leaving_room != LeavingRoom::credited) return false;
  const PodColumns& pods = cluster_.pods();
  if (!leaving(pod) || overdue(pod) || pods.flags[pod].kernel) return false;
  return now_ + configuration_.engine.leave_wait_max < pods.deletion[pod];
}

std::vector<PodIndex> EvictionRules::leaves_with(PodIndex pod) const {
  const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
  if (unit.kind != UnitKind::group || unit.mode != DisruptionMode::all) return {pod};
  const bool again = configuration_.workload.leaving_room == LeavingRoom::victims;
  std::vector<PodIndex> together;
  for (const PodIndex member : cluster_.groups()[unit.group].members) {
    const bool goes = cluster_.pods().node[member].exists() && (!leaving(member) || again);
    if (goes || member == pod) together.push_back(member);
  }
  return together;
}

bool EvictionRules::may_leave(PodIndex pod, std::int32_t ask_priority) const {
  const bool again = configuration_.workload.leaving_room == LeavingRoom::victims;
  if (priority(pod) >= ask_priority || (leaving(pod) && !again)) return false;
  return std::ranges::all_of(leaves_with(pod), [this](PodIndex each) {
    return protection(each).empty() && !governed_strictly(each);
  });
}

bool EvictionRules::governed(PodIndex pod, const DisruptionBudget& budget) const {
  const PodColumns& pods = cluster_.pods();
  if (cluster_.text(pods.namespace_name[pod]) != budget.namespace_name) return false;
  if (cluster_.text(pods.plane[pod]) != budget.plane) return false;
  const std::string_view name = pods.name[pod.value];
  if (std::ranges::find(budget.disrupted_pods, name) != budget.disrupted_pods.end()) return false;
  return governs(budget, budget.namespace_name, cluster_.label_objects(pods.labels[pod]));
}

bool EvictionRules::governed_strictly(PodIndex pod) const {
  if (configuration_.budgets.mode != BudgetMode::strict) return false;
  const std::vector<const DisruptionBudget*> budgets = cluster_.budgets();
  return std::ranges::any_of(
      budgets, [&](const DisruptionBudget* budget) { return governed(pod, *budget); });
}

// ---- Pinned pods (SPEC section 5)
// ------------------------------------------------------------------

namespace {

bool listed(const Configuration& configuration, std::string_view line) {
  const std::vector<std::string>& lines = configuration.required_node.victim_classes;
  return std::ranges::find(lines, line) != lines.end();
}

/// Whether the line is of the form KIND:KEY=VALUE and the list has that pair.
bool pair_matches(std::string_view line, std::string_view kind, const Labels& pairs) {
  if (!line.starts_with(kind)) return false;
  return std::ranges::any_of(pairs, [&](const Label& pair) {
    return line == fmt::format("{}{}={}", kind, pair.key, pair.value);
  });
}

bool names_as_owner(const Cluster& cluster, PodIndex owner) {
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.each_row()) {
    if (pod == owner) continue;
    if (pods.namespace_name[pod] != pods.namespace_name[owner]) continue;
    if (pods.plane[pod] != pods.plane[owner]) continue;
    for (const OwnerReference& reference : cluster.owners(pods.owners[pod])) {
      const std::string_view uid = pods.uid[owner.value];
      const bool same_uid = reference.uid.empty() || uid.empty() || reference.uid == uid;
      if (reference.kind == "Pod" && reference.name == pods.name[owner.value] && same_uid) {
        return true;
      }
    }
  }
  return false;
}

std::string node_of_affinity(const Cluster& cluster, PodIndex pod) {
  std::set<std::string> names;
  for (const NodeSelectorTerm& term : cluster.shape(cluster.pods().shape[pod]).node_terms) {
    if (term.labels.empty() && term.fields.empty()) continue;
    std::string name;
    for (const Requirement& field : term.fields) {
      const bool one = field.operation == Operator::in && field.values.size() == 1;
      if (one && field.key == "metadata.name") name = field.values.front();
    }
    names.insert(name);
  }
  return names.size() == 1 ? *names.begin() : std::string{};
}

}  // namespace

std::string pinned_to(const Cluster& cluster, PodIndex pod) {
  if (cluster.units()[cluster.pods().unit[pod]].kind == UnitKind::group) return {};
  const std::string& noted = cluster.notes(cluster.pods().notes[pod]).required_node;
  return noted.empty() ? node_of_affinity(cluster, pod) : noted;
}

bool keeps_its_node(NaiveWorld& world, const Configuration& configuration, PodIndex pod,
                    NodeIndex node) {
  const Cluster& cluster = world.cluster();
  if (!configuration.required_node.enabled) return false;
  if (cluster.notes(cluster.pods().notes[pod]).only_reserved()) return false;  // Not yet its own.
  if (pinned_to(cluster, pod) != cluster.text(cluster.nodes().name[node])) return false;
  return NaiveFit(world, pod).fits_when_empty(node);
}

bool counts_as_pinned(const Cluster& cluster, PodIndex pod, const std::vector<PinnedBy>& ways) {
  const PodColumns& pods = cluster.pods();
  if (cluster.units()[pods.unit[pod]].kind == UnitKind::group) return false;
  const auto counts = [&](PinnedBy way) { return std::ranges::find(ways, way) != ways.end(); };
  const bool noted = !cluster.notes(pods.notes[pod]).required_node.empty();
  if (noted && counts(PinnedBy::annotation)) return true;
  if (counts(PinnedBy::affinity) && !node_of_affinity(cluster, pod).empty()) return true;
  return counts(PinnedBy::owner) &&
         std::ranges::any_of(cluster.owners(pods.owners[pod]),
                             [](const OwnerReference& owner) { return owner.kind == "DaemonSet"; });
}

std::string_view EvictionRules::protection_from_pinned(PodIndex pod) const {
  if (counts_as_pinned(cluster_, pod, configuration_.required_node.pinned_by)) {
    return "it can run on one node only";
  }
  const std::string_view reason = protection(pod, OptOut::is_a_class);
  if (!reason.empty()) return reason;
  const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
  const bool group_out = unit.kind == UnitKind::group && cluster_.groups()[unit.group].object &&
                         cluster_.groups()[unit.group].object->opted_out;
  const bool opted_out = cluster_.pods().flags[pod].opted_out || group_out;
  if (opted_out && !listed(configuration_, "opted-out") &&
      configuration_.protection.protect_opted_out) {
    return "it opted out of preemption";
  }
  if (listed(configuration_, "regular")) return {};
  const Labels labels = cluster_.label_objects(cluster_.pods().labels[pod]);
  const Labels& marks = cluster_.notes(cluster_.pods().notes[pod]).marks;
  for (const std::string& line : configuration_.required_node.victim_classes) {
    const bool owner =
        line == "owner" && (cluster_.pods().flags[pod].is_owner || names_as_owner(cluster_, pod));
    if (owner || (line == "opted-out" && opted_out) || pair_matches(line, "label:", labels) ||
        pair_matches(line, "annotation:", marks)) {
      return {};
    }
  }
  return "it belongs to no class of victims";
}

bool EvictionRules::may_leave_for_pinned(PodIndex pod, std::int32_t ask_priority) const {
  const RequiredNodeSettings& settings = configuration_.required_node;
  const std::int32_t own = priority(pod);
  if (own > ask_priority && !settings.allow_higher_priority) return false;
  if (own == ask_priority && !settings.allow_equal_priority) return false;
  if (leaving(pod)) return false;
  const std::vector<PodIndex> together = leaves_with(pod);
  return std::ssize(together) <= settings.max_victims &&
         std::ranges::all_of(together, [this](PodIndex each) {
           return protection_from_pinned(each).empty() && !governed_strictly(each);
         });
}

Time reserved_since(const Cluster& cluster, PodIndex pod, Time now) {
  const std::optional<Time>& noted = cluster.notes(cluster.pods().notes[pod]).reserved_since;
  return noted && *noted < now ? *noted : now;
}

// ---- Laws ---------------------------------------------------------------------------------------

namespace {

class VictimJudge {
 public:
  explicit VictimJudge(Hearing& hearing)
      : hearing_(hearing),
        cluster_(hearing.cluster),
        rules_(hearing.cluster, hearing.configuration, hearing.plan.now),
        queue_room_(hearing),
        budgets_(hearing.cluster.budgets()) {}

  void judge() {
    for (const HeardAsk& ask : hearing_.asks) find_placed(ask);
    for (const HeardAsk& ask : hearing_.asks) {
      if (!asked_.insert(ask.text).second) report(8, ask, "it asks twice");
      if (ask.own_rules != nullptr) continue;
      judge_ask(ask);
      for (const HeardVictim& victim : ask.victims) {
        judge_priority(ask, victim);
        judge_use(ask, victim);
        judge_budgets(ask, victim);
      }
      judge_regime(ask);
      judge_whole(ask);
      judge_below_minimum(ask);
    }
  }

 private:
  template <class... Args>
  void report(int law, const HeardAsk& ask, fmt::format_string<Args...> text, Args&&... args) {
    hearing_.breaches.add(law, ask.text, text, std::forward<Args>(args)...);
  }

  void find_placed(const HeardAsk& ask) {
    for (const PodPlacement& placement : ask.entry->placements) {
      const auto pod = cluster_.find_pod(placement.namespace_name, placement.name, placement.plane);
      if (pod) placed_.try_emplace(*pod, &ask);
    }
  }

  void judge_ask(const HeardAsk& ask) {
    if (ask.entry->priority != ask.priority) {
      report(2, ask, "its priority is {}, not {}", ask.priority, ask.entry->priority);
    }
    if (ask.victims.empty() || ask.entry->kind == AskKind::queue) return;
    const Unit& unit = cluster_.units()[ask.unit];
    const bool pinned = !ask.pinned_to.empty();
    const RequiredNodeSettings& required_node = hearing_.configuration.required_node;
    if (unit.never_preempts && (!pinned || required_node.honour_preemption_policy)) {
      report(2, ask, "its preemption policy is Never, and it has victims");
    }
    if (pinned) judge_pinned(ask);
    Time created = no_time;
    if (ask.entry->kind == AskKind::pod) {
      created = cluster_.pods().created[ask.pods.front()];
    } else if (cluster_.groups()[unit.group].object) {
      created = cluster_.groups()[unit.group].object->created.value_or(no_time);
    }
    const Duration delay = ask.rules->engine.preemption_delay;
    if (delay.ms > 0 && created != no_time && hearing_.plan.now < created + delay) {
      report(2, ask, "it may not preempt before {}", to_text(created + delay));
    }
  }

  /// SPEC section 5: not before the start delay, and not too many.
  void judge_pinned(const HeardAsk& ask) {
    const RequiredNodeSettings& settings = hearing_.configuration.required_node;
    const Time since = reserved_since(cluster_, ask.pods.front(), hearing_.plan.now);
    const Duration delay = settings.preemption_start_delay;
    if (delay.ms > 0 && hearing_.plan.now <= since + delay) {
      report(2, ask, "its reservation may not preempt until {} has passed", to_text(since + delay));
    }
    if (std::ssize(ask.victims) > settings.max_victims) {
      report(2, ask, "it has {} victims, and required_node.maxVictims is {}", ask.victims.size(),
             settings.max_victims);
    }
  }

  void judge_priority(const HeardAsk& ask, const HeardVictim& victim) {
    const std::int32_t priority = rules_.priority(victim.pod);
    if (victim.entry->priority != priority) {
      report(2, ask, "the priority of {} is {}, not {}", victim.text, priority,
             victim.entry->priority);
    }
    // Between queues, priorities only say which pod of the losing queue leaves first (SPEC 3).
    const bool of_queue = ask.entry->kind == AskKind::queue;
    const bool pinned = !ask.pinned_to.empty();
    const bool equal = pinned && hearing_.configuration.required_node.allow_equal_priority;
    if (!of_queue && (priority > ask.priority || (priority == ask.priority && !equal))) {
      report(2, ask, "{} has priority {}, not below {}", victim.text, priority, ask.priority);
    }
    const std::string_view protection =
        pinned ? rules_.protection_from_pinned(victim.pod) : rules_.protection(victim.pod);
    if (!protection.empty()) report(2, ask, "{} may not be evicted: {}", victim.text, protection);
    if (queue_room_.may_take(ask, victim.pod)) return;
    if (hearing_.configuration.queue.preempt_within_queue) {
      report(2, ask, "{} is not of its queue {}", victim.text, queue_room_.name(ask));
    } else {
      report(2, ask, "{} leaves, and queue.preemptWithinQueue is off", victim.text);
    }
  }

  void judge_use(const HeardAsk& ask, const HeardVictim& victim) {
    const auto [at, is_new] = taken_.try_emplace(victim.pod, &ask);
    if (!is_new) report(8, ask, "{} also leaves for {}", victim.text, at->second->text);
    if (const auto placed = placed_.find(victim.pod); placed != placed_.end()) {
      // Asks lie in the order of the plan: the later one is to blame.
      report(8, *std::max(&ask, placed->second), "{} is placed by the same plan", victim.text);
    }
    if (ask.entry->kind == AskKind::pod_group && cluster_.pods().unit[victim.pod] == ask.unit) {
      report(8, ask, "{} is one of its own members", victim.text);
    }
    const bool again = ask.pinned_to.empty() && ask.entry->kind != AskKind::queue &&
                       hearing_.configuration.workload.leaving_room == LeavingRoom::victims;
    if (rules_.leaving(victim.pod) && !again) report(6, ask, "{} is leaving already", victim.text);
  }

  /// SPEC section 1: an ask takes units on nodes of its regime. A group that leaves whole takes its
  /// pods on other nodes along. A pinned pod evicts what its own section allows.
  void judge_regime(const HeardAsk& ask) {
    if (!ask.pinned_to.empty()) return;
    std::set<UnitIndex> here;
    const auto regime = [this](const HeardVictim& victim) {
      return hearing_.regimes->of_node(cluster_.pods().node[victim.pod]);
    };
    for (const HeardVictim& victim : ask.victims) {
      const UnitIndex index = cluster_.pods().unit[victim.pod];
      const Unit& unit = cluster_.units()[index];
      const bool whole =
          unit.kind == UnitKind::group &&
          (unit.mode == DisruptionMode::all || (unit.gang && leaves_below_minimum(unit, ask)));
      if (whole && regime(victim) == Regime::pods) here.insert(index);
    }
    for (const HeardVictim& victim : ask.victims) {
      if (regime(victim) == Regime::pods || here.contains(cluster_.pods().unit[victim.pod]))
        continue;
      report(2, ask, "{} is on a node of {}, and nothing of it is on a node of pods", victim.text,
             choice_name(regime(victim)));
    }
  }

  void judge_whole(const HeardAsk& ask) {
    std::set<PodIndex> victims;
    for (const HeardVictim& victim : ask.victims) victims.insert(victim.pod);
    std::set<UnitIndex> judged;
    for (const HeardVictim& victim : ask.victims) {
      if (!judged.insert(cluster_.pods().unit[victim.pod]).second) continue;
      for (const PodIndex member : rules_.leaves_with(victim.pod)) {
        // A member that is leaving leaves with the others, be it a victim or not.
        if (rules_.leaving(member) || victims.contains(member)) continue;
        report(5, ask, "{} leaves and {} of the same group stays", victim.text,
               cluster_.pod_key(member));
      }
    }
  }

  /// A gang with below-minimum `evict` that these victims bring under its minimum goes whole,
  /// unless one of its pods may not leave.
  void judge_below_minimum(const HeardAsk& ask) {
    if (ask.entry->kind == AskKind::queue) return;  // A rule of section 2.
    // Where they may be evicted once more, they count as running until then.
    const bool leaving_are_victims = ask.rules->workload.leaving_room == LeavingRoom::victims;
    std::set<UnitIndex> judged;
    for (const HeardVictim& victim : ask.victims) {
      const UnitIndex index = cluster_.pods().unit[victim.pod];
      const Unit& unit = cluster_.units()[index];
      if (!unit.gang || !leaves_below_minimum(unit, ask)) continue;
      if (!judged.insert(index).second) continue;
      std::int64_t before = 0;
      std::vector<PodIndex> left;
      for (const PodIndex member : cluster_.groups()[unit.group].members) {
        const bool leaves = !leaving_are_victims && rules_.leaving(member);
        if (leaves || !cluster_.pods().node[member].exists()) continue;
        const auto taken = taken_.find(member);
        if (taken == taken_.end()) left.push_back(member);
        if (taken == taken_.end() || taken->second == &ask) ++before;
      }
      if (before < unit.minimum || std::ssize(left) >= unit.minimum || left.empty()) continue;
      const bool may_go = std::ranges::all_of(
          left, [&](PodIndex member) { return rules_.may_leave(member, ask.priority); });
      if (unit.mode == DisruptionMode::all || !may_go) continue;
      const PodIndex first = *std::ranges::min_element(
          left, {}, [this](PodIndex member) { return cluster_.pods().name[member.value]; });
      report(5, ask, "{} brings its group under its minimum of {}, and {} stays", victim.text,
             unit.minimum, cluster_.pod_key(first));
    }
  }

  void judge_budgets(const HeardAsk& ask, const HeardVictim& victim) {
    if (hearing_.configuration.budgets.mode != BudgetMode::strict) return;
    for (const DisruptionBudget* const budget : budgets_) {
      if (!rules_.governed(victim.pod, *budget)) continue;
      const std::int64_t allowed = budget->disruptions_allowed.value_or(0);
      if (++spent_[budget] <= allowed) continue;
      report(2, ask, "{} is one more than the {} that budget {}/{} allows", victim.text, allowed,
             budget->namespace_name, budget->name);
    }
  }

  Hearing& hearing_;
  const Cluster& cluster_;
  EvictionRules rules_;
  HeardQueueRoom queue_room_;
  std::vector<const DisruptionBudget*> budgets_;
  std::map<const DisruptionBudget*, std::int64_t> spent_;
  std::set<std::string> asked_;
  std::map<PodIndex, const HeardAsk*> placed_;
  std::map<PodIndex, const HeardAsk*> taken_;
};

}  // namespace

void judge_victims(Hearing& hearing) { VictimJudge(hearing).judge(); }

}  // namespace makeway

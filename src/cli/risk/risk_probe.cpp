#include "cli/risk/risk_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/checked_math.hpp"
#include "cli/plan/ask_kinds.hpp"
#include "cli/text.hpp"
#include "model/normalize.hpp"
#include "model/object_text.hpp"
#include "model/profiles.hpp"
#include "model/queue_membership.hpp"

namespace makeway::cli {
std::optional<Plan> PlanQuestions::make(const PlanCase& item) {
  ++asked_;
  PlanAttempt attempt = make_plan(item, tools_, timing_, bug_files_);
  shows_bug_ = shows_bug_ || attempt.shows_bug;
  bug_ += attempt.bug;
  problems_.append(std::move(attempt.problems));
  return std::move(attempt.plan);
}

std::optional<Plan> PlanQuestions::today(const Cluster& cluster,
                                         const ConfigurationDocument& configuration, bool explain) {
  return make({.cluster = cluster,
               .configuration = configuration,
               .workloads = workloads_,
               .now = now_,
               .explain = explain});
}

std::optional<Plan> PlanQuestions::for_pod(const Cluster& cluster,
                                           const ConfigurationDocument& configuration,
                                           const PodPlacement& place) {
  std::vector<PodPlacement> placements;
  if (!place.node.empty()) placements.push_back(place);
  return make(
      {.cluster = cluster,
       .configuration = configuration,
       .asks = {{.kind = AskKind::pod, .namespace_name = place.namespace_name, .name = place.name}},
       .workloads = workloads_,
       .now = now_,
       .placements = std::move(placements),
       .explain = false});
}

std::optional<PlanAsk> PlanQuestions::for_pod_on(const Cluster& cluster,
                                                 const ConfigurationDocument& configuration,
                                                 const PodPlacement& place) {
  std::optional<Plan> plan = for_pod(cluster, configuration, place);
  if (!plan) return std::nullopt;
  const auto found = std::ranges::find_if(plan->asks, [&](const PlanAsk& ask) {
    return ask.kind == AskKind::pod && ask.name == place.name &&
           ask.namespace_name == place.namespace_name;
  });
  if (found == plan->asks.end()) return std::nullopt;
  return std::move(*found);
}

namespace {

constexpr std::string_view probe_name = "makeway-risk-ask";
constexpr std::int32_t lowest_of_all = EvictionProbe::any_priority;
constexpr std::int32_t highest_of_all = std::numeric_limits<std::int32_t>::max();

std::int64_t amount_of(const Cluster& cluster, RequestId row, std::string_view resource) {
  for (const ResourceAmount& item : cluster.requests(row)) {
    if (cluster.resources().name(item.resource) == resource) return item.amount;
  }
  return 0;
}

std::string queue_name(const Cluster& cluster, const Configuration& configuration, PodIndex pod) {
  const ObjectMap<Queue>& queues = cluster.own<Queue>();
  if (queues.empty()) return {};
  const QueueRow row = QueueMembership(cluster, configuration).of(pod);
  return row.exists() ? std::next(queues.begin(), row.value)->second.name : std::string{};
}

}  // namespace

EvictionProbe::EvictionProbe(Cluster& cluster, PodIndex pod,
                             const ConfigurationDocument& configuration, PlanQuestions& questions)
    : cluster_(cluster),
      configuration_(configuration),
      questions_(questions),
      pod_(pod),
      namespace_name_(cluster.text(cluster.pods().namespace_name[pod])),
      name_(cluster.pods().name[pod.value]),
      queue_(queue_name(cluster, configuration.configuration, pod)) {
  const NodeIndex node = cluster.pods().node[pod];
  node_ = cluster.text(cluster.nodes().name[node]);
  const RequestId room = cluster.nodes().allocatable[node];
  for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
    const std::string_view name = cluster.resources().name(item.resource);
    const std::int64_t whole = amount_of(cluster, room, name);
    if (name == pods_name || item.amount <= 0 || whole <= 0) continue;
    if (!resource_.empty() &&
        share_permille(item.amount, whole) <= share_permille(held_, allocatable_)) {
      continue;
    }
    resource_ = name;
    held_ = item.amount;
    allocatable_ = whole;
  }
  unrequested_ = allocatable_;
  std::int64_t places = amount_of(cluster, room, pods_name);
  for (const PodIndex other : cluster.order().pods(node)) {
    unrequested_ -=
        std::min(unrequested_, amount_of(cluster, cluster.pods().requests[other], resource_));
    places -= amount_of(cluster, cluster.pods().requests[other], pods_name);
  }
  has_no_place_ = places <= 0;
}

Pod EvictionProbe::made_up(std::int32_t priority, std::int64_t amount) const {
  Pod pod;
  pod.namespace_name = namespace_name_;
  pod.name = probe_name;
  pod.scheduler = cluster_.text(cluster_.pods().scheduler[pod_]);
  pod.priority = priority;
  pod.requests = {{.resource = resource_, .amount = amount}};
  pod.shape.tolerations = {{.key = {}, .exists = true, .value = {}, .effect = {}}};
  pod.notes.queue = queue_;
  if (pinned_) pod.notes.required_node = node_;
  // Long enough ago for the delay of every profile.
  Duration delay = configuration_.configuration.engine.preemption_delay;
  for (const ProfileRules& profile : differing_profiles(configuration_.configuration)) {
    delay = std::max(delay, profile.configuration.engine.preemption_delay);
  }
  pod.created = questions_.now() + Duration{-delay.ms};
  return pod;
}

bool EvictionProbe::taken_by_queue(const std::string& queue, std::int64_t amount) {
  Pod pod = made_up(lowest_of_all, amount);
  pod.notes.queue = queue;
  cluster_.apply(pod);
  const std::optional<Plan> plan =
      questions_.for_pod(cluster_, configuration_,
                         {.namespace_name = namespace_name_, .name = std::string(probe_name)});
  cluster_.apply(Removal{
      .kind = ObjectKind::pod, .namespace_name = namespace_name_, .name = std::string(probe_name)});
  // Other queues may take it anyway.
  return plan && std::ranges::any_of(plan->asks, [&](const PlanAsk& ask) {
           const bool own = ask.kind == AskKind::queue ? ask.name == queue : ask.name == probe_name;
           return own && evicts(ask);
         });
}

QueueTrials EvictionProbe::other_queues() {
  constexpr std::size_t tried_max = 10;
  QueueTrials trials;
  if (queue_.empty() || resource_.empty()) return trials;
  std::set<std::string_view> parents;
  for (const auto& [key, queue] : cluster_.own<Queue>()) parents.insert(queue.parent);
  for (const auto& [key, queue] : cluster_.own<Queue>()) {
    if (queue.name == queue_ || parents.contains(queue.name)) continue;
    if (trials.tried.size() == tried_max) {
      ++trials.not_tried;
      continue;
    }
    QueueTrial trial{.queue = queue.name, .amount = allocatable_};
    trial.takes = taken_by_queue(trial.queue, trial.amount);
    if (!trial.takes && taken_by_queue(trial.queue, held_)) {
      trial.amount = held_;
      trial.takes = true;
    }
    trials.tried.push_back(std::move(trial));
  }
  return trials;
}

std::optional<PlanAsk> EvictionProbe::ask(std::int32_t priority, std::int64_t amount,
                                          const ConfigurationDocument& configuration) {
  cluster_.apply(made_up(priority, amount));
  std::optional<PlanAsk> answer = questions_.for_pod_on(
      cluster_, configuration,
      {.namespace_name = namespace_name_, .name = std::string(probe_name), .node = node_});
  cluster_.apply(Removal{
      .kind = ObjectKind::pod, .namespace_name = namespace_name_, .name = std::string(probe_name)});
  return answer;
}

std::optional<PlanAsk> EvictionProbe::ask_again(const EvictingAsk& known,
                                                const ConfigurationDocument& configuration) {
  return ask(known.priority, known.amount, configuration);
}

bool EvictionProbe::evicts(const PlanAsk& answer) const {
  const auto is_it = [&](const auto& victim) {
    return victim.namespace_name == namespace_name_ && victim.name == name_ && victim.plane.empty();
  };
  if (std::ranges::any_of(answer.victims, is_it)) return true;
  bool is_replica = false;
  each_replica_victim(answer, [&](const auto& /*claim*/, const PlanReplicaVictim& victim) {
    if (is_it(victim) && victim.action != ReplicaAction::wait) is_replica = true;
  });
  return is_replica;
}

std::string EvictionProbe::why_it_stays() {
  const std::optional<PlanAsk> answer = ask(highest_of_all, largest(highest_of_all) + 1);
  if (!answer) return {};
  for (const PlanRefusal& refusal : answer->explanation.refusals) {
    for (const PlanHolder& holder : refusal.holders) {
      if (holder.namespace_name == namespace_name_ && holder.name == name_) return holder.why;
    }
  }
  return {};
}

/// Law 6: an ask waits for room that comes too late only if no pod can be evicted instead.
bool EvictionProbe::finds_place(const PlanAsk& answer) const {
  if (answer.placements.empty()) return false;
  const Duration wait_max = configuration_.configuration.engine.leave_wait_max;
  return std::ranges::none_of(answer.waits_for, [&](const PodPlacement& place) {
    const auto pod = cluster_.find_pod(place.namespace_name, place.name, place.plane);
    if (!pod || cluster_.pods().flags[*pod].kernel) return false;
    const Time deletion = cluster_.pods().deletion[*pod];
    // One without a deletion time leaves in this plan, so its room comes soon.
    return deletion != no_time && wait_max < deletion - questions_.now();
  });
}

std::int64_t EvictionProbe::largest(std::int32_t priority) {
  std::int64_t fitting = 0;
  std::int64_t failing = allocatable_ + 1;
  while (fitting + 1 < failing) {
    const std::int64_t middle = fitting + (failing - fitting) / 2;
    const std::optional<PlanAsk> answer = ask(priority, middle);
    const bool placed = answer && finds_place(*answer);
    (placed ? fitting : failing) = middle;
  }
  return fitting;
}

std::int64_t EvictionProbe::free() {
  if (!free_) free_ = largest(lowest_of_all);
  return *free_;
}

std::optional<EvictingAsk> EvictionProbe::evicting(std::int32_t priority) {
  std::set<std::int64_t> amounts = {largest(priority)};
  // Where not all may leave together (strict budgets), one that needs the pod alone may do.
  if (free() < allocatable_) amounts.insert(free() + 1);
  if (free() + held_ <= allocatable_) amounts.insert(free() + held_);
  for (const std::int64_t amount : amounts) {
    if (amount <= free()) continue;
    std::optional<PlanAsk> answer = ask(priority, amount);
    if (!answer || !evicts(*answer)) continue;
    return EvictingAsk{.priority = priority, .amount = amount, .answer = std::move(*answer)};
  }
  return std::nullopt;
}

std::optional<std::int32_t> EvictionProbe::lowest_pinned_priority() {
  if (resource_.empty()) return std::nullopt;
  const std::int32_t own = cluster_.units()[cluster_.pods().unit[pod_]].preemption_priority;
  free();  // Of an ordinary ask.
  pinned_ = true;
  std::optional<std::int32_t> lowest;
  for (const std::int32_t priority : {lowest_of_all, own}) {
    if (!lowest && evicting(priority)) lowest = priority;
  }
  pinned_ = false;
  return lowest;
}

/// One above each priority that a unit on the node has.
std::vector<std::int32_t> EvictionProbe::priorities_above(std::int32_t priority) const {
  std::set<std::int32_t> found;
  for (const PodIndex pod : cluster_.order().pods(cluster_.pods().node[pod_])) {
    const Unit& unit = cluster_.units()[cluster_.pods().unit[pod]];
    if (unit.preemption_priority >= priority && unit.preemption_priority < highest_of_all) {
      found.insert(unit.preemption_priority + 1);
    }
  }
  found.insert(highest_of_all);
  return {found.begin(), found.end()};
}

std::optional<EvictingAsk> EvictionProbe::lowest_priority() {
  if (resource_.empty()) return std::nullopt;
  const std::int32_t own = cluster_.units()[cluster_.pods().unit[pod_]].preemption_priority;
  const std::vector<std::int32_t> priorities = priorities_above(own);
  std::optional<EvictingAsk> best = evicting(priorities.front());
  if (best || priorities.size() == 1) return best;
  best = evicting(priorities.back());
  if (!best) return std::nullopt;
  std::size_t failing = 0;
  std::size_t working = priorities.size() - 1;
  while (failing + 1 < working) {
    const std::size_t middle = failing + (working - failing) / 2;
    std::optional<EvictingAsk> found = evicting(priorities[middle]);
    (found ? working : failing) = middle;
    if (found) best = std::move(found);
  }
  return best;
}

/// What the pods that come before it in the line hold of the resource, added up one by one.
std::vector<std::int64_t> EvictionProbe::sums_in_line() const {
  constexpr std::size_t sums_max = 30;
  std::vector<std::int64_t> sums = {0};
  const auto pods = cluster_.order().pods(cluster_.pods().node[pod_]);
  for (auto at = pods.rbegin(); at != pods.rend() && *at != pod_; ++at) {
    const std::int64_t amount = amount_of(cluster_, cluster_.pods().requests[*at], resource_);
    if (amount <= 0) continue;
    if (sums.size() == sums_max) break;
    sums.push_back(saturated_add(sums.back(), amount));
  }
  return sums;
}

/// What some of the pods on the node hold of the resource together; in ascending order. Nothing:
/// there are too many.
std::optional<std::vector<std::int64_t>> EvictionProbe::sums_below(std::int64_t limit) const {
  constexpr std::size_t sums_max = 300;
  std::set<std::int64_t> sums = {0};
  for (const PodIndex pod : cluster_.order().pods(cluster_.pods().node[pod_])) {
    const std::int64_t amount = amount_of(cluster_, cluster_.pods().requests[pod], resource_);
    if (amount <= 0) continue;
    const std::vector<std::int64_t> before(sums.begin(), sums.end());
    for (const std::int64_t sum : before) {
      if (saturated_add(sum, amount) < limit) sums.insert(sum + amount);
    }
    if (sums.size() > sums_max) return std::nullopt;
  }
  return std::vector<std::int64_t>(sums.begin(), sums.end());
}

EvictingAsk EvictionProbe::smallest(const EvictingAsk& known) {
  const auto sums = sums_below(known.amount);
  if (!sums) return smallest_found(known);
  // Where not the resource is short but the places for pods, or the queue has no more, it is not
  // what is free that the sums are above.
  std::set<std::int64_t> amounts;
  for (const std::int64_t sum : *sums) {
    amounts.insert(saturated_add(saturated_add(free(), sum), 1));
    amounts.insert(saturated_add(saturated_add(unrequested_, sum), 1));
  }
  EvictingAsk best = known;
  best.is_smallest = true;
  for (const std::int64_t amount : amounts) {
    if (amount >= known.amount) break;
    std::optional<PlanAsk> answer = ask(known.priority, amount);
    if (!answer || !evicts(*answer)) continue;
    best.amount = amount;
    best.answer = std::move(*answer);
    break;
  }
  return best;
}

EvictingAsk EvictionProbe::smallest_found(const EvictingAsk& known) {
  EvictingAsk best = known;
  std::int64_t failing = free();
  for (const std::int64_t sum : sums_in_line()) {
    const std::int64_t free_room = has_no_place_ ? unrequested_ : free();
    const std::int64_t amount = saturated_add(saturated_add(free_room, sum), 1);
    if (amount >= best.amount) break;
    std::optional<PlanAsk> answer = ask(known.priority, amount);
    if (answer && evicts(*answer)) {
      best = {.priority = known.priority, .amount = amount, .answer = std::move(*answer)};
      break;
    }
    failing = amount;
  }
  while (failing + 1 < best.amount) {
    const std::int64_t middle = failing + (best.amount - failing) / 2;
    std::optional<PlanAsk> answer = ask(known.priority, middle);
    if (answer && evicts(*answer)) {
      best = {.priority = known.priority, .amount = middle, .answer = std::move(*answer)};
    } else {
      failing = middle;
    }
  }
  return best;
}

namespace {

constexpr std::string_view budget_name = "makeway-risk-budget";

std::set<std::string> names_of(const std::vector<PlanVictim>& victims) {
  std::set<std::string> names;
  for (const PlanVictim& victim : victims) {
    names.insert(key_text({victim.namespace_name, victim.name, victim.plane}));
  }
  return names;
}

/// Victims that were none before: "; shop/other leaves instead".
std::string instead_text(const std::vector<PlanVictim>& before,
                         const std::vector<PlanVictim>& after) {
  std::vector<std::string> others;
  std::ranges::set_difference(names_of(after), names_of(before), std::back_inserter(others));
  if (others.empty()) return {};
  const bool one = others.size() == 1;
  return fmt::format("; {} {} instead", few_names(std::move(others)), one ? "leaves" : "leave");
}

class Trials {
 public:
  Trials(const TrialSettings& settings, EvictionProbe& probe, PlanQuestions& questions)
      : settings_(settings), probe_(probe), questions_(questions) {}

  std::vector<ProtectionTrial> run() {
    opt_out();
    raise_priority();
    add_budget();
    set_minimum_runtime();
    return std::move(trials_);
  }

 private:
  void opt_out() {
    Pod pod = settings_.cluster.pod(settings_.pod);
    if (pod.opted_out) return;
    // SPEC section 10: do not recommend a mark that does not count.
    const TrustSettings& trust = settings_.configuration.configuration.trust;
    const bool counts =
        trust.mode == TrustMode::files ||
        std::ranges::find(trust.namespaces, pod.namespace_name) != trust.namespaces.end();
    if (!counts) return;
    pod.opted_out = true;
    with_pod("annotation makeway.dev/allow-preemption: \"false\"", pod);
  }

  /// As high as the ask's: law 2 wants victims of strictly lower priority; a pinned pod may also
  /// evict pods of its own priority.
  void raise_priority() {
    Pod pod = settings_.cluster.pod(settings_.pod);
    const bool pinned = settings_.taker != nullptr && settings_.taker->reservation.has_value();
    const bool equal = settings_.configuration.configuration.required_node.allow_equal_priority;
    if (pinned && equal && priority_of_ask() == highest_of_all) return;
    const std::int32_t priority = priority_of_ask() + (pinned && equal ? 1 : 0);
    const Unit& unit = settings_.cluster.units()[settings_.cluster.pods().unit[settings_.pod]];
    if (unit.kind != UnitKind::pod || unit.preemption_priority >= priority) return;
    pod.priority = priority;
    pod.priority_class.clear();
    pod.notes.preemption_priority_class.clear();
    with_pod(fmt::format("priority {} instead of {}", priority, unit.preemption_priority), pod);
  }

  /// A budget for pods with its labels that allows nothing: as budgets are taken now, and strictly.
  void add_budget() {
    const Pod pod = settings_.cluster.pod(settings_.pod);
    if (pod.labels.empty()) return;
    LabelSelector selector;
    for (const auto& [key, value] : pod.labels) {
      selector.requirements.push_back({.key = key, .operation = Operator::in, .values = {value}});
    }
    normalize(selector);
    settings_.cluster.apply(DisruptionBudget{.namespace_name = pod.namespace_name,
                                             .name = std::string(budget_name),
                                             .selector = selector,
                                             .unavailable_max = CountOrPercent{},
                                             .disruptions_allowed = 0});
    const BudgetMode mode = settings_.configuration.configuration.budgets.mode;
    report(fmt::format("a budget that allows no eviction (budgets.mode={})", choice_name(mode)),
           settings_.configuration);
    if (mode != BudgetMode::strict) {
      ConfigurationDocument strict = settings_.configuration;
      strict.configuration.budgets.mode = BudgetMode::strict;
      report("the same budget with budgets.mode=strict", strict);
    }
    settings_.cluster.apply(Removal{.kind = ObjectKind::disruption_budget,
                                    .namespace_name = pod.namespace_name,
                                    .name = std::string(budget_name)});
  }

  void set_minimum_runtime() {
    constexpr std::int64_t ms_per_minute = 60'000;
    const Time started = settings_.cluster.pods().started[settings_.pod];
    if (started == no_time || started > questions_.now()) return;
    const std::int64_t age = questions_.now().ms - started.ms;
    ConfigurationDocument longer = settings_.configuration;
    longer.configuration.protection.minimum_runtime =
        Duration{(age / ms_per_minute + 1) * ms_per_minute};
    report(fmt::format("protection.minimumRuntime={} (it has run for {})",
                       to_text(longer.configuration.protection.minimum_runtime),
                       to_text(Duration{age})),
           longer);
  }

  /// With another pod in its place, which is put back afterwards.
  void with_pod(std::string change, const Pod& pod) {
    const Pod before = settings_.cluster.pod(settings_.pod);
    settings_.cluster.apply(pod);
    report(std::move(change), settings_.configuration);
    settings_.cluster.apply(before);
  }

  void report(std::string change, const ConfigurationDocument& configuration) {
    ProtectionTrial trial =
        settings_.taker != nullptr ? in_todays_plan(configuration) : for_smallest(configuration);
    trial.change = std::move(change);
    trials_.push_back(std::move(trial));
  }

  ProtectionTrial in_todays_plan(const ConfigurationDocument& configuration) {
    const std::optional<Plan> plan = questions_.today(settings_.cluster, configuration);
    if (!plan) return {.result = "could not be planned"};
    const auto all_victims = [](const Plan& of) {
      std::vector<PlanVictim> victims;
      for (const PlanAsk& ask : of.asks) {
        victims.insert(victims.end(), ask.victims.begin(), ask.victims.end());
      }
      return victims;
    };
    for (const PlanAsk& ask : plan->asks) {
      if (probe_.evicts(ask)) {
        return {.result = fmt::format("is evicted for {}", ask_text(ask))};
      }
    }
    for (const PlanAsk& ask : plan->asks) {
      std::string unit = stops_with(ask);
      if (unit.empty()) continue;
      std::string result = fmt::format("stops with {} for {}", unit, ask_text(ask));
      return {.result = std::move(result), .stops_with = std::move(unit)};
    }
    ProtectionTrial trial{
        .protects = true,
        .result = "stays" + instead_text(all_victims(settings_.today), all_victims(*plan))};
    for (const PlanAsk& ask : plan->asks) trial.result += degraded_beside(ask);
    const auto taker = std::ranges::find(plan->asks, ask_text(*settings_.taker),
                                         [](const PlanAsk& ask) { return ask_text(ask); });
    if (taker == plan->asks.end() || taker->replicas) return trial;
    if (taker->kind == AskKind::queue) {
      if (taker->victims.empty()) {
        trial.result += fmt::format("; then {} takes nothing", ask_text(*taker));
      }
    } else if (taker->placements.empty()) {
      trial.result += fmt::format("; then {} finds no place", ask_text(*taker));
    }
    return trial;
  }

  ProtectionTrial for_smallest(const ConfigurationDocument& configuration) {
    const std::optional<PlanAsk> answer = probe_.ask_again(*settings_.smallest, configuration);
    if (!answer) return {.result = "could not be planned"};
    if (probe_.evicts(*answer)) return {.result = "is evicted all the same"};
    const std::string instead = instead_text(settings_.smallest->answer.victims, answer->victims);
    if (std::string unit = stops_with(*answer); !unit.empty()) {
      return {.result = fmt::format("stops with {}{}", unit, instead),
              .stops_with = std::move(unit)};
    }
    ProtectionTrial trial{.protects = true,
                          .result = fmt::format("stays{}{}", instead, degraded_beside(*answer))};
    if (answer->placements.empty()) trial.result += "; then that ask finds no place";
    return trial;
  }

  std::string stops_with(const PlanAsk& ask) const {
    return cli::stops_with(ask, settings_.cluster, settings_.pod);
  }
  /// "; PodGroup shop/gang loses 1 of 3 pods and runs degraded, with 2 of its minimum 3"
  std::string degraded_beside(const PlanAsk& ask) const {
    const auto* const gang = degraded_gang(ask, settings_.cluster, settings_.pod);
    return gang == nullptr ? std::string() : "; " + degraded_text(*gang);
  }
  std::int32_t priority_of_ask() const {
    return settings_.taker != nullptr ? settings_.taker->priority : settings_.smallest->priority;
  }

  const TrialSettings& settings_;
  EvictionProbe& probe_;
  PlanQuestions& questions_;
  std::vector<ProtectionTrial> trials_;
};

}  // namespace

std::vector<ProtectionTrial> try_protections(const TrialSettings& settings, EvictionProbe& probe,
                                             PlanQuestions& questions) {
  if (settings.taker == nullptr && settings.smallest == nullptr) return {};
  return Trials(settings, probe, questions).run();
}

namespace {

bool stays_bound(const Cluster& cluster, PodIndex pod) {
  return cluster.pods().node[pod].exists() && cluster.pods().deletion[pod] == no_time;
}

std::string node_name(const Cluster& cluster, PodIndex pod) {
  return std::string(cluster.text(cluster.nodes().name[cluster.pods().node[pod]]));
}

std::string group_text(const Cluster& cluster, const Group& group) {
  return object_text("PodGroup", {cluster.text(group.namespace_name), cluster.text(group.name),
                                  cluster.text(group.plane)});
}

/// Of a gang that leaves pod by pod and has its minimum.
void add_gang(const Cluster& cluster, PodIndex pod, std::vector<StoppingUnit>& found) {
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind != UnitKind::group || !unit.gang || unit.mode == DisruptionMode::all) return;
  const Group& group = cluster.groups()[unit.group];
  std::set<std::string> nodes;
  std::int64_t running = 0;
  for (const PodIndex member : group.members) {
    if (!stays_bound(cluster, member)) continue;
    ++running;
    if (member != pod) nodes.insert(node_name(cluster, member));
  }
  // So many that not all of the others would have to leave for it.
  const std::int64_t losses = running - unit.minimum + 1;
  if (losses < 1 || losses >= running) return;
  found.push_back({.unit = group_text(cluster, group),
                   .fate = unit.evict_below_minimum ? UnitFate::leaves : UnitFate::degraded,
                   .losses = losses,
                   .nodes = {nodes.begin(), nodes.end()}});
}

void add_loss_unit(const Cluster& cluster, PodIndex pod, const std::string& name,
                   std::vector<StoppingUnit>& found) {
  const PodColumns& pods = cluster.pods();
  std::optional<std::int64_t> losses;  // The least that a part says.
  std::set<std::string> nodes;
  for (const PodIndex other : cluster.sharing_pods()) {
    if (other == pod || !stays_bound(cluster, other) || pods.plane[other] != pods.plane[pod] ||
        pods.namespace_name[other] != pods.namespace_name[pod]) {
      continue;
    }
    for (const LossShare& share : cluster.notes(pods.notes[other]).loss_units) {
      if (share.unit != name || share.part.empty()) continue;
      losses = std::min(losses.value_or(share.allowed + 1), share.allowed + 1);
      nodes.insert(node_name(cluster, other));
    }
  }
  if (!losses) return;
  found.push_back({.unit = name, .losses = *losses, .nodes = {nodes.begin(), nodes.end()}});
}

}  // namespace

std::vector<StoppingUnit> stopping_units(const Cluster& cluster, PodIndex pod) {
  std::vector<StoppingUnit> found;
  add_gang(cluster, pod, found);
  for (const LossShare& share : cluster.notes(cluster.pods().notes[pod]).loss_units) {
    add_loss_unit(cluster, pod, share.unit, found);
  }
  std::ranges::sort(found, {}, &StoppingUnit::unit);
  return found;
}

namespace {

/// Whether an entry of a plan is in the pod's namespace and plane.
auto is_beside(const Cluster& cluster, PodIndex pod) {
  const std::string_view space = cluster.text(cluster.pods().namespace_name[pod]);
  const std::string_view plane = cluster.text(cluster.pods().plane[pod]);
  return [space, plane](const auto& each) {
    return each.namespace_name == space && each.plane == plane;
  };
}

bool is_evicted(const PlanAsk& ask, const Cluster& cluster, PodIndex pod) {
  const auto is_here = is_beside(cluster, pod);
  return std::ranges::any_of(ask.victims, [&](const PlanVictim& victim) {
    return is_here(victim) && victim.name == cluster.pods().name[pod.value];
  });
}

}  // namespace

std::string stops_with(const PlanAsk& ask, const Cluster& cluster, PodIndex pod) {
  if (is_evicted(ask, cluster, pod)) return {};
  const auto is_here = is_beside(cluster, pod);
  const std::vector<LossShare>& shares = cluster.notes(cluster.pods().notes[pod]).loss_units;
  for (const PlanStoppedUnit& stopped : ask.stopped_units) {
    const bool shared = std::ranges::find(shares, stopped.unit, &LossShare::unit) != shares.end();
    if (is_here(stopped) && shared) return stopped.unit;
  }
  return {};
}

const PlanDisruptedGroup* degraded_gang(const PlanAsk& ask, const Cluster& cluster, PodIndex pod) {
  const Unit& unit = cluster.units()[cluster.pods().unit[pod]];
  if (unit.kind != UnitKind::group || is_evicted(ask, cluster, pod)) return nullptr;
  const std::string_view name = cluster.text(cluster.groups()[unit.group].name);
  const auto is_here = is_beside(cluster, pod);
  const auto found =
      std::ranges::find_if(ask.disrupted_groups, [&](const PlanDisruptedGroup& each) {
        return is_here(each) && each.name == name && each.fate == GroupFate::degraded;
      });
  return found == ask.disrupted_groups.end() ? nullptr : &*found;
}

std::string degraded_text(const PlanDisruptedGroup& gang) {
  return fmt::format("{} loses {} of {} and runs degraded, with {} of its minimum {}",
                     object_text("PodGroup", {gang.namespace_name, gang.name, gang.plane}),
                     gang.lost, counted(static_cast<std::uint64_t>(gang.running), "pod"),
                     std::max<std::int64_t>(gang.remaining, 0), gang.minimum);
}

}  // namespace makeway::cli

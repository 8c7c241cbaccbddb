#include "cli/risk/eviction_probe.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/checked_math.hpp"
#include "cli/amount.hpp"
#include "model/profiles.hpp"
#include "model/queue_membership.hpp"

namespace makeway::cli {
namespace {

constexpr std::string_view probe_name = "makeway-risk-ask";
constexpr std::int32_t lowest_of_all = std::numeric_limits<std::int32_t>::min();
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
  const std::optional<Plan> plan = questions_.for_pod(cluster_, configuration_,
                                                      {.namespace_name = namespace_name_,
                                                       .name = std::string(probe_name),
                                                       .node = {},
                                                       .plane = {}});
  cluster_.apply(Removal{.kind = ObjectKind::pod,
                         .namespace_name = namespace_name_,
                         .name = std::string(probe_name),
                         .plane = {}});
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
  std::optional<PlanAsk> answer = questions_.for_pod_on(cluster_, configuration,
                                                        {.namespace_name = namespace_name_,
                                                         .name = std::string(probe_name),
                                                         .node = node_,
                                                         .plane = {}});
  cluster_.apply(Removal{.kind = ObjectKind::pod,
                         .namespace_name = namespace_name_,
                         .name = std::string(probe_name),
                         .plane = {}});
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
  if (!answer.replicas) return false;
  return std::ranges::any_of(answer.replicas->claims, [&](const PlanReplicaClaim& claim) {
    return std::ranges::any_of(claim.victims, [&](const PlanReplicaVictim& victim) {
      return is_it(victim) && victim.action != ReplicaAction::wait;
    });
  });
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
    return wait_max < cluster_.pods().deletion[*pod] - questions_.now();
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

}  // namespace makeway::cli

#include "support/random_planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/resource.hpp"
#include "support/random_objects.hpp"
#include "support/random_shape.hpp"

namespace makeway {
namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30U;
constexpr std::string_view gpu_name = "nvidia.com/gpu";

Time seconds_ago(std::int64_t seconds) { return {planning_now.ms - seconds * 1000}; }

class Planning {
 public:
  Planning(Prng& random, const RandomPlanning& options)
      : random_(random), options_(options), shapes_(random, options) {
    static const std::vector<std::int32_t> pool = {-10, 0, 10, 50, 100, 200, 500, 1000};
    while (priorities_.size() < options.priorities) priorities_.push_back(random.pick(pool));
  }

  std::vector<Change> make();

 private:
  bool on(bool feature, std::uint64_t percent) { return feature && random_.chance(percent); }
  std::string space() { return shapes_.space(); }
  Amounts requests(bool of_ask);
  bool has_room(const Node& node, const Amounts& requests) const;
  Node make_node(std::size_t number);
  void fill(const Node& node);
  Pod make_bound(const Node& node, Amounts requests);
  void mark(Pod& pod);
  void mark_leaving(Pod& pod);
  PodGroup make_group(const std::string& name, const std::string& group_space);
  void make_groups();
  DisruptionBudget make_budget(std::size_t number);
  Pod make_ask(std::size_t number);
  void make_gang(std::size_t number, std::vector<Pod>& asks);
  void nominate(Pod& pod);
  std::vector<Change> classes() const;

  Prng& random_;
  const RandomPlanning& options_;
  RandomShapes shapes_;
  std::vector<std::int32_t> priorities_;
  std::vector<Node> nodes_;
  std::vector<Pod> pods_;
  std::vector<PodGroup> groups_;
};

// ---- Nodes --------------------------------------------------------------------------------------

Node Planning::make_node(std::size_t number) {
  Node node{.name = fmt::format("node-{}", number)};
  if (!on(options_.labels_missing, 15)) {
    node.labels.push_back({.key = std::string(names::hostname), .value = node.name});
  }
  if (!on(options_.labels_missing, 15)) {
    node.labels.push_back({.key = std::string(zone_key), .value = shapes_.zone()});
  }
  if (random_.chance(50)) {
    node.labels.push_back({.key = "disk", .value = random_.chance(50) ? "ssd" : "hdd"});
  }
  if (random_.chance(50)) {
    node.labels.push_back({.key = "generation", .value = fmt::format("{}", random_.below(5))});
  }
  if (options_.taints) node.taints = shapes_.taints();
  node.unschedulable = on(options_.cordons, 15);
  node.allocatable = {
      {.resource = std::string(cpu_name), .amount = random_.between(2, 8) * 1000},
      {.resource = std::string(memory_name), .amount = random_.between(2, 8) * 4 * gibibyte},
      {.resource = std::string(pods_name),
       .amount = on(options_.tight_pod_counts, 60) ? random_.between(2, 6) : 110}};
  if (options_.gpus) {
    node.allocatable.push_back(
        {.resource = std::string(gpu_name), .amount = random_.between(0, 4)});
  }
  if (random_.chance(50)) node.created = seconds_ago(100'000);
  normalize(node);
  return node;
}

Amounts Planning::requests(bool of_ask) {
  Amounts amounts;
  const std::int64_t most = of_ask ? 5 : 3;
  if (random_.chance(90)) {
    const std::int64_t step = random_.chance(20) ? 500 : 1000;
    amounts.push_back(
        {.resource = std::string(cpu_name), .amount = random_.between(1, most) * step});
  }
  if (on(options_.memory, 70)) {
    amounts.push_back(
        {.resource = std::string(memory_name), .amount = random_.between(1, most) * 2 * gibibyte});
  }
  if (on(options_.gpus, of_ask ? 60 : 35)) {
    amounts.push_back({.resource = std::string(gpu_name), .amount = random_.between(1, 2)});
  }
  normalize(amounts);
  return amounts;
}

bool Planning::has_room(const Node& node, const Amounts& requests) const {
  const auto fits = [&](std::string_view resource, std::int64_t wanted) {
    std::int64_t room = 0;
    for (const Amount& amount : node.allocatable) {
      if (amount.resource == resource) room = amount.amount;
    }
    for (const Pod& pod : pods_) {
      if (pod.node != node.name) continue;
      if (resource == pods_name) room -= 1;
      for (const Amount& amount : pod.requests) {
        if (amount.resource == resource) room -= amount.amount;
      }
    }
    return wanted <= room;
  };
  return fits(pods_name, 1) && std::ranges::all_of(requests, [&](const Amount& amount) {
           return fits(amount.resource, amount.amount);
         });
}

// ---- Bound pods ---------------------------------------------------------------------------------

void Planning::fill(const Node& node) {
  const std::uint64_t attempts = random_.chance(15) ? 2 : 10;
  for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
    Amounts amounts = requests(false);
    if (!has_room(node, amounts) && !on(options_.overcommitted, 15)) continue;
    pods_.push_back(make_bound(node, std::move(amounts)));
  }
}

Pod Planning::make_bound(const Node& node, Amounts requests) {
  Pod pod{.namespace_name = space(),
          .name = fmt::format("pod-{}", pods_.size()),
          .uid = fmt::format("uid-{}", pods_.size()),
          .labels = shapes_.labels(),
          .node = node.name,
          .priority = random_.pick(priorities_),
          .requests = std::move(requests)};
  pod.shape = shapes_.of_bound(pod);
  const bool taken = std::ranges::any_of(pods_, [&](const Pod& other) {
    return other.node == pod.node && RandomShapes::clash(other.shape, pod.shape);
  });
  if (taken && !options_.peer_quirks) pod.shape.ports.clear();
  const std::int64_t age =
      options_.equal_starts ? random_.between(1, 3) * 100 : random_.between(1, 50'000);
  pod.created = seconds_ago(age + 5);
  if (!on(options_.missing_starts, 15)) pod.started = seconds_ago(age);
  if (on(options_.leaving, 20)) mark_leaving(pod);
  mark(pod);
  return pod;
}

void Planning::mark_leaving(Pod& pod) {
  static const std::vector<std::int64_t> seconds = {-30, -30, 0, 20, 59, 60, 500};
  pod.deletion = seconds_ago(random_.pick(seconds));
  pod.deletion_grace_seconds = 30;
  pod.disrupted_by_preemption = random_.chance(50);
}

void Planning::mark(Pod& pod) {
  pod.mirror = on(options_.critical, 8);
  if (on(options_.critical, 8)) {
    const bool of_node = random_.chance(50);
    pod.priority_class = of_node ? names::node_critical : names::cluster_critical;
    if (random_.chance(50)) pod.priority = of_node ? 2'000'001'000 : 2'000'000'000;
  }
  if (!options_.own_marks) return;
  pod.opted_out = random_.chance(8);
  pod.is_protected = random_.chance(8);
  if (random_.chance(15)) pod.notes.preemption_priority_class = "keep";
  if (random_.chance(15)) pod.notes.preemption_cost_seconds = random_.between(0, 3) * 1000;
  if (random_.chance(15)) pod.notes.last_checkpoint = seconds_ago(random_.between(0, 3) * 50);
  pod.notes.loss_units = random_loss_units(random_);
  if (random_.chance(5)) pod.started = seconds_ago(-10);
  if (random_.chance(20)) {
    pod.owners = {{.kind = "ReplicaSet", .name = "owner", .uid = "owner-uid", .controller = true}};
  }
}

// ---- Groups and budgets -------------------------------------------------------------------------

PodGroup Planning::make_group(const std::string& name, const std::string& group_space) {
  PodGroup group{.namespace_name = group_space, .name = name};
  group.policy = {.minimum = 1,
                  .gang = random_.chance(50),
                  .mode = random_.chance(60) ? DisruptionMode::all : DisruptionMode::single,
                  .topology_keys = {}};
  if (group.policy.gang) group.policy.minimum = static_cast<std::int32_t>(random_.between(1, 4));
  group.priority.priority = random_.pick(priorities_);
  group.created = seconds_ago(random_.between(1, 1000));
  if (!options_.own_marks) return group;
  group.opted_out = random_.chance(5);
  if (random_.chance(10)) group.priority.preemption_priority_class = "keep";
  if (random_.chance(10)) group.preemption_cost_seconds = random_.between(0, 3) * 1000;
  if (random_.chance(10)) group.last_checkpoint = seconds_ago(random_.between(0, 3) * 50);
  return group;
}

/// Members are bound pods of one namespace, on one node or anywhere.
void Planning::make_groups() {
  if (!options_.groups || pods_.empty()) return;
  const std::uint64_t count = 1 + random_.below(3);
  for (std::uint64_t number = 0; number < count; ++number) {
    const Pod& first = random_.pick(pods_);
    const std::string node = random_.chance(40) ? first.node : "";
    const PodGroup group = make_group(fmt::format("group-{}", number), first.namespace_name);
    std::uint64_t wanted = 1 + random_.below(4);
    for (Pod& pod : pods_) {
      if (wanted == 0) break;
      if (pod.namespace_name != group.namespace_name || !pod.group.empty()) continue;
      if ((!node.empty() && pod.node != node) || !random_.chance(60)) continue;
      pod.group = group.name;
      if (!on(options_.peer_quirks, 10)) pod.priority = group.priority.priority;
      --wanted;
    }
    groups_.push_back(group);
  }
}

DisruptionBudget Planning::make_budget(std::size_t number) {
  DisruptionBudget budget{.namespace_name = space(), .name = fmt::format("budget-{}", number)};
  if (random_.chance(95)) budget.selector = shapes_.selector();
  budget.available_min = CountOrPercent{.value = 1};
  budget.disruptions_allowed = static_cast<std::int32_t>(random_.below(3));
  if (!pods_.empty() && random_.chance(20)) budget.disrupted_pods = {random_.pick(pods_).name};
  normalize(budget);
  return budget;
}

// ---- Pending pods -------------------------------------------------------------------------------

Pod Planning::make_ask(std::size_t number) {
  static const std::vector<std::int32_t> pool = {0, 100, 500, 1000, 1000, 1000, 5000};
  Pod pod{.namespace_name = number == 0 ? std::string(names::default_namespace) : space(),
          .name = number == 0 ? "ask" : fmt::format("ask-{}", number),
          .uid = fmt::format("uid-ask-{}", number),
          .labels = shapes_.labels(),
          .priority = random_.pick(pool),
          .requests = requests(true),
          .created = seconds_ago(random_.between(0, 200))};
  pod.shape = shapes_.of_ask(pod);
  if (on(options_.never_preempting, 20)) pod.preemption_policy = PreemptionPolicy::never;
  if (on(options_.nominations, 30)) nominate(pod);
  if (on(options_.own_marks, 5)) pod.notes.required_node = random_.pick(nodes_).name;
  return pod;
}

/// Two to five members that are alike; one may be more than its minimum.
void Planning::make_gang(std::size_t number, std::vector<Pod>& asks) {
  const Pod first = make_ask(asks.size() + 1);
  PodGroup group = make_group(fmt::format("gang-{}", number), first.namespace_name);
  const std::int64_t members = random_.between(2, 5);
  group.policy.gang = true;
  group.policy.minimum = static_cast<std::int32_t>(members - (random_.chance(30) ? 1 : 0));
  group.priority.priority = first.priority;
  for (std::int64_t i = 0; i < members; ++i) {
    Pod member = first;
    member.name = fmt::format("gang-{}-{}", number, i);
    member.uid = fmt::format("uid-{}", member.name);
    member.nominated_node.clear();
    member.group = group.name;
    asks.push_back(std::move(member));
  }
  groups_.push_back(std::move(group));
}

/// To a node where, as often as not, a preempted pod is still leaving.
void Planning::nominate(Pod& pod) {
  pod.nominated_node = random_.pick(nodes_).name;
  if (!options_.leaving || random_.chance(40)) return;
  for (Pod& other : pods_) {
    if (other.node != pod.nominated_node || !random_.chance(40)) continue;
    mark_leaving(other);
    other.disrupted_by_preemption = random_.chance(80);
  }
}

std::vector<Change> Planning::classes() const {
  if (!options_.own_marks) return {};
  return {PriorityClass{.name = "keep", .value = 1'000'000}};
}

std::vector<Change> Planning::make() {
  for (std::size_t i = 0; i < options_.nodes; ++i) nodes_.push_back(make_node(i));
  for (const Node& node : nodes_) fill(node);
  make_groups();
  std::vector<Change> objects = classes();
  std::vector<std::string> spaces;
  for (Namespace& each : shapes_.namespaces()) {
    spaces.push_back(each.name);
    objects.emplace_back(std::move(each));
  }
  if (options_.volumes) {
    std::vector<std::string> nodes;
    nodes.reserve(nodes_.size());
    for (const Node& node : nodes_) nodes.push_back(node.name);
    std::ranges::move(shapes_.volumes().objects(spaces, nodes), std::back_inserter(objects));
  }
  std::vector<Pod> asks;
  asks.reserve(options_.asks + 3);
  for (std::size_t i = 0; i < options_.asks; ++i) asks.push_back(make_ask(i));
  // Pods that hold room by a nomination, though they do not ask.
  if (options_.asks == 1 && options_.nominations) {
    for (std::size_t i = 1; i <= random_.below(3); ++i) {
      asks.push_back(make_ask(i));
      if (asks.back().nominated_node.empty()) nominate(asks.back());
      if (!options_.peer_quirks) asks.back().shape.anti_affinity.clear();
    }
  }
  if (options_.pending_members && !groups_.empty()) {
    const std::uint64_t members = 1 + random_.below(4);
    const Pod first = make_ask(asks.size());
    for (std::uint64_t i = 0; i < members; ++i) {
      // Most gangs are of one kind.
      Pod member = random_.chance(70) ? first : make_ask(asks.size());
      member.name = fmt::format("{}-{}", first.name, i);
      member.uid = fmt::format("uid-{}", member.name);
      member.nominated_node = random_.chance(80) ? std::string() : member.nominated_node;
      member.group = groups_.front().name;
      member.namespace_name = groups_.front().namespace_name;
      member.priority = random_.chance(90) ? groups_.front().priority.priority : member.priority;
      asks.push_back(std::move(member));
    }
  }
  for (std::size_t i = 0; i < options_.gangs; ++i) make_gang(i, asks);
  if (options_.budgets) {
    const std::uint64_t count = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) objects.emplace_back(make_budget(i));
  }
  for (Node& node : nodes_) objects.emplace_back(std::move(node));
  for (PodGroup& group : groups_) objects.emplace_back(std::move(group));
  for (std::vector<Pod>* const list : {&pods_, &asks}) {
    for (Pod& pod : *list) {
      normalize(pod);
      objects.emplace_back(std::move(pod));
    }
  }
  return objects;
}

}  // namespace

RandomPlanning random_planning_options(Prng& random) {
  const auto size = [&random](std::int64_t most) {
    return static_cast<std::size_t>(random.between(1, most));
  };
  RandomPlanning options{.nodes = size(8),
                         .asks = random.chance(40) ? 1 : size(5),
                         .namespaces = size(3),
                         .priorities = size(4)};
  if (random.chance(25)) return options;
  for (bool* const feature :
       {&options.taints,   &options.cordons,          &options.labels_missing,
        &options.memory,   &options.tight_pod_counts, &options.overcommitted,
        &options.gpus,     &options.node_affinity,    &options.ports,
        &options.affinity, &options.anti_affinity,    &options.spread,
        &options.groups,   &options.pending_members,  &options.budgets,
        &options.leaving,  &options.nominations,      &options.never_preempting,
        &options.critical, &options.equal_starts,     &options.missing_starts,
        &options.own_marks}) {
    *feature = random.chance(50);
  }
  options.volumes = random.chance(35);
  options.unsupported = random.chance(10);
  return options;
}

// What kube-scheduler answers in two ways, and what therefore proves nothing (`peer_quirks`):
//  - It keeps a node's ports as a set: when one of two pods with the same port leaves, it is free.
//  - Of a whole group it compares the priority of whichever member comes first.
//  - Anti-affinity of nominated pods counts only if a bound pod repels the ask as well, or the ask
//    has terms of its own: otherwise the filter is skipped.
//  - A spread constraint with an empty selector counts no pod, except those that leave or are
//    nominated.
//  - A pod that is leaving is not counted by spread constraints, but its removal is.
RandomPlanning random_peer_options(Prng& random) {
  RandomPlanning options = random_planning_options(random);
  options.asks = 1;
  options.priorities += 1;
  options.own_marks = false;
  options.unsupported = false;
  options.volumes = false;
  options.pending_members = false;
  options.peer_quirks = false;
  if (options.spread) options.leaving = false;
  // The order of equals is kube-scheduler's secret.
  options.equal_starts = false;
  options.missing_starts = false;
  return options;
}

std::vector<Change> random_planning(Prng& random, const RandomPlanning& options) {
  return Planning(random, options).make();
}

void let_groups_leave_whole(Prng& random, std::vector<Change>& objects) {
  for (Change& object : objects) {
    PodGroup* const group = std::get_if<PodGroup>(&object);
    if (group != nullptr) group->evict_below_minimum = random.chance(60);
  }
}

Cluster cluster_of(const std::vector<Change>& objects, bool bulk) {
  Cluster cluster;
  if (bulk) cluster.begin_bulk();
  for (const Change& object : objects) cluster.apply(object);
  if (bulk) cluster.finish_bulk();
  return cluster;
}

}  // namespace makeway

#include "support/random_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "model/group_name.hpp"
#include "model/names.hpp"
#include "model/normalize.hpp"
#include "model/resource.hpp"
#include "support/random_schedule.hpp"

namespace makeway {
namespace {

constexpr std::size_t queue_leaves = 3;
constexpr std::size_t queue_parents = 2;

}  // namespace

// ---- Names ------------------------------------------------------------------------------------

std::string RandomObjects::numbered(const char* stem, std::size_t pool) {
  return fmt::format("{}-{}", stem, prng_.below(std::max<std::size_t>(pool, 1)));
}

std::string RandomObjects::namespace_name() { return numbered("space", options_.namespaces); }
std::string RandomObjects::node_name() { return numbered("node", options_.nodes); }
std::string RandomObjects::pod_name() { return numbered("pod", options_.pods); }
std::string RandomObjects::group_name() { return numbered("group", options_.groups); }
std::string RandomObjects::workload_name() { return numbered("workload", options_.workloads); }
std::string RandomObjects::budget_name() { return numbered("budget", options_.budgets); }
std::string RandomObjects::resource_group_name() { return numbered("servers", 2); }
std::string RandomObjects::queue_name() { return numbered("queue", queue_leaves); }
std::string RandomObjects::queue_object_name() {
  return prng_.chance(70) ? queue_name() : numbered("team", queue_parents);
}
std::string RandomObjects::template_name() { return numbered("template", 2); }

std::string RandomObjects::class_name() {
  if (prng_.chance(8)) {
    return std::string(prng_.chance(50) ? names::node_critical : names::cluster_critical);
  }
  return numbered("class", options_.priority_classes);
}

std::string RandomObjects::any_group() {
  const bool may_name_template = options_.features.template_groups &&
                                 (options_.features.workloads || options_.features.dangling);
  if (!may_name_template || prng_.chance(60)) return group_name();
  // One statement each: the order in which arguments are drawn would depend on the compiler.
  const std::string workload = workload_name();
  const std::string part = template_name();
  const std::string replica = prng_.chance(50) ? numbered("replica", 2) : "";
  return makeway::group_name(workload, part, replica);
}

std::string RandomObjects::topology_key() {
  static const std::vector<std::string> keys = {"zone", "rack", "disk", "arch",
                                                std::string(names::hostname)};
  return prng_.pick(keys);
}

// ---- Parts ------------------------------------------------------------------------------------

Labels RandomObjects::labels() {
  Labels labels;
  if (!options_.features.labels) return labels;
  for (const char* const key : {"app", "zone", "rack", "disk", "arch"}) {
    if (prng_.chance(35)) labels.push_back({.key = key, .value = numbered("value", 2)});
  }
  normalize(labels);
  return labels;
}

std::int64_t RandomObjects::amount() {
  if (on(options_.features.huge_amounts, 15)) {
    return (std::int64_t{1} << 60) + prng_.between(-2, 2);
  }
  return prng_.chance(50) ? prng_.between(1, 4) * 250 : prng_.between(1, 1'000'000);
}

Amounts RandomObjects::amounts(bool of_node) {
  Amounts amounts;
  for (const std::string_view name : {cpu_name, memory_name, storage_name}) {
    if (prng_.chance(70)) amounts.push_back({.resource = std::string(name), .amount = amount()});
  }
  if (of_node) amounts.push_back({.resource = std::string(pods_name), .amount = 110});
  const std::size_t known = progress_ * 6 / 100;
  if (known > 0 && on(options_.features.extended_resources, 40)) {
    amounts.push_back({.resource = numbered("example.com/device", known), .amount = amount()});
  }
  normalize(amounts);
  return amounts;
}

/// Nothing below the floor; zero stays.
Quotas RandomObjects::quotas(const Amounts& floor) {
  Quotas quotas;
  for (const std::string_view name : {cpu_name, storage_name, memory_name}) {
    if (prng_.chance(50)) continue;
    const auto found = std::ranges::find(floor, name, &Amount::resource);
    const std::int64_t least = found == floor.end() ? 0 : found->amount;
    quotas.push_back({.resource = std::string(name),
                      .amount = prng_.chance(30) ? least : std::max(least, amount())});
  }
  return quotas;
}

std::vector<Taint> RandomObjects::taints() {
  std::vector<Taint> taints;
  while (on(options_.features.taints, 30)) {
    taints.push_back({.key = numbered("taint", 2),
                      .value = prng_.chance(50) ? "" : "yes",
                      .effect = static_cast<TaintEffect>(prng_.below(3))});
  }
  return taints;
}

Requirement RandomObjects::requirement(std::uint64_t operators) {
  Requirement requirement{.key = topology_key(),
                          .operation = static_cast<Operator>(prng_.below(operators))};
  if (requirement.operation == Operator::greater_than ||
      requirement.operation == Operator::less_than) {
    requirement.values = {fmt::format("{}", prng_.below(10))};
  } else if (requirement.operation == Operator::in || requirement.operation == Operator::not_in) {
    requirement.values.push_back(numbered("value", 2));
    if (prng_.chance(30)) requirement.values.push_back(numbered("value", 2));
  }
  return requirement;
}

LabelSelector RandomObjects::selector() {
  LabelSelector selector;
  while (prng_.chance(50)) selector.requirements.push_back(requirement(pod_operators));
  return selector;
}

PodShape RandomObjects::shape() {
  PodShape shape;
  if (on(options_.features.node_selectors, 10)) {
    shape.node_selector.push_back({.key = topology_key(), .value = numbered("value", 2)});
  }
  while (on(options_.features.node_selectors, 10)) {
    NodeSelectorTerm term{.labels = {requirement(node_operators)}, .fields = {}};
    if (prng_.chance(30)) {
      term.fields.push_back(
          {.key = "metadata.name", .operation = Operator::in, .values = {node_name()}});
    }
    shape.node_terms.push_back(std::move(term));
  }
  if (on(options_.features.taints, 20)) {
    shape.tolerations.push_back({.key = numbered("taint", 2), .exists = prng_.chance(50)});
  }
  if (prng_.chance(5)) shape.ports.push_back({.port = 8080, .protocol = Protocol::udp});
  if (prng_.chance(5)) {
    shape.affinity.push_back(
        {.selector = selector(), .namespaces = {namespace_name()}, .topology_key = topology_key()});
  }
  if (prng_.chance(5)) shape.anti_affinity.push_back({.topology_key = topology_key()});
  if (prng_.chance(5)) {
    shape.spread.push_back({.topology_key = topology_key(), .selector = selector()});
  }
  if (on(options_.features.volumes, 15)) shape.claims = random_volumes().uses();
  if (prng_.chance(5)) shape.unsupported.emplace_back("schedulingGate quota");
  shape.preferences = random_preferences(prng_);
  return shape;
}

/// By a generator of its own: what is drawn afterwards stays as it was before there were
/// preferences.
PodPreferences RandomObjects::random_preferences(Prng prng) {
  PodPreferences preferences;
  if (!prng.chance(10)) return preferences;
  const auto weight = [&] { return static_cast<std::int32_t>(prng.between(1, 100)); };
  const LabelSelector some{.requirements = {{.key = "app", .operation = Operator::exists}}};
  preferences.nodes.push_back(
      {.weight = weight(),
       .term = {.labels = {{.key = "zone", .operation = Operator::exists}}, .fields = {}}});
  if (prng.chance(50)) {
    preferences.pods.push_back(
        {.weight = prng.chance(50) ? weight() : -weight(),
         .term = {.selector = some, .namespaces = {"a"}, .topology_key = "zone"}});
  }
  if (prng.chance(50)) preferences.spread.push_back({.topology_key = "zone", .selector = some});
  return preferences;
}

RandomVolumes RandomObjects::random_volumes() { return {prng_, "zone", "value"}; }

Change RandomObjects::volume_object(const std::string& namespace_name) {
  return random_volumes().any(namespace_name, node_name());
}

std::vector<LossShare> random_loss_units(Prng prng) {
  static const std::vector<std::string> units = {"JobSet train", "group 0 of LeaderWorkerSet llm"};
  static const std::vector<std::string> parts = {"", "Job a", "Job a", "Job b"};
  constexpr int draws_apart = 16;  // What comes next elsewhere does not go with it.
  for (int draw = 0; draw < draws_apart; ++draw) prng.below(2);
  std::vector<LossShare> shares;
  if (!prng.chance(25)) return shares;
  for (const std::string& unit : units) {
    if (prng.chance(30)) continue;
    shares.push_back({.unit = unit, .part = prng.pick(parts), .allowed = prng.chance(70) ? 0 : 1});
  }
  return shares;
}

PodNotes RandomObjects::notes() {
  PodNotes notes;
  if (on(options_.features.priority_classes, 15)) notes.preemption_priority_class = class_name();
  if (on(options_.features.queues, 15)) notes.queue = queue_name();
  if (!on(options_.features.notes, 15)) return notes;
  notes.required_node = node_name();
  notes.evicted_for = "Pod space-0/pod-0";
  notes.plan = numbered("plan", 3);
  if (prng_.chance(50)) notes.last_checkpoint = time();
  if (prng_.chance(50)) notes.preemption_cost_seconds = prng_.between(0, 1000);
  if (prng_.chance(30)) notes.reserved_since = time();
  if (notes.reserved_since) notes.promised = prng_.chance(30);
  notes.loss_units = random_loss_units(prng_);
  if (prng_.chance(30)) notes.marks = {{.key = "makeway.dev/tier", .value = "cache"}};
  return notes;
}

std::int32_t RandomObjects::priority() {
  static const std::vector<std::int32_t> priorities = {-10,
                                                       0,
                                                       0,
                                                       5,
                                                       5,
                                                       5,
                                                       100,
                                                       std::numeric_limits<std::int32_t>::min(),
                                                       std::numeric_limits<std::int32_t>::max()};
  return prng_.pick(priorities);
}

Time RandomObjects::time() { return {prng_.between(-1, 3) * 1000}; }

PreemptionPolicy RandomObjects::preemption_policy() {
  if (!on(options_.features.never_preempting, 30)) return PreemptionPolicy::unset;
  return prng_.chance(50) ? PreemptionPolicy::never : PreemptionPolicy::preempt_lower_priority;
}

GroupPolicy RandomObjects::policy() {
  GroupPolicy policy{.gang = prng_.chance(50),
                     .mode = prng_.chance(50) ? DisruptionMode::all : DisruptionMode::single};
  if (policy.gang) policy.minimum = static_cast<std::int32_t>(prng_.between(1, 5));
  if (prng_.chance(20)) policy.topology_keys.emplace_back("zone");
  return policy;
}

PriorityClaim RandomObjects::claim() {
  PriorityClaim claim{.preemption_policy = preemption_policy()};
  if (!options_.features.priority_classes) return claim;
  if (prng_.chance(35)) claim.priority_class = class_name();
  if (prng_.chance(15)) claim.priority = priority();
  if (prng_.chance(20)) claim.preemption_priority_class = class_name();
  return claim;
}

// ---- Objects ----------------------------------------------------------------------------------

void RandomObjects::place(Pod& pod) {
  pod.node.clear();
  pod.nominated_node.clear();
  if (prng_.chance(75)) {
    pod.node = node_name();
  } else if (on(options_.features.nominations, 50)) {
    pod.nominated_node = node_name();
  }
}

void RandomObjects::prioritize(Pod& pod) {
  pod.priority_class.clear();
  pod.priority.reset();
  pod.preemption_policy = preemption_policy();
  if (on(options_.features.priority_classes, 50)) pod.priority_class = class_name();
  if (prng_.chance(40)) pod.priority = priority();
}

Pod RandomObjects::pod(const std::string& namespace_name, const std::string& name) {
  Pod pod{.namespace_name = namespace_name, .name = name};
  if (prng_.chance(70)) pod.uid = fmt::format("uid-{}", prng_.below(1'000'000));
  pod.labels = labels();
  for (const std::string_view key : {names::queue, names::kueue_queue, names::yunikorn_queue}) {
    if (!on(options_.features.queues, 10)) continue;
    pod.labels.push_back({.key = std::string(key), .value = queue_name()});
  }
  place(pod);
  prioritize(pod);
  if (on(options_.features.groups, 40)) pod.group = any_group();
  if (prng_.chance(20)) pod.scheduler = prng_.chance(50) ? "default-scheduler" : "other";
  pod.requests = amounts(false);
  pod.shape = shape();
  pod.notes = notes();
  if (prng_.chance(20)) pod.owners = {{.kind = "Job", .name = "job", .controller = true}};
  if (prng_.chance(80)) pod.created = time();
  if (!on(options_.features.missing_start_times, 20)) pod.started = time();
  if (on(options_.features.leaving, 20)) pod.deletion = time();
  pod.deletion_grace_seconds = prng_.chance(20) ? 30 : 0;
  pod.ready = prng_.chance(50);
  pod.mirror = prng_.chance(5);
  pod.opted_out = prng_.chance(5);
  pod.is_protected = prng_.chance(5);
  pod.is_owner = prng_.chance(5);
  pod.disrupted_by_preemption = prng_.chance(5);
  if (prng_.chance(5)) pod.kept = KeptBy::other_scheduler;
  if (pod.ready) pod.observed = pod.created;
  normalize(pod);
  return pod;
}

Pod RandomObjects::raw_pod() {
  const std::string space = namespace_name();
  Pod pod = RandomObjects::pod(space, pod_name());
  const auto disorder = [this](auto& items) {
    if (!items.empty() && prng_.chance(50)) items.push_back(items.front());
    prng_.shuffle(items);
  };
  pod.requests.push_back({.resource = std::string(cpu_name), .amount = 0});
  disorder(pod.labels);
  disorder(pod.requests);
  disorder(pod.owners);
  disorder(pod.shape.node_terms);
  disorder(pod.shape.tolerations);
  for (NodeSelectorTerm& term : pod.shape.node_terms) disorder(term.labels);
  for (SpreadConstraint& constraint : pod.shape.spread) {
    if (constraint.selector) disorder(constraint.selector->requirements);
  }
  if (pod.scheduler.empty()) pod.scheduler = names::default_scheduler;
  if (!pod.node.empty()) pod.nominated_node = node_name();
  return pod;
}

Pod RandomObjects::changed(Pod pod) {
  const RandomFeatures& features = options_.features;
  switch (prng_.below(8)) {
    case 0: place(pod); break;
    case 1: pod.group = on(features.groups, 60) ? any_group() : ""; break;
    case 2: prioritize(pod); break;
    case 3: pod.requests = amounts(false); break;
    case 4:
      pod.started.reset();
      if (!on(features.missing_start_times, 20)) pod.started = time();
      break;
    case 5:
      if (features.leaving) pod.deletion = pod.deletion ? std::nullopt : std::optional(time());
      break;
    case 6: pod.shape = shape(); break;
    default: pod.notes = notes(); break;
  }
  normalize(pod);
  return pod;
}

Node RandomObjects::node(const std::string& name) {
  Node node{.name = name,
            .uid = prng_.chance(50) ? fmt::format("uid-{}", prng_.below(1000)) : "",
            .labels = labels(),
            .taints = taints(),
            .unschedulable = prng_.chance(10),
            .allocatable = amounts(true)};
  if (prng_.chance(70)) node.labels.push_back({.key = std::string(names::hostname), .value = name});
  if (prng_.chance(50)) node.created = time();
  if (!node.unschedulable) node.observed = node.created;
  if (on(options_.features.claims, 30)) {
    node.labels.push_back({.key = std::string(names::plane), .value = "east"});
  }
  normalize(node);
  return node;
}

PriorityClass RandomObjects::priority_class(const std::string& name) {
  return {.name = name,
          .value = priority(),
          .global_default = prng_.chance(30),
          .preemption_policy = preemption_policy()};
}

DisruptionBudget RandomObjects::budget(const std::string& namespace_name, const std::string& name) {
  DisruptionBudget budget{.namespace_name = namespace_name, .name = name};
  if (prng_.chance(80)) budget.selector = selector();
  if (prng_.chance(50)) budget.available_min = {.value = 1, .percent = prng_.chance(50)};
  if (prng_.chance(50)) budget.disruptions_allowed = static_cast<std::int32_t>(prng_.below(4));
  if (prng_.chance(30)) budget.disrupted_pods = {pod_name(), pod_name()};
  normalize(budget);
  return budget;
}

PodGroup RandomObjects::group(const std::string& namespace_name, const std::string& name) {
  PodGroup group{.namespace_name = namespace_name,
                 .name = name,
                 .policy = policy(),
                 .priority = claim(),
                 .opted_out = prng_.chance(10)};
  if (on(options_.features.workloads, 60)) {
    group.workload = workload_name();
    if (prng_.chance(70)) group.template_name = template_name();
  }
  if (on(options_.features.queues, 30)) group.queue = queue_name();
  if (prng_.chance(50)) group.created = time();
  if (group.policy.gang) group.observed = group.created;
  return group;
}

Workload RandomObjects::workload(const std::string& namespace_name, const std::string& name) {
  Workload workload{.namespace_name = namespace_name, .name = name, .priority = claim()};
  for (const char* const part : {"template-1", "template-0"}) {
    if (!options_.features.dangling || prng_.chance(70)) {
      workload.templates.push_back({.name = part, .policy = policy(), .priority = claim()});
    }
  }
  if (prng_.chance(20)) workload.last_checkpoint = time();
  if (prng_.chance(20))
    workload.preemption_cost_seconds = static_cast<std::int64_t>(prng_.below(99));
  normalize(workload);
  return workload;
}

Namespace RandomObjects::namespace_object(const std::string& name) {
  return {.name = name, .labels = labels()};
}

ResourceGroup RandomObjects::resource_group(const std::string& name) {
  ResourceGroup group{.name = name};
  for (std::uint64_t count = prng_.below(4); count > 0; --count) group.nodes.push_back(node_name());
  if (prng_.chance(20)) group.node_selector = labels();
  normalize(group);
  return group;
}

Queue RandomObjects::queue(const std::string& name) {
  Queue queue{.name = name, .weight = prng_.between(1, 5)};
  if (name != "team-0" && prng_.chance(60)) {
    queue.parent = name == "team-1" ? "team-0" : numbered("team", queue_parents);
  }
  if (prng_.chance(30)) queue.uid = fmt::format("uid-{}", prng_.below(1000));
  if (prng_.chance(30)) queue.priority = priority();
  queue.reclaimable = prng_.chance(80);
  if (prng_.chance(40)) queue.guarantee = amounts(false);
  if (prng_.chance(40)) queue.limit = quotas(queue.guarantee);
  if (prng_.chance(60)) queue.allocated = quotas({});
  if (prng_.chance(30)) queue.preempting = amounts(false);
  return queue;
}

Removal RandomObjects::removal() {
  const RandomFeatures& features = options_.features;
  const std::uint64_t drawn = prng_.below(100);
  // Without dangling references only what is not referred to may go.
  if (!features.dangling || drawn < 60) {
    return {.kind = ObjectKind::pod, .namespace_name = namespace_name(), .name = pod_name()};
  }
  if (drawn < 75) return {.kind = ObjectKind::node, .name = node_name()};
  if (drawn < 80) return {.kind = ObjectKind::priority_class, .name = class_name()};
  if (drawn < 88) {
    return {
        .kind = ObjectKind::pod_group, .namespace_name = namespace_name(), .name = group_name()};
  }
  if (drawn < 94) {
    return {
        .kind = ObjectKind::workload, .namespace_name = namespace_name(), .name = workload_name()};
  }
  if (drawn < 96) {
    return {.kind = ObjectKind::disruption_budget,
            .namespace_name = namespace_name(),
            .name = budget_name()};
  }
  if (drawn < 97) return {.kind = ObjectKind::queue, .name = queue_object_name()};
  if (drawn < 98) {
    return {.kind = ObjectKind::persistent_volume_claim,
            .namespace_name = namespace_name(),
            .name = random_volumes().claim_name()};
  }
  if (on(features.claims, 50)) {
    return {.kind = ObjectKind::resource_group, .name = resource_group_name()};
  }
  if (prng_.chance(50)) return {.kind = ObjectKind::namespace_object, .name = namespace_name()};
  return {.kind = ObjectKind::replica_schedule,
          .namespace_name = namespace_name(),
          .name = numbered("schedule", 3)};
}

// ---- Sequences --------------------------------------------------------------------------------

RandomClusterOptions random_options(Prng& prng) {
  const auto size = [&prng](std::int64_t most) {
    return static_cast<std::size_t>(prng.between(1, most));
  };
  const auto coin = [&prng] { return prng.chance(75); };
  RandomClusterOptions options{.namespaces = size(3),
                               .nodes = size(8),
                               .pods = size(12),
                               .groups = size(4),
                               .workloads = size(3),
                               .priority_classes = size(5),
                               .budgets = size(3),
                               .changes = size(60),
                               .features = {}};
  if (prng.chance(2)) {
    options.pods = 60;
    options.changes = 400;
  }
  RandomFeatures& features = options.features;
  for (bool* const feature : {&features.removals,
                              &features.partial_updates,
                              &features.dangling,
                              &features.groups,
                              &features.template_groups,
                              &features.workloads,
                              &features.priority_classes,
                              &features.never_preempting,
                              &features.labels,
                              &features.queues,
                              &features.node_selectors,
                              &features.taints,
                              &features.extended_resources,
                              &features.huge_amounts,
                              &features.missing_start_times,
                              &features.leaving,
                              &features.nominations,
                              &features.notes,
                              &features.budgets,
                              &features.queue_objects,
                              &features.volumes}) {
    *feature = coin();
  }
  return options;
}

namespace {

std::string numbered_name(const char* stem, std::size_t number) {
  return fmt::format("{}-{}", stem, number);
}

/// Everything that other objects refer to.
std::vector<Change> referred_objects(RandomObjects& random, const RandomClusterOptions& options) {
  const RandomFeatures& features = options.features;
  std::vector<Change> changes;
  for (std::size_t i = 0; features.priority_classes && i < options.priority_classes; ++i) {
    changes.emplace_back(random.priority_class(numbered_name("class", i)));
  }
  for (std::size_t i = 0; i < options.nodes; ++i) {
    changes.emplace_back(random.node(numbered_name("node", i)));
  }
  if (features.queues && features.queue_objects) {
    for (std::size_t i = 0; i < queue_parents; ++i) {
      changes.emplace_back(random.queue(numbered_name("team", i)));
    }
    for (std::size_t i = 0; i < queue_leaves; ++i) {
      changes.emplace_back(random.queue(numbered_name("queue", i)));
    }
  }
  for (std::size_t space = 0; space < options.namespaces; ++space) {
    const std::string name = numbered_name("space", space);
    changes.emplace_back(random.namespace_object(name));
    for (std::size_t i = 0; features.workloads && i < options.workloads; ++i) {
      changes.emplace_back(random.workload(name, numbered_name("workload", i)));
    }
    for (std::size_t i = 0; features.groups && i < options.groups; ++i) {
      changes.emplace_back(random.group(name, numbered_name("group", i)));
    }
  }
  return changes;
}

Change random_upsert(Prng& prng, RandomObjects& random, const RandomFeatures& features) {
  const std::uint64_t drawn = prng.below(100);
  const std::string space = random.namespace_name();
  if (drawn < 14) return random.node(random.node_name());
  if (drawn < 18 && features.priority_classes) return random.priority_class(random.class_name());
  if (drawn < 26 && features.groups) return random.group(space, random.group_name());
  if (drawn < 31 && features.workloads) return random.workload(space, random.workload_name());
  if (drawn < 34 && features.budgets) return random.budget(space, random.budget_name());
  if (drawn < 36) return random.namespace_object(space);
  if (drawn < 38) return random_schedule(prng, space, numbered_name("schedule", prng.below(3)));
  if (drawn < 40 && features.queues && features.queue_objects) {
    return random.queue(random.queue_object_name());
  }
  if (drawn < 45 && features.volumes && prng.chance(50)) return random.volume_object(space);
  if (drawn < 45 && features.claims) return random.resource_group(random.resource_group_name());
  return random.pod(space, random.pod_name());
}

}  // namespace

std::vector<Change> random_objects(Prng& prng, const RandomClusterOptions& options) {
  RandomObjects random(prng, options);
  std::vector<Change> changes = referred_objects(random, options);
  for (std::size_t space = 0; space < options.namespaces; ++space) {
    const std::string name = numbered_name("space", space);
    for (std::size_t i = 0; options.features.budgets && i < options.budgets; ++i) {
      changes.emplace_back(random.budget(name, numbered_name("budget", i)));
    }
    for (std::size_t i = 0; i < options.pods; ++i) {
      changes.emplace_back(random.pod(name, numbered_name("pod", i)));
    }
    changes.emplace_back(random_schedule(prng, name, "schedule-0"));
  }
  return changes;
}

std::vector<Change> random_changes(Prng& prng, const RandomClusterOptions& options) {
  RandomObjects random(prng, options);
  std::vector<Change> changes;
  if (!options.features.dangling) changes = referred_objects(random, options);
  std::vector<Pod> seen;  // Also removed ones: a late update of a removed pod brings it back.
  for (std::size_t i = 0; i < options.changes; ++i) {
    random.set_progress(i * 100 / options.changes);
    const std::uint64_t drawn = prng.below(100);
    if (drawn < 20 && options.features.removals) {
      changes.emplace_back(random.removal());
    } else if (drawn < 50 && options.features.partial_updates && !seen.empty()) {
      Pod& pod = seen[prng.below(seen.size())];
      pod = random.changed(pod);
      changes.emplace_back(pod);
    } else {
      changes.push_back(random_upsert(prng, random, options.features));
      if (const Pod* const pod = std::get_if<Pod>(&changes.back())) seen.push_back(*pod);
    }
  }
  return changes;
}

}  // namespace makeway

#include "model/validation_queues.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"

namespace makeway {
namespace {

constexpr std::string_view default_name = "default";
constexpr std::size_t no_place = static_cast<std::size_t>(-1);

std::string queue_text(std::string_view name) { return object_text(Queue::kind_name, {}, name); }

std::optional<std::int64_t> quota_in(const Quotas& quotas, std::string_view resource) {
  const auto found = std::ranges::find(quotas, resource, &Amount::resource);
  return found == quotas.end() ? std::nullopt : std::optional(found->amount);
}

/// The queues by name, with the places of their parents.
class QueueTree {
 public:
  explicit QueueTree(const Cluster& cluster) {
    for (const auto& [key, queue] : cluster.own<Queue>()) queues_.push_back(&queue);
    for (const Queue* const queue : queues_) {
      parents_.push_back(queue->parent.empty() ? no_place : place_of(queue->parent));
    }
    has_children_.resize(queues_.size());
    for (const std::size_t parent : parents_) {
      if (parent != no_place) has_children_[parent] = true;
    }
  }

  std::size_t size() const { return queues_.size(); }
  const Queue& queue(std::size_t place) const { return *queues_[place]; }
  /// None: there is no parent, or none that is here.
  std::size_t parent(std::size_t place) const { return parents_[place]; }
  bool has_children(std::size_t place) const { return has_children_[place]; }
  std::size_t place_of(std::string_view name) const {
    const auto found = std::ranges::lower_bound(queues_, name, {}, &Queue::name);
    if (found == queues_.end() || (*found)->name != name) return no_place;
    return static_cast<std::size_t>(found - queues_.begin());
  }

  /// Which queues are their own ancestors.
  std::vector<bool> circular() const {
    std::vector<bool> result(size());
    std::vector<std::size_t> walk_of(size(), no_place);
    for (std::size_t start = 0; start < size(); ++start) {
      std::size_t at = start;
      while (at != no_place && walk_of[at] == no_place) {
        walk_of[at] = start;
        at = parents_[at];
      }
      if (at == no_place || walk_of[at] != start) continue;
      for (std::size_t around = at; !result[around]; around = parents_[around]) {
        result[around] = true;
      }
    }
    return result;
  }

  /// Children before their parents; only where no queue is its own ancestor.
  std::vector<std::size_t> children_first() const {
    std::vector<std::size_t> waiting_for(size());
    for (const std::size_t parent : parents_) {
      if (parent != no_place) ++waiting_for[parent];
    }
    std::vector<std::size_t> order;
    order.reserve(size());
    for (std::size_t place = 0; place < size(); ++place) {
      if (!has_children_[place]) order.push_back(place);
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
      const std::size_t up = parents_[order[next]];
      if (up != no_place && --waiting_for[up] == 0) order.push_back(up);
    }
    return order;
  }

 private:
  std::vector<const Queue*> queues_;
  std::vector<std::size_t> parents_;
  std::vector<bool> has_children_;
};

// ---- Queues -----------------------------------------------------------------------------------

void check_parent(Findings& findings, const QueueTree& tree, std::size_t place, bool circular) {
  const Queue& queue = tree.queue(place);
  if (queue.parent.empty()) return;
  Problem problem{
      .object = queue_text(queue.name), .field = "spec.parent", .value = shorten(queue.parent)};
  if (queue.parent == default_name) {
    problem.message = "pods that name no queue belong to this one, so it has no children";
    problem.remedy = "give the children a parent of their own";
  } else if (tree.parent(place) == no_place) {
    problem.message = "no Queue of this name is in the input";
    problem.remedy = "add it (kubectl get queues.makeway.dev -o yaml) or correct the name";
  } else if (circular) {
    problem.message = "the queue is its own ancestor";
    problem.remedy = "parents form a tree: leave spec.parent out in the queue at its top";
  } else {
    return;
  }
  findings.error(std::move(problem));
}

void check_limit(Findings& findings, const Queue& queue) {
  for (const Amount& floor : queue.guarantee) {
    const std::optional<std::int64_t> cap = quota_in(queue.limit, floor.resource);
    if (!cap || *cap >= floor.amount) continue;
    findings.error({.object = queue_text(queue.name),
                    .field = fmt::format("spec.limit[{}]", floor.resource),
                    .value = human_amount(floor.resource, *cap),
                    .message = fmt::format("it is below the guarantee of {}",
                                           human_amount(floor.resource, floor.amount)),
                    .remedy = "raise the limit or lower the guarantee"});
  }
}

// ---- Who names them ---------------------------------------------------------------------------

/// Whether pods may belong to the queue of a name.
class QueueNames {
 public:
  QueueNames(const Cluster& cluster, const QueueTree& tree) : cluster_(cluster), tree_(tree) {}

  /// What is wrong with it; empty: nothing.
  const std::string& fault(StringId name) {
    const auto [at, is_new] = faults_.try_emplace(name);
    if (is_new) at->second = fault_of(cluster_.text(name));
    return at->second;
  }

 private:
  std::string fault_of(std::string_view name) const {
    if (name.empty()) return {};
    const std::size_t place = tree_.place_of(name);
    if (place == no_place) {
      return name == default_name ? "" : "no Queue of this name is in the input";
    }
    // That the default queue has children is the fault of those who call it their parent.
    if (!tree_.has_children(place) || name == default_name) return {};
    return "this queue has children, and pods belong to leaves";
  }

  const Cluster& cluster_;
  const QueueTree& tree_;
  std::map<StringId, std::string> faults_;
};

/// Where the pod says it.
std::string queue_field(const Cluster& cluster, PodIndex pod) {
  const std::span<const LabelPair> labels = cluster.labels(cluster.pods().labels[pod]);
  for (const std::string_view key : {names::queue, names::kueue_queue, names::yunikorn_queue}) {
    const auto has_key = [&](const LabelPair& pair) { return cluster.text(pair.key) == key; };
    if (std::ranges::any_of(labels, has_key)) return fmt::format("metadata.labels[{}]", key);
  }
  return annotation_field(names::queue);
}

Problem misnamed(const Cluster& cluster, StringId queue, const std::string& fault) {
  return {.value = shorten(cluster.text(queue)),
          .message = fault,
          .remedy = "name a queue without children that is in the input"};
}

std::string group_text(const Cluster& cluster, const Group& group) {
  return object_text("PodGroup", cluster.text(group.namespace_name), cluster.text(group.name));
}

/// Groups that say it themselves. What their pods say counts only where the group says nothing.
void check_groups_named(Findings& findings, QueueNames& queues) {
  const Cluster& cluster = findings.cluster();
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    if (!group.object || group.object->queue.empty()) continue;
    const StringId queue = cluster.units()[group.unit].queue;
    const std::string& fault = queues.fault(queue);
    if (fault.empty()) continue;
    Problem problem = misnamed(cluster, queue, fault);
    problem.object = group_text(cluster, group);
    problem.field = "queue";
    findings.error(std::move(problem));
  }
}

void check_pods_named(Findings& findings, QueueNames& queues) {
  const Cluster& cluster = findings.cluster();
  const PodColumns& pods = cluster.pods();
  std::vector<PodIndex> wrong;
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || pods.flags[pod].kernel || queues.fault(pods.queue[pod]).empty())
      continue;
    const Unit& unit = cluster.units()[pods.unit[pod]];
    const Group* const group =
        unit.kind == UnitKind::group ? &cluster.groups()[unit.group] : nullptr;
    if (group != nullptr && group->object && !group->object->queue.empty()) continue;
    wrong.push_back(pod);
  }
  std::ranges::sort(wrong, {}, [&](PodIndex pod) { return cluster.pod_key(pod); });
  for (const PodIndex pod : wrong) {
    Problem problem = misnamed(cluster, pods.queue[pod], queues.fault(pods.queue[pod]));
    problem.object = "Pod " + cluster.pod_key(pod);
    problem.field = queue_field(cluster, pod);
    findings.error(std::move(problem));
  }
}

}  // namespace

void check_queues(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  if (cluster.own<Queue>().empty()) return;
  const QueueTree tree(cluster);
  const std::vector<bool> circular = tree.circular();
  for (std::size_t place = 0; place < tree.size(); ++place) {
    check_parent(findings, tree, place, circular[place]);
    check_limit(findings, tree.queue(place));
  }
  QueueNames queues(cluster, tree);
  check_groups_named(findings, queues);
  check_pods_named(findings, queues);
}

void check_default_queue(Findings& findings, const QueueSettings& settings) {
  const Cluster& cluster = findings.cluster();
  if (!settings.enabled || settings.default_queue == default_name) return;
  if (cluster.own<Queue>().empty()) return;
  const QueueTree tree(cluster);
  const std::size_t place = tree.place_of(settings.default_queue);
  if (place != no_place && tree.has_children(place)) {
    findings.error({.object = "Configuration",
                    .field = "queue.defaultQueue",
                    .value = shorten(settings.default_queue),
                    .message = "this queue has children, and pods belong to leaves",
                    .remedy = "name a queue without children"});
  }
  if (tree.place_of(default_name) != no_place) return;
  const std::optional<StringId> name = cluster.strings().find(default_name);
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.pods_by_name()) {
    if (!name || cluster.units()[pods.unit[pod]].queue != *name) continue;
    Problem problem = misnamed(cluster, *name, "no Queue of this name is in the input");
    problem.object = "Pod " + cluster.pod_key(pod);
    problem.field = queue_field(cluster, pod);
    findings.error(std::move(problem));
  }
}

// ---- Lint -------------------------------------------------------------------------------------

namespace {

using Totals = std::map<std::string, std::int64_t, std::less<>>;

Totals cluster_totals(const Cluster& cluster) {
  Totals totals;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
      std::int64_t& sum = totals[std::string(cluster.resources().name(item.resource))];
      sum = saturated_add(sum, item.amount);
    }
  }
  return totals;
}

/// What the children of each queue are promised together; the last entry is the cluster's.
std::vector<Totals> promised_below(const QueueTree& tree) {
  std::vector<Totals> promised(tree.size() + 1);
  for (const std::size_t place : tree.children_first()) {
    const Queue& queue = tree.queue(place);
    const std::size_t up = tree.parent(place) == no_place ? tree.size() : tree.parent(place);
    Totals floors = promised[place];
    for (const Amount& floor : queue.guarantee) {
      floors[floor.resource] = std::max(floors[floor.resource], floor.amount);
    }
    for (const auto& [resource, floor] : floors) {
      const std::int64_t cap = quota_in(queue.limit, resource).value_or(floor);
      promised[up][resource] = saturated_add(promised[up][resource], std::min(floor, cap));
    }
  }
  return promised;
}

void lint_guarantees(Findings& findings, const QueueTree& tree) {
  const Cluster& cluster = findings.cluster();
  const std::vector<Totals> promised = promised_below(tree);
  const Totals totals = cluster_totals(cluster);
  for (const auto& [resource, sum] : promised.back()) {
    const auto found = totals.find(resource);
    const std::int64_t total = found == totals.end() ? 0 : found->second;
    if (cluster.node_count() == 0 || sum <= total) continue;
    findings.warning({.object = "Queue",
                      .field = fmt::format("spec.guarantee[{}]", resource),
                      .value = human_amount(resource, sum),
                      .message = fmt::format("together the queues are guaranteed more than the "
                                             "cluster has, {}; they share that in proportion",
                                             human_amount(resource, total)),
                      .remedy = "lower the guarantees"});
  }
  for (std::size_t place = 0; place < tree.size(); ++place) {
    const Queue& queue = tree.queue(place);
    for (const auto& [resource, sum] : promised[place]) {
      const std::optional<std::int64_t> cap = quota_in(queue.limit, resource);
      if (!cap || sum <= *cap) continue;
      findings.warning({.object = queue_text(queue.name),
                        .field = fmt::format("spec.limit[{}]", resource),
                        .value = human_amount(resource, *cap),
                        .message = fmt::format("its children are guaranteed more, {}; they share "
                                               "the limit in proportion",
                                               human_amount(resource, sum)),
                        .remedy = "raise the limit or lower the guarantees"});
    }
  }
}

/// The queue, itself or above the one at `place`, that lets nothing of the resource run.
const Queue* forbidding(const QueueTree& tree, std::size_t place, std::string_view resource) {
  for (; place != no_place; place = tree.parent(place)) {
    if (quota_in(tree.queue(place).limit, resource) == 0) return &tree.queue(place);
  }
  return nullptr;
}

/// What the pods of each queue ask for, and how many there are.
struct QueuePods {
  std::size_t count = 0;
  std::map<ResourceIndex, std::size_t> asking;
};

std::vector<QueuePods> pods_of(const Cluster& cluster, const QueueTree& tree) {
  std::vector<QueuePods> result(tree.size());
  std::map<StringId, std::size_t> places;
  const PodColumns& pods = cluster.pods();
  for (std::uint32_t slot = 0; slot < pods.slots(); ++slot) {
    const PodIndex pod{slot};
    if (!pods.flags[pod].exists || pods.flags[pod].kernel) continue;
    const StringId name = cluster.units()[pods.unit[pod]].queue;
    const auto [at, is_new] = places.try_emplace(name, no_place);
    if (is_new) {
      const std::string_view text = cluster.text(name);
      at->second = tree.place_of(text.empty() ? default_name : text);
    }
    if (at->second == no_place) continue;
    QueuePods& own = result[at->second];
    ++own.count;
    for (const ResourceAmount& item : cluster.requests(pods.requests[pod])) {
      ++own.asking[item.resource];
    }
  }
  return result;
}

void lint_members(Findings& findings, const QueueTree& tree) {
  const Cluster& cluster = findings.cluster();
  const std::vector<QueuePods> pods = pods_of(cluster, tree);
  for (std::size_t place = 0; place < tree.size(); ++place) {
    const Queue& queue = tree.queue(place);
    std::map<std::string_view, std::size_t> asking;
    for (const auto& [resource, count] : pods[place].asking) {
      asking[cluster.resources().name(resource)] = count;
    }
    for (const auto& [resource, count] : asking) {
      const Queue* const strict = forbidding(tree, place, resource);
      if (strict == nullptr || resource == pods_name) continue;
      findings.warning({.object = queue_text(strict->name),
                        .field = fmt::format("spec.limit[{}]", resource),
                        .value = "0",
                        .message = fmt::format("{} of queue {} {} for it, and none may run",
                                               count == 1 ? "a pod" : fmt::format("{} pods", count),
                                               queue.name, count == 1 ? "asks" : "ask")});
    }
    if (tree.has_children(place) || queue.guarantee.empty() || pods[place].count > 0) continue;
    findings.warning(
        {.object = queue_text(queue.name),
         .field = "spec.guarantee",
         .message = "no pod belongs to the queue, so what it is guaranteed lies idle"});
  }
}

/// Pods that name another queue than their group's.
void lint_strays(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.pods_by_name()) {
    const StringId counts = cluster.units()[pods.unit[pod]].queue;
    if (pods.queue[pod] == StringId{0} || pods.queue[pod] == counts) continue;
    findings.warning({.object = "Pod " + cluster.pod_key(pod),
                      .field = queue_field(cluster, pod),
                      .value = shorten(cluster.text(pods.queue[pod])),
                      .message = fmt::format("its group belongs to queue {}, and that counts",
                                             cluster.text(counts)),
                      .remedy = "name the same queue in both"});
  }
}

}  // namespace

void lint_queues(Findings& findings) {
  if (findings.cluster().own<Queue>().empty()) return;
  const QueueTree tree(findings.cluster());
  lint_guarantees(findings, tree);
  lint_members(findings, tree);
  lint_strays(findings);
}

}  // namespace makeway

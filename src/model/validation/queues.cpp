#include "model/validation/queues.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/names.hpp"
#include "model/object_text.hpp"
#include "model/queue_findings.hpp"
#include "model/queue_tree.hpp"

namespace makeway {

std::string queue_text(std::string_view name) { return object_text(row_of<Queue>.name, {}, name); }

std::optional<std::int64_t> quota_in(const Quotas& quotas, std::string_view resource) {
  const auto found = std::ranges::find(quotas, resource, &Amount::resource);
  return found == quotas.end() ? std::nullopt : std::optional(found->amount);
}

std::string queue_field(const Cluster& cluster, PodIndex pod) {
  const std::span<const LabelPair> labels = cluster.labels(cluster.pods().labels[pod]);
  for (const std::string_view key : {names::queue, names::kueue_queue, names::yunikorn_queue}) {
    const auto has_key = [&](const LabelPair& pair) { return cluster.text(pair.key) == key; };
    if (std::ranges::any_of(labels, has_key)) return fmt::format("metadata.labels[{}]", key);
  }
  return annotation_field(names::queue);
}

namespace {

constexpr std::size_t no_place = QueueTree::no_place;

// ---- Queues -----------------------------------------------------------------------------------

void check_parent(Findings& findings, const QueueTree& tree, std::size_t place, bool circular) {
  const Queue& queue = tree.queue(place);
  if (queue.parent.empty()) return;
  Problem problem{
      .object = queue_text(queue.name), .field = "spec.parent", .value = shorten(queue.parent)};
  if (queue.parent == default_queue_name) {
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
      return name == default_queue_name ? "" : "no Queue of this name is in the input";
    }
    // That the default queue has children is the fault of those who call it their parent.
    if (!tree_.has_children(place) || name == default_queue_name) return {};
    return "this queue has children, and pods belong to leaves";
  }

  const Cluster& cluster_;
  const QueueTree& tree_;
  std::map<StringId, std::string> faults_;
};

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
    if (!pods.flags[pod].exists || queues.fault(pods.queue[pod]).empty()) continue;
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
  if (!settings.enabled || settings.default_queue == default_queue_name) return;
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
  if (tree.place_of(default_queue_name) != no_place) return;
  const std::optional<StringId> name = cluster.strings().find(default_queue_name);
  const PodColumns& pods = cluster.pods();
  for (const PodIndex pod : cluster.pods_by_name()) {
    if (!name || cluster.units()[pods.unit[pod]].queue != *name) continue;
    Problem problem = misnamed(cluster, *name, "no Queue of this name is in the input");
    problem.object = "Pod " + cluster.pod_key(pod);
    problem.field = queue_field(cluster, pod);
    findings.error(std::move(problem));
  }
}

}  // namespace makeway

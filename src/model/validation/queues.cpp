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

constexpr std::size_t no_position = QueueTree::no_position;

// ---- Queues -----------------------------------------------------------------------------------

void check_parent(Findings& findings, const QueueTree& tree, std::size_t position, bool circular) {
  const Queue& queue = tree.queue(position);
  if (queue.parent.empty()) return;
  Problem problem{
      .object = queue_text(queue.name), .field = "spec.parent", .value = shorten(queue.parent)};
  if (queue.parent == default_queue_name) {
    problem.message = "pods that name no queue belong to this one, so it has no children";
    problem.remedy = "give the children a parent of their own";
  } else if (tree.parent(position) == no_position) {
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

// ---- References to queues -----------------------------------------------------------------------

/// Why pods cannot belong to the queue of a name.
enum class Misnamed : std::uint8_t { no, absent, has_children };

Misnamed misnamed(const QueueTree& tree, std::string_view name) {
  if (name.empty()) return Misnamed::no;
  const std::size_t position = tree.position_of(name);
  if (position == no_position) return Misnamed::absent;
  // If the default queue has children, the queues that name it as parent are wrong.
  return tree.has_children(position) && name != default_queue_name ? Misnamed::has_children
                                                                   : Misnamed::no;
}

std::string group_text(const Cluster& cluster, const Group& group) {
  return object_text("PodGroup", cluster.text(group.namespace_name), cluster.text(group.name));
}

/// What names a queue, as far as that counts: of a group the group if it names one, else its pods.
struct Namer {
  std::string object;
  std::string field;
  StringId queue;
};

std::vector<Namer> list_namers(const Cluster& cluster, const QueueTree& tree) {
  std::vector<Namer> namers;
  for (const GroupIndex index : cluster.groups_by_name()) {
    const Group& group = cluster.groups()[index];
    if (!group.object || misnamed(tree, group.object->queue) == Misnamed::no) continue;
    namers.push_back({.object = group_text(cluster, group),
                      .field = "queue",
                      .queue = cluster.units()[group.unit].queue});
  }
  const PodColumns& pods = cluster.pods();
  std::map<StringId, Misnamed> known;
  std::vector<PodIndex> wrong;
  for (const PodIndex pod : cluster.each_pod()) {
    const auto [at, is_new] = known.try_emplace(pods.queue[pod], Misnamed::no);
    if (is_new) at->second = misnamed(tree, cluster.text(pods.queue[pod]));
    if (at->second == Misnamed::no) continue;
    const Unit& unit = cluster.units()[pods.unit[pod]];
    const Group* const group =
        unit.kind == UnitKind::group ? &cluster.groups()[unit.group] : nullptr;
    const bool overruled = group != nullptr && group->object && !group->object->queue.empty() &&
                           misnamed(tree, group->object->queue) == Misnamed::no;
    if (!overruled) wrong.push_back(pod);
  }
  std::ranges::sort(wrong, {}, [&](PodIndex pod) { return cluster.pod_key(pod); });
  for (const PodIndex pod : wrong) {
    namers.push_back({.object = "Pod " + cluster.pod_key(pod),
                      .field = queue_field(cluster, pod),
                      .queue = pods.queue[pod]});
  }
  return namers;
}

/// A queue with children is an error for every object that names it. One that is not there is
/// reported once: the label counts as absent.
void check_named(Findings& findings, const QueueTree& tree) {
  const Cluster& cluster = findings.cluster();
  std::map<StringId, std::vector<const Namer*>> absent;
  const std::vector<Namer> namers = list_namers(cluster, tree);
  for (const Namer& namer : namers) {
    if (misnamed(tree, cluster.text(namer.queue)) == Misnamed::absent) {
      absent[namer.queue].push_back(&namer);
      continue;
    }
    findings.error({.object = namer.object,
                    .field = namer.field,
                    .value = shorten(cluster.text(namer.queue)),
                    .message = "this queue has children, and pods belong to leaves",
                    .remedy = "name a queue without children that is in the input"});
  }
  std::vector<Problem> problems;
  for (const auto& [queue, mentions] : absent) {
    const std::string others = mentions.size() == 1
                                   ? std::string()
                                   : fmt::format("; {} more name it", mentions.size() - 1);
    problems.push_back(
        {.object = mentions.front()->object,
         .field = mentions.front()->field,
         .value = shorten(cluster.text(queue)),
         .message = fmt::format(
             "no Queue of this name is in the input, so the label does not count{}", others),
         .remedy = "add the Queue or correct the name"});
  }
  std::ranges::sort(problems, {}, &Problem::value);
  for (Problem& problem : problems) findings.warning(std::move(problem));
}

// ---- Namespaces -------------------------------------------------------------------------------

/// Listed on leaves, and once.
void check_namespaces(Findings& findings, const QueueTree& tree) {
  std::map<std::string_view, const Queue*> listed;
  for (std::size_t position = 0; position < tree.size(); ++position) {
    const Queue& queue = tree.queue(position);
    const auto refuse = [&](std::string_view space, std::string message, std::string remedy) {
      findings.error({.object = queue_text(queue.name),
                      .field = "spec.namespaces",
                      .value = shorten(space),
                      .message = std::move(message),
                      .remedy = std::move(remedy)});
    };
    if (!queue.namespaces.empty() && tree.has_children(position)) {
      refuse(queue.namespaces.front(), "this queue has children, and pods belong to leaves",
             "list the namespaces in queues without children");
    }
    for (const std::string& space : queue.namespaces) {
      const auto [at, is_new] = listed.try_emplace(space, &queue);
      if (is_new) continue;
      refuse(space,
             fmt::format("the namespace is listed twice, first in queue {}", at->second->name),
             "leave it in one queue");
    }
  }
}

}  // namespace

void check_queues(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  if (cluster.own<Queue>().empty()) return;
  const QueueTree tree(cluster);
  const std::vector<bool> circular = tree.circular();
  for (std::size_t position = 0; position < tree.size(); ++position) {
    check_parent(findings, tree, position, circular[position]);
    check_limit(findings, tree.queue(position));
  }
  check_namespaces(findings, tree);
  check_named(findings, tree);
}

}  // namespace makeway

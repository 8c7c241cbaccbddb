#include "model/validation/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "model/budget_finder.hpp"
#include "model/findings.hpp"
#include "model/names.hpp"
#include "model/object_text.hpp"
#include "model/selector.hpp"
#include "model/validation/priorities.hpp"
#include "model/validation/queues.hpp"
#include "model/validation/replicas.hpp"
#include "model/validation/sessions.hpp"
#include "model/validation/sums.hpp"
#include "model/validation/topology.hpp"
#include "model/validation/volumes.hpp"

namespace makeway {
namespace {

constexpr std::int32_t user_priority_max = 1'000'000'000;

void check_classes(Findings& findings) {
  for (const PriorityClass* item : findings.cluster().priority_classes()) {
    const std::string object = object_text(*item);
    const bool node_critical = item->name == names::node_critical;
    if (node_critical || item->name == names::cluster_critical) {
      const std::int32_t fixed = node_critical ? 2'000'001'000 : 2'000'000'000;
      if (item->value == fixed) continue;
      findings.error({.object = object,
                      .field = "value",
                      .value = fmt::format("{}", item->value),
                      .message = fmt::format("this class is built in with {}", fixed),
                      .remedy = "leave it out or give it that value"});
    } else if (item->value > user_priority_max) {
      findings.error({.object = object,
                      .field = "value",
                      .value = fmt::format("{}", item->value),
                      .message = fmt::format("expected at most {}", user_priority_max),
                      .remedy = "higher values are reserved for the system-critical classes"});
    }
  }
}

// ---- Lint -------------------------------------------------------------------------------------

void lint_classes(Findings& findings) {
  for (const PriorityClass* item : findings.cluster().priority_classes()) {
    const PriorityClass* const first = findings.cluster().default_priority_class(item->plane);
    if (!item->global_default || item == first) continue;
    findings.warning({.object = object_text(*item),
                      .field = "globalDefault",
                      .value = "true",
                      .message = fmt::format("there is more than one global default; {} counts, "
                                             "since it is lower",
                                             first->name),
                      .remedy = "leave one"});
  }
}

void lint_nodes(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  for (const NodeIndex node : cluster.nodes_by_name()) {
    const std::string object = object_text(
        row_of<Node>.name, ObjectKeyView{.namespace_name = {},
                                         .name = cluster.text(cluster.nodes().name[node]),
                                         .plane = cluster.text(cluster.nodes().plane[node])});
    std::map<ResourceIndex, std::int64_t> allocatable;
    for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
      allocatable[item.resource] = item.amount;
    }
    if (!allocatable.contains(resource_pods)) {
      findings.warning({.object = object,
                        .field = "status.allocatable.pods",
                        .message = "the node accepts no pods",
                        .remedy = "state how many pods it takes, for example 110"});
    }
    const std::span<const std::int64_t> used = cluster.order().used(node);
    for (std::uint32_t column = 0; column < used.size(); ++column) {
      const ResourceIndex resource{column};
      const std::string_view name = cluster.resources().name(resource);
      if (used[column] <= allocatable[resource]) continue;
      findings.warning(
          {.object = object,
           .field = fmt::format("status.allocatable[{}]", name),
           .value = human_amount(name, allocatable[resource]),
           .message = fmt::format("its pods request more: {}", human_amount(name, used[column]))});
    }
  }
}

/// How many pods each budget governs, and how many budgets govern each pod that has several.
struct BudgetCounts {
  std::vector<std::int64_t> pods;  ///< By the position of the budget.
  std::map<std::string, std::size_t> crowded;
};

BudgetCounts count_governed(const Cluster& cluster,
                            const std::vector<const DisruptionBudget*>& budgets) {
  BudgetCounts counts;
  BudgetSums<std::int64_t> sums(budgets.size());
  const BudgetFinder finder(budgets);
  const PodColumns& pods = cluster.pods();
  // Pods of one controller share their labels. No answer is kept: together they may be huge.
  std::map<std::tuple<StringId, StringId, LabelSetId>, std::vector<PodIndex>> alike;
  for (const PodIndex pod : cluster.each_pod()) {
    alike[{pods.plane[pod], pods.namespace_name[pod], pods.labels[pod]}].push_back(pod);
  }
  for (const auto& [shared, members] : alike) {
    const auto& [plane, namespace_name, labels] = shared;
    const GoverningBudgets governing = finder.find(
        cluster.text(plane), cluster.text(namespace_name), cluster.label_objects(labels));
    sums.add(governing, std::ssize(members));
    if (governing.size() <= 1) continue;
    for (const PodIndex pod : members)
      counts.crowded.emplace(cluster.pod_key(pod), governing.size());
  }
  counts.pods = std::move(sums).finish();
  return counts;
}

/// Pods that are to come count as pods.
bool governs_template(const Findings& findings, const DisruptionBudget& budget) {
  return budget.plane.empty() &&
         std::ranges::any_of(findings.templates(), [&](const TemplateLabels& each) {
           return each.namespace_name == budget.namespace_name &&
                  governs(budget, each.namespace_name, each.labels);
         });
}

void lint_budgets(Findings& findings) {
  const std::vector<const DisruptionBudget*> budgets = findings.cluster().budgets();
  if (budgets.empty()) return;
  const BudgetCounts counts = count_governed(findings.cluster(), budgets);
  for (std::size_t position = 0; position < budgets.size(); ++position) {
    const DisruptionBudget& budget = *budgets[position];
    if (counts.pods[position] > 0 || governs_template(findings, budget)) continue;
    const bool empty = budget.selector && budget.selector->requirements.empty();
    findings.warning({.object = object_text(budget),
                      .field = "spec.selector",
                      .message = empty ? "an empty selector governs nothing here, as in "
                                         "kube-scheduler; evictions through the API do count it"
                                       : "it selects no pod in its namespace",
                      .remedy = "compare the selector with the pods' labels"});
  }
  for (const auto& [pod, count] : counts.crowded) {
    findings.warning({.object = "Pod " + pod,
                      .message = fmt::format("{} budgets govern it; Kubernetes refuses to evict "
                                             "such a pod through its API",
                                             count),
                      .remedy = "make the selectors disjoint"});
  }
}

void lint_pod(Findings& findings, PodIndex pod) {
  const Cluster& cluster = findings.cluster();
  const PodColumns& pods = cluster.pods();
  const std::string object = "Pod " + cluster.pod_key(pod);
  const auto missing = [&](NodeIndex node) {
    return cluster.node_count() > 0 && node.exists() && !cluster.nodes().flags[node].exists;
  };
  for (const auto& [node, field] : {std::pair{pods.node[pod], "spec.nodeName"},
                                    std::pair{pods.nominated[pod], "status.nominatedNodeName"}}) {
    if (!missing(node)) continue;
    findings.warning({.object = object,
                      .field = field,
                      .value = std::string(cluster.text(cluster.nodes().name[node])),
                      .message = "this node is not in the input",
                      .remedy = "add it (kubectl get nodes -o yaml) or leave the pod out"});
  }
  for (const std::string& need : cluster.shape(pods.shape[pod]).unsupported) {
    if (need.starts_with(names::held_need)) continue;  // Its holder says why.
    findings.warning({.object = object,
                      .value = need,
                      .message = "Makeway does not check this need yet and will refuse to place "
                                 "the pod"});
  }
}

/// Pending pods that ask for more of something than any node has.
void lint_size(Findings& findings, PodIndex pod,
               const std::map<ResourceIndex, std::int64_t>& largest) {
  const Cluster& cluster = findings.cluster();
  for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
    const auto found = largest.find(item.resource);
    const std::int64_t most = found == largest.end() ? 0 : found->second;
    if (item.amount <= most) continue;
    const std::string_view name = cluster.resources().name(item.resource);
    findings.warning({.object = "Pod " + cluster.pod_key(pod),
                      .field = fmt::format("requests[{}]", name),
                      .value = human_amount(name, item.amount),
                      .message = fmt::format("no node has that much; the largest has {}",
                                             human_amount(name, most))});
  }
}

void lint_pods(Findings& findings) {
  const Cluster& cluster = findings.cluster();
  std::map<ResourceIndex, std::int64_t> largest;
  for (const NodeIndex node : cluster.nodes_by_name()) {
    for (const ResourceAmount& item : cluster.requests(cluster.nodes().allocatable[node])) {
      largest[item.resource] = std::max(largest[item.resource], item.amount);
    }
  }
  if (cluster.node_count() == 0 && cluster.pod_count() > 0) {
    findings.warning({.message = "there are pods but no nodes in the input",
                      .remedy = "add them (kubectl get nodes -o yaml)"});
  }
  for (const PodIndex pod : cluster.pods_by_name()) {
    lint_pod(findings, pod);
    lint_marks(findings, pod);
    const bool pending = !cluster.pods().node[pod].exists();
    if (pending && cluster.node_count() > 0) lint_size(findings, pod, largest);
  }
}

// ---- The table of kinds -------------------------------------------------------------------------

using Rule = void (*)(Findings&);
constexpr Rule nothing = [](Findings&) {};

/// What is checked of a kind beside the other objects. Problems are reported in the order of the
/// rows.
struct KindRules {
  ObjectKind kind;
  Rule check;  ///< What cannot be decided.
  Rule lint;   ///< What is legal and probably not meant.
};

constexpr std::array kind_rules = {
    KindRules{ObjectKind::namespace_object, check_sums, nothing},  // Of every kind.
    KindRules{ObjectKind::priority_class, check_classes, lint_classes},
    KindRules{ObjectKind::node, nothing, lint_nodes},
    KindRules{ObjectKind::storage_class, nothing, nothing},
    KindRules{ObjectKind::persistent_volume, nothing, nothing},
    KindRules{ObjectKind::persistent_volume_claim, nothing, lint_pod_claims},
    KindRules{ObjectKind::csi_node, nothing, nothing},
    KindRules{ObjectKind::resource_claim, nothing, nothing},  // With those of volumes.
    KindRules{ObjectKind::pod_group, check_groups, lint_groups},
    KindRules{ObjectKind::pod_group, nothing, lint_topology},
    KindRules{ObjectKind::workload, nothing, lint_workloads},
    KindRules{ObjectKind::disruption_budget, nothing, lint_budgets},
    KindRules{ObjectKind::pod, check_pods, nothing},
    KindRules{ObjectKind::queue, check_queues, lint_queues},
    KindRules{ObjectKind::replica_schedule, check_replicas, lint_replicas},
    KindRules{ObjectKind::session, check_sessions, lint_sessions},
    KindRules{ObjectKind::resource_group, nothing, nothing},  // With the sessions.
    KindRules{ObjectKind::partition, nothing, nothing},       // With the sessions.
    KindRules{ObjectKind::pod, nothing, lint_pods},           // There are many: last.
};

consteval bool every_kind_has_rules() {
  for (const KindRow& row : kind_rows) {
    bool found = false;
    for (const KindRules& rules : kind_rules) found = found || rules.kind == row.kind;
    if (!found) return false;
  }
  return true;
}
static_assert(every_kind_has_rules());

}  // namespace

Problems find_errors(const Cluster& cluster) {
  Findings findings(cluster);
  for (const KindRules& rules : kind_rules) rules.check(findings);
  return findings.take();
}

std::vector<Problem> list_errors(const Cluster& cluster) {
  std::vector<Problem> errors;
  Findings findings(cluster);
  findings.list_errors_in(errors);
  for (const KindRules& rules : kind_rules) rules.check(findings);
  return errors;
}

Problems lint(const Cluster& cluster, std::span<const TemplateLabels> templates, LintFor use) {
  Findings findings(cluster, templates, use);
  for (const KindRules& rules : kind_rules) rules.lint(findings);
  return findings.take();
}

Problems lint_own_kinds(const Cluster& cluster) {
  Findings findings(cluster, {}, LintFor::live);
  lint_queue_bounds(findings);
  lint_session_rules(findings);
  return findings.take();
}

Problems find_cap_errors(const Cluster& cluster, const Configuration& configuration) {
  Findings findings(cluster);
  check_caps(findings, configuration.workload);
  return findings.take();
}

std::vector<Problem> list_cap_errors(const Cluster& cluster, const Configuration& configuration) {
  std::vector<Problem> errors;
  Findings findings(cluster);
  findings.list_errors_in(errors);
  check_caps(findings, configuration.workload);
  return errors;
}

}  // namespace makeway

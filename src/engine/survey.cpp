#include "engine/survey.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/names.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

constexpr std::string_view name_field = "metadata.name";
constexpr std::string_view unschedulable_taint = "node.kubernetes.io/unschedulable";

bool keeps_away(const Taint& taint) { return taint.effect != TaintEffect::prefer_no_schedule; }

bool matches_term(const NodeSelectorTerm& term, const Labels& labels, std::string_view node_name) {
  if (term.labels.empty() && term.fields.empty()) return false;
  return std::ranges::all_of(term.labels,
                             [&](const Requirement& requirement) {
                               return matches(requirement, find_label(labels, requirement.key));
                             }) &&
         std::ranges::all_of(term.fields, [&](const Requirement& requirement) {
           return requirement.key == name_field && matches(requirement, node_name);
         });
}

bool matches_nodes(const PodShape& shape, const Labels& labels, std::string_view node_name) {
  const bool selected = std::ranges::all_of(shape.node_selector, [&](const Label& wanted) {
    return find_label(labels, wanted.key) == wanted.value;
  });
  if (!selected) return false;
  return shape.node_terms.empty() ||
         std::ranges::any_of(shape.node_terms, [&](const NodeSelectorTerm& term) {
           return matches_term(term, labels, node_name);
         });
}

/// Node classes leave out names and hostnames.
bool names_single_nodes(const PodShape& shape) {
  const auto by_hostname = [](const auto& item) { return item.key == names::hostname; };
  if (std::ranges::any_of(shape.node_selector, by_hostname)) return true;
  return std::ranges::any_of(shape.node_terms, [&](const NodeSelectorTerm& term) {
    return !term.fields.empty() || std::ranges::any_of(term.labels, by_hostname);
  });
}

}  // namespace

std::string taint_text(const Taint& taint) {
  constexpr std::array<std::string_view, 3> effects = {"NoSchedule", "PreferNoSchedule",
                                                       "NoExecute"};
  const std::string_view effect = effects.at(static_cast<std::size_t>(taint.effect));
  return taint.value.empty() ? fmt::format("{}:{}", taint.key, effect)
                             : fmt::format("{}={}:{}", taint.key, taint.value, effect);
}

bool tolerates(const PodShape& shape, const Taint& taint) {
  return std::ranges::any_of(shape.tolerations, [&](const Toleration& toleration) {
    if (toleration.effect && *toleration.effect != taint.effect) return false;
    if (toleration.key.empty()) return toleration.exists;
    if (toleration.key != taint.key) return false;
    return toleration.exists || toleration.value == taint.value;
  });
}

Survey::Survey(const Cluster& cluster, const Configuration& configuration)
    : cluster_(cluster),
      regimes_(cluster, configuration),
      keeps_room_(cluster.pods().slots()),
      allocatable_(cluster.request_rows()),
      resource_notes_(cluster.resources().size()) {
  for (const Namespace* object : cluster.namespaces()) {
    if (object->plane.empty()) namespaces_.emplace(object->name, object);  // Asks are at home.
  }
  for (std::uint32_t column = 0; column < cluster.resources().size(); ++column) {
    resource_notes_[ResourceIndex{column}] = note(cluster.resources().name(ResourceIndex{column}));
  }
  for (const Regime regime : {Regime::pods, Regime::sessions, Regime::replicas}) {
    by_regime_[static_cast<std::size_t>(regime)] =
        Refused{.reason = RefusalReason::regime, .detail = note(choice_name(regime))};
  }
  if (!regimes_.mixed()) return;
  for (const NodeIndex node : cluster.home_nodes()) {
    (regimes_.of(node) == Regime::pods ? own_nodes_ : others_nodes_).push_back(node);
  }
}

const Topology& Survey::topology(std::string_view key) {
  const auto found = topologies_.find(key);
  if (found != topologies_.end()) return found->second;
  const auto at = topologies_.emplace(key, Topology{}).first;
  Topology& topology = at->second;
  topology.key = at->first;
  topology.domain =
      IndexedVector<NodeIndex, std::uint32_t>(cluster_.nodes().slots(), Topology::no_domain);
  const std::optional<StringId> wanted = cluster_.strings().find(key);
  if (!wanted) return topology;
  std::map<StringId, std::uint32_t> domains;
  // Affinity sees pods on all nodes.
  for (const NodeIndex node : cluster_.nodes_by_name()) {
    for (const LabelPair& pair : cluster_.labels(cluster_.nodes().labels[node])) {
      if (pair.key != *wanted) continue;
      const auto next = static_cast<std::uint32_t>(domains.size());
      topology.domain[node] = domains.try_emplace(pair.value, next).first->second;
    }
  }
  topology.domains = static_cast<std::uint32_t>(domains.size());
  return topology;
}

const std::int64_t* Survey::fill_allocatable(RequestId id) {
  std::vector<std::int64_t>& row = allocatable_rows_.emplace_back(cluster_.order().columns());
  for (const ResourceAmount& item : cluster_.requests(id)) {
    row.at(item.resource.value) = item.amount;
  }
  return allocatable_.writable(id) = row.data();
}

const Labels& Survey::labels(LabelSetId id) {
  if (id.value >= labels_.size()) labels_.resize(id.value + 1);
  std::unique_ptr<Labels>& entry = labels_[id.value];
  if (entry == nullptr) entry = std::make_unique<Labels>(cluster_.label_objects(id));
  return *entry;
}

std::uint32_t Survey::position_of(NodeIndex node) {
  if (positions_.empty()) {
    positions_ = IndexedVector<NodeIndex, std::uint32_t>(cluster_.nodes().slots(), no_position);
    std::uint32_t position = 0;
    for (const NodeIndex each : nodes()) positions_[each] = position++;
  }
  return positions_[node];
}

ShapeVerdicts& Survey::verdicts_of(PodIndex pod) {
  const ShapeId id = cluster_.pods().shape[pod];
  const auto [at, is_new] = placing_.try_emplace(id.value);
  if (is_new) {
    at->second.shape = &cluster_.shape(id);
    at->second.by_node = names_single_nodes(*at->second.shape);
  }
  return at->second;
}

const StaticVerdict& Survey::judge_new(ShapeVerdicts& known, std::size_t slot, NodeIndex node) {
  const bool apart = known.by_node && !known.first.known;
  if (apart) known.first_slot = slot;
  if (!apart && slot >= known.verdicts.size()) known.verdicts.resize(slot + 1);
  StaticVerdict& verdict = apart ? known.first : known.verdicts[slot];
  const PodShape& shape = *known.shape;
  if (known.by_node) {
    verdict = judge(shape, labels(cluster_.nodes().labels[node]),
                    cluster_.text(cluster_.nodes().name[node]), cluster_.nodes().taints[node],
                    cluster_.nodes().flags[node].unschedulable);
  } else {
    const NodeClass& shared = cluster_.node_class(cluster_.nodes().node_class[node]);
    verdict = judge(shape, labels(shared.labels), {}, shared.taints, shared.unschedulable);
  }
  return verdict;
}

/// In the order of kube-scheduler's filters: the first refusal is the one that is told.
StaticVerdict Survey::judge(const PodShape& shape, const Labels& labels, std::string_view node_name,
                            TaintSetId taints, bool unschedulable) {
  StaticVerdict verdict{.known = true};
  const auto refuse = [&](RefusalReason reason, std::string_view detail) {
    if (!verdict.refused) verdict.refused = Refused{.reason = reason, .detail = note(detail)};
  };
  if (!shape.unsupported.empty()) {
    refuse(RefusalReason::unsupported, shape.unsupported.front());
  }
  if (unschedulable && !tolerates(shape, {.key = std::string(unschedulable_taint)})) {
    refuse(RefusalReason::unschedulable, {});
  }
  for (const Taint& taint : cluster_.taints(taints)) {
    if (!keeps_away(taint) || tolerates(shape, taint)) continue;
    verdict.taints_tolerated = false;
    refuse(RefusalReason::taint, taint_text(taint));
    break;
  }
  verdict.affinity_matches = matches_nodes(shape, labels, node_name);
  if (!verdict.affinity_matches) refuse(RefusalReason::node_affinity, {});
  return verdict;
}

bool Survey::covers(const PodAffinityTerm& term, std::string_view namespace_name) const {
  if (std::ranges::binary_search(term.namespaces, namespace_name)) return true;
  if (!term.namespace_selector || namespace_name.empty()) return false;  // Kernels have none.
  static const Labels no_labels;
  const auto found = namespaces_.find(namespace_name);
  return matches(*term.namespace_selector,
                 found == namespaces_.end() ? no_labels : found->second->labels);
}

}  // namespace makeway

#include "judge/naive_topology.hpp"

#include <algorithm>
#include <limits>

#include "model/selector.hpp"

namespace makeway {

NaiveTopology::NaiveTopology(NaiveWorld& world, PodIndex ask, const NodeTests& tests)
    : world_(world), cluster_(world.cluster()), ask_(ask) {
  const PodShape& shape = cluster_.shape(cluster_.pods().shape[ask]);
  const bool looks_at_others =
      !shape.spread.empty() || !shape.affinity.empty() || !shape.anti_affinity.empty();
  if (!looks_at_others && world.repelling().empty()) return;
  ask_labels_ = cluster_.label_objects(cluster_.pods().labels[ask]);
  std::vector<NodeIndex> spread_over;  // Nodes with every key, and of its regime.
  for (const NodeIndex node : world_.nodes()) {
    if (shape.spread.empty()) break;
    const bool has_all_keys = std::ranges::all_of(shape.spread, [&](const SpreadConstraint& each) {
      return world_.domains(each.topology_key).of[node] != NodeDomains::none;
    });
    if (!has_all_keys || (tests.of_its_regime && !tests.of_its_regime(node))) continue;
    spread_over.push_back(node);
  }
  for (const SpreadConstraint& constraint : shape.spread) {
    spreads_.push_back(make_spread(constraint, spread_over, tests));
  }
  for (const PodAffinityTerm& term : shape.affinity) affinity_.push_back(make_term(term));
  for (const PodAffinityTerm& term : shape.anti_affinity) anti_affinity_.push_back(make_term(term));
  ask_matches_itself_ = std::ranges::all_of(
      shape.affinity, [&](const PodAffinityTerm& term) { return matches_ask(term); });
  if (!looks_at_others) {
    for (const PodIndex pod : world.repelling()) count(pod, world.where(pod), 1);
    return;
  }
  for (std::uint32_t slot = 0; slot < cluster_.pods().slots(); ++slot) {
    count(PodIndex{slot}, world.where(PodIndex{slot}), 1);
  }
}

NaiveTopology::Spread NaiveTopology::make_spread(const SpreadConstraint& constraint,
                                                 const std::vector<NodeIndex>& nodes,
                                                 const NodeTests& tests) const {
  Spread spread{.constraint = &constraint, .domains = &world_.domains(constraint.topology_key)};
  spread.eligible = IndexedVector<NodeIndex, bool>(cluster_.nodes().slots());
  spread.eligible_nodes.resize(spread.domains->count);
  spread.matching.resize(spread.domains->count);
  spread.self = constraint.selector && matches(*constraint.selector, ask_labels_) ? 1 : 0;
  for (const NodeIndex node : nodes) {
    if (constraint.honor_node_affinity && !tests.affinity_matches(node)) continue;
    if (constraint.honor_node_taints && !tests.taints_tolerated(node)) continue;
    spread.eligible[node] = true;
    ++spread.eligible_nodes[spread.domains->of[node]];
  }
  return spread;
}

NaiveTopology::Term NaiveTopology::make_term(const PodAffinityTerm& term) const {
  Term made{.term = &term, .domains = &world_.domains(term.topology_key)};
  made.matching.resize(made.domains->count);
  return made;
}

bool NaiveTopology::selects_namespace(const PodAffinityTerm& term, StringId namespace_name) const {
  const std::string_view name = cluster_.text(namespace_name);
  if (std::ranges::find(term.namespaces, name) != term.namespaces.end()) return true;
  if (!term.namespace_selector || name.empty()) return false;    // Kernels are in no namespace.
  const ObjectMap<Namespace>& here = cluster_.own<Namespace>();  // Pods of planes are no asks.
  const auto found = here.find(ObjectKeyView{.name = name});
  return matches(*term.namespace_selector, found == here.end() ? Labels{} : found->second.labels);
}

bool NaiveTopology::matches_pod(Term& term, PodIndex pod) const {
  const StringId space = cluster_.pods().namespace_name[pod];
  const LabelSetId labels = cluster_.pods().labels[pod];
  return term.term->selector && cluster_.pods().plane[pod] == cluster_.pods().plane[ask_] &&
         term.namespaces.get(space.value, [&] { return selects_namespace(*term.term, space); }) &&
         term.labels.get(labels.value, [&] {
           return matches(*term.term->selector, cluster_.label_objects(labels));
         });
}

bool NaiveTopology::matches_ask(const PodAffinityTerm& term) const {
  return term.selector && selects_namespace(term, cluster_.pods().namespace_name[ask_]) &&
         matches(*term.selector, ask_labels_);
}

const std::vector<const PodAffinityTerm*>& NaiveTopology::terms_against_ask(ShapeId shape) {
  const auto [at, is_new] = against_ask_.try_emplace(shape);
  if (!is_new) return at->second;
  for (const PodAffinityTerm& term : cluster_.shape(shape).anti_affinity) {
    if (matches_ask(term)) at->second.push_back(&term);
  }
  return at->second;
}

// ---- Counting -----------------------------------------------------------------------------------

void NaiveTopology::count(PodIndex pod, NodeIndex node, std::int64_t change) {
  if (!node.exists() || !cluster_.nodes().flags[node].exists) return;
  count_spread(pod, node, change);
  count_affinity(pod, node, change);
  count_repelling(pod, node, change);
}

void NaiveTopology::count_spread(PodIndex pod, NodeIndex node, std::int64_t change) {
  const PodColumns& pods = cluster_.pods();
  if (pods.namespace_name[pod] != pods.namespace_name[ask_]) return;
  if (pods.plane[pod] != pods.plane[ask_]) return;
  if (pods.deletion[pod] != no_time) return;
  const LabelSetId labels = pods.labels[pod];
  for (Spread& spread : spreads_) {
    const std::optional<LabelSelector>& selector = spread.constraint->selector;
    if (!spread.eligible[node] || !selector || selector->requirements.empty()) continue;
    const bool is_match = spread.labels.get(
        labels.value, [&] { return matches(*selector, cluster_.label_objects(labels)); });
    if (!is_match) continue;
    spread.matching[spread.domains->of[node]] += change;
    spread.least.reset();
  }
}

void NaiveTopology::count_affinity(PodIndex pod, NodeIndex node, std::int64_t change) {
  const bool matches_all =
      std::ranges::all_of(affinity_, [&](Term& term) { return matches_pod(term, pod); });
  const auto add = [&](Term& term) {
    const std::uint32_t domain = term.domains->of[node];
    if (domain == NodeDomains::none) return false;
    term.matching[domain] += change;
    return true;
  };
  if (matches_all) {
    for (Term& term : affinity_) {
      if (add(term)) affinity_matches_ += change;
    }
  }
  for (Term& term : anti_affinity_) {
    if (matches_pod(term, pod)) add(term);
  }
}

void NaiveTopology::count_repelling(PodIndex pod, NodeIndex node, std::int64_t change) {
  const ShapeId shape = cluster_.pods().shape[pod];
  if (cluster_.shape(shape).anti_affinity.empty()) return;
  if (cluster_.pods().plane[pod] != cluster_.pods().plane[ask_]) return;
  for (const PodAffinityTerm* const term : terms_against_ask(shape)) {
    const NodeDomains& domains = world_.domains(term->topology_key);
    const std::uint32_t domain = domains.of[node];
    if (domain == NodeDomains::none) continue;
    std::vector<std::int64_t>& counts = repelled_[term->topology_key];
    counts.resize(domains.count);
    counts[domain] += change;
  }
}

// ---- Judging ------------------------------------------------------------------------------------

MaybeRefusal NaiveTopology::missing_label(NodeIndex node) const {
  for (const Spread& spread : spreads_) {
    if (spread.domains->of[node] == NodeDomains::none) {
      return NaiveRefusal{RefusalReason::spread_label, spread.constraint->topology_key};
    }
  }
  return std::nullopt;
}

std::int64_t NaiveTopology::least(const Spread& spread) const {
  if (spread.least) return *spread.least;
  std::int64_t domains = 0;
  std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t domain = 0; domain < spread.domains->count; ++domain) {
    if (spread.eligible_nodes[domain] == 0) continue;
    ++domains;
    lowest = std::min(lowest, spread.matching[domain]);
  }
  if (domains == 0 || domains < spread.constraint->domains_min) lowest = 0;
  spread.least = lowest;
  return lowest;
}

MaybeRefusal NaiveTopology::spread_refusal(NodeIndex node) const {
  for (const Spread& spread : spreads_) {
    const std::string_view key = spread.constraint->topology_key;
    const std::uint32_t domain = spread.domains->of[node];
    if (domain == NodeDomains::none) return NaiveRefusal{RefusalReason::spread_label, key};
    const std::int64_t skew = spread.matching[domain] + spread.self - least(spread);
    if (skew > spread.constraint->skew_max) return NaiveRefusal{RefusalReason::spread, key};
  }
  return std::nullopt;
}

MaybeRefusal NaiveTopology::affinity_refusal(NodeIndex node) const {
  bool every_term_met = true;
  for (const Term& term : affinity_) {
    const std::uint32_t domain = term.domains->of[node];
    if (domain == NodeDomains::none) {
      return NaiveRefusal{RefusalReason::affinity, term.term->topology_key};
    }
    if (term.matching[domain] == 0) every_term_met = false;
  }
  const bool may_be_first = affinity_matches_ == 0 && ask_matches_itself_;
  if (!every_term_met && !may_be_first) {
    return NaiveRefusal{RefusalReason::affinity, affinity_.front().term->topology_key};
  }
  for (const Term& term : anti_affinity_) {
    const std::uint32_t domain = term.domains->of[node];
    if (domain != NodeDomains::none && term.matching[domain] > 0) {
      return NaiveRefusal{RefusalReason::anti_affinity, term.term->topology_key};
    }
  }
  return std::nullopt;
}

MaybeRefusal NaiveTopology::refusal(NodeIndex node) const {
  if (const MaybeRefusal refused = spread_refusal(node)) return refused;
  if (const MaybeRefusal refused = affinity_refusal(node)) return refused;
  for (const auto& [key, counts] : repelled_) {
    const std::uint32_t domain = world_.domains(key).of[node];
    if (domain != NodeDomains::none && counts[domain] > 0) {
      return NaiveRefusal{RefusalReason::repelled, key};
    }
  }
  return std::nullopt;
}

}  // namespace makeway

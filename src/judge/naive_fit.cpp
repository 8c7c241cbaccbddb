#include "judge/naive_fit.hpp"

#include <algorithm>

#include "base/checked_math.hpp"
#include "judge/naive_regimes.hpp"
#include "model/cordon.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

/// The store keeps them sorted by key, so only those with the taint's key and those without a key
/// are asked.
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  const auto some_tolerate = [&](std::string_view key) {
    return std::ranges::any_of(
        std::ranges::equal_range(tolerations, key, {}, &Toleration::key),
        [&](const Toleration& toleration) { return tolerates(toleration, taint); });
  };
  return some_tolerate(taint.key) || some_tolerate({});
}

bool every_address(const HostPort& port) { return port.ip.empty() || port.ip == "0.0.0.0"; }

bool conflict(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol || a.port <= 0) return false;
  return every_address(a) || every_address(b) || a.ip == b.ip;
}

}  // namespace

NaiveFit::NaiveFit(NaiveWorld& world, PodIndex ask)
    : world_(world),
      cluster_(world.cluster()),
      ask_(ask),
      shape_(cluster_.shape(cluster_.pods().shape[ask])),
      requests_(cluster_.requests(cluster_.pods().requests[ask])),
      node_selector_(read_selector(cluster_, shape_)),
      node_terms_(read_terms(cluster_, shape_)),
      regime_(world.regimes() == nullptr ? std::nullopt
                                         : std::optional(world.regimes()->of_pod(ask))),
      crosses_(regime_ && world.regimes()->crosses(ask)),
      claims_(world, ask),
      topology_(world, ask,
                {.affinity_matches = [this](NodeIndex node) { return affinity_matches(node); },
                 .taints_tolerated = [this](NodeIndex node) { return taints_tolerated(node); },
                 .of_its_regime = [this](NodeIndex node) { return of_its_regime(node); }}) {}

NaiveFit::NodeRequirement NaiveFit::read(const Cluster& cluster, Requirement requirement) {
  const std::optional<StringId> key = cluster.strings().find(requirement.key);
  return {.requirement = std::move(requirement), .key = key};
}

std::vector<NaiveFit::NodeRequirement> NaiveFit::read_selector(const Cluster& cluster,
                                                               const PodShape& shape) {
  std::vector<NodeRequirement> selector;
  for (const Label& label : shape.node_selector) {
    selector.push_back(
        read(cluster, {.key = label.key, .operation = Operator::in, .values = {label.value}}));
  }
  return selector;
}

std::vector<NaiveFit::NodeTerm> NaiveFit::read_terms(const Cluster& cluster,
                                                     const PodShape& shape) {
  std::vector<NodeTerm> terms;
  for (const NodeSelectorTerm& term : shape.node_terms) {
    terms.push_back({.fields = &term.fields});
    for (const Requirement& requirement : term.labels) {
      terms.back().labels.push_back(read(cluster, requirement));
    }
  }
  return terms;
}

void NaiveFit::remove(PodIndex pod) {
  count_ports(pod, world_.where(pod), -1);
  topology_.count(pod, world_.where(pod), -1);
  world_.remove(pod);
}

void NaiveFit::place(PodIndex pod, NodeIndex node) {
  world_.place(pod, node);
  count_ports(pod, node, 1);
  topology_.count(pod, node, 1);
}

// ---- Filters that look at the node alone --------------------------------------------------------

bool NaiveFit::holds(const NodeRequirement& requirement, NodeIndex node) const {
  std::optional<std::string_view> value;
  if (requirement.key) {
    const std::optional<StringId> id = world_.node_label(node, *requirement.key);
    if (id) value = cluster_.text(*id);
  }
  return matches(requirement.requirement, value);
}

bool NaiveFit::holds(const NodeTerm& term, NodeIndex node) const {
  if (term.labels.empty() && term.fields->empty()) return false;
  const std::string_view name = cluster_.text(cluster_.nodes().name[node]);
  return std::ranges::all_of(term.labels,
                             [&](const NodeRequirement& each) { return holds(each, node); }) &&
         std::ranges::all_of(*term.fields,
                             [&](const Requirement& each) { return matches(each, name); });
}

bool NaiveFit::affinity_matches(NodeIndex node) const {
  const bool selected = std::ranges::all_of(
      node_selector_, [&](const NodeRequirement& each) { return holds(each, node); });
  if (!selected) return false;
  return node_terms_.empty() ||
         std::ranges::any_of(node_terms_, [&](const NodeTerm& term) { return holds(term, node); });
}

bool NaiveFit::taints_tolerated(NodeIndex node) const {
  return std::ranges::all_of(cluster_.taints(cluster_.nodes().taints[node]),
                             [&](const Taint& taint) {
                               return taint.effect == TaintEffect::prefer_no_schedule ||
                                      tolerates(shape_.tolerations, taint);
                             });
}

bool NaiveFit::of_its_regime(NodeIndex node) const {
  return !regime_ || world_.regimes()->of_node(node) == *regime_;
}

MaybeRefusal NaiveFit::static_refusal(NodeIndex node) const {
  if (!shape_.unsupported.empty()) {
    return NaiveRefusal{RefusalReason::unsupported, shape_.unsupported.front()};
  }
  if (claims_.refusal_everywhere()) return NaiveRefusal{*claims_.refusal_everywhere(), {}};
  const NodeFlags flags = cluster_.nodes().flags[node];
  if (!flags.exists) return NaiveRefusal{RefusalReason::unschedulable, "no such node"};
  if (flags.unschedulable) {
    const Taint cordon{.key = std::string(names::cordon_taint)};
    if (!tolerates(shape_.tolerations, cordon)) {
      return NaiveRefusal{RefusalReason::unschedulable, {}};
    }
  }
  if (!taints_tolerated(node)) return NaiveRefusal{RefusalReason::taint, {}};
  const std::string& pin = cluster_.notes(cluster_.pods().notes[ask_]).required_node;
  const bool elsewhere = !pin.empty() && pin != cluster_.text(cluster_.nodes().name[node]);
  if (elsewhere || !affinity_matches(node)) return NaiveRefusal{RefusalReason::node_affinity, {}};
  if (!claims_.can_be_had(node)) return NaiveRefusal{RefusalReason::claim_node, {}};
  if (!crosses_ && !of_its_regime(node)) {
    return NaiveRefusal{RefusalReason::regime, choice_name(world_.regimes()->of_node(node))};
  }
  return std::nullopt;
}

bool NaiveFit::fits_when_empty(NodeIndex node) const {
  return std::ranges::all_of(requests_,
                             [&](const ResourceAmount& wanted) {
                               return wanted.amount <= allocatable(node, wanted.resource);
                             }) &&
         !static_refusal(node);
}

MaybeRefusal NaiveFit::lasting_refusal(NodeIndex node) const {
  for (const ResourceAmount& wanted : requests_) {
    if (wanted.amount > allocatable(node, wanted.resource)) {
      return NaiveRefusal{RefusalReason::resource, cluster_.resources().name(wanted.resource)};
    }
  }
  if (const MaybeRefusal refused = static_refusal(node)) return refused;
  if (const MaybeRefusal refused = claims_.lasting_refusal(node)) return refused;
  return topology_.missing_label(node);
}

// ---- Filters that look at the pods of the node --------------------------------------------------

bool NaiveFit::takes_port(PodIndex pod) const {
  const std::vector<HostPort>& ports = cluster_.shape(cluster_.pods().shape[pod]).ports;
  return std::ranges::any_of(ports, [&](const HostPort& taken) {
    const auto same = std::ranges::equal_range(shape_.ports, taken.port, {}, &HostPort::port);
    return std::ranges::any_of(same,
                               [&](const HostPort& wanted) { return conflict(wanted, taken); });
  });
}

void NaiveFit::count_ports(PodIndex pod, NodeIndex node, int delta) {
  const auto known = port_takers_.find(node);
  if (known != port_takers_.end() && takes_port(pod)) known->second += delta;
}

MaybeRefusal NaiveFit::port_refusal(NodeIndex node) const {
  if (shape_.ports.empty()) return std::nullopt;
  const auto [at, is_new] = port_takers_.try_emplace(node);
  if (is_new) {
    at->second = std::ranges::count_if(world_.pods_on(node),
                                       [this](PodIndex pod) { return takes_port(pod); });
  }
  if (at->second > 0) return NaiveRefusal{RefusalReason::host_port, {}};
  return std::nullopt;
}

std::int64_t NaiveFit::allocatable(NodeIndex node, ResourceIndex resource) const {
  for (const ResourceAmount& amount : cluster_.requests(cluster_.nodes().allocatable[node])) {
    if (amount.resource == resource) return amount.amount;
  }
  return 0;
}

/// Only what the ask requests counts, so a node that is overfull of something else may take it.
MaybeRefusal NaiveFit::resource_refusal(NodeIndex node) const {
  for (const ResourceAmount& wanted : requests_) {
    if (wanted.amount <= 0) continue;
    const std::int64_t kept = kept_free_.empty() ? 0 : kept_free_[wanted.resource.value];
    const std::int64_t used = saturated_add(world_.used(node, wanted.resource), kept);
    const auto sum = checked_add(used, wanted.amount);
    if (!sum || *sum > allocatable(node, wanted.resource)) {
      return NaiveRefusal{RefusalReason::resource, cluster_.resources().name(wanted.resource)};
    }
  }
  return std::nullopt;
}

MaybeRefusal NaiveFit::refusal(NodeIndex node) const {
  if (const MaybeRefusal refused = static_refusal(node)) return refused;
  if (const MaybeRefusal refused = port_refusal(node)) return refused;
  if (const MaybeRefusal refused = resource_refusal(node)) return refused;
  if (const MaybeRefusal refused = claims_.refusal(node)) return refused;
  return topology_.refusal(node);
}

bool NaiveFit::fits(NodeIndex node) const { return !resource_refusal(node) && !refusal(node); }

}  // namespace makeway

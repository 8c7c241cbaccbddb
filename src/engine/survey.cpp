#include "engine/survey.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/cordon.hpp"
#include "model/names.hpp"
#include "model/node_match.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

/// Node classes leave out names and hostnames.
bool names_single_nodes(const PodShape& shape) {
  const auto by_hostname = [](const auto& item) { return item.key == names::hostname; };
  if (std::ranges::any_of(shape.node_selector, by_hostname)) return true;
  const auto names_some = [&](const NodeSelectorTerm& term) {
    return !term.fields.empty() || std::ranges::any_of(term.labels, by_hostname);
  };
  return std::ranges::any_of(shape.node_terms, names_some) ||
         std::ranges::any_of(shape.preferences.nodes, names_some, &NodePreference::term);
}

}  // namespace

std::string taint_text(const Taint& taint) {
  constexpr std::array<std::string_view, 3> effects = {"NoSchedule", "PreferNoSchedule",
                                                       "NoExecute"};
  const std::string_view effect = effects.at(static_cast<std::size_t>(taint.effect));
  return taint.value.empty() ? fmt::format("{}:{}", taint.key, effect)
                             : fmt::format("{}={}:{}", taint.key, taint.value, effect);
}

Survey::Survey(const Cluster& cluster, const Configuration& configuration)
    : cluster_(cluster),
      regimes_(cluster, configuration),
      allocatable_(cluster.request_rows()),
      resource_notes_(cluster.resources().size()) {
  for (const Namespace* object : cluster.namespaces()) {
    if (object->plane.empty()) namespaces_.emplace(object->name, object);  // Asks are at home.
  }
  for (std::uint32_t column = 0; column < cluster.resources().size(); ++column) {
    resource_notes_[ResourceIndex{column}] = note(cluster.resources().name(ResourceIndex{column}));
  }
  for (std::size_t regime = 0; regime < by_regime_.size(); ++regime) {
    by_regime_[regime] =
        Refused{.reason = RefusalReason::regime, .detail = note(choice_names<Regime>[regime])};
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
    at->second.claims = &claims_of(id);
    at->second.by_node =
        names_single_nodes(*at->second.shape) || !at->second.claims->places.empty();
  }
  return at->second;
}

bool Survey::could_take(PodIndex pod, NodeIndex node) {
  const PodColumns& pods = cluster_.pods();
  const std::string& only = cluster_.notes(pods.notes[pod]).required_node;
  if (!only.empty() && cluster_.text(cluster_.nodes().name[node]) != only) return false;
  const std::span<const std::int64_t> has = allocatable(node);
  return std::ranges::all_of(
             request_of(cluster_, pod),
             [&](const ResourceAmount& item) { return item.amount <= has[item.resource.value]; }) &&
         !placing(pod, node).refused;
}

const StaticVerdict& Survey::judge_new(ShapeVerdicts& known, std::size_t slot, NodeIndex node) {
  const std::size_t rows = cluster_.nodes().slots();
  const bool room = !known.verdicts.empty() || verdict_rows_ + rows <= verdict_rows_max;
  const bool apart = known.by_node && (!known.first.known || !room);
  if (apart) known.first_slot = slot;
  if (!apart && known.by_node && known.verdicts.empty()) verdict_rows_ += rows;
  if (!apart && slot >= known.verdicts.size()) known.verdicts.resize(slot + 1);
  StaticVerdict& verdict = apart ? known.first : known.verdicts[slot];
  if (known.by_node) {
    verdict = judge(known, labels(cluster_.nodes().labels[node]),
                    cluster_.text(cluster_.nodes().name[node]), cluster_.nodes().taints[node],
                    cluster_.nodes().flags[node].unschedulable);
  } else {
    const NodeClass& shared = cluster_.node_class(cluster_.nodes().node_class[node]);
    verdict = judge(known, labels(shared.labels), {}, shared.taints, shared.unschedulable);
  }
  return verdict;
}

/// In the order of kube-scheduler's filters: the first refusal is the one that is reported.
StaticVerdict Survey::judge(const ShapeVerdicts& known, const Labels& labels,
                            std::string_view node_name, TaintSetId taints, bool unschedulable) {
  const PodShape& shape = *known.shape;
  const ShapeClaims& claims = *known.claims;
  StaticVerdict verdict{.known = true};
  const auto refuse = [&](RefusalReason reason, std::string_view detail) {
    if (!verdict.refused) verdict.refused = Refused{.reason = reason, .detail = note(detail)};
  };
  if (!shape.unsupported.empty()) {
    refuse(RefusalReason::unsupported, shape.unsupported.front());
  } else if (claims.refused) {
    refuse(claims.refused->reason, text(claims.refused->note));
  }
  if (unschedulable && !tolerates(shape, {.key = std::string(names::cordon_taint)})) {
    refuse(RefusalReason::unschedulable, {});
  }
  for (const Taint& taint : cluster_.taints(taints)) {
    if (!keeps_away(taint) || tolerates(shape, taint)) continue;
    verdict.taints_tolerated = false;
    refuse(RefusalReason::taint, taint_text(taint));
    break;
  }
  for (const Taint& taint : cluster_.taints(taints)) {
    const bool avoids = taint.effect == TaintEffect::prefer_no_schedule && !tolerates(shape, taint);
    if (avoids) ++verdict.avoided;
  }
  for (const NodePreference& preference : shape.preferences.nodes) {
    if (selects_node(preference.term, labels, node_name)) verdict.preferred += preference.weight;
  }
  verdict.affinity_matches = allows_node(shape, labels, node_name);
  if (!verdict.affinity_matches) refuse(RefusalReason::node_affinity, {});
  const auto away = std::ranges::find_if(claims.places, [&](const ClaimPlace& place) {
    return !can_be_had(place, labels, node_name);
  });
  if (away != claims.places.end()) refuse(RefusalReason::claim_node, text(away->note));
  return verdict;
}

const ShapeClaims& Survey::claims_of(ShapeId shape) {
  static const ShapeClaims none;
  const PodShape& object = cluster_.shape(shape);
  if (object.claims.empty()) return none;
  const auto [at, is_new] = claims_.try_emplace(shape);
  if (is_new) at->second = resolve_claims(cluster_, object, texts_);
  return at->second;
}

bool Survey::unsupported(PodIndex pod) {
  const ShapeId shape = cluster_.pods().shape[pod];
  if (!cluster_.shape(shape).unsupported.empty()) return true;
  const std::optional<ClaimRefusal>& refused = claims_of(shape).refused;
  return refused && refused->reason == RefusalReason::unsupported;
}

void Survey::read_volume_limits() {
  volume_limits_.emplace();
  for (const auto& [key, object] : cluster_.own<CsiNode>()) {
    const std::optional<NodeIndex> node = cluster_.find_node(object.name);
    if (!node) continue;
    for (const VolumeLimit& limit : object.limits) {
      (*volume_limits_)[note(limit.driver)][*node] = limit.count;
    }
  }
}

bool Survey::is_limited(StringId driver) {
  if (!volume_limits_) read_volume_limits();
  return volume_limits_->contains(driver);
}

std::optional<std::int32_t> Survey::volume_limit(StringId driver, NodeIndex node) {
  if (!is_limited(driver)) return std::nullopt;
  const std::map<NodeIndex, std::int32_t>& limits = volume_limits_->at(driver);
  const auto found = limits.find(node);
  return found == limits.end() ? std::nullopt : std::optional(found->second);
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

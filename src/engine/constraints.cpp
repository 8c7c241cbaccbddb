#include "engine/constraints.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "engine/departures.hpp"
#include "model/selector.hpp"

namespace makeway {
namespace {

Refused refused(RefusalReason reason, Survey& survey, std::string_view detail,
                std::int64_t amount = 0) {
  // Required affinity is not something that making room brings about.
  const bool resolvable =
      reason != RefusalReason::affinity && reason != RefusalReason::spread_label;
  return {
      .reason = reason, .detail = survey.note(detail), .amount = amount, .resolvable = resolvable};
}

}  // namespace

bool looks_at_others(const PodShape& shape) {
  return !shape.affinity.empty() || !shape.anti_affinity.empty() || !shape.spread.empty() ||
         !shape.claims.empty();
}

bool PodConstraints::Matcher::matches(Survey& survey, LabelSetId labels) {
  if (!*selector_) return false;
  if (labels.value >= answers_.size()) answers_.resize(labels.value + 1);
  std::uint8_t& answer = answers_[labels.value];
  if (answer == 0) answer = makeway::matches(**selector_, survey.labels(labels)) ? 2 : 1;
  return answer == 2;
}

PodConstraints::PodConstraints(Survey& survey, Scratch& scratch, PodIndex ask)
    : survey_(survey), scratch_(scratch), ask_(ask) {
  const Cluster& cluster = survey.cluster();
  const PodShape& shape = cluster.shape(cluster.pods().shape[ask]);
  for (const PodAffinityTerm& term : shape.affinity) affinity_.push_back(term_of(term));
  for (const PodAffinityTerm& term : shape.anti_affinity) anti_affinity_.push_back(term_of(term));
  for (const PodPreference& preference : shape.preferences.pods) {
    preferences_.push_back({.weight = preference.weight, .term = term_of(preference.term)});
  }
  add_spread(shape.spread, spread_);
  add_spread(shape.preferences.spread, preferred_spread_);
  add_claims();
  ask_matches_itself_ = !affinity_.empty() && matches_all_affinity(ask);
  has_terms_ =
      !(affinity_.empty() && anti_affinity_.empty() && spread_.empty()) || has_preferences();
  count_everything();
  scratch_.attach(*this);
}

PodConstraints::Term PodConstraints::term_of(const PodAffinityTerm& term) {
  const Topology& topology = survey_.topology(term.topology_key);
  return {.term = &term,
          .topology = &topology,
          .matcher = Matcher(term.selector),
          .counts = std::vector<std::int32_t>(topology.domains),
          .covers_namespace = {}};
}

PodConstraints::~PodConstraints() { scratch_.detach(*this); }

void PodConstraints::add_claims() {
  const ShapeClaims& claims = survey_.claims_of(survey_.cluster().pods().shape[ask_]);
  for (const StringId claim : claims.one_pod) one_pod_.push_back({.claim = claim});
  std::ranges::copy_if(claims.volumes, std::back_inserter(volumes_),
                       [&](const AttachedVolume& each) { return survey_.is_limited(each.driver); });
}

void PodConstraints::count_claims(ShapeId shape, int delta) {
  for (const StringId claim : survey_.claims_of(shape).volume_claims) {
    for (OnePodClaim& own : one_pod_) {
      if (own.claim == claim) own.users += delta;
    }
  }
}

bool PodConstraints::claim_in_use() const {
  return std::ranges::any_of(one_pod_, [](const OnePodClaim& own) { return own.users > 0; });
}

bool PodConstraints::uses_one_pod_claim(ShapeId shape) {
  if (one_pod_.empty()) return false;
  const std::vector<StringId>& used = survey_.claims_of(shape).volume_claims;
  return std::ranges::any_of(one_pod_, [&](const OnePodClaim& own) {
    return std::ranges::find(used, own.claim) != used.end();
  });
}

bool PodConstraints::shares_volume(PodIndex pod) {
  const ShapeClaims& claims = survey_.claims_of(survey_.cluster().pods().shape[pod]);
  return std::ranges::any_of(volumes_, [&](const AttachedVolume& each) {
    return std::ranges::binary_search(claims.volumes, each);
  });
}

std::optional<Refused> PodConstraints::check_claims(NodeIndex node) const {
  for (const OnePodClaim& own : one_pod_) {
    if (own.users <= 0) continue;
    return Refused{.reason = RefusalReason::volume_in_use, .detail = own.claim, .resolvable = true};
  }
  return volumes_.empty() ? std::nullopt : check_volume_limits(node);
}

/// Only drivers count of which the ask would bring something new: a node that has more than it
/// takes may keep what is there.
std::optional<Refused> PodConstraints::check_volume_limits(NodeIndex node) const {
  const bool limited = std::ranges::any_of(volumes_, [&](const AttachedVolume& each) {
    return survey_.volume_limit(each.driver, node).has_value();
  });
  if (!limited) return std::nullopt;
  std::set<AttachedVolume> there;
  const Cluster& cluster = survey_.cluster();
  scratch_.for_each_pod(node, [&](PodIndex pod) {
    const ShapeId shape = cluster.pods().shape[pod];
    if (shape == ShapeId{0}) return;
    const ShapeClaims& claims = survey_.claims_of(shape);
    there.insert(claims.volumes.begin(), claims.volumes.end());
  });
  for (auto first = volumes_.begin(); first != volumes_.end();) {
    const StringId driver = first->driver;
    const auto end = std::find_if(first, volumes_.end(), [driver](const AttachedVolume& each) {
      return each.driver != driver;
    });
    const std::int64_t own = end - first;
    const std::int64_t fresh = std::count_if(
        first, end, [&](const AttachedVolume& each) { return !there.contains(each); });
    const std::int64_t used = std::ranges::count(there, driver, &AttachedVolume::driver);
    const std::optional<std::int32_t> limit = survey_.volume_limit(driver, node);
    first = end;
    if (!limit || fresh == 0 || used + fresh <= *limit) continue;
    return Refused{.reason = RefusalReason::volume_limit,
                   .detail = driver,
                   .amount = used + fresh - *limit,
                   .resolvable = own <= *limit};
  }
  return std::nullopt;
}

void PodConstraints::add_spread(const std::vector<SpreadConstraint>& constraints,
                                std::vector<Spread>& to) {
  const LabelSetId own_labels = survey_.cluster().pods().labels[ask_];
  for (const SpreadConstraint& constraint : constraints) {
    const Topology& topology = survey_.topology(constraint.topology_key);
    Spread spread{
        .constraint = &constraint,
        .topology = &topology,
        .matcher = Matcher(constraint.selector),
        .takes_part = IndexedVector<NodeIndex, std::uint8_t>(survey_.cluster().nodes().slots(), 0),
        .counts = std::vector<std::int32_t>(topology.domains),
        .domain_takes_part = std::vector<std::uint8_t>(topology.domains),
        .domains_by_count = {}};
    spread.counts_pods = constraint.selector && !constraint.selector->requirements.empty();
    spread.self = spread.matcher.matches(survey_, own_labels) ? 1 : 0;
    to.push_back(std::move(spread));
  }
  if (to.empty()) return;
  std::vector<NodeIndex> with_all_keys;
  std::ranges::copy_if(survey_.nodes(), std::back_inserter(with_all_keys), [&](NodeIndex node) {
    return std::ranges::all_of(
        to, [&](const Spread& each) { return each.topology->domain[node] != Topology::no_domain; });
  });
  for (Spread& spread : to) {
    for (const NodeIndex node : with_all_keys) {
      const StaticVerdict& placing = survey_.placing(ask_, node);
      if (spread.constraint->honor_node_affinity && !placing.affinity_matches) continue;
      if (spread.constraint->honor_node_taints && !placing.taints_tolerated) continue;
      spread.takes_part[node] = 1;
      std::uint8_t& known = spread.domain_takes_part[spread.topology->domain[node]];
      if (known == 0) {
        ++spread.domains;
        ++spread.domains_by_count[0];
      }
      known = 1;
    }
  }
}

bool PodConstraints::matches(Term& term, PodIndex pod) {
  const PodColumns& pods = survey_.cluster().pods();
  if (!term.matcher.matches(survey_, pods.labels[pod])) return false;
  if (pods.plane[pod] != pods.plane[ask_]) return false;
  const StringId space = pods.namespace_name[pod];
  const auto [at, is_new] = term.covers_namespace.try_emplace(space, false);
  if (is_new) at->second = survey_.covers(*term.term, survey_.cluster().text(space));
  return at->second;
}

std::vector<std::int32_t> PodConstraints::least_counts() const {
  std::vector<std::int32_t> counts;
  counts.reserve(spread_.size());
  for (const Spread& spread : spread_) counts.push_back(spread.least_count());
  return counts;
}

std::vector<const Topology*> PodConstraints::spread_topologies() const {
  std::vector<const Topology*> topologies;
  topologies.reserve(spread_.size());
  for (const Spread& spread : spread_) topologies.push_back(spread.topology);
  return topologies;
}

bool PodConstraints::matches_all_affinity(PodIndex pod) {
  return std::ranges::all_of(affinity_, [&](Term& term) { return matches(term, pod); });
}

bool PodConstraints::wanted(PodIndex pod) {
  return (!affinity_.empty() && matches_all_affinity(pod)) || shares_volume(pod);
}

bool PodConstraints::heeds(PodIndex pod) {
  const PodColumns& pods = survey_.cluster().pods();
  const bool near = pods.namespace_name[pod] == pods.namespace_name[ask_];
  const auto spreads = [&](Spread& spread) {
    return near && spread.counts_pods && spread.matcher.matches(survey_, pods.labels[pod]);
  };
  return wanted(pod) || std::ranges::any_of(spread_, spreads) ||
         uses_one_pod_claim(pods.shape[pod]) ||
         (!volumes_.empty() && !survey_.claims_of(pods.shape[pod]).volumes.empty());
}

/// Whether its domains have several nodes.
bool PodConstraints::is_wide(const Topology& topology) const {
  return std::size_t{2} * topology.domains <= survey_.nodes().size();
}

std::vector<const Topology*> PodConstraints::closed_topologies() const {
  std::vector<const Topology*> closed;
  const auto add = [&](const Topology& topology, const std::vector<std::int32_t>& counts) {
    const bool any_pod = std::ranges::any_of(counts, [](std::int32_t count) { return count > 0; });
    if (any_pod && is_wide(topology)) closed.push_back(&topology);
  };
  for (const Term& term : anti_affinity_) add(*term.topology, term.counts);
  for (const Repelling& entry : repelling_) add(*entry.topology, entry.counts);
  std::ranges::sort(closed, {}, [](const Topology* topology) { return topology->key; });
  const auto repeated = std::ranges::unique(closed);
  closed.erase(repeated.begin(), repeated.end());
  return closed;
}

bool PodConstraints::keeps_away(PodIndex pod, NodeIndex there, NodeIndex node) {
  const PodColumns& pods = survey_.cluster().pods();
  const auto together = [&](const Topology& topology) {
    const std::uint32_t domain = topology.domain[node];
    return domain != Topology::no_domain && domain == topology.domain[there] && is_wide(topology);
  };
  for (Term& term : anti_affinity_) {
    if (together(*term.topology) && matches(term, pod)) return true;
  }
  if (pods.shape[pod] == ShapeId{0} || pods.plane[pod] != pods.plane[ask_]) return false;
  if (uses_one_pod_claim(pods.shape[pod])) return true;
  return std::ranges::any_of(repelling_of(pods.shape[pod]),
                             [&](std::size_t at) { return together(*repelling_[at].topology); });
}

/// Which of the counts in `repelling_` a pod of this shape adds to; made on demand.
const std::vector<std::size_t>& PodConstraints::repelling_of(ShapeId shape) {
  const auto [at, is_new] = repelling_by_shape_.try_emplace(shape);
  if (!is_new) return at->second;
  const Cluster& cluster = survey_.cluster();
  const Labels& labels = survey_.labels(cluster.pods().labels[ask_]);
  const std::string_view space = cluster.text(cluster.pods().namespace_name[ask_]);
  for (const PodAffinityTerm& term : cluster.shape(shape).anti_affinity) {
    if (!term.selector || !makeway::matches(*term.selector, labels)) continue;
    if (!survey_.covers(term, space)) continue;
    const Topology& topology = survey_.topology(term.topology_key);
    const auto same = [&](const Repelling& entry) { return entry.topology == &topology; };
    const auto found = std::ranges::find_if(repelling_, same);
    at->second.push_back(static_cast<std::size_t>(found - repelling_.begin()));
    if (found != repelling_.end()) continue;
    repelling_.push_back({&topology, std::vector<std::int32_t>(topology.domains)});
  }
  return at->second;
}

void PodConstraints::count_everything() {
  if (!has_terms_ && one_pod_.empty()) {
    for (const PodIndex pod : survey_.cluster().repelling_pods()) {
      const NodeIndex node = scratch_.node_of(pod);
      if (node.exists()) count(pod, node, 1);
    }
    return;
  }
  for (const PodIndex pod : survey_.cluster().each_row()) {
    const NodeIndex node = scratch_.node_of(pod);
    if (node.exists()) count(pod, node, 1);
  }
}

void PodConstraints::moved(PodIndex pod, NodeIndex node, int delta) {
  if (has_terms_ || survey_.cluster().pods().shape[pod] != ShapeId{0}) count(pod, node, delta);
}

void PodConstraints::count(PodIndex pod, NodeIndex node, int delta) {
  const PodColumns& pods = survey_.cluster().pods();
  const auto add = [&](const Topology& topology, std::vector<std::int32_t>& counts) {
    const std::uint32_t domain = topology.domain[node];
    if (domain == Topology::no_domain) return false;
    counts[domain] += delta;
    return true;
  };
  for (Spread& spread : spread_) count_spread(spread, pod, node, delta);
  for (Spread& spread : preferred_spread_) count_spread(spread, pod, node, delta);
  for (Preference& preference : preferences_) {
    if (matches(preference.term, pod)) add(*preference.term.topology, preference.term.counts);
  }
  if (!affinity_.empty() && matches_all_affinity(pod)) {
    for (Term& term : affinity_) {
      if (add(*term.topology, term.counts)) affinity_total_ += delta;
    }
  }
  for (Term& term : anti_affinity_) {
    if (matches(term, pod)) add(*term.topology, term.counts);
  }
  if (pods.shape[pod] == ShapeId{0} || pods.plane[pod] != pods.plane[ask_]) return;
  if (!one_pod_.empty()) count_claims(pods.shape[pod], delta);
  for (const std::size_t at : repelling_of(pods.shape[pod])) {
    add(*repelling_[at].topology, repelling_[at].counts);
  }
}

/// Pods that are leaving do not count: they are not there when the ask starts.
bool PodConstraints::counts(Spread& spread, PodIndex pod, NodeIndex node) {
  const PodColumns& pods = survey_.cluster().pods();
  if (!spread.counts_pods || spread.takes_part[node] == 0) return false;
  if (Departures::leaving(survey_.cluster(), pod)) return false;
  if (pods.namespace_name[pod] != pods.namespace_name[ask_]) return false;
  if (pods.plane[pod] != pods.plane[ask_]) return false;
  return spread.matcher.matches(survey_, pods.labels[pod]);
}

void PodConstraints::count_spread(Spread& spread, PodIndex pod, NodeIndex node, int delta) {
  if (!counts(spread, pod, node)) return;
  std::int32_t& count = spread.counts[spread.topology->domain[node]];
  const auto old = spread.domains_by_count.find(count);
  if (--old->second == 0) spread.domains_by_count.erase(old);
  count += delta;
  ++spread.domains_by_count[count];
}

/// A node without the label of a preference about others is as bad as the worst domain.
PodConstraints::PreferenceCount PodConstraints::preferences_on(NodeIndex node) const {
  PreferenceCount result;
  for (const Preference& preference : preferences_) {
    const std::uint32_t domain = preference.term.topology->domain[node];
    if (domain == Topology::no_domain) continue;
    result.points += std::int64_t{preference.weight} * preference.term.counts[domain];
  }
  for (const Spread& spread : preferred_spread_) {
    const std::uint32_t domain = spread.topology->domain[node];
    const std::int32_t most =
        spread.domains_by_count.empty() ? 0 : spread.domains_by_count.rbegin()->first;
    result.crowded += domain == Topology::no_domain ? most + 1 : spread.counts[domain];
  }
  return result;
}

/// A leaving pod can only lower the least count of a domain, which the skew is measured from.
bool PodConstraints::closed_by_placed(NodeIndex node) {
  const std::span<const PodIndex> placed = scratch_.placed(node);
  if (placed.empty()) return false;
  for (Term& term : anti_affinity_) {
    if (term.topology->domain[node] == Topology::no_domain) continue;
    if (std::ranges::any_of(placed, [&](PodIndex pod) { return matches(term, pod); })) return true;
  }
  return std::ranges::any_of(spread_, [&](Spread& spread) {
    const std::int64_t staying =
        std::ranges::count_if(placed, [&](PodIndex pod) { return counts(spread, pod, node); });
    return staying > 0 && staying + spread.self - base_count(spread) > spread.constraint->skew_max;
  });
}

/// What the skew of a domain is measured from.
std::int64_t PodConstraints::base_count(const Spread& spread) {
  const bool too_few = spread.domains < spread.constraint->domains_min;
  return too_few ? 0 : spread.least_count();
}

std::optional<Refused> PodConstraints::check(NodeIndex node) const {
  if (auto refusal = check_claims(node)) return refusal;
  for (const Spread& spread : spread_) {
    if (auto refusal = check_spread(spread, node)) return refusal;
  }
  if (auto refusal = check_affinity(node)) return refusal;
  for (const Term& term : anti_affinity_) {
    const std::uint32_t domain = term.topology->domain[node];
    if (domain != Topology::no_domain && term.counts[domain] > 0) {
      return refused(RefusalReason::anti_affinity, survey_, term.topology->key);
    }
  }
  // Their order is that of the pods' slots, which must leave no trace: the first key is reported.
  const Topology* repelling = nullptr;
  for (const Repelling& entry : repelling_) {
    const std::uint32_t domain = entry.topology->domain[node];
    if (domain == Topology::no_domain || entry.counts[domain] <= 0) continue;
    if (repelling == nullptr || entry.topology->key < repelling->key) repelling = entry.topology;
  }
  if (repelling == nullptr) return std::nullopt;
  return refused(RefusalReason::repelled, survey_, repelling->key);
}

std::optional<Refused> PodConstraints::check_spread(const Spread& spread, NodeIndex node) const {
  const std::uint32_t domain = spread.topology->domain[node];
  if (domain == Topology::no_domain) {
    return refused(RefusalReason::spread_label, survey_, spread.topology->key);
  }
  const std::int64_t skew = std::int64_t{spread.counts[domain]} + spread.self - base_count(spread);
  if (skew <= spread.constraint->skew_max) return std::nullopt;
  return refused(RefusalReason::spread, survey_, spread.topology->key,
                 skew - spread.constraint->skew_max);
}

std::optional<Refused> PodConstraints::check_affinity(NodeIndex node) const {
  if (affinity_.empty()) return std::nullopt;
  const Topology* missing = nullptr;
  for (const Term& term : affinity_) {
    const std::uint32_t domain = term.topology->domain[node];
    if (domain == Topology::no_domain) {
      return refused(RefusalReason::affinity, survey_, term.topology->key);
    }
    if (term.counts[domain] <= 0 && missing == nullptr) missing = term.topology;
  }
  if (missing == nullptr) return std::nullopt;
  // The first of a series that wants to be together has no pod to join yet.
  if (affinity_total_ == 0 && ask_matches_itself_) return std::nullopt;
  return refused(RefusalReason::affinity, survey_, missing->key);
}

}  // namespace makeway

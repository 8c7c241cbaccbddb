// The engine's running counts against recomputation from nothing, over random clusters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.hpp"
#include "engine/fit.hpp"
#include "engine/scratch.hpp"
#include "judge/naive_fit.hpp"
#include "judge/naive_regimes.hpp"
#include "model/node_match.hpp"
#include "model/selector.hpp"
#include "support/property.hpp"
#include "support/random_objects.hpp"
#include "support/random_planning.hpp"

namespace makeway::engine_properties {
namespace {

Cluster random_cluster(Prng& random) {
  if (random.chance(50)) {
    RandomPlanning options = random_planning_options(random);
    options.preferences = random.chance(50);
    return cluster_of(random_planning(random, options));
  }
  // A wild history: amounts that saturate, references that dangle, freed slots.
  RandomClusterOptions options = random_options(random);
  options.features.claims = random.chance(50);
  return cluster_of(random_changes(random, options), random.chance(50));
}

/// Where every pod is, in the plainest form.
using Whereabouts = IndexedVector<PodIndex, NodeIndex>;

std::vector<PodIndex> existing_pods(const Cluster& cluster) { return cluster.pods_by_name(); }

std::vector<NodeIndex> existing_nodes(const Cluster& cluster) { return cluster.nodes_by_name(); }

Whereabouts whereabouts(const Cluster& cluster) {
  Whereabouts where(cluster.pods().slots(), NodeIndex{});
  for (const PodIndex pod : existing_pods(cluster)) where[pod] = cluster.pods().node[pod];
  return where;
}

void expect_equal(const Scratch& scratch, const Whereabouts& where) {
  const Cluster& cluster = scratch.cluster();
  for (const PodIndex pod : existing_pods(cluster)) {
    ASSERT_EQ(scratch.node_of(pod), where[pod]) << cluster.pod_key(pod);
  }
  for (const NodeIndex node : existing_nodes(cluster)) {
    std::vector<PodIndex> pods;
    std::vector<std::int64_t> used(cluster.order().columns());
    for (const PodIndex pod : existing_pods(cluster)) {
      if (where[pod] != node) continue;
      pods.push_back(pod);
      for (const ResourceAmount& item : cluster.requests(cluster.pods().requests[pod])) {
        used[item.resource.value] = saturated_add(used[item.resource.value], item.amount);
      }
    }
    const std::span<const std::int64_t> row = scratch.used(node);
    ASSERT_EQ(std::vector<std::int64_t>(row.begin(), row.end()), used);
    std::vector<PodIndex> visited;
    scratch.for_each_pod(node, [&](PodIndex pod) { visited.push_back(pod); });
    std::ranges::sort(visited);
    std::ranges::sort(pods);
    ASSERT_EQ(visited, pods);
  }
}

TEST(EngineProperties, ScratchAgreesWithRecomputation) {
  Skips empty;
  for_each_case("scratch agrees with recomputation", [&](Prng& random) {
    const Cluster cluster = random_cluster(random);
    const std::vector<PodIndex> pods = existing_pods(cluster);
    const std::vector<NodeIndex> nodes = existing_nodes(cluster);
    if (pods.empty() || nodes.empty()) return empty.add();
    Scratch scratch(cluster);
    Whereabouts where = whereabouts(cluster);
    std::vector<std::pair<Scratch::Checkpoint, Whereabouts>> checkpoints;
    for (int step = 0; step < 25; ++step) {
      const PodIndex pod = random.pick(pods);
      const std::uint64_t drawn = random.below(100);
      if (drawn < 10) {
        checkpoints.emplace_back(scratch.checkpoint(), where);
      } else if (drawn < 18 && !checkpoints.empty()) {
        checkpoints.resize(1 + random.below(checkpoints.size()), checkpoints.front());
        scratch.rollback(checkpoints.back().first);
        where = checkpoints.back().second;
      } else if (where[pod].exists()) {
        scratch.remove(pod);
        where[pod] = NodeIndex{};
      } else {
        const NodeIndex home = cluster.pods().node[pod];
        where[pod] = home.exists() && random.chance(60) ? home : random.pick(nodes);
        scratch.place(pod, where[pod]);
      }
      expect_equal(scratch, where);
      if (testing::Test::HasFailure()) return;
    }
    scratch.rollback({});
    expect_equal(scratch, whereabouts(cluster));
  });
  empty.expect_at_most(20, "have no pod or no node");
}

// ---- Feasibility ----------------------------------------------------------------------------

struct Verdict {
  std::string reason;  ///< "fits", or why not.
  std::string detail;
  std::int64_t amount = 0;
  bool resolvable = false;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

void PrintTo(const Verdict& verdict, std::ostream* out) {
  *out << fmt::format("{} {} {}{}", verdict.reason, verdict.detail, verdict.amount,
                      verdict.resolvable ? " resolvable" : "");
}

Verdict verdict_of(PodFit& fit, NodeIndex node) {
  const std::optional<Refused> refused = fit.check(node);
  if (!refused) return {.reason = "fits"};
  return {.reason = std::string(choice_name(refused->reason)),
          .detail = std::string(fit.survey().text(refused->detail)),
          .amount = refused->amount,
          .resolvable = refused->resolvable};
}

// ---- Preferences ----------------------------------------------------------------------------

struct PreferenceVerdict {
  std::int64_t avoided = 0;
  std::int64_t preferred = 0;
  std::int64_t points = 0;
  std::int64_t crowded = 0;

  friend bool operator==(const PreferenceVerdict&, const PreferenceVerdict&) = default;
};

void PrintTo(const PreferenceVerdict& verdict, std::ostream* out) {
  *out << fmt::format("{} avoided, {} preferred, {} points, {} crowded", verdict.avoided,
                      verdict.preferred, verdict.points, verdict.crowded);
}

PreferenceVerdict preferences_of(PodFit& fit, NodeIndex node) {
  const StaticVerdict& says = fit.says(node);
  const PodConstraints::PreferenceCount counted = fit.constraints().preferences_on(node);
  return {.avoided = says.avoided,
          .preferred = says.preferred,
          .points = counted.points,
          .crowded = counted.crowded};
}

/// From nothing: every pod that is there, every preference.
class NaivePreferences {
 public:
  /// `nodes`: where pods are placed.
  NaivePreferences(const Cluster& cluster, std::span<const NodeIndex> nodes, const Scratch& scratch,
                   PodIndex ask)
      : cluster_(cluster), nodes_(nodes), scratch_(scratch), ask_(cluster.pod(ask)) {}

  PreferenceVerdict on(NodeIndex at) const {
    const Node node = cluster_.node(at);
    PreferenceVerdict verdict;
    for (const Taint& taint : node.taints) {
      const bool is_preference = taint.effect == TaintEffect::prefer_no_schedule;
      if (is_preference && !tolerates(ask_.shape, taint)) ++verdict.avoided;
    }
    for (const NodePreference& preference : ask_.shape.preferences.nodes) {
      if (selects_node(preference.term, node.labels, node.name))
        verdict.preferred += preference.weight;
    }
    for (const PodPreference& preference : ask_.shape.preferences.pods) {
      const auto domain = find_label(node.labels, preference.term.topology_key);
      if (!domain) continue;
      verdict.points += preference.weight * count([&](const Pod& pod, NodeIndex there) {
                          const Labels labels = cluster_.node(there).labels;
                          return find_label(labels, preference.term.topology_key) == domain &&
                                 wants(preference.term, pod);
                        });
    }
    for (const SpreadConstraint& spread : ask_.shape.preferences.spread) {
      verdict.crowded += crowd(spread, node);
    }
    return verdict;
  }

 private:
  template <class Counts>
  std::int64_t count(const Counts& counts) const {
    std::int64_t sum = 0;
    for (const PodIndex row : existing_pods(cluster_)) {
      const NodeIndex where = scratch_.node_of(row);
      if (!where.exists() || !cluster_.nodes().flags[where].exists) continue;
      if (counts(cluster_.pod(row), where)) ++sum;
    }
    return sum;
  }
  bool wants(const PodAffinityTerm& term, const Pod& pod) const {
    if (!term.selector || !matches(*term.selector, pod.labels) || pod.plane != ask_.plane) {
      return false;
    }
    if (std::ranges::find(term.namespaces, pod.namespace_name) != term.namespaces.end()) {
      return true;
    }
    if (!term.namespace_selector) return false;
    Labels labels;
    for (const Namespace* const each : cluster_.namespaces()) {
      if (each->plane.empty() && each->name == pod.namespace_name) labels = each->labels;
    }
    return matches(*term.namespace_selector, labels);
  }
  bool takes_part(const SpreadConstraint& spread, NodeIndex at) const {
    if (std::ranges::find(nodes_, at) == nodes_.end()) return false;
    const Node node = cluster_.node(at);
    for (const SpreadConstraint& each : ask_.shape.preferences.spread) {
      if (!find_label(node.labels, each.topology_key)) return false;
    }
    const PodShape& shape = ask_.shape;
    const bool selected = std::ranges::all_of(shape.node_selector, [&](const Label& wanted) {
      return find_label(node.labels, wanted.key) == wanted.value;
    });
    const bool affine =
        selected && (shape.node_terms.empty() ||
                     std::ranges::any_of(shape.node_terms, [&](const NodeSelectorTerm& term) {
                       return selects_node(term, node.labels, node.name);
                     }));
    const bool tolerated = std::ranges::all_of(node.taints, [&](const Taint& taint) {
      return taint.effect == TaintEffect::prefer_no_schedule || tolerates(shape, taint);
    });
    return (affine || !spread.honor_node_affinity) && (tolerated || !spread.honor_node_taints);
  }
  /// Pods in the node's domain; without one, one more than in the fullest.
  std::int64_t crowd(const SpreadConstraint& spread, const Node& node) const {
    const auto in_domain = [&](std::string_view domain) {
      return count([&](const Pod& pod, NodeIndex there) {
        const Labels labels = cluster_.node(there).labels;
        return find_label(labels, spread.topology_key) == domain && takes_part(spread, there) &&
               !pod.deletion && pod.namespace_name == ask_.namespace_name &&
               pod.plane == ask_.plane && spread.selector &&
               !spread.selector->requirements.empty() && matches(*spread.selector, pod.labels);
      });
    };
    if (const auto own = find_label(node.labels, spread.topology_key)) return in_domain(*own);
    std::int64_t most = 0;
    for (const NodeIndex each : existing_nodes(cluster_)) {
      const Node other = cluster_.node(each);
      const auto domain = find_label(other.labels, spread.topology_key);
      if (domain) most = std::max(most, in_domain(*domain));
    }
    return most + 1;
  }

  const Cluster& cluster_;
  std::span<const NodeIndex> nodes_;
  const Scratch& scratch_;
  Pod ask_;
};

/// Beside the nominated pods that hold their room, then alone: the rule of PodFit.
std::string naive_reason(NaiveFit& fit, NodeIndex node) {
  const Cluster& cluster = fit.world().cluster();
  const auto priority = [&](PodIndex pod) {
    return cluster.units()[cluster.pods().unit[pod]].scheduling_priority;
  };
  std::vector<PodIndex> holders;
  for (const PodIndex pod : cluster.nodes().nominated[node]) {
    if (pod == fit.ask()) continue;
    if (!fit.world().regimes()->may_go(pod, node)) continue;  // Void.
    if (priority(pod) >= priority(fit.ask())) holders.push_back(pod);
  }
  for (const PodIndex pod : holders) fit.place(pod, node);
  MaybeRefusal refused = fit.refusal(node);
  for (const PodIndex pod : holders) fit.remove(pod);
  if (!refused) refused = fit.refusal(node);
  return refused ? std::string(choice_name(refused->reason)) : "fits";
}

/// One ask in a world that changes, seen three ways.
class FitComparison {
 public:
  FitComparison(const Cluster& cluster, PodIndex ask)
      : cluster_(cluster),
        configuration_(every_nomination_holds()),
        survey_(cluster, configuration_),
        scratch_(cluster),
        holds_(survey_, configuration_),
        fit_(survey_, scratch_, ask, holds_),
        regimes_(cluster, configuration_),
        world_(cluster, &regimes_),
        naive_(world_, ask) {}

  /// The naive one knows neither void nominations nor reservations.
  static Configuration every_nomination_holds() {
    Configuration configuration;
    configuration.workload.nomination_held_by = NominationHeldBy::preempted_pods;
    configuration.required_node.enabled = false;
    return configuration;
  }

  void move(Prng& random) {
    const std::vector<PodIndex> pods = bound_pods();
    const PodIndex pod = random.pick(pods);
    if (scratch_.node_of(pod).exists()) {
      scratch_.remove(pod);
      naive_.remove(pod);
    } else {
      scratch_.place(pod, cluster_.pods().node[pod]);
      naive_.put_back(pod);
    }
  }

  void compare() {
    Survey fresh_survey(cluster_, configuration_);
    Scratch fresh_scratch(cluster_);
    for (const PodIndex pod : bound_pods()) {
      if (!scratch_.node_of(pod).exists()) fresh_scratch.remove(pod);
    }
    PodFit fresh(fresh_survey, fresh_scratch, fit_.ask(), holds_);
    const NaivePreferences preferences(cluster_, survey_.nodes(), scratch_, fit_.ask());
    for (const NodeIndex node : existing_nodes(cluster_)) {
      ASSERT_EQ(preferences_of(fit_, node), preferences.on(node)) << where(node);
      const Verdict verdict = verdict_of(fit_, node);
      ASSERT_EQ(verdict, verdict_of(fresh, node)) << where(node);
      ASSERT_EQ(verdict.reason, naive_reason(naive_, node)) << where(node);
    }
  }

  bool movable() const { return !bound_pods().empty(); }

 private:
  std::vector<PodIndex> bound_pods() const {
    std::vector<PodIndex> pods = existing_pods(cluster_);
    std::erase_if(pods, [&](PodIndex pod) { return !cluster_.pods().node[pod].exists(); });
    return pods;
  }
  std::string where(NodeIndex node) const {
    return fmt::format("{} on {}", cluster_.pod_key(fit_.ask()),
                       cluster_.text(cluster_.nodes().name[node]));
  }

  const Cluster& cluster_;
  Configuration configuration_;
  Survey survey_;
  Scratch scratch_;
  Holds holds_;
  PodFit fit_;
  NaiveRegimes regimes_;
  NaiveWorld world_;
  NaiveFit naive_;
};

TEST(EngineProperties, FeasibilityFollowsEveryMove) {
  for_each_case("feasibility follows every move", [](Prng& random) {
    const Cluster cluster = random_cluster(random);
    for (const PodIndex pod : existing_pods(cluster)) {
      if (cluster.pods().node[pod].exists()) continue;
      SCOPED_TRACE(cluster.pod_key(pod));
      FitComparison comparison(cluster, pod);
      comparison.compare();
      for (int step = 0; step < 8 && comparison.movable(); ++step) {
        comparison.move(random);
        if (random.chance(50)) comparison.compare();
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

}  // namespace
}  // namespace makeway::engine_properties

// The engine's running counts against recomputation from nothing, over random clusters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_math.hpp"
#include "engine/fit.hpp"
#include "engine/scratch.hpp"
#include "judge/naive_fit.hpp"
#include "judge/naive_regimes.hpp"
#include "support/property.hpp"
#include "support/random_objects.hpp"
#include "support/random_planning.hpp"

namespace makeway {
namespace {

Cluster random_cluster(Prng& random) {
  if (random.chance(50)) {
    const RandomPlanning options = random_planning_options(random);
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
        survey_(cluster, Configuration{}),
        scratch_(cluster),
        decided_(cluster.pods().slots()),
        fit_(survey_, scratch_, ask, decided_),
        regimes_(cluster, configuration_),
        world_(cluster, &regimes_),
        naive_(world_, ask) {}

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
    Survey fresh_survey(cluster_, Configuration{});
    Scratch fresh_scratch(cluster_);
    for (const PodIndex pod : bound_pods()) {
      if (!scratch_.node_of(pod).exists()) fresh_scratch.remove(pod);
    }
    PodFit fresh(fresh_survey, fresh_scratch, fit_.ask(), decided_);
    for (const NodeIndex node : existing_nodes(cluster_)) {
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
  Survey survey_;
  Scratch scratch_;
  DecidedPods decided_;
  PodFit fit_;
  Configuration configuration_;
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
}  // namespace makeway

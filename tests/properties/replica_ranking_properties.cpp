// Replicas over random fleets (SPEC section 4): the ranking finds what a look at every place finds,
// whatever the orders in the configuration, and the order of the input changes nothing.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "codec/plan_codec.hpp"
#include "codec/presets.hpp"
#include "model/names.hpp"
#include "policies/decide.hpp"
#include "policies/replica/claim_ranking.hpp"
#include "support/property.hpp"

namespace makeway::replica_ranking_properties {
namespace {

constexpr Time now{1'767'225'600'000};

Pod random_pod(Prng& random, std::size_t number, std::size_t nodes) {
  const std::int64_t gpus = random.between(0, 2);
  Pod pod{.namespace_name = "default",
          .name = fmt::format("p{:02}", number),
          .uid = fmt::format("u{}", number),
          .node = random.chance(95) ? fmt::format("n{}", random.below(nodes)) : "",
          .requests = {{"cpu", random.between(1, 3) * 1'000}},
          .ready = random.chance(70)};
  if (gpus > 0) pod.requests.push_back({"nvidia.com/gpu", gpus});
  if (random.chance(90)) {
    pod.labels = {{std::string(names::deployment), fmt::format("d{}", random.below(5))}};
  }
  if (random.chance(80)) pod.created = now + Duration{-1'000 * random.between(1, 4)};
  pod.opted_out = random.chance(5);
  if (random.chance(25)) {
    pod.deletion = now + Duration{1'000 * random.between(-90, 30)};
    pod.deletion_grace_seconds = random.chance(30) ? 0 : 30;
  }
  return pod;
}

std::vector<Change> random_fleet(Prng& random) {
  std::vector<Change> objects;
  const std::size_t nodes = 1 + random.below(6);
  objects.reserve(nodes);
  for (std::size_t at = 0; at < nodes; ++at) {
    objects.emplace_back(
        Node{.name = fmt::format("n{}", at),
             .labels = {{std::string(names::plane), fmt::format("plane-{}", random.below(2))}},
             .unschedulable = random.chance(5),
             .allocatable = {{"cpu", 8'000},
                             {"nvidia.com/gpu", random.between(1, 6)},
                             {"pods", random.between(3, 20)}}});
  }
  const std::size_t pods = random.below(20);
  for (std::size_t at = 0; at < pods; ++at) objects.emplace_back(random_pod(random, at, nodes));
  for (int at = 0; at < 5; ++at) {
    ReplicaSchedule schedule{.namespace_name = "default",
                             .name = fmt::format("d{}", at),
                             .priority = static_cast<std::int32_t>(random.between(0, 3)),
                             .requests = {{"cpu", random.between(1, 2) * 1'000},
                                          {"nvidia.com/gpu", random.between(1, 3)}},
                             .unmet = random.between(0, 2)};
    for (int plane = 0; plane < 2; ++plane) {
      if (random.chance(20)) continue;
      schedule.planes.push_back({.name = fmt::format("plane-{}", plane),
                                 .committed = random.between(0, 3),
                                 .score = random.between(0, 1)});
    }
    normalize(schedule);
    objects.emplace_back(std::move(schedule));
  }
  return objects;
}

Cluster ranked_cluster(const std::vector<Change>& objects) {
  Cluster cluster;
  for (const Change& object : objects) cluster.apply(object);
  return cluster;
}

Configuration ranked_configuration(Prng& random) {
  Configuration configuration = *load_preset(default_preset);
  ReplicaSettings& replica = configuration.replica;
  replica.force_delete_any_priority = random.chance(30);
  if (random.chance(30)) replica.force_delete_after = ForceDeleteAfter::next_cycle;
  if (random.chance(20)) configuration.engine.cascade_depth = 0;
  return configuration;
}

struct NaiveBest {
  PlaceCost cost;
  std::vector<ReplicaIndex> victims;
};

/// A look at every place.
std::optional<NaiveBest> naive_best(const Fleet& fleet, NodeVictims& victims,
                                    DeploymentIndex deployment, const ReplicaNeed& need) {
  std::optional<NaiveBest> best;
  std::int64_t best_score = 0;
  const FleetDeployment& row = fleet.deployments()[deployment];
  for (std::uint32_t at = row.begin; at < row.end; ++at) {
    const FleetShare& share = fleet.shares()[ShareIndex{at}];
    const FleetPlane& plane = fleet.planes()[share.plane];
    for (std::uint32_t place = plane.begin; place < plane.end; ++place) {
      PlaceCost cost;
      if (!victims.evaluate(PlaceIndex{place}, need, cost)) continue;
      const bool better =
          !best || victims.compare(need, cost, share.score, best->cost, best_score) < 0;
      if (!better) continue;
      best =
          NaiveBest{.cost = cost, .victims = {victims.victims().begin(), victims.victims().end()}};
      best_score = share.score;
    }
  }
  return best;
}

/// The victims leave, the replica comes; the cached answers that may be affected are invalidated.
void take(Fleet& fleet, ClaimRanking& ranking, const NaiveBest& best, const ReplicaNeed& need) {
  const std::span<std::int64_t> room = fleet.room(best.cost.place);
  for (const ReplicaIndex victim : best.victims) {
    fleet.take(victim);
    for (std::size_t column = 0; column < room.size(); ++column) {
      room[column] += fleet.amounts(fleet.replica(victim))[column];
    }
  }
  for (std::size_t column = 0; column < room.size(); ++column) room[column] -= need.request[column];
  ranking.changed(best.cost.place);
  for (const ReplicaIndex victim : best.victims) {
    const FleetReplica& replica = fleet.replica(victim);
    if (replica.victim_class != ReplicaClass::committed) continue;
    for (const ReplicaIndex other : fleet.in_share(replica.share)) {
      ranking.changed(fleet.replica(other).place);
    }
  }
}

/// Some places are otherwise for this ask than for all others.
std::vector<MissedPlace> random_missed(Prng& random, const Fleet& fleet) {
  std::vector<MissedPlace> missed;
  if (fleet.places().empty() || fleet.shares().empty()) return missed;
  for (std::uint64_t count = random.chance(50) ? 0 : random.below(8); count > 0; --count) {
    missed.push_back(
        {.place = PlaceIndex{static_cast<std::uint32_t>(random.below(fleet.places().size()))},
         .share = ShareIndex{static_cast<std::uint32_t>(random.below(fleet.shares().size()))}});
  }
  std::ranges::sort(missed);
  return missed;
}

TEST(ReplicaRanking, FindsWhatALookAtEveryPlaceFinds) {
  for_each_case("the ranking finds the best place", [](Prng& random) {
    const Cluster cluster = ranked_cluster(random_fleet(random));
    const Configuration configuration = ranked_configuration(random);
    World world(cluster, configuration, now);
    Plan plan;
    const Draft draft{.world = world, .plan = plan};
    Fleet fleet(draft);
    NodeVictims victims(fleet);
    ClaimRanking ranking(fleet, victims);
    for (std::int32_t priority = 4; priority >= 0; --priority) {
      for (std::uint32_t at = 0; at < fleet.deployments().size(); ++at) {
        const DeploymentIndex deployment{at};
        const auto request = fleet.request(fleet.deployments()[deployment].request);
        const std::vector<MissedPlace> missed = random_missed(random, fleet);
        const ReplicaNeed need{.request = request,
                               .priority = priority,
                               .one = request[Fleet::counted] == 1,
                               .missed = missed};
        const auto expected = naive_best(fleet, victims, deployment, need);
        const auto found = ranking.best(deployment, need);
        ASSERT_EQ(found.has_value(), expected.has_value());
        if (!found) continue;
        ASSERT_EQ(found->cost.place, expected->cost.place);
        ASSERT_EQ(found->cost.victims, expected->cost.victims);
        if (random.chance(60)) take(fleet, ranking, *expected, need);
      }
    }
  });
}

TEST(ReplicaRanking, TheOrderOfTheInputChangesNothing) {  // law 11
  for_each_case("shuffled fleets give the same plan", [](Prng& random) {
    std::vector<Change> objects = random_fleet(random);
    const Configuration configuration = ranked_configuration(random);
    const PlanRequest request{.now = now, .preset = "random", .asks = {}, .placements = {}};
    const auto plan = [&] {
      const Cluster cluster = ranked_cluster(objects);
      return plan_text_json(*decide(cluster, configuration, request).plan,
                            PlanDetail::with_explanation, JsonStyle::pretty);
    };
    const std::string first = plan();
    random.shuffle(objects);
    EXPECT_EQ(plan(), first);
  });
}

}  // namespace
}  // namespace makeway::replica_ranking_properties

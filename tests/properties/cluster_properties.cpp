// The store against its oracle, on random histories.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/prng.hpp"
#include "model/cluster.hpp"
#include "model/cluster_compaction.hpp"
#include "model/normalize.hpp"
#include "support/cluster_view.hpp"
#include "support/property.hpp"
#include "support/random_objects.hpp"
#include "support/random_planes.hpp"
#include "support/reference_store.hpp"

namespace makeway::cluster_properties {
namespace {

std::vector<Change> random_history(Prng& prng) {
  RandomClusterOptions options = random_options(prng);
  options.features.claims = prng.chance(75);
  std::vector<Change> changes = random_changes(prng, options);
  if (prng.chance(30)) scatter_over_planes(prng, changes);
  return changes;
}

template <class Store>
void apply_all(Store& store, std::span<const Change> changes) {
  for (const Change& change : changes) store.apply(change);
}

ReferenceStore reference_of(std::span<const Change> changes) {
  ReferenceStore reference;
  apply_all(reference, changes);
  return reference;
}

/// What is left of a history. A reference made of these alone has forgotten, as a fresh store has,
/// by which keys removed pods selected nodes.
std::vector<Change> objects_left(std::span<const Change> changes) {
  return reference_of(changes).objects();
}

Removal removal_of(const Change& change) {
  return std::visit(
      [](const auto& object) -> Removal {
        using Object = std::decay_t<decltype(object)>;
        if constexpr (std::is_same_v<Object, Removal>) {
          return object;
        } else {
          const ObjectKey key = owned(key_of(object));
          return {.kind = row_of<Object>.kind,
                  .namespace_name = key.namespace_name,
                  .name = key.name,
                  .plane = key.plane};
        }
      },
      change);
}

/// A node that is merely named, or no more here, has nothing but its name.
void expect_named_nodes_empty(const Cluster& cluster) {
  for (std::uint32_t slot = 0; slot < cluster.nodes().slots(); ++slot) {
    const NodeIndex node{slot};
    const NodeFlags flags = cluster.nodes().flags[node];
    if (!flags.used || flags.exists) continue;
    EXPECT_EQ(cluster.node(node),
              (Node{.name = std::string(cluster.text(cluster.nodes().name[node])),
                    .plane = std::string(cluster.text(cluster.nodes().plane[node]))}));
    EXPECT_FALSE(cluster.nodes().node_class[node].exists());
  }
}

/// What the views do not show: lookups, counts, and the order as a relation.
void expect_consistent(const Cluster& cluster, Prng& prng) {
  EXPECT_EQ(cluster.pods_by_name().size(), cluster.pod_count());
  EXPECT_EQ(cluster.nodes_by_name().size(), cluster.node_count());
  expect_named_nodes_empty(cluster);
  for (const PodIndex pod : cluster.pods_by_name()) {
    const std::string_view space = cluster.text(cluster.pods().namespace_name[pod]);
    const std::string_view plane = cluster.text(cluster.pods().plane[pod]);
    EXPECT_EQ(cluster.find_pod(space, cluster.pods().name[pod.value], plane), pod);
  }
  for (const GroupIndex group : cluster.groups_by_name()) {
    const Group& row = cluster.groups()[group];
    EXPECT_EQ(cluster.find_group(cluster.text(row.namespace_name), cluster.text(row.name),
                                 cluster.text(row.plane)),
              group);
  }
  for (const NodeIndex node : cluster.nodes_by_name()) {
    EXPECT_EQ(cluster.find_node(cluster.text(cluster.nodes().name[node]),
                                cluster.text(cluster.nodes().plane[node])),
              node);
    const std::span<const PodIndex> pods = cluster.order().pods(node);
    for (std::size_t i = 1; i < pods.size(); ++i) {
      EXPECT_TRUE(cluster.more_important(pods[i - 1], pods[i]));
      EXPECT_FALSE(cluster.more_important(pods[i], pods[i - 1]));
    }
    const std::span<const std::int32_t> priorities = cluster.order().priorities(node);
    auto border = static_cast<std::int32_t>(prng.between(-20, 110));
    if (!priorities.empty() && prng.chance(50)) border = priorities[prng.below(priorities.size())];
    const auto at_least = std::ranges::count_if(
        priorities, [border](std::int32_t priority) { return priority >= border; });
    EXPECT_EQ(cluster.order().count_at_least(node, border), static_cast<std::size_t>(at_least));
  }
}

TEST(ClusterProperties, AgreesWithTheReferenceAfterEveryChange) {
  for_each_case("the store agrees with the reference", [](Prng& prng) {
    const std::vector<Change> changes = random_history(prng);
    const std::uint64_t stride = changes.size() > 100 ? 40 : 4;
    Cluster cluster;
    ReferenceStore reference;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      cluster.apply(changes[i]);
      reference.apply(changes[i]);
      if (i + 1 < changes.size() && prng.below(stride) != 0) continue;
      ASSERT_EQ(difference(reference.view(), view_of(cluster)), "") << "after change " << i;
      expect_consistent(cluster, prng);
    }
  });
}

TEST(ClusterProperties, TheOrderOfChangesLeavesNoTrace) {
  for_each_case("the order of changes leaves no trace", [](Prng& prng) {
    std::vector<Change> objects = objects_left(random_history(prng));
    const ClusterView expected = reference_of(objects).view();
    prng.shuffle(objects);
    Cluster cluster;
    apply_all(cluster, objects);
    EXPECT_EQ(difference(expected, view_of(cluster)), "");
  });
}

TEST(ClusterProperties, BulkLoadingEqualsOneByOne) {
  for_each_case("bulk loading equals one by one", [](Prng& prng) {
    const std::vector<Change> changes = random_history(prng);
    const std::span<const Change> all(changes);
    const std::size_t begin = prng.chance(50) ? 0 : prng.below(all.size() + 1);
    const std::size_t end = begin + prng.below(all.size() - begin + 1);
    Cluster cluster;
    apply_all(cluster, all.first(begin));
    cluster.begin_bulk();
    apply_all(cluster, all.subspan(begin, end - begin));
    cluster.finish_bulk();
    EXPECT_EQ(difference(reference_of(all.first(end)).view(), view_of(cluster)), "");
    apply_all(cluster, all.subspan(end));
    EXPECT_EQ(difference(reference_of(all).view(), view_of(cluster)), "");
    expect_consistent(cluster, prng);
  });
}

TEST(ClusterProperties, CompactingChangesNothing) {
  for_each_case("compacting changes nothing", [](Prng& prng) {
    const std::vector<Change> changes = random_history(prng);
    Cluster cluster;
    apply_all(cluster, changes);
    const ClusterView before = view_of(cluster);
    Cluster compact = cluster.compacted();
    ReferenceStore reference = reference_of(objects_left(changes));
    EXPECT_EQ(difference(reference.view(), view_of(compact)), "");
    EXPECT_EQ(difference(before, view_of(cluster)), "");
    const std::vector<Change> more = random_changes(prng, {.changes = 5});
    apply_all(compact, more);
    apply_all(reference, more);
    EXPECT_EQ(difference(reference.view(), view_of(compact)), "");
  });
}

TEST(ClusterProperties, CompactingBitByBitWhileChangesComeEqualsNoCompacting) {
  for_each_case("compacting bit by bit", [](Prng& prng) {
    const std::vector<Change> changes = random_history(prng);
    const std::span<const Change> all(changes);
    std::size_t next = prng.below(all.size() + 1);
    Cluster cluster;
    apply_all(cluster, all.first(next));
    ClusterCompaction compaction;
    const std::size_t objects = 1 + prng.below(7);
    while (!compaction.step(cluster, objects)) {
      for (std::uint64_t count = prng.below(4); count > 0 && next < all.size(); --count, ++next) {
        cluster.apply(all[next]);
        compaction.apply(all[next]);
      }
    }
    Cluster compact = compaction.take();
    expect_consistent(compact, prng);
    // Node classes may be finer than needed, by pods that have gone meanwhile.
    const std::vector<Change> left = objects_left(all.first(next));
    EXPECT_EQ(difference(reference_of(left).view(), view_of(compact.compacted())), "");
    apply_all(compact, all.subspan(next));
    EXPECT_EQ(difference(reference_of(objects_left(changes)).view(), view_of(compact.compacted())),
              "");
  });
}

TEST(ClusterProperties, RemovingEverythingLeavesNothing) {
  for_each_case("removing everything leaves nothing", [](Prng& prng) {
    const std::vector<Change> changes = random_history(prng);
    Cluster cluster;
    apply_all(cluster, changes);
    std::vector<Change> objects = objects_left(changes);
    for (int round = 0; round < 2; ++round) {
      const std::size_t pods = cluster.pods().slots();
      const std::size_t nodes = cluster.nodes().slots();
      const std::size_t units = cluster.units().size();
      const std::size_t groups = cluster.groups().size();
      prng.shuffle(objects);
      for (const Change& object : objects) cluster.apply(removal_of(object));
      EXPECT_EQ(difference(ClusterView{}, view_of(cluster)), "");
      EXPECT_EQ(cluster.pod_count(), 0U);
      EXPECT_EQ(cluster.node_count(), 0U);
      EXPECT_TRUE(cluster.groups_by_name().empty());

      prng.shuffle(objects);
      apply_all(cluster, objects);
      EXPECT_EQ(cluster.pods().slots(), pods);
      EXPECT_EQ(cluster.nodes().slots(), nodes);
      // Pods that come before their group are units of their own until it comes.
      std::size_t most = groups;
      for ([[maybe_unused]] const PodIndex row : cluster.each_row()) ++most;
      EXPECT_LE(cluster.units().size(), std::max(units, most));
      EXPECT_EQ(cluster.groups().size(), groups);
    }
  });
}

TEST(ClusterProperties, ObjectsComeBackAsGiven) {
  for_each_case("objects come back as given", [](Prng& prng) {
    RandomClusterOptions options = random_options(prng);
    options.features.claims = prng.chance(75);
    RandomObjects random(prng, options);
    Cluster cluster;
    for (int i = 0; i < 5; ++i) {
      Pod pod = random.raw_pod();
      normalize(pod);
      Pod again = pod;
      normalize(again);
      EXPECT_EQ(pod, again) << "normalize is not idempotent";
      cluster.apply(pod);
      EXPECT_EQ(cluster.pod(*cluster.find_pod(pod.namespace_name, pod.name)), pod);
      const Node node = random.node(random.node_name());
      cluster.apply(node);
      EXPECT_EQ(cluster.node(*cluster.find_node(node.name)), node);
    }
  });
}

TEST(ClusterProperties, OneObjectOfEachNameIsALoadableCluster) {
  for_each_case("one object of each name is a loadable cluster", [](Prng& prng) {
    RandomClusterOptions options = random_options(prng);
    options.features.claims = prng.chance(75);
    options.features.dangling = false;
    const std::vector<Change> objects = random_objects(prng, options);
    Cluster cluster;
    cluster.begin_bulk();
    apply_all(cluster, objects);
    cluster.finish_bulk();
    EXPECT_EQ(cluster.pod_count(), options.pods * options.namespaces);
    EXPECT_EQ(cluster.node_count(), options.nodes);
    for (const Unit& unit : cluster.units()) EXPECT_TRUE(unit.defined);
    EXPECT_EQ(difference(reference_of(objects).view(), view_of(cluster)), "");
  });
}

}  // namespace
}  // namespace makeway::cluster_properties

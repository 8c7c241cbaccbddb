// One change into a full store: what a watch event costs.
//
//   apply [NODES PODS_PER_NODE]...     default 5000 30 and 20000 30
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "bench/support/generate.hpp"
#include "model/cluster.hpp"
#include "model/cluster_compaction.hpp"

namespace makeway {
namespace {

struct Size {
  std::size_t nodes = 0;
  std::size_t pods_per_node = 0;
};

Cluster filled(const Size& size) {
  Cluster cluster;
  Prng random(1);
  cluster.begin_bulk();
  for (std::size_t index = 0; index < size.nodes; ++index) {
    cluster.apply(bench::sample_node(index));
  }
  for (std::size_t index = 0; index < size.nodes * size.pods_per_node; ++index) {
    cluster.apply(bench::sample_pod(index, size.nodes, random));
  }
  cluster.finish_bulk();
  return cluster;
}

std::int64_t used_cpu(const Cluster& cluster) {
  std::int64_t total = 0;
  for (std::uint32_t slot = 0; slot < cluster.nodes().slots(); ++slot) {
    total += cluster.order().used(NodeIndex{slot})[resource_cpu.value];
  }
  return total;
}

void report(std::string_view name, std::vector<std::int64_t>& nanoseconds) {
  std::ranges::sort(nanoseconds);
  const auto at = [&](std::size_t percent) {
    return static_cast<double>(nanoseconds[(nanoseconds.size() - 1) * percent / 100]) / 1e3;
  };
  fmt::print("apply {:28} median {:7.2f} us, 99 % {:7.2f} us, worst {:8.2f} us\n", name, at(50),
             at(99), at(100));
  std::fflush(stdout);
}

/// Times `change(i)` for many i.
template <class Change>
void time_each(std::string_view name, std::size_t count, const Change& change) {
  std::vector<std::int64_t> nanoseconds;
  nanoseconds.reserve(count);
  for (std::size_t index = 0; index < count; ++index) {
    const auto begin = std::chrono::steady_clock::now();
    change(index);
    nanoseconds.push_back((std::chrono::steady_clock::now() - begin).count());
  }
  report(name, nanoseconds);
}

void run(const Size& size) {
  Cluster cluster = filled(size);
  const std::size_t pods = size.nodes * size.pods_per_node;
  const std::size_t changes =
      std::min<std::size_t>(20'000, pods);  // Each changes a pod that is there.
  fmt::print("apply {} nodes x {} pods\n", size.nodes, size.pods_per_node);
  const std::int64_t cpu_before = used_cpu(cluster);

  Prng random(1);
  std::vector<Pod> samples;
  samples.reserve(changes);
  for (std::size_t index = 0; index < changes; ++index) {
    samples.push_back(bench::sample_pod(index, size.nodes, random));
  }
  time_each("status of a bound pod", changes, [&](std::size_t index) {
    samples[index].ready = false;
    cluster.apply(samples[index]);
  });
  CHECK(used_cpu(cluster) == cpu_before, "an update of the status moved resources");

  time_each("pod deleted", changes, [&](std::size_t index) {
    cluster.apply(Removal{.kind = ObjectKind::pod,
                          .namespace_name = samples[index].namespace_name,
                          .name = samples[index].name});
  });
  CHECK(cluster.pod_count() == pods - changes);
  time_each("pod added and bound", changes,
            [&](std::size_t index) { cluster.apply(samples[index]); });
  CHECK(cluster.pod_count() == pods);
  CHECK(used_cpu(cluster) == cpu_before, "deleting and adding again is not the same");
  time_each("node updated", std::min(changes, size.nodes), [&](std::size_t index) {
    Node node = bench::sample_node(index);
    node.unschedulable = true;
    cluster.apply(node);
  });
}

/// A store that grows one by one, as by a watch: what the worst insertion costs, when everything
/// has outgrown its memory; and what it costs to make it anew bit by bit.
void run_growth(const Size& size) {
  Cluster cluster;
  Prng random(1);
  for (std::size_t index = 0; index < size.nodes; ++index) {
    cluster.apply(bench::sample_node(index));
  }
  const std::size_t pods = size.nodes * size.pods_per_node;
  fmt::print("apply growth to {} nodes x {} pods\n", size.nodes, size.pods_per_node);
  time_each("pod added to a growing store", pods, [&](std::size_t index) {
    cluster.apply(bench::sample_pod(index, size.nodes, random));
  });
  CHECK(cluster.pod_count() == pods);
  ClusterCompaction compaction;
  std::vector<std::int64_t> nanoseconds;
  for (bool done = false; !done;) {
    const auto begin = std::chrono::steady_clock::now();
    done = compaction.step(cluster, 1'000);
    nanoseconds.push_back((std::chrono::steady_clock::now() - begin).count());
  }
  report("1,000 objects made anew", nanoseconds);
  const std::int64_t cpu = used_cpu(cluster);
  const auto begin = std::chrono::steady_clock::now();
  cluster = compaction.take();
  nanoseconds = {(std::chrono::steady_clock::now() - begin).count()};
  report("old store dropped", nanoseconds);
  CHECK(cluster.pod_count() == pods);
  CHECK(used_cpu(cluster) == cpu, "the store made anew is another one");
}

/// One gang with its PodGroup: does a member's event cost more because the group is large?
void run_gang(std::int32_t members) {
  Cluster cluster;
  cluster.begin_bulk();
  PodGroup group{.namespace_name = "production", .name = "gang"};
  group.policy = {.minimum = members, .gang = true};
  group.priority.priority = 100;
  cluster.apply(group);
  Prng random(1);
  std::vector<Pod> pods;
  pods.reserve(static_cast<std::size_t>(members));
  for (std::size_t index = 0; index < static_cast<std::size_t>(members); ++index) {
    pods.push_back(bench::sample_pod(index, 1'000, random));
    pods.back().group = "gang";
    cluster.apply(pods.back());
  }
  cluster.finish_bulk();
  fmt::print("apply one gang of {} over 1000 nodes\n", members);
  time_each("status of a member", pods.size(), [&](std::size_t index) {
    pods[index].ready = false;
    cluster.apply(pods[index]);
  });
  CHECK(cluster.units()[cluster.pods().unit[PodIndex{0}]].size == members);
}

}  // namespace
}  // namespace makeway

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  std::vector<makeway::Size> sizes;
  for (std::size_t at = 1; at + 1 < arguments.size(); at += 2) {
    sizes.push_back({.nodes = std::strtoull(arguments[at], nullptr, 10),
                     .pods_per_node = std::strtoull(arguments[at + 1], nullptr, 10)});
  }
  if (sizes.empty()) sizes = {{5'000, 30}, {20'000, 30}};
  for (const makeway::Size& size : sizes) makeway::run(size);
  makeway::run_growth(sizes.back());
  for (const std::int32_t members : {100, 1'000, 10'000}) makeway::run_gang(members);
  return 0;
}

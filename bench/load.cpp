// Text into the store: MB/s and pods/s of PodLists, and what a pod costs in memory.
//
//   load [PODS ...]     sizes of the compact lists; default 100000 1000000
#include "codec/load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "base/check.hpp"
#include "bench/support/generate.hpp"
#include "codec/source.hpp"

namespace makeway {
namespace {

constexpr std::size_t pods_per_node = 30;
constexpr int repeats = 5;

/// The sums that the generator must have produced: computed from the same random numbers, without
/// any text in between.
std::vector<std::int64_t> expected_totals(std::size_t pods, std::size_t nodes) {
  Prng random(1);
  std::vector<std::int64_t> totals(3);
  for (std::size_t index = 0; index < pods; ++index) {
    for (const Amount& amount : bench::sample_pod(index, nodes, random).requests) {
      const std::size_t column = amount.resource == "cpu" ? 0 : amount.resource == "memory" ? 1 : 2;
      totals[column] += amount.amount;
    }
  }
  return totals;
}

void check_answer(const Cluster& cluster, std::size_t pods, std::size_t nodes) {
  CHECK(cluster.pod_count() == pods);
  std::vector<std::int64_t> totals(3);
  for (std::uint32_t slot = 0; slot < cluster.nodes().slots(); ++slot) {
    const std::span<const std::int64_t> used = cluster.order().used(NodeIndex{slot});
    totals[0] += used[resource_cpu.value];
    totals[1] += used[resource_memory.value];
    totals[2] += used[4];
  }
  CHECK(totals == expected_totals(pods, nodes), "the store does not hold what the text says");
}

void run(std::string_view name, const std::string& text, std::size_t pods, std::size_t nodes) {
  double best = 1e9;
  ClusterBytes bytes;
  for (int repeat = 0; repeat < (pods > 200'000 ? 2 : repeats); ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    const LoadResult result = load_text(text, "bench");
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    CHECK(result.loaded.has_value());
    check_answer(result.loaded->cluster, pods, nodes);
    best = std::min(best, seconds.count());
    bytes = result.loaded->cluster.bytes();
  }
  const auto size = static_cast<double>(text.size());
  const auto count = static_cast<double>(pods);
  fmt::print(
      "load  {:8} {:9} pods {:7.1f} MB ({:5.0f} bytes/pod) {:8.1f} ms {:6.0f} MB/s "
      "{:9.0f} pods/s; in memory {:4.0f} bytes/pod\n",
      name, pods, size / 1e6, size / count, best * 1e3, size / 1e6 / best, count / best,
      static_cast<double>(bytes.total()) / count);
  fmt::print(
      "      bytes/pod: columns {:.0f}, units {:.0f}, node orders {:.0f}, names {:.0f}, "
      "labels and rows {:.0f}\n",
      static_cast<double>(bytes.pods) / count, static_cast<double>(bytes.units) / count,
      static_cast<double>(bytes.order + bytes.nodes) / count,
      static_cast<double>(bytes.texts) / count, static_cast<double>(bytes.interned) / count);
  std::fflush(stdout);
}

std::size_t nodes_for(std::size_t pods) { return std::max<std::size_t>(1, pods / pods_per_node); }

void run_kubectl(std::size_t pods) {
  const std::size_t nodes = nodes_for(pods);
  run("kubectl", bench::kubectl_pod_list(pods, nodes), pods, nodes);
}

void run_compact(std::size_t pods) {
  const std::size_t nodes = nodes_for(pods);
  run("compact", bench::compact_pod_list(pods, nodes), pods, nodes);
}

}  // namespace
}  // namespace makeway

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (const char* argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    sizes.push_back(std::strtoull(argument, nullptr, 10));
  }
  if (sizes.empty()) sizes = {100'000, 1'000'000};
  makeway::run_kubectl(20'000);
  for (const std::size_t pods : sizes) makeway::run_compact(pods);
  return 0;
}

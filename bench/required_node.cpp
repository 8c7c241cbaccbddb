// Pods that can run on one node only: what their decisions cost on full nodes. Every answer goes to
// check_plan before a time is taken; the times are those of `decide` without explanations.
//
//   required_node [SUBSTRING]   cases whose name contains it, as "fleet-5000x30"
//
//   node    one pinned pod, 10 to 10,000 pods of random priorities, sizes and ages on its node
//   fleet   one pinned pod for each node, all in one cycle, as when a DaemonSet is rolled out
// with the default strategies, with `multiple` alone, and with the preset yunikorn.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "bench/support/policy_bench.hpp"
#include "codec/presets.hpp"

namespace makeway::bench {
namespace {

constexpr Time now{1'767'225'600'000};
constexpr std::int64_t ask_cpu = 1'500;
constexpr std::int64_t ask_memory = 6'000;

struct PinnedBench {
  std::string_view name;
  std::size_t nodes = 1;
  std::size_t pods_per_node = 30;
  std::int64_t target_us = 0;  ///< Of the default strategies; 0: none.
};

constexpr std::array cases = {
    PinnedBench{.name = "node", .pods_per_node = 10},
    PinnedBench{.name = "node", .pods_per_node = 100},
    PinnedBench{.name = "node", .pods_per_node = 1'000},
    PinnedBench{.name = "node", .pods_per_node = 10'000, .target_us = 500},
    PinnedBench{.name = "fleet", .nodes = 100},
    PinnedBench{.name = "fleet", .nodes = 1'000},
    PinnedBench{.name = "fleet", .nodes = 5'000, .target_us = 100'000},
};

Pod daemon(const std::string& node) {
  Pod pod{.namespace_name = "kube-system",
          .name = "agent-" + node,
          .uid = "uid-agent-" + node,
          .priority = 1'000,
          .requests = {{"cpu", ask_cpu}, {"memory", ask_memory}},
          .created = now};
  pod.shape.node_terms = {
      {.labels = {},
       .fields = {{.key = "metadata.name", .operation = Operator::in, .values = {node}}}}};
  return pod;
}

/// Full nodes: their pods hold all of the cpu and memory.
Cluster make_cluster(const PinnedBench& item) {
  Prng random(item.nodes * 100'003 + item.pods_per_node);
  Cluster cluster;
  cluster.begin_bulk();
  for (std::size_t at = 0; at < item.nodes; ++at) {
    const std::string node = fmt::format("node-{:05}", at);
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    for (std::size_t pod = 0; pod < item.pods_per_node; ++pod) {
      const std::int64_t own_cpu = random.between(1, 30) * 50;
      const std::int64_t own_memory = random.between(1, 30) * 250;
      cpu += own_cpu;
      memory += own_memory;
      cluster.apply(Pod{.namespace_name = "default",
                        .name = fmt::format("p-{:05}-{:05}", at, pod),
                        .uid = fmt::format("uid-{}-{}", at, pod),
                        .node = node,
                        .priority = static_cast<std::int32_t>(random.below(900)),
                        .requests = {{"cpu", own_cpu}, {"memory", own_memory}},
                        .started = now + Duration{-1'000 * random.between(1, 10'000)}});
    }
    const auto pods = static_cast<std::int64_t>(item.pods_per_node) + 110;
    cluster.apply(Node{.name = node,
                       .allocatable = {{"cpu", std::max(cpu, ask_cpu)},
                                       {"memory", std::max(memory, ask_memory)},
                                       {"pods", pods}}});
    cluster.apply(daemon(node));
  }
  cluster.finish_bulk();
  return cluster;
}

struct Setting {
  std::string_view name;
  Configuration configuration;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  all.push_back({"single,multiple", *load_preset(default_preset)});
  all.push_back({"multiple", *load_preset(default_preset)});
  all.back().configuration.required_node.victim_selection = {VictimSelection::multiple};
  all.push_back({"yunikorn", *load_preset("yunikorn")});
  return all;
}

bool measure(const PinnedBench& item, const Cluster& cluster, const Setting& setting) {
  const JudgedDecision judged = decide_judged(cluster, setting.configuration, now);
  std::size_t victims = 0;
  bool right = judged.breaches.empty() && judged.plan.asks.size() == item.nodes;
  for (const PlanAsk& ask : judged.plan.asks) {
    victims += ask.victims.size();
    right = right && ask.outcome == Outcome::preempts;
  }
  const bool has_target = setting.name != "yunikorn";
  print_result(fmt::format("{:5} {:6} nodes x {:6} pods  {:16} victims {:6}", item.name, item.nodes,
                           item.pods_per_node, setting.name, victims),
               time_decision(cluster, setting.configuration, judged),
               has_target ? static_cast<double>(item.target_us) : 0, right, judged);
  return right;
}

int run(int argc, char** argv) {
  const auto name_of = [](const PinnedBench& item) {
    return fmt::format("{}-{}x{}", item.name, item.nodes, item.pods_per_node);
  };
  const std::vector<Setting> all = settings();
  return run_cases(argc, argv, cases, name_of, [&](const PinnedBench& item) {
    const Cluster cluster = make_cluster(item);
    bool right = true;
    for (const Setting& setting : all) right = measure(item, cluster, setting) && right;
    return right;
  });
}

}  // namespace
}  // namespace makeway::bench

int main(int argc, char** argv) { return makeway::bench::run(argc, argv); }
